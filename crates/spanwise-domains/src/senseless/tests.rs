//! A domain of eight items in a ring, with an executor of its own: what is senseless there is known.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use super::*;
use crate::exec::{Denotation, ExecError};
use spanwise_lang::domain::NoTables;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::sync::Mutex;

const RING: &str = r#"
name = "ring"
types = ["Item", "Odd", "Ghost", "Number", "Even < Number", "Answer"]

[root]
types = ["Item", "Odd", "Ghost", "Number", "Answer"]

[constants]
next = "Item -> Item"
value = "Item -> Number"
add = "Number, Number -> Number"
double = "Number -> Even"
odd = "Item -> Odd"
exists = "Odd -> Answer"

same = "Item -> Item"
ghost = "Item -> Ghost"
planet = "Item -> Answer"
first = "Number, Number -> Answer"
parity = "Number -> Answer"

[[entities]]
class = "item"
type = "Item"
form = "item({name})"
names = ["0", "1", "2", "3", "4", "5", "6", "7"]
"#;

/// What is known to be senseless: the constant, the slot, the argument where not all are meant, and why.
const SENSELESS: [(&str, usize, Option<&str>, Kind); 6] = [
    ("same", 0, None, Kind::Repeats),
    ("ghost", 0, None, Kind::Empty),
    ("planet", 0, None, Kind::Constant),
    ("first", 0, None, Kind::Repeats),
    ("first", 1, None, Kind::Constant),
    ("parity", 0, Some("double"), Kind::Constant),
];

/// Evaluates programs about the ring, and keeps their text.
#[derive(Default)]
struct Ring {
    needs_context: bool,
    ran: Mutex<Vec<String>>,
}

impl Executor for Ring {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        if self.needs_context && context.is_none() {
            return Err(ExecError::BadContext("there is no ring".to_owned()));
        }
        self.ran.lock().unwrap().push(terms.display(program).to_string());
        let mut values: BTreeMap<TermId, Option<i64>> = BTreeMap::new();
        for term in terms.bottom_up(program) {
            let args: Vec<Option<i64>> = terms.args(term).iter().map(|arg| values[arg]).collect();
            let value = match (terms.head_text(term), &args[..]) {
                (number, []) => number.parse().ok(),
                ("exists", [odd]) => Some(i64::from(odd.is_some())),
                ("next", &[Some(item)]) => Some((item + 1) % 8),
                ("same" | "item", &[value]) | ("first", &[value, _]) => value,
                ("value", &[Some(item)]) => Some(10 + 3 * item),
                ("add", &[Some(one), Some(other)]) => Some(one + other),
                ("double", &[Some(number)]) => Some(2 * number),
                ("odd", &[Some(item)]) => Some(item).filter(|item| item % 2 == 1),
                ("planet", &[Some(_)]) => Some(3),
                ("parity", &[Some(number)]) => Some(number % 2),
                _ => None,
            };
            values.insert(term, value);
        }
        let text = values[&program].map_or_else(|| "nothing".to_owned(), |value| value.to_string());
        Ok(Denotation { is_empty: values[&program].is_none(), ..Denotation::value(text) })
    }
}

fn load(source: &str) -> Domain {
    Domain::load(source, "ring.toml", None, &NoTables).unwrap()
}

fn short(finding: &Finding) -> (&str, usize, Option<&str>, Kind) {
    (&finding.constant, finding.slot, finding.argument.as_deref(), finding.kind)
}

fn example(program: &str) -> Example {
    Example { program: Some(program.to_owned()), ..Example::new("say it") }
}

/// A search in the ring after these examples.
fn search(examples: &[Example]) -> Report {
    let (domain, ring) = (load(RING), Ring::default());
    let mut search = Search::new(&domain, &ring).with_limits(Limits { depth: 4, ..Limits::default() });
    examples.iter().for_each(|example| search.add(example));
    search.run(|_| true)
}

#[test]
fn exactly_what_is_known_to_be_senseless_is_found() {
    let report = search(&[]);
    let found: BTreeSet<_> = report.unused.iter().map(short).collect();
    assert_eq!(found, BTreeSet::from(SENSELESS));
    assert_eq!((report.in_use.len(), report.not_run, report.is_cut_short), (0, None, false));
}

#[test]
fn a_finding_has_its_line_its_evidence_and_an_example() {
    let report = search(&[]);
    let planet = report.unused.iter().find(|finding| finding.constant == "planet").unwrap();
    assert_eq!((planet.signature.as_str(), planet.line), ("Item -> Answer", 18));
    assert_eq!(planet.declared, "Item -> Answer");
    assert_eq!((planet.example.as_str(), planet.result.as_deref()), ("planet(item(0))", Some("3")));
    assert!(planet.n_programs >= planet.n_arguments && planet.n_arguments >= planet.n_values);
    assert_eq!(planet.n_values, 8);
    let evidence: Vec<usize> = report.unused.iter().map(|finding| finding.n_arguments).collect();
    assert!(evidence.is_sorted_by(|a, b| a >= b), "{evidence:?}");
    assert_eq!(report, search(&[]), "the same every time");
}

#[test]
fn what_the_data_uses_is_listed_apart() {
    let used = [
        example("planet(item(2))"),
        example("planet(next(item(1)))"),
        example("parity(double(value(item(1))))"),
    ];
    let report = search(&used);
    let in_use: BTreeSet<_> = report.in_use.iter().map(|finding| (short(finding), finding.uses)).collect();
    assert_eq!(in_use, BTreeSet::from([(SENSELESS[2], 2), (SENSELESS[5], 1)]));
    let unused: BTreeSet<_> = report.unused.iter().map(short).collect();
    // `planet` stays for items and `next`, but nobody says it of `same`.
    let rest =
        [SENSELESS[0], SENSELESS[1], SENSELESS[3], SENSELESS[4], ("planet", 0, Some("same"), Kind::Constant)];
    assert_eq!(unused, BTreeSet::from(rest));
}

