//! The tokens that a prefix allows against all programs of small domains, enumerated without types.

use proptest::prelude::*;
use spanwise_core::Random;
use spanwise_lang::constraint::{Constraint, Prefix};
use spanwise_lang::domain::{ClassId, NoTables};
use spanwise_lang::linear::{Token, assemble, leaf, linearize, vocabulary};
use spanwise_lang::{Domain, Shape, TermId, Terms};
use std::collections::{BTreeMap, BTreeSet};

fn load(source: &str) -> Domain {
    Domain::load(source, "d.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}\n{source}"))
}

/// A domain with the leaves of an utterance.
struct Case {
    domain: Domain,
    /// The vocabulary and the leaves.
    candidates: Vec<Token>,
    classes: Vec<ClassId>,
}

impl Case {
    fn new(domain: Domain, leaves: &[&str]) -> Self {
        let mut terms = domain.new_terms();
        let token = |text: &&str| leaf(&domain, &mut terms, text).unwrap();
        let leaves: Vec<Token> = leaves.iter().map(token).collect();
        let classes = leaves.iter().filter_map(class_of).collect();
        let mut candidates = vocabulary(&domain);
        candidates.extend(leaves.into_iter().filter(|leaf| !candidates.contains(leaf)).collect::<Vec<_>>());
        Self { domain, candidates, classes }
    }

    /// The tokens of every well-typed program that has at most `max_tokens`. The wrapper has three tokens.
    ///
    /// Terms are made without types, by their number of tokens; type checking selects.
    fn programs(&self, max_tokens: usize) -> Vec<Vec<Token>> {
        let mut terms = self.domain.new_terms();
        let n_wrap = self.domain.wrap().map_or(0, |_| 3);
        let by_length = self.all_terms(&mut terms, max_tokens.saturating_sub(n_wrap));
        let mut programs = Vec::new();
        for body in by_length.into_iter().flatten().collect::<BTreeSet<_>>() {
            let program = self.domain.wrap().map_or(body, |form| form.build(&mut terms, &[body]));
            if self.domain.analyze(&terms, program).is_ok() {
                let tokens = linearize(&self.domain, &terms, program);
                let is_offered = tokens.iter().all(|token| self.candidates.contains(token));
                programs.extend(Some(tokens).filter(|tokens| is_offered && tokens.len() <= max_tokens));
            }
        }
        programs
    }

    /// All terms of the candidates, by their number of tokens. Names have as many arguments as in some form.
    fn all_terms(&self, terms: &mut Terms, max_tokens: usize) -> Vec<Vec<TermId>> {
        let heads = self.heads();
        let mut by_length: Vec<Vec<TermId>> = vec![Vec::new(); max_tokens + 1];
        // Lists of arguments with the commas between them, by their number of tokens.
        let mut lists: Vec<Vec<Vec<TermId>>> = vec![Vec::new(); max_tokens + 1];
        for n in 1..=max_tokens {
            if n == 1 {
                let atoms = self.candidates.iter().filter_map(|token| match token {
                    Token::Name(name) => Some(terms.leaf(Shape::Name, name)),
                    Token::Leaf(leaf) => Some(terms.parse(&leaf.text).unwrap()),
                    Token::Open | Token::Comma | Token::Close => None,
                });
                by_length[1] = atoms.collect();
            }
            for (head, n_args) in &heads {
                if n == 3 && *n_args == Some(0) {
                    by_length[3].push(terms.call(head, &[]));
                }
                let lists = lists[n.saturating_sub(3)].iter();
                let fitting =
                    lists.filter(|args| n_args.map_or(args.len() > 1, |n_args| args.len() == n_args));
                by_length[n].extend(fitting.map(|args| terms.call(head, args)));
            }
            lists[n] = by_length[n].iter().map(|&term| vec![term]).collect();
            for n_first in 1..n.saturating_sub(1) {
                let (shorter, longer) = lists.split_at_mut(n);
                for &first in &by_length[n_first] {
                    let rest = shorter[n - n_first - 1].iter();
                    longer[0].extend(rest.map(|rest| [&[first], rest.as_slice()].concat()));
                }
            }
        }
        by_length
    }

