//! Importers and readers against the real releases: the splits are equal to the paper's, example by example.

#![allow(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use spanwise_domains::clevr::ClevrExecutor;
use spanwise_domains::data::import::{self, NamedSet};
use spanwise_domains::data::{self, Example, stats};
use spanwise_domains::exec::Executor;
use spanwise_lang::{TermId, Terms};
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub(crate) fn data_dir() -> Option<PathBuf> {
    let directory = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    if directory.is_dir() {
        return Some(directory.to_owned());
    }
    // Straight to the stream: what the print macros write is hidden when a test passes.
    let _ = writeln!(std::io::stderr(), "SKIPPED: the data sets are not there ({})", directory.display());
    None
}

fn text(directory: &Path, name: &str) -> String {
    std::fs::read_to_string(directory.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

fn geo(directory: &Path) -> Vec<NamedSet> {
    let corpus = text(directory, "geo/raw/geoFunql-en.corpus");
    import::geo(&corpus, &text(directory, "geo/raw/split880.train.ids")).unwrap()
}

fn check_same(ours: &NamedSet, theirs: &Path) {
    let theirs = data::read(theirs).unwrap();
    assert_eq!(ours.examples.len(), theirs.len(), "{}", ours.file_name);
    for (ours, theirs) in ours.examples.iter().zip(&theirs) {
        assert_eq!((&ours.utterance, &ours.program), (&theirs.utterance, &theirs.program));
        assert!(ours.answer.is_none() || ours.answer == theirs.answer);
    }
}

#[test]
fn the_papers_geo_splits_are_reproduced_in_order() {
    let Some(directory) = data_dir() else { return };
    let sets = geo(&directory);
    assert_eq!(sets.len(), 9);
    for set in &sets {
        let theirs = set.file_name.replace("_length", "_len").replace(".jsonl", ".json");
        check_same(set, &directory.join("geo/splits").join(theirs));
    }
}

#[test]
fn the_papers_scan_sp_splits_are_reproduced_in_order() {
    let Some(directory) = data_dir() else { return };
    for (folder, kind, name) in [
        ("simple_split", "", "simple"),
        ("template_split", "template_", "right"),
        ("template_split", "template_", "around_right"),
    ] {
        let [train, test] = ["train", "test"]
            .map(|part| text(&directory, &format!("scan/{folder}/tasks_{part}_{kind}{name}.txt")));
        for set in import::scan_sp(import::scan(&train).unwrap(), import::scan(&test).unwrap()) {
            let part = set.file_name.trim_end_matches(".jsonl");
            assert!(set.examples.iter().all(|example| example.answer.is_some()));
            check_same(&set, &directory.join(format!("scan_sp/{part}_{name}.json")));
        }
    }
}

#[test]
fn official_clevr_questions_execute_to_their_answers_in_both_notations_of_scenes() {
    let Some(directory) = data_dir() else { return };
    let scenes_text = text(&directory, "clevr/CLEVR_val_scenes_first11.json");
    let questions = text(&directory, "clevr/CLEVR_val_questions_first9.json");
    let examples = import::clevr(&questions, Some(&scenes_text)).unwrap();
    assert_eq!(examples.len(), 9);
    let scenes: serde_json::Value = serde_json::from_str(&scenes_text).unwrap();
    let executor = ClevrExecutor::new();
    let mut terms = Terms::new();
    for example in &examples {
        let program = terms.parse(example.program.as_deref().unwrap()).unwrap();
        let compact = example.context.as_ref().unwrap();
        assert!(compact.is_string());
        let image = usize::try_from(example.extra["image_index"].as_u64().unwrap()).unwrap();
        for scene in [compact, &scenes["scenes"][image]] {
            let denotation = executor.execute(&terms, program, Some(scene)).unwrap();
            assert_eq!(Some(denotation.text), example.answer, "{}", example.utterance);
        }
    }
}

#[test]
fn imported_clevr_programs_are_spelled_as_in_the_data_sets() {
    let Some(directory) = data_dir() else { return };
    let questions = text(&directory, "clevr/CLEVR_val_questions_first9.json");
    let examples = import::clevr(&questions, None).unwrap();
    let program = |index: usize| examples[index].program.as_deref().unwrap();
    assert_eq!(
        program(3),
        "exist ( filter ( sphere , relate ( left , filter ( small , gray , cube , scene ( ) ) ) ) )"
    );
    assert_eq!(
        program(6),
        "count ( union ( filter ( metal , relate ( behind , \
         filter ( small , green , rubber , cylinder , scene ( ) ) ) ) , \
         filter ( small , green , rubber , scene ( ) ) ) )"
    );
    // Filters of the data sets list their values in the order in which the importer does.
    let order = [
        "small large",
        "gray red blue green brown purple cyan yellow",
        "rubber metal",
        "cube sphere cylinder",
    ];
    let rank = |word: &str| order.iter().position(|words| words.split(' ').any(|it| it == word));
    for example in data::read(&directory.join("clevr/train.jsonl")).unwrap() {
        let program = example.program.unwrap();
        let words: Vec<Option<usize>> = program.split(' ').filter(|&word| word != ",").map(rank).collect();
        assert!(
            words.windows(2).all(|pair| pair[0].is_none() || pair[1].is_none() || pair[0] < pair[1]),
            "{program}"
        );
    }
}

#[test]
fn every_file_of_the_data_sets_is_read_and_survives_being_written() {
    let Some(directory) = data_dir() else { return };
    let mut n_files = 0;
    for folder in ["geo/splits", "geo/gold_trees", "scan_sp", "clevr", "clevr/gold_trees"] {
        for entry in std::fs::read_dir(directory.join(folder)).unwrap() {
            let path = entry.unwrap().path();
            // CLEVR's own files are for the importer, and the largest files add nothing but time.
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_dir() || name.starts_with("CLEVR_") || path.metadata().unwrap().len() > 3_000_000 {
                continue;
            }
            let examples = data::read(&path).unwrap();
            let mut bytes = Vec::new();
            data::write_examples(&mut bytes, &examples).unwrap();
            let copies: Result<Vec<_>, _> = data::Examples::new(&bytes[..], "copy").collect();
            assert!(copies.unwrap() == examples, "{name}");
            n_files += 1;
        }
    }
    assert!(n_files >= 20, "{n_files}");
}

#[test]
fn statistics_of_the_geo_splits_are_those_that_the_data_notes_state() {
    let Some(directory) = data_dir() else { return };
    let sets = geo(&directory);
    let class_of = |terms: &Terms, term: TermId| {
        let name = terms.head_text(term);
        ["stateid", "cityid", "countryid", "riverid", "placeid"].contains(&name).then(|| name.to_owned())
    };
    let describe = |first: usize| {
        let split = |idx: usize| (sets[idx].file_name.as_str(), &sets[idx].examples[..]);
        stats::describe(Terms::new(), &[split(first), split(first + 1), split(first + 2)], class_of)
    };
    let (iid, template) = (describe(0), describe(3));
    // The pairs are train and dev, train and test, dev and test.
    let n_test = |report: &stats::Report| report.summaries[2].n_examples;
    assert_eq!(n_test(&iid) - iid.overlaps[1].templates.examples, 86, "iid test templates unseen in train");
    assert_eq!((n_test(&template), template.overlaps[1].templates.examples), (276, 0));
    assert_eq!((template.overlaps[0].templates.distinct, template.summaries[1].distinct_templates), (35, 46));
    assert_eq!(iid.summaries.iter().map(|it| it.n_unreadable).sum::<usize>(), 0);
    assert!(iid.unseen[1].constants.iter().all(|(name, count)| !name.is_empty() && *count > 0));
}

#[test]
fn a_missing_file_is_named() {
    let error = data::read(Path::new("no/such/file.jsonl")).unwrap_err();
    assert_eq!(error.to_string(), "cannot open no/such/file.jsonl: no such file or directory");
}

#[test]
fn train_dev_and_test_are_written_together() {
    let directory = tempfile::tempdir().unwrap();
    let files = ["train.jsonl", "dev.jsonl", "test.jsonl"]
        .map(|name| (directory.path().join(name), vec![Example::new(format!("an example of {name}"))]));
    data::write_all_atomic(&files, |examples, writer| data::write_examples(writer, examples)).unwrap();
    for (path, examples) in &files {
        assert_eq!(&data::read(path).unwrap(), examples);
    }
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 3);
}
