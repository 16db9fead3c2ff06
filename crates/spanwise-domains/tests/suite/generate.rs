//! Generated examples: well-typed, covered, contrasting, unambiguous, and the same for a seed.

use spanwise_core::Moment;
use spanwise_domains::data::Example;
use spanwise_domains::exec::{Denotation, ExecError, Executor};
use spanwise_domains::generate::{Answered, Candidate, Report, Settings, Verdict, answer, generate};
use spanwise_lang::domain::NoTables;
use spanwise_lang::{Domain, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

/// A language with all that the generator knows: sets, opposites, optional slots, type variables, values, and a constant
/// that no program can contain.
const SHOP: &str = r#"
name = "shop"
language = "english"
types = ["Tracks", "Albums", "Filter < Filters", "Filters", "Artist", "Duration", "Date", "Number", "Lost"]
root = { types = ["Tracks", "Albums", "Number"], wrap = "answer({})" }
contrasts = [["longer", "shorter"], ["first", "last"]]
[constants]
tracks = { type = "Filters? -> Tracks", say = ["[all] tracks[ {1}]", "songs[ that are {1}]"] }
albums = { type = "-> Albums", say = "albums", weight = 2 }
by = { type = "Artist -> Filter", say = ["by {1}", "from {1}"] }
longer = { type = "Duration -> Filter", say = ["longer than {1}", "over {1}"] }
shorter = { type = "Duration -> Filter", say = ["shorter than {1}", "under {1}"] }
since = { type = "Date -> Filter", say = "since {1}" }
of = { type = "Artist, S -> S where S in [Tracks, Albums]", say = "{2} of {1}" }
count = { type = ["Tracks -> Number", "Albums -> Number"], say = [["how many {1} are there"], ["the number of {1}"]] }
first = { type = "Tracks -> Tracks", say = "the first of {1}" }
last = { type = "Tracks -> Tracks", say = "the last of {1}" }
either = { type = "S, S -> S where S in [Tracks, Albums]", say = "{1} or {2}" }
lost = "Lost -> Lost"
never = { type = "-> Tracks", weight = 0 }
[say]
Tracks = ["show {}", "{}", "which {} are there"]
[[sets]]
head = "all"
elements = ["Filter"]
result = "Filters"
unique = ["by", "longer", "shorter", "since"]
say = ["{1} {2}", "{1} and {2}"]
[[entities]]
class = "artist"
type = "Artist"
form = "artist('{name}')"
names = ["Anna Lind", "Bo", "The Dots", "Zoë"]
aliases = { "Bo" = ["Bo the Great"] }
[[literals]]
class = "duration"
type = "Duration"
kind = "duration"
form = "duration('{value}')"
say = ["{}", "2 minutes", "half an hour"]
[[literals]]
class = "date"
type = "Date"
kind = "date"
tense = "past"
form = "date('{value}')"
"#;

fn shop() -> Domain {
    Domain::load(SHOP, "shop.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"))
}

fn settings(n: usize) -> Settings {
    Settings { n, now: "2026-03-02".parse::<Moment>().ok(), ..Settings::default() }
}

fn all_good(batch: &[Candidate]) -> Vec<Verdict> {
    vec![Verdict::Good; batch.len()]
}

fn generated(domain: &Domain, settings: &Settings) -> (Vec<Example>, Report) {
    generate(domain, settings, &mut all_good, &mut |_| true)
}

fn bytes(examples: &[Example]) -> String {
    examples.iter().map(|example| format!("{}\n", example.to_json())).collect()
}

#[test]
fn every_program_is_well_typed_and_no_utterance_has_two() {
    let domain = shop();
    let (examples, report) = generated(&domain, &settings(1_500));
    assert_eq!((examples.len(), report.examples), (1_500, 1_500), "{report:?}");
    let mut programs: BTreeMap<String, &str> = BTreeMap::new();
    for example in &examples {
        let text = example.program.as_deref().unwrap();
        let mut terms = domain.new_terms();
        let program = terms.parse(text).unwrap();
        assert!(domain.analyze(&terms, program).is_ok(), "{text}");
        let known = programs.insert(format!("{} {:?}", example.utterance.to_lowercase(), example.now), text);
        assert_eq!(known, None, "{}", example.utterance);
    }
    assert!(!report.dropped.contains_key("not well-typed"), "{:?}", report.dropped);
}

#[test]
fn every_constant_and_signature_is_covered_or_its_absence_is_explained() {
    let (_, report) = generated(&shop(), &settings(400));
    let mut missing = Vec::new();
    for one in &report.coverage {
        match &one.reason {
            Some(reason) => missing.push((one.name.as_str(), reason.as_str())),
            None => assert!(one.count >= 5, "{one:?}"),
        }
    }
    let reason = "no complete program can contain it, or it has no members with names";
    assert_eq!(missing, [("lost", reason), ("never", "its weight is 0")]);
    let signatures = |name: &str| report.coverage.iter().filter(|one| one.name == name).count();
    assert_eq!((signatures("count"), signatures("of"), signatures("all")), (2, 2, 1));
}

