//! The tables, and the jobs that are made from them.

use spanwise_reproduce::{CellId, Job, Metric, Options, ReproduceError, Selection, Table, Tables, jobs};
use spanwise_train::Objective;

fn tables() -> Tables {
    Tables::builtin().unwrap()
}

fn cell(row: &str, split: &str, seed: u64) -> CellId {
    CellId { row: row.to_owned(), split: split.to_owned(), seed }
}

fn job(row: &str, split: &str, options: &Options) -> Job {
    jobs(&tables(), &[cell(row, split, 1)], options).unwrap().remove(0)
}

fn selection(rows: &[&str], seeds: u64) -> Selection {
    Selection { rows: rows.iter().map(|row| (*row).to_owned()).collect(), seeds, ..Selection::default() }
}

/// A small table with one thing in it replaced.
fn with(old: &str, new: &str) -> Result<Tables, ReproduceError> {
    let text = r#"
[[splits]]
name = "geo-iid"
title = "Geo iid"
domain = "geo"
preset = "geo-iid"

[[rows]]
name = "first"
title = "First"
set = ["training.epochs=3"]
paper = { geo-iid = 86.1 }

[[rows]]
name = "second"
title = "Second"
base = "first"
set = ["model.lexicon=none"]
compare = "first"
"#;
    assert!(text.contains(old), "{old}");
    Tables::parse(&text.replacen(old, new, 1))
}

#[test]
fn the_tables_have_the_papers_rows_splits_and_numbers() {
    let tables = tables();
    let rows: Vec<&str> = tables.rows.iter().map(|row| row.name.as_str()).collect();
    let expected = "sbsp sbsp-no-lexicon sbsp-projective sbsp-gold-trees spanwise two-phrases names-only no-lexicon projective \
                    no-augmentation span-joins coarse-types marginal seq2seq seq2seq-contextual bert2seq grammar bart end2end";
    assert_eq!(rows.join(" "), expected);
    assert!(tables.splits.len() >= 8);
    let paper = |row: &str, split: &str| tables.published(&Metric::Denotation, row, split);
    assert_eq!(paper("sbsp", "geo-length"), Some(63.6));
    assert_eq!(paper("sbsp-no-lexicon", "clevr-closure"), Some(88.6));
    assert_eq!(paper("sbsp-projective", "clevr-iid"), None);
    assert_eq!(paper("spanwise", "geo-template"), Some(82.2));
    assert_eq!(paper("no-lexicon", "geo-template"), None);
    assert_eq!(paper("bart", "geo-length"), Some(19.3));
    assert_eq!(paper("end2end", "clevr-closure"), Some(63.3));
    assert_eq!(tables.published(&Metric::TreeF1, "spanwise", "geo-template"), Some(91.6));
}

#[test]
fn settings_that_do_not_resolve_are_refused_with_the_row_and_the_split() {
    assert!(with("First", "First").is_ok());
    for (old, new, expected) in [
        ("training.epochs=3", "training.epoch=3", "row `first` on `geo-iid`: --set training.epoch=3"),
        ("training.epochs=3", "training.objective=marginal", "has no objective `marginal`"),
        ("training.epochs=3", "domain=scan", "its domain is `scan`, expected `geo`"),
        ("preset = \"geo-iid\"", "preset = \"geo-idd\"", "geo-idd"),
        ("base = \"first\"", "base = \"second\"", "not a row above it"),
        ("compare = \"first\"", "compare = \"third\"", "which is no row"),
        ("compare = \"first\"", "domains = [\"scan\"]", "no split has the domain `scan`"),
        ("compare = \"first\"", "set_for = { scan = [] }", "no split has the domain `scan`"),
        (
            "preset = \"geo-iid\"",
            "preset = \"geo-iid\"\nrows = [\"third\"]",
            "exists for `third`, which is no row",
        ),
        ("geo-iid = 86.1", "geo-template = 86.1", "which is no split"),
        ("geo-iid = 86.1", "geo-iid = 861.0", "expected a percentage"),
        ("name = \"second\"", "name = \"first\"", "two rows `first`"),
        ("name = \"second\"", "name = \"../up\"", "lower-case letters"),
        ("title = \"First\"", "titel = \"First\"", "titel"),
    ] {
        let error = with(old, new).unwrap_err().to_string();
        assert!(error.contains(expected), "{new}: {error}");
    }
}