    /// The names of calls in forms with their numbers of arguments; `None` is any number above one.
    fn heads(&self) -> BTreeSet<(String, Option<usize>)> {
        let domain = &self.domain;
        let mut terms = domain.new_terms();
        let hole = terms.leaf(Shape::Name, "hole");
        let accumulators = domain.accumulators().iter();
        let mut heads: BTreeSet<_> =
            accumulators.clone().map(|it| (terms.text(it.head).to_owned(), None)).collect();
        let frames = domain.predicates().flat_map(|(id, _)| domain.frames_of(id)).map(|(_, frame)| frame);
        let forms = frames.filter_map(|frame| Some(frame.form.as_ref()?.build(&mut terms, &[hole; 4])));
        let built: Vec<TermId> = forms.chain(accumulators.filter_map(|it| it.default)).collect();
        for part in built.into_iter().flat_map(|term| terms.bottom_up(term)) {
            if terms.shape(part) == Shape::Call {
                heads.insert((terms.head_text(part).to_owned(), Some(terms.args(part).len())));
            }
        }
        heads
    }

    /// Compares what every prefix of every program allows with what continues it. Returns the number of prefixes.
    fn check(&self, programs: &[Vec<Token>], max_tokens: usize) -> usize {
        // The tokens after each prefix; `None` is the end.
        let mut after: BTreeMap<&[Token], BTreeSet<Option<&Token>>> = BTreeMap::new();
        for tokens in programs.iter().filter(|tokens| tokens.len() <= max_tokens) {
            for n in 0..=tokens.len() {
                after.entry(&tokens[..n]).or_default().insert(tokens.get(n));
            }
        }
        let constraint = Constraint::new(&self.domain);
        let start = constraint.start(max_tokens, &self.classes);
        if after.is_empty() {
            assert!(self.allowed(&constraint, &start).is_empty(), "there is no program");
        }
        for (&tokens, expected) in &after {
            let mut prefix = start.clone();
            for token in tokens {
                assert!(prefix.push(constraint.terminal(token).unwrap()), "{}", written(tokens));
            }
            assert_eq!(
                self.allowed(&constraint, &prefix),
                *expected,
                "after `{}`, at most {max_tokens} tokens, in {}",
                written(tokens),
                self.domain.source()
            );
        }
        after.len()
    }

    fn allowed(&self, constraint: &Constraint, prefix: &Prefix<'_>) -> BTreeSet<Option<&Token>> {
        let is_allowed =
            |token: &&Token| constraint.terminal(token).is_some_and(|terminal| prefix.allows(terminal));
        let tokens = self.candidates.iter().filter(is_allowed).map(Some);
        tokens.chain(prefix.is_complete().then_some(None)).collect()
    }
}

fn class_of(token: &Token) -> Option<ClassId> {
    match token {
        Token::Leaf(leaf) => leaf.class,
        _ => None,
    }
}