#[test]
fn opposites_come_in_pairs_that_are_worded_alike() {
    let (examples, report) = generated(&shop(), &settings(600));
    for (pair, n) in &report.contrasts {
        assert!(*n >= 10, "{pair}: {n}");
    }
    let utterances: BTreeMap<&str, &str> =
        examples.iter().map(|it| (it.utterance.as_str(), it.program.as_deref().unwrap())).collect();
    let mut n_alike = 0;
    for (utterance, program) in &utterances {
        for (words, other) in
            [("longer than", "shorter than"), ("over", "under"), ("the first of", "the last of")]
        {
            let twin = utterances.get(utterance.replace(words, other).as_str());
            let exchanged = program.replace("longer(", "shorter(").replace("first(", "last(");
            n_alike += usize::from(utterance.contains(words) && twin == Some(&exchanged.as_str()));
        }
    }
    let n_pairs: usize = report.contrasts.values().sum();
    assert!(n_alike * 10 >= n_pairs * 8, "{n_alike} of {n_pairs}");
}

#[test]
fn what_is_odd_is_not_generated() {
    let (examples, _) = generated(&shop(), &Settings { depth: 8, ..settings(1_500) });
    for example in &examples {
        let program = example.program.as_deref().unwrap();
        for twice in ["first(first(", "last(last(", "first(last(", "last(first(", "either(either("] {
            assert!(!program.replace(' ', "").contains(twice), "{program}");
        }
        let terms = &mut shop().new_terms();
        let id = terms.parse(program).unwrap();
        for node in terms.bottom_up(id) {
            let args = terms.args(node);
            let different: BTreeSet<_> = args.iter().collect();
            assert_eq!(different.len(), args.len(), "{program}");
        }
    }
}

#[test]
fn a_seed_gives_the_same_bytes_and_another_one_others() {
    let domain = shop();
    let of = |seed| bytes(&generated(&domain, &Settings { seed, ..settings(300) }).0);
    assert_eq!(of(7), of(7));
    assert_ne!(of(7), of(8));
}

#[test]
fn values_read_back_from_the_words_of_the_example() {
    let domain = shop();
    let (examples, _) = generated(&domain, &settings(800));
    let (mut n_values, mut n_relative) = (0, 0);
    for example in &examples {
        let program = example.program.as_deref().unwrap();
        let read: Vec<String> =
            domain.literals(&example.spoken()).into_iter().map(|(.., value)| value).collect();
        let mut terms = domain.new_terms();
        let id = terms.parse(program).unwrap();
        for node in terms.bottom_up(id) {
            if ["duration", "date"].contains(&terms.head_text(node)) {
                let value = terms.display(node).to_string();
                assert!(read.contains(&value), "{value} is not in {read:?} of `{}`", example.utterance);
                n_values += 1;
            }
        }
        // `now` is there where it is needed.
        n_relative += usize::from(example.now.is_some());
    }
    assert!(n_values > 200 && n_relative > 20, "{n_values} {n_relative}");
}

#[test]
fn without_a_date_nothing_is_relative() {
    let (examples, _) = generated(&shop(), &Settings { now: None, ..settings(300) });
    assert!(examples.iter().all(|example| example.now.is_none()));
    assert!(examples.iter().any(|example| example.program.as_deref().unwrap().contains("date(")));
}

#[test]
fn words_vary_unless_they_are_to_be_plain() {
    let domain = shop();
    let texts = |is_varied| -> Vec<String> {
        let settings = Settings { is_varied, ..settings(600) };
        generated(&domain, &settings).0.into_iter().map(|example| example.utterance).collect()
    };
    let (varied, plain) = (texts(true), texts(false));
    let count = |texts: &[String], is: &dyn Fn(&str) -> bool| texts.iter().filter(|text| is(text)).count();
    assert!(count(&varied, &|text| text.to_lowercase().contains("please")) > 5);
    assert!(count(&varied, &|text| text.ends_with('?')) > 20);
    assert_eq!(count(&plain, &|text| text.contains("please") || text.ends_with('?')), 0);
    assert!(
        count(&plain, &|text| text.starts_with("all tracks")) > 3
            && count(&plain, &|text| text.starts_with("tracks")) > 3
    );
    assert!(count(&plain, &|text| text.contains("Anna Lind")) > 3, "names are written as in the file");
    assert!(
        count(&varied, &|text| text.to_lowercase().contains("bo the great")) > 0,
        "aliases are names, too"
    );
}