#[test]
fn a_row_starts_from_its_base_and_has_settings_for_domains() {
    let of = |row: &str, split: &str| job(row, split, &Options::default()).config;
    let geo = of("sbsp-gold-trees", "geo-iid");
    assert_eq!((geo.training.objective, geo.training.epochs), (Objective::GoldTrees, 20));
    let clevr = of("sbsp-gold-trees", "clevr-iid");
    assert_eq!((clevr.training.objective, clevr.training.epochs), (Objective::GoldTrees, 4));
    let scan = of("sbsp-gold-trees", "scan-right");
    assert_eq!((scan.training.objective, scan.data.trees), (Objective::GoldTrees, None));
    assert_eq!(scan.training.epochs, 2);
    assert_eq!(of("coarse-types", "geo-iid").domain, "geo@paper");
    assert_eq!(of("no-augmentation", "clevr-iid").training.augment_from, 0);
}

/// The paper calls them relevant for Geo alone.
#[test]
fn the_papers_parser_has_discontinuous_trees_on_geo_only() {
    let class = |row: &str, split: &str| {
        let args = job(row, split, &Options::default()).train;
        args.iter().rev().find_map(|arg| arg.strip_prefix("model.discontinuity=").map(str::to_owned)).unwrap()
    };
    for row in ["sbsp", "sbsp-no-lexicon", "sbsp-gold-trees", "marginal"] {
        assert_eq!(
            ["geo-iid", "scan-iid", "clevr-iid"].map(|split| class(row, split)),
            ["ternary", "none", "none"]
        );
    }
    assert_eq!(class("sbsp-projective", "geo-iid"), "none");
}

#[test]
fn rows_exist_only_for_their_domains() {
    let cells =
        selection(&["no-augmentation", "coarse-types", "sbsp-projective"], 1).cells(&tables()).unwrap();
    assert!(!cells.iter().any(|cell| cell.split.starts_with("scan")));
    assert!(!cells.contains(&cell("coarse-types", "clevr-iid", 1)));
    assert!(cells.contains(&cell("no-augmentation", "clevr-closure", 1)));
    let nothing = Selection { domains: vec!["scan".to_owned()], ..selection(&["coarse-types"], 1) };
    assert!(matches!(nothing.cells(&tables()), Err(ReproduceError::Empty(_))));
}

#[test]
fn benchmarks_beyond_the_paper_run_only_where_they_are_named_and_for_their_rows() {
    let has_optional = |selection: &Selection| {
        let cells = selection.cells(&tables()).unwrap();
        cells.iter().any(|cell| cell.split.starts_with("cogs"))
    };
    let all = selection(&[], 1);
    assert!(!has_optional(&all));
    assert!(!has_optional(&Selection { domains: vec!["geo".to_owned()], ..all.clone() }));
    assert!(has_optional(&Selection { splits: vec!["cogs".to_owned()], ..all.clone() }));
    let cogs = Selection { domains: vec!["cogs".to_owned()], ..all };
    let expected = [cell("spanwise", "cogs", 1), cell("spanwise", "cogs-full", 1)];
    assert_eq!(cogs.cells(&tables()).unwrap(), expected);
}

#[test]
fn the_domain_of_a_split_can_be_the_folder_of_a_domain_file() {
    let folder = tempfile::tempdir().unwrap();
    let with_domain = |domain: &str, named: &str| {
        let preset = folder.path().join("preset.toml");
        let text = format!("domain = \"{domain}\"\n[data]\ntrain = \"a.jsonl\"\ntest = \"b.jsonl\"\n");
        std::fs::write(&preset, text).unwrap();
        let new = format!("domain = \"{named}\"\npreset = '{}'", preset.display());
        with("domain = \"geo\"\npreset = \"geo-iid\"", &new).map(drop).map_err(|error| error.to_string())
    };
    assert_eq!(with_domain("domains/lights/domain.toml", "lights"), Ok(()));
    assert_eq!(with_domain("domains/lights/domain.toml@loose", "lights"), Ok(()));
    let error = with_domain("domains/lights/domain.toml", "geo").unwrap_err();
    assert!(error.contains("its domain is `domains/lights/domain.toml`, expected `geo`"), "{error}");
}