fn written(tokens: &[Token]) -> String {
    tokens.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[track_caller]
fn check(source: &str, leaves: &[&str], max_tokens: usize, n_programs: usize) {
    let case = Case::new(load(source), leaves);
    let programs = case.programs(max_tokens);
    assert_eq!(programs.len(), n_programs, "the number of programs with at most {max_tokens} tokens");
    for limit in 0..=max_tokens {
        case.check(&programs, limit);
    }
}

#[test]
fn type_variables_subtypes_and_several_signatures_are_exact() {
    check(
        r#"
        name = "d"
        types = ["A", "B < A", "C < B", "S"]
        root = { types = ["B", "S"] }
        [constants]
        a = "A"
        c = "C"
        s = "S"
        same = "T, T -> T where T in [A, C, S]"
        turn = "X -> Y where (X, Y) in [(A, S), (S, B)]"
        some = ["C -> A", "-> C"]
        "#,
        &[],
        13,
        80,
    );
}

#[test]
fn defaults_optional_arguments_and_nested_forms_are_exact() {
    check(
        r#"
        name = "d"
        types = ["A", "B < A", "S"]
        root = { types = ["A"] }
        [constants]
        near = { type = "A -> B", form = "rel(near, {})" }
        far = { type = "A, S -> A", form = "rel(far({2}), {1})" }
        s = { type = "S", form = "nil" }
        b = "B"
        c = { type = "B", form = "rel(near)" }
        f = "B?, S = nil -> A"
        g = "A = all -> S"
        "#,
        &[],
        13,
        32,
    );
}

#[test]
fn lists_of_values_are_exact_with_and_without_a_default() {
    for (default, n) in [("default = \"any()\"", 492), ("", 372)] {
        let source = format!(
            r#"
            name = "d"
            types = ["E", "F", "G < F", "S", "R", "Q < S"]
            root = {{ types = ["R"] }}
            [constants]
            e = "E"
            g = "G"
            s = "R -> Q"
            k = ["-> Q", "-> F"]
            [[accumulators]]
            head = "pick"
            elements = ["E", "F"]
            over = "S"
            result = "R"
            {default}
            "#
        );
        check(&source, &[], 14, n);
    }
}

const PLACES: &str = r#"
    name = "d"
    types = ["Place", "Level", "Time", "Action"]
    [root]
    types = ["Action"]
    wrap = "do({})"
    [constants]
    warm = "Place = place('hall') -> Action"
    cool = "Place, Level, Time = 'now' -> Action"
    then = "Action, Action -> Action"
    full = { type = "Level", form = "100" }
    [[entities]]
    class = "place"
    type = "Place"
    form = "place('{name}')"
    names = ["hall", "attic"]
    [[entities]]
    class = "level"
    type = "Level"
    form = "{name}"
    names = ["0"]
    open = true
"#;

#[test]
fn only_leaves_of_the_classes_of_an_utterance_are_used_and_leaves_of_forms() {
    check(PLACES, &[], 17, 3);
    check(PLACES, &["0"], 14, 3);
    check(PLACES, &["7", "place('attic')"], 17, 10);
    check(PLACES, &["place('hall')"], 14, 2);
}

#[test]
fn a_constant_whose_form_repeats_an_argument_is_never_written() {
    let source = r#"
        name = "d"
        types = ["A"]
        root = { types = ["A"] }
        constants = { a = "A", f = { type = "A -> A", form = "and({1}, {1})" } }
    "#;
    let domain = load(source);
    let constraint = Constraint::new(&domain);
    let and = constraint.terminal(&Token::Name("and".to_owned()));
    assert_eq!(and, None);
}

#[test]
fn without_a_program_nothing_is_allowed_and_a_prefix_survives_wrong_tokens() {
    let domain = load(PLACES);
    let constraint = Constraint::new(&domain);
    let mut prefix = constraint.start(5, &[]);
    for token in vocabulary(&domain) {
        assert!(!constraint.terminal(&token).is_some_and(|terminal| prefix.push(terminal)));
    }
    assert!(!prefix.is_complete());
    let mut prefix = constraint.start(usize::MAX, &[]);
    let mut terms = domain.new_terms();
    let program = terms.parse("do(then(warm(place('hall')), warm(place('hall'))))").unwrap();
    for token in linearize(&domain, &terms, program) {
        for other in vocabulary(&domain) {
            let terminal = constraint.terminal(&other).unwrap();
            assert_eq!(prefix.allows(terminal), prefix.clone().push(terminal));
            assert!(prefix.allows(terminal) || !prefix.push(terminal));
        }
        assert!(prefix.push(constraint.terminal(&token).unwrap()));
    }
    assert!(prefix.is_complete());
}

#[test]
fn a_prefix_of_ten_thousand_open_calls_can_still_be_completed() {
    let domain = load(PLACES);
    let constraint = Constraint::new(&domain);
    let mut terms = domain.new_terms();
    let deep = format!(
        "do({}warm(place('hall')){})",
        "then(".repeat(10_000),
        ", warm(place('hall')))".repeat(10_000)
    );
    let program = terms.parse(&deep).unwrap();
    let tokens = linearize(&domain, &terms, program);
    let mut prefix = constraint.start(tokens.len(), &[]);
    assert!(tokens.iter().all(|token| prefix.push(constraint.terminal(token).unwrap())));
    assert!(prefix.is_complete());
}

/// What random constants are: the text after the name, with `N` for a number of their own.
const CONSTANTS: &[&str] = &[
    r#""-> A""#,
    r#""B""#,
    r#""S""#,
    r#""E""#,
    r#""A -> A""#,
    r#""A -> B""#,
    r#""R -> A""#,
    r#""S -> B""#,
    r#""A, B -> A""#,
    r#""B, S -> A""#,
    r#""A = nil -> A""#,
    r#""B = p('x') -> S""#,
    r#""A?, S = 0 -> B""#,
    r#""T, T -> T where T in [B, S]""#,
    r#""X -> Y where (X, Y) in [(A, S), (S, C), (E, A)]""#,
    r#"["A -> S", "-> E", "C, C -> C"]"#,
    r#"["S", "B -> R"]"#,
    r#"{ type = "A -> C", form = "rel(kN, {})" }"#,
    r#"{ type = "S, B -> A", form = "rel({2}, kN({1}))" }"#,
    r#"{ type = "S", form = "rel(kN(), 0)" }"#,
];

fn random_case(random: &mut Random) -> Case {
    let pick = |random: &mut Random, texts: &[&'static str]| texts[random.below(texts.len())];
    let mut source = String::from(
        "name = \"random\"\ntypes = [\"A\", \"B < A\", \"C < B\", \"S\", \"E\", \"R\"]\n[root]\n",
    );
    source +=
        pick(random, &["types = [\"A\", \"R\"]\n", "types = [\"B\", \"S\"]\n", "types = [\"R\", \"E\"]\n"]);
    source += pick(random, &["", "wrap = \"do({})\"\n"]);
    source += "[constants]\n";
    for at in 0..2 + random.below(7) {
        source += &format!("k{at} = {}\n", pick(random, CONSTANTS).replace('N', &at.to_string()));
    }
    source += "[[entities]]\nclass = \"p\"\ntype = \"B\"\nform = \"p('{name}')\"\nnames = [\"x\", \"y\"]\n";
    source += "[[entities]]\nclass = \"n\"\ntype = \"S\"\nform = \"{name}\"\nnames = [\"0\"]\nopen = true\n";
    source += "[[accumulators]]\nhead = \"pick\"\nelements = [\"E\", \"C\"]\nover = \"S\"\nresult = \"R\"\n";
    source += pick(random, &["", "default = \"any()\"\n", "default = \"rel(nil)\"\n"]);
    let leaves: Vec<&str> =
        ["p('x')", "p('y')", "0", "7"].into_iter().filter(|_| random.below(3) == 0).collect();
    Case::new(load(&source), &leaves)
}

#[test]
fn in_random_domains_exactly_the_tokens_of_well_typed_programs_are_allowed() {
    let mut n_prefixes = 0;
    for seed in 0..100 {
        let case = random_case(&mut Random::new(seed, &[]));
        // Fewer tokens where there are more terms.
        let max_tokens = (130 / case.candidates.len()).clamp(8, 12);
        let programs = case.programs(max_tokens);
        for limit in [max_tokens, max_tokens - 1, max_tokens / 2] {
            n_prefixes += case.check(&programs, limit);
        }
    }
    assert!(n_prefixes > 5_000, "only {n_prefixes} prefixes");
}

proptest! {
    #[test]
    fn in_random_domains_any_choice_of_allowed_tokens_ends_in_a_well_typed_program(seed: u64, max_tokens in 1usize..40) {
        let mut random = Random::new(seed, &[1]);
        let case = random_case(&mut random);
        let constraint = Constraint::new(&case.domain);
        let mut prefix = constraint.start(max_tokens, &case.classes);
        let mut tokens = Vec::new();
        loop {
            let allowed: Vec<_> = case.allowed(&constraint, &prefix).into_iter().collect();
            if allowed.is_empty() && tokens.is_empty() {
                return Ok(());
            }
            let Some(token) = allowed[random.below(allowed.len())] else { break };
            prop_assert!(prefix.push(constraint.terminal(token).unwrap()));
            tokens.push(token.clone());
        }
        prop_assert!(tokens.len() <= max_tokens);
        let mut terms = case.domain.new_terms();
        let program = assemble(&mut terms, &tokens).unwrap();
        prop_assert!(case.domain.analyze(&terms, program).is_ok(), "{}", written(&tokens));
        prop_assert_eq!(linearize(&case.domain, &terms, program), tokens);
    }
}