#[test]
fn a_language_without_say_is_said_with_its_phrases_and_names() {
    let source = "name = \"home\"\ntypes = [\"Lamp\", \"Action\"]\nroot = { types = [\"Action\"] }\n\
        constants = { on = \"Lamp -> Action\", off = \"Lamp -> Action\", and_then = \"Action, Action -> Action\" }\n\
        lexicon = { on = [\"turn on\", \"switch on\"] }\n\
        [[entities]]\nclass = \"lamp\"\ntype = \"Lamp\"\nform = \"lamp('{name}')\"\nnames = [\"hall\", \"attic\", \"O'Brien's\"]";
    let domain = Domain::load(source, "home.toml", None, &NoTables).unwrap();
    let (examples, report) = generated(&domain, &Settings { is_varied: false, ..settings(40) });
    let has = |utterance: &str, program: &str| {
        let mut found = examples.iter().filter(|it| it.utterance == utterance);
        assert!(found.any(|it| it.program.as_deref() == Some(program)), "{utterance}: {}", bytes(&examples));
    };
    has("turn on hall", "on(lamp('hall'))");
    has("off O'Brien's", "off(lamp('O''Brien''s'))");
    assert!(examples.iter().any(|it| it.utterance.contains(" and then ")));
    assert!(report.short_of.is_none());
}

#[test]
fn a_small_language_ends_with_what_there_is_to_say() {
    let source = "name = \"two\"\ntypes = [\"A\"]\nroot = { types = [\"A\"] }\nconstants = { yes = \"A\", no = \"A\" }";
    let domain = Domain::load(source, "two.toml", None, &NoTables).unwrap();
    let (examples, report) = generated(&domain, &Settings { is_varied: false, ..settings(50) });
    assert_eq!(examples.len(), 2);
    assert!(report.short_of.unwrap().contains("no new example"));
}

#[test]
fn ambiguous_words_are_dropped_and_counted() {
    let source = "name = \"x\"\ntypes = [\"A\"]\nroot = { types = [\"A\"] }\n[constants]\na = { type = \"A\", say = [\"same\", \"mine\"] }\n\
        b = { type = \"A\", say = [\"same\", \"yours\"] }";
    let domain = Domain::load(source, "x.toml", None, &NoTables).unwrap();
    let (examples, report) = generated(&domain, &Settings { is_varied: false, ..settings(10) });
    let texts: BTreeSet<&str> = examples.iter().map(|it| it.utterance.as_str()).collect();
    assert_eq!(texts, BTreeSet::from(["mine", "yours"]));
    assert!(report.dropped["ambiguous words"] >= 2);
}

/// An executor for which some programs have no answer, or none of their own.
struct Odd;

impl Executor for Odd {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        _: Option<&serde_json::Value>,
    ) -> Result<Denotation, ExecError> {
        let text = terms.display(program).to_string();
        if text.contains("by(") || text.contains("Bo") {
            return Ok(Denotation { is_empty: true, ..Denotation::value("") });
        }
        if text.contains("since(") {
            return Err(ExecError::External("the server is gone".to_owned()));
        }
        // `first` makes no difference.
        Ok(Denotation::value(text.replace("first(", "").replace(')', "")))
    }
}

#[test]
fn programs_without_an_answer_or_one_of_their_own_are_dropped() {
    let domain = shop();
    let mut judge = |batch: &[Candidate]| -> Vec<Verdict> {
        let judged = |candidate| match answer(&domain, &Odd, candidate) {
            Answered::Ran(verdict) => verdict,
            Answered::NoContext(_) => unreachable!("no context is asked for"),
        };
        batch.iter().map(judged).collect()
    };
    let (examples, report) = generate(&domain, &settings(500), &mut judge, &mut |_| true);
    let of = |name: &str| report.coverage.iter().find(|one| one.name == name).unwrap();
    let programs =
        |text: &str| examples.iter().filter(|it| it.program.as_deref().unwrap().contains(text)).count();
    // What never has another answer is there all the same, a few times.
    assert!((1..=5).contains(&of("by").empty) && of("by").count == of("by").empty, "{:?}", of("by"));
    // Those with `by` and `since` are empty before they fail.
    let is_failing =
        |it: &&Example| it.program.as_deref().is_some_and(|it| it.contains("since(") && !it.contains("by("));
    assert_eq!(examples.iter().filter(is_failing).count(), 0);
    assert!(report.first_failure.as_deref().unwrap().contains("the server is gone"));
    assert!(programs("answer(first(") * 50 <= examples.len() + 50);
    assert!(programs("last(") > 5);
    for reason in ["empty answer", "could not be evaluated", "same answer as without its outermost part"] {
        assert!(report.dropped.contains_key(reason), "{:?}", report.dropped);
    }
}

#[test]
fn it_stops_when_it_is_told_to() {
    let (examples, report) = generate(&shop(), &settings(100_000), &mut all_good, &mut |done| done < 300);
    assert!((300..2_000).contains(&examples.len()), "{}", examples.len());
    assert!(report.short_of.unwrap().contains("stopped"));
}