/// Every well-typed term up to a depth that fits a type, by plain recursion.
fn all_terms(domain: &Domain, terms: &mut Terms, slot: TypeId, depth: usize) -> Vec<TermId> {
    let mut found = Vec::new();
    if depth == 0 {
        return found;
    }
    for (id, constant) in domain.constants().iter_enumerated() {
        for (_, frame) in
            domain.frames_of(id).filter(|(_, frame)| domain.types().is_subtype(frame.result, slot))
        {
            found.extend(constant.term);
            let Some(form) = &frame.form else { continue };
            let mut tuples = vec![Vec::new()];
            for &ty in &frame.slots {
                let args = all_terms(domain, terms, ty, depth - 1);
                let longer =
                    |tuple: &Vec<TermId>| args.iter().map(|&arg| [&tuple[..], &[arg]].concat()).collect();
                tuples = tuples.iter().flat_map::<Vec<_>, _>(longer).collect();
            }
            found.extend(tuples.iter().map(|tuple| form.build(terms, tuple)));
        }
    }
    found
}

/// What each constant makes of which values, over some terms.
fn table(terms: &Terms, all: &[TermId]) -> BTreeSet<String> {
    let value = |term: TermId| Ring::default().execute(terms, term, None).unwrap().text;
    let with_args = all.iter().filter(|&&term| terms.head_text(term) != "item");
    let row = |&term: &TermId| {
        let args: Vec<String> = terms.args(term).iter().map(|&arg| value(arg)).collect();
        format!("{}({}) = {}", terms.head_text(term), args.join(", "), value(term))
    };
    with_args.map(row).collect()
}

#[test]
fn without_limits_the_enumeration_reaches_all_that_a_plain_recursion_does() {
    const MANY: usize = 1_000_000;
    let (domain, ring) = (load(RING), Ring::default());
    for depth in 1..=4 {
        let limits =
            Limits { programs: MANY, entities: 3, arguments: MANY, others: MANY, depth, contexts: 1 };
        let source = RING.replace(r#"["0", "1", "2", "3", "4", "5", "6", "7"]"#, r#"["0", "3", "6"]"#);
        let small = load(&source);
        let report = Search::new(&small, &ring).with_limits(limits).run(|_| true);
        let mut terms = small.new_terms();
        let ran: Vec<TermId> =
            ring.ran.lock().unwrap().drain(..).map(|text| terms.parse(&text).unwrap()).collect();
        assert_eq!(report.programs, ran.len(), "no program is run twice");
        let types: Vec<TypeId> = domain.types().ids().collect();
        let all: Vec<TermId> =
            types.iter().flat_map(|&ty| all_terms(&small, &mut terms, ty, depth)).collect();
        assert_eq!(table(&terms, &ran), table(&terms, &all), "depth {depth}");
    }
}

#[test]
fn limits_are_respected() {
    let (domain, ring) = (load(RING), Ring::default());
    for programs in [0, 1, 7, 40] {
        let limits = Limits { programs, ..Limits::default() };
        let report = Search::new(&domain, &ring).with_limits(limits).run(|_| true);
        assert!(report.programs <= programs && report.is_cut_short, "{programs}: {report:?}");
        assert_eq!(ring.ran.lock().unwrap().drain(..).count(), report.programs);
    }
    let asked = Cell::new(0);
    let report = Search::new(&domain, &ring).run(|n_run| {
        asked.set(asked.get() + 1);
        n_run < 12
    });
    assert_eq!((report.programs, asked.get(), report.is_cut_short), (12, 13, true));
    let limits = Limits { entities: 3, depth: 1, ..Limits::default() };
    assert_eq!(Search::new(&domain, &ring).with_limits(limits).run(|_| true).programs, 3);
}

#[test]
fn contexts_come_from_the_data_and_without_one_the_reason_is_given() {
    let domain = load(RING);
    let ring = Ring { needs_context: true, ..Ring::default() };
    let report = Search::new(&domain, &ring).run(|_| true);
    assert_eq!(report.not_run.as_deref(), Some("there is no ring"));
    assert_eq!((report.unused.len(), report.in_use.len()), (0, 0));

    let mut search = Search::new(&domain, &ring);
    for number in [1, 1, 2] {
        search.add(&Example { context: Some(number.into()), ..Example::new("a ring") });
    }
    let report = search.run(|_| true);
    assert_eq!((report.contexts, report.not_run.as_deref()), (2, None));
    assert!(report.unused.iter().any(|finding| short(finding) == SENSELESS[2]));
}

#[test]
fn an_external_executor_gets_complete_programs_only() {
    let source = RING.replace(r#"["Item", "Odd", "Ghost", "Number", "Answer"]"#, r#"["Answer"]"#);
    let domain = load(&(source + "\n[executor]\ncommand = [\"true\"]\n"));
    let ring = Ring::default();
    let report = Search::new(&domain, &ring).run(|_| true);
    let mut terms = domain.new_terms();
    for text in ring.ran.lock().unwrap().iter() {
        let program = terms.parse(text).unwrap();
        assert!(domain.analyze(&terms, program).is_ok(), "{text}");
    }
    // The values of entities are known without running them.
    assert!(report.unused.iter().any(|finding| short(finding) == SENSELESS[2]));
}