#[test]
fn the_first_seed_of_everything_comes_first() {
    let cells = selection(&["spanwise", "sbsp"], 2).cells(&tables()).unwrap();
    let seeds: Vec<u64> = cells.iter().map(|cell| cell.seed).collect();
    assert!(seeds.is_sorted(), "{seeds:?}");
    assert_eq!(cells.len() % 4, 0);
}

#[test]
fn table_3_has_rows_with_trees_only() {
    let cells = Selection { table: Table::Three, seeds: 1, ..Selection::default() }.cells(&tables()).unwrap();
    assert!(cells.iter().all(|cell| ["spanwise", "sbsp"].contains(&cell.row.as_str())));
    assert_eq!(cells.len(), 16);
    let refused = Selection { table: Table::Three, ..selection(&["projective"], 1) }.cells(&tables());
    assert!(refused.unwrap_err().to_string().contains("trees = true"));
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_do() {
    let refused = selection(&["spanwize"], 1).cells(&tables()).unwrap_err().to_string();
    assert!(refused.contains("no row `spanwize`") && refused.contains("no-lexicon"), "{refused}");
    let unknown = Selection { domains: vec!["goe".to_owned()], ..selection(&[], 1) };
    let refused = unknown.cells(&tables()).unwrap_err().to_string();
    assert!(refused.contains("no domain `goe`; expected one of geo, scan, clevr"), "{refused}");
}

#[test]
fn splits_that_differ_in_the_test_set_alone_share_a_job() {
    let cells = [cell("spanwise", "clevr-iid", 1), cell("spanwise", "clevr-closure", 1)];
    let both = jobs(&tables(), &cells, &Options::default()).unwrap();
    assert_eq!(both.len(), 1);
    assert_eq!((both[0].home.as_str(), both[0].evaluations.len()), ("clevr-iid", 2));
    // The home is the same when only the other one is requested.
    let closure = job("spanwise", "clevr-closure", &Options::default());
    assert_eq!((closure.home.as_str(), closure.evaluations.len()), ("clevr-iid", 1));
    assert_eq!(closure.evaluations[0].test.to_str(), Some("clevr/test_closure.jsonl"));
    assert_eq!(closure.train, both[0].train);
    assert_eq!(job("spanwise", "geo-length", &Options::default()).sharing, ["geo-length"]);
}

#[test]
fn an_encoder_replaces_pretrained_ones_only() {
    let options = Options { encoder: Some("encoders/other".to_owned()), ..Options::default() };
    assert_eq!(job("spanwise", "geo-iid", &options).config.encoder, "encoders/other");
    let scan = job("spanwise", "scan-iid", &options);
    assert_eq!(scan.config.encoder, "compact");
    assert!(!scan.train.contains(&"--encoder".to_owned()));
}

#[test]
fn static_vectors_are_for_the_rows_that_take_them() {
    let options = Options { vectors: Some("/glove.txt".to_owned()), ..Options::default() };
    let has_vectors = |row: &str, options: &Options| {
        job(row, "geo-iid", options).train.contains(&"model.vectors=/glove.txt".to_owned())
    };
    for row in ["seq2seq", "grammar"] {
        assert_eq!(job(row, "geo-iid", &options).config.encoder, "compact", "{row}");
        assert!(has_vectors(row, &options), "{row}");
        assert!(!has_vectors(row, &Options { quick: true, ..options.clone() }), "{row}");
    }
    for row in ["spanwise", "bert2seq"] {
        assert_ne!(job(row, "geo-iid", &options).config.encoder, "compact", "{row}");
        assert!(!has_vectors(row, &options), "{row}");
    }
    // Also where the preset trains an encoder of its own.
    assert_ne!(job("bert2seq", "scan-iid", &options).config.encoder, "compact");
}

#[test]
fn a_row_that_needs_an_encoder_decoder_has_jobs_only_with_one() {
    let cells = [cell("bart", "geo-iid", 1), cell("spanwise", "geo-iid", 1)];
    let rows = |options: &Options| -> Vec<String> {
        jobs(&tables(), &cells, options).unwrap().into_iter().map(|job| job.row).collect()
    };
    assert_eq!(rows(&Options::default()), ["spanwise"]);
    let options = Options { encoder_decoder: Some("marian".to_owned()), ..Options::default() };
    assert_eq!(rows(&options), ["bart", "spanwise"]);
    assert_eq!(job("bart", "geo-iid", &options).config.encoder, "marian");
    assert_eq!(rows(&Options { quick: true, ..options }), ["spanwise"]);
}

#[test]
fn released_trees_are_read_with_word_pieces_where_the_model_has_none() {
    let options = Options { pieces: Some("encoders/e".into()), ..Options::default() };
    let pieces = |row: &str, split: &str| job(row, split, &options).evaluations[0].pieces.clone();
    assert_eq!(pieces("spanwise", "scan-iid"), options.pieces);
    assert_eq!(pieces("spanwise", "scan-length"), None, "there are no trees");
    assert_eq!(pieces("names-only", "scan-iid"), None, "a row without trees");
    assert_eq!(pieces("spanwise", "geo-iid"), None, "the encoder has word-pieces");
}

#[test]
fn arguments_of_a_job_give_its_settings() {
    let options = Options { data: "data".into(), encoder: Some("e".to_owned()), ..Options::default() };
    let args = job("sbsp-no-lexicon", "geo-iid", &options).train.join(" ");
    let expected = "train geo-iid --data data --seed 1 --encoder e --set training.objective=hard-em \
                    --set model.family=paper --set model.discontinuity=ternary --set training.epochs=20 \
                    --set model.lexicon=names";
    assert_eq!(args, expected);
}

#[test]
fn quick_jobs_are_small_and_otherwise_the_same() {
    let options = Options { quick: true, encoder: Some("e".to_owned()), ..Options::default() };
    for row in tables().rows.iter().filter(|row| options.can_run(row)) {
        let split = if row.domains.is_empty() { "scan-iid" } else { "geo-iid" };
        let job = job(&row.name, split, &options);
        assert_eq!((job.config.encoder.as_str(), job.config.training.epochs), ("compact", 1), "{}", row.name);
        assert!(job.config.data.limit > 0 && job.evaluations[0].limit.is_some());
    }
    assert_eq!(job("no-augmentation", "geo-iid", &options).config.training.augment_from, 0);
    assert_eq!(job("spanwise", "geo-iid", &options).config.training.augment_from, 1);
}

#[test]
fn tables_can_have_more_splits_than_the_paper() {
    let folder = tempfile::tempdir().unwrap();
    let preset = folder.path().join("length.toml");
    let config = "domain = \"scan\"\n[data]\ntrain = \"train.jsonl\"\ntest = \"test.jsonl\"\n";
    std::fs::write(&preset, config).unwrap();
    let more = format!(
        "\n[[splits]]\nname = \"scan-short\"\ntitle = \"SCAN short\"\ndomain = \"scan\"\npreset = '{}'\n",
        preset.display()
    );
    let text = include_str!("../../tables.toml").to_owned() + &more;
    let tables = Tables::parse(&text).unwrap();
    let split = tables.splits.last().unwrap();
    assert_eq!((split.name.as_str(), &split.trees), ("scan-short", &None));
    assert_eq!(tables.published(&Metric::Denotation, "spanwise", "scan-short"), None);
    let cells = selection(&["spanwise"], 1).cells(&tables).unwrap();
    assert!(cells.contains(&cell("spanwise", "scan-short", 1)));
    let three = Selection { table: Table::Three, ..selection(&["spanwise"], 1) }.cells(&tables).unwrap();
    assert!(!three.contains(&cell("spanwise", "scan-short", 1)));
    let made = jobs(&tables, &[cell("spanwise", "scan-short", 1)], &Options::default()).unwrap();
    assert_eq!(made[0].evaluations[0].trees, None);
}
