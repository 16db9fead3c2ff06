#![cfg_attr(
    not(feature = "geo"),
    allow(dead_code, unused_imports, reason = "some tests need the domain geo")
)]
use super::*;
use spanwise_chart::grammar::{N_USAGES, Options};
use spanwise_domains::{data, exec, load};
use spanwise_lang::lexicon::Source;
use std::path::{Path, PathBuf};

fn data_file(name: &str) -> Option<PathBuf> {
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")).join(name);
    if !path.is_file() {
        use std::io::Write as _;
        // Written to the stream directly: output of the print macros is hidden when a test passes.
        let _ = writeln!(std::io::stderr(), "SKIPPED: {} is not there", path.display());
        return None;
    }
    Some(path)
}

/// A domain with its grammar, and examples of it.
struct Set {
    domain: Domain,
    grammar: Grammar,
    candidates: Candidates,
    terms: Terms,
    examples: Vec<Explained>,
}

impl Set {
    fn new(domain: Domain) -> Self {
        let grammar = Grammar::new(&domain, Options { implicit: true, ..Options::default() });
        let terms = domain.new_terms();
        Self { domain, grammar, candidates: Candidates::default(), terms, examples: Vec::new() }
    }

    /// Adds an example. Its tree prefers lexicon matches, and few words per constant elsewhere.
    fn add(&mut self, text: &str, program: &str) -> bool {
        let Ok(program) = self.terms.parse(program) else { return false };
        let utterance = Utterance::new(text);
        let Ok(lattice) = self.candidates.lattice(&self.domain, &utterance) else { return false };
        let gold = GoldChart::new(&self.domain, &self.grammar, &lattice, &self.terms, program, Joins::None);
        let Ok(gold) = gold else { return false };
        let matches = self.domain.lexicon().matches(&utterance);
        let mut scores = Vec::new();
        for leaf in lattice.leaves() {
            let span = Span::new(leaf.start, leaf.end);
            let found = matches.iter().find(|found| found.span == span && found.constant == leaf.constant);
            let score = match found.map(|found| found.source) {
                Some(Source::Name | Source::Phrase | Source::Synonym) => 2.0 * span.len() as f32,
                None => -0.5 * (span.len() - 1) as f32,
            };
            scores.extend([score; N_USAGES]);
        }
        // Implicit constants come last.
        let implicit = |key: &spanwise_chart::grammar::RuleKey| {
            matches!(key.kind, spanwise_chart::grammar::RuleKind::Implicit(_))
        };
        scores.extend(self.grammar.rules().iter().map(|key| if implicit(key) { -1.5 } else { 0.0 }));
        let Some(tree) = gold.best_tree(&self.domain, &lattice, &mut self.terms, &scores) else {
            return false;
        };
        self.examples.push(Explained { utterance, program, tree });
        true
    }

    fn read(name: &str, file: &str, most: usize) -> Option<Self> {
        let path = data_file(file)?;
        let mut set = Self::new(load::load(name).unwrap());
        for example in data::read(&path).unwrap().into_iter().take(most) {
            set.add(&example.utterance, example.program.as_deref().unwrap());
        }
        Some(set)
    }

    fn run(&mut self, n: usize, seed: u64, limits: &Limits) -> Vec<Recombined> {
        let bank = Bank::new(&self.domain, &mut self.terms, &self.examples, *limits);
        bank.recombine(&self.grammar, &self.candidates, &mut self.terms, n, seed)
    }
}

const SETS: [(&str, &str, usize); 2 + cfg!(feature = "geo") as usize] = [
    #[cfg(feature = "geo")]
    ("geo", "geo/splits/train.json", 600),
    ("scan", "scan_sp/train_right.json", 2000),
    ("clevr", "clevr/train.jsonl", 500),
];

/// Checks what must hold for all new examples.
fn check(set: &Set, found: &[Recombined], limits: &Limits) {
    let mut texts = HashSet::new();
    for new in found {
        let text = new.utterance.text();
        assert!(new.utterance.len() <= limits.max_words, "{text}");
        let analysis = set.domain.analyze(&set.terms, new.program).unwrap();
        let is_constant = |node: &&Node| !matches!(node, Node::Gather { .. });
        assert!(analysis.nodes.iter().filter(is_constant).count() <= limits.max_constants, "{text}");
        let lattice = set.candidates.lattice(&set.domain, &new.utterance).unwrap();
        GoldChart::new(&set.domain, &set.grammar, &lattice, &set.terms, new.program, Joins::None).unwrap();
        assert!(texts.insert(whole(&new.utterance)), "twice: {text}");
        assert!(new.host < set.examples.len());
    }
    let old: HashSet<String> = set.examples.iter().map(|example| whole(&example.utterance)).collect();
    assert!(texts.is_disjoint(&old));
}

#[test]
fn real_examples_give_typed_derivable_new_ones_within_the_limits() {
    for (name, file, most) in SETS {
        let Some(mut set) = Set::read(name, file, most) else { continue };
        assert!(set.examples.len() * 10 >= most.min(540) * 9, "{name}: {}", set.examples.len());
        let n = set.examples.len().min(500);
        for values in [false, true] {
            let limits = Limits { values, ..Limits::default() };
            let found = set.run(n, 7, &limits);
            assert_eq!(found.len(), n, "{name}");
            check(&set, &found, &limits);
            assert_eq!(found, set.run(n, 7, &limits));
            assert_ne!(found, set.run(n, 8, &limits));
            // Fewer examples are a prefix of more examples.
            assert_eq!(found[..n / 2], set.run(n / 2, 7, &limits));
            if name != "clevr" {
                let executor = exec::open(&set.domain, None).unwrap().unwrap();
                for new in &found {
                    let done = executor.execute(&set.terms, new.program, None);
                    assert!(done.is_ok(), "{}: {done:?}", new.utterance.text());
                }
            }
        }
        let narrow = Limits { max_words: 9, max_constants: 5, ..Limits::default() };
        let found = set.run(100, 3, &narrow);
        assert!(!found.is_empty(), "{name}");
        check(&set, &found, &narrow);
    }
}

#[test]
fn replacing_a_fragment_by_itself_changes_nothing() {
    for (name, file, most) in SETS {
        let Some(mut set) = Set::read(name, file, most) else { continue };
        let limits = Limits { values: true, ..Limits::default() };
        let bank = Bank::new(&set.domain, &mut set.terms, &set.examples, limits);
        let mut n_places = 0;
        for host in &bank.hosts {
            let example = &set.examples[host.example];
            for place in &host.places {
                let same = &bank.fragments[place.fragment];
                let text = Utterance::new(bank.text(host, place, same));
                assert_eq!(whole(&text), whole(&example.utterance), "{name}");
                let program = bank.program(&mut set.terms, host, place.node, same.term);
                assert_eq!(program, Some(example.program), "{name}");
                n_places += 1;
            }
        }
        assert!(n_places > set.examples.len(), "{name}: {n_places}");
    }
}

#[test]
fn new_navigation_commands_have_the_programs_of_the_reference_grammar() {
    use spanwise_domains::scan::grammar::Command;
    let Some(mut set) = Set::read("scan", "scan_sp/train_right.json", 2000) else { return };
    for values in [false, true] {
        let found = set.run(2000, 11, &Limits { values, ..Limits::default() });
        assert_eq!(found.len(), 2000);
        for new in found {
            let text = new.utterance.text();
            let command = Command::parse(text).unwrap_or_else(|error| panic!("{text}: {error}"));
            assert_eq!(set.terms.parse(&command.program()), Ok(new.program), "{text}");
        }
    }
}

#[test]
fn navigation_fragments_are_whole_commands_unless_values_are_enabled() {
    let mut set = Set::new(load::load("scan").unwrap());
    assert!(set.add("jump", "i_jump()"));
    assert!(set.add("walk left and run twice", "i_and(i_walk(i_left), i_twice(i_run()))"));
    assert!(set.add("look around right", "i_look(i_right, i_around)"));
    let texts = |found: &[Recombined]| {
        let mut texts: Vec<_> = found.iter().map(|new| new.utterance.text().to_owned()).collect();
        texts.sort();
        texts
    };
    let commands = texts(&set.run(100, 1, &Limits::default()));
    // Each inner command can be replaced by any other; a repeated command only by one that is not repeated.
    assert_eq!(
        commands,
        [
            "jump and run twice",
            "look around right and run twice",
            "run and run twice",
            "run twice and run twice",
            "walk left and jump",
            "walk left and jump twice",
            "walk left and look around right",
            "walk left and look around right twice",
            "walk left and run",
            "walk left and walk left",
            "walk left and walk left twice"
        ]
    );
    let all = texts(&set.run(100, 1, &Limits { values: true, ..Limits::default() }));
    assert!(all.contains(&"look around left".to_owned()) && all.len() > commands.len());
}

const FAMILY: &str = r#"
name = "family"
types = ["Person", "People", "Fact"]
no_meaning = ["the", "a", "is", "of"]
[root]
types = ["Person", "People", "Fact"]
[constants]
ann = "Person"
bob = "Person"
eve = "Person"
mother = "Person -> Person"
friend = "Person -> Person"
oldest = "People -> Person"
children = "Person -> People"
pair = "Person, Person -> Fact"
knows = "Person, Person -> Fact"
[lexicon]
ann = "ann"
bob = "bob"
eve = "eve"
mother = "mother"
friend = "friend"
oldest = "oldest"
children = "children"
pair = "and"
knows = "knows"
"#;

fn family() -> Set {
    family_in("none")
}

fn family_in(language: &str) -> Set {
    let source = format!("language = \"{language}\"\n{FAMILY}");
    let domain = Domain::load(&source, "family.toml", None, &spanwise_lang::domain::NoTables);
    let mut set = Set::new(domain.unwrap_or_else(|errors| panic!("{errors}")));
    set.candidates.predicates = spanwise_chart::candidates::PredicatePlacement::Lexicon;
    set
}

/// Texts and programs, sorted.
fn shown(set: &Set, found: &[Recombined]) -> Vec<String> {
    let show = |new: &Recombined| {
        format!("{} = {}", new.utterance.text(), set.domain.display(&set.terms, new.program))
    };
    let mut rows: Vec<_> = found.iter().map(show).collect();
    rows.sort();
    rows
}

#[test]
fn of_two_equal_sub_programs_the_one_aligned_to_the_replaced_words_changes() {
    let mut set = family();
    assert!(set.add("mother of ann and friend of ann", "pair(mother(ann), friend(ann))"));
    assert!(set.add("bob", "bob"));
    let found = set.run(1000, 5, &Limits::default());
    let rows = shown(&set, &found);
    for row in [
        "mother of ann and friend of bob = pair(mother(ann), friend(bob))",
        "mother of bob and friend of ann = pair(mother(bob), friend(ann))",
        "ann and friend of ann = pair(ann, friend(ann))",
        "mother of friend of ann and friend of ann = pair(mother(friend(ann)), friend(ann))",
        "mother of ann and bob = pair(mother(ann), bob)",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row} in {rows:#?}");
    }
}

#[test]
fn two_equal_arguments_are_not_replaced_because_their_words_could_be_crossed() {
    let mut set = family();
    assert!(set.add("friend of ann knows friend of ann", "knows(friend(ann), friend(ann))"));
    assert!(set.add("bob", "bob"));
    assert_eq!(set.run(10, 5, &Limits::default()), []);
}

#[cfg(feature = "geo")]
#[test]
fn articles_stay_between_phrases_and_move_with_names() {
    let domain = load::load("geo").unwrap();
    let mut set = Set::new(domain);
    let texas = "stateid('texas')";
    assert!(set.add("how large is texas ?", &format!("answer(size({texas}))")));
    assert!(set.add("what is the largest state ?", "answer(largest(state(all)))"));
    assert!(
        set.add("what is the longest river in texas ?", &format!("answer(longest(river(loc_2({texas}))))"))
    );
    assert!(set.add(
        "how many rivers run through the smallest state ?",
        "answer(count(river(traverse_2(smallest(state(all))))))"
    ));
    assert!(set.add("what are the rivers in alaska ?", "answer(river(loc_2(stateid('alaska'))))"));
    let found = set.run(1000, 1, &Limits::default());
    let rows = shown(&set, &found);
    for row in [
        // A phrase that replaces a name brings its article. A name that replaces a phrase removes it.
        "how large is the largest state ? = answer ( size ( largest ( state ( all ) ) ) )",
        "how many rivers run through texas ? = answer ( count ( river ( traverse_2 ( stateid ( 'texas' ) ) ) ) )",
        // Between phrases the article of the host is kept.
        "how many rivers run through the largest state ? = \
         answer ( count ( river ( traverse_2 ( largest ( state ( all ) ) ) ) ) )",
        "what is the longest rivers in alaska ? = answer ( longest ( river ( loc_2 ( stateid ( 'alaska' ) ) ) ) )",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row} in {rows:#?}");
    }
    assert!(rows.iter().all(|row| !row.contains("the the") && !row.contains("longest the")), "{rows:#?}");
}

#[test]
fn articles_are_part_of_a_fragment_only_in_a_language_that_has_them() {
    for (language, is_made) in [("english", true), ("none", false)] {
        let mut set = family_in(language);
        assert!(set.add("who is the mother of ann", "mother(ann)"));
        assert!(set.add("friend of bob", "friend(bob)"));
        let found = set.run(100, 1, &Limits::default());
        let rows = shown(&set, &found);
        // With its article, `the mother of ann` is a phrase by itself.
        let row = "friend of mother of ann = friend(mother(ann))".to_owned();
        assert_eq!(rows.contains(&row), is_made, "{language}: {rows:#?}");
        assert!(rows.contains(&"friend of ann = friend(ann)".to_owned()), "{language}: {rows:#?}");
    }
}

#[test]
fn discontinuous_parts_are_moved_inside_a_fragment_but_are_not_fragments() {
    let mut set = family();
    // `oldest` comes between `children` and `ann`, so `children(ann)` has no contiguous words.
    assert!(set.add("oldest ann children", "oldest(children(ann))"));
    assert!(set.add("children oldest ann", "oldest(children(ann))"));
    assert!(set.add("bob knows eve", "knows(bob, eve)"));
    let split = &set.examples[1];
    let analysis = set.domain.analyze(&set.terms, split.program).unwrap();
    assert_eq!(analysis.nodes.len(), 3);
    assert_eq!(
        split.tree.says[1],
        None,
        "{}",
        split.tree.tree.render(&set.domain, &set.terms, &split.utterance)
    );
    let found = set.run(1000, 1, &Limits::default());
    let rows = shown(&set, &found);
    for row in [
        "children oldest ann knows eve = knows(oldest(children(ann)), eve)",
        "bob knows oldest ann children = knows(bob, oldest(children(ann)))",
        "children oldest bob = oldest(children(bob))",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row} in {rows:#?}");
    }
}

#[test]
fn gathered_values_are_one_fragment_with_the_filler_noun() {
    let mut set = Set::new(load::load("clevr").unwrap());
    assert!(set.add("What color is the large cube?", "query(color, filter(large, cube, scene()))"));
    assert!(set.add(
        "How many tiny things are left of the red metal thing?",
        "count(filter(small, relate(left, filter(red, metal, scene()))))"
    ));
    let rows = {
        let found = set.run(1000, 1, &Limits::default());
        shown(&set, &found)
    };
    for row in [
        "What color is the red metal thing? = query ( color , filter ( red , metal , scene ( ) ) )",
        "How many tiny things are left of the large cube? = \
         count ( filter ( small , relate ( left , filter ( large , cube , scene ( ) ) ) ) )",
        "How many large cube? = count ( filter ( large , cube , scene ( ) ) )",
    ] {
        assert!(rows.iter().any(|found| found == row), "{row} in {rows:#?}");
    }
    // `tiny` is applied to another set here, so it is not a fragment.
    assert!(
        !rows.iter().any(|row| row.contains("color is the tiny ") && row.contains("filter ( small , scene")),
        "{rows:#?}"
    );
    let found = set.run(1000, 1, &Limits { values: true, ..Limits::default() });
    let rows = shown(&set, &found);
    let row = "What color is the tiny cube? = query ( color , filter ( small , cube , scene ( ) ) )";
    assert!(rows.iter().any(|found| found == row), "{rows:#?}");
}

#[test]
fn excluded_utterances_are_not_made() {
    let mut set = family();
    assert!(set.add("mother of ann", "mother(ann)"));
    assert!(set.add("friend of bob", "friend(bob)"));
    let mut bank = Bank::new(&set.domain, &mut set.terms, &set.examples, Limits::default());
    bank.exclude(&[Utterance::new("Mother of  Bob")]);
    let found = bank.recombine(&set.grammar, &set.candidates, &mut set.terms, 10, 1);
    let rows = shown(&set, &found);
    assert!(rows.contains(&"friend of ann = friend(ann)".to_owned()), "{rows:#?}");
    assert!(!rows.contains(&"mother of bob = mother(bob)".to_owned()), "{rows:#?}");
}

#[test]
fn too_few_examples_give_no_new_ones() {
    let mut set = family();
    assert_eq!(set.run(10, 1, &Limits::default()), []);
    assert!(set.add("ann", "ann"));
    assert_eq!(set.run(10, 1, &Limits::default()), []);
    let bank = Bank::new(&set.domain, &mut set.terms, &set.examples, Limits::default());
    assert_eq!(bank.fragments.len(), 1);
}

#[test]
fn limits_grow_with_the_examples_but_not_with_outliers() {
    let mut set = Set::new(load::load("scan").unwrap());
    for _ in 0..200 {
        assert!(set.add("walk left", "i_walk ( i_left )"));
    }
    assert_eq!(Limits::of(&set.domain, &set.terms, &set.examples), Limits::default());
    let long = Utterance::new(["walk"; 30].join(" "));
    set.examples[0].utterance = long.clone();
    set.examples[1].utterance = long.clone();
    assert_eq!(Limits::of(&set.domain, &set.terms, &set.examples).max_words, Limits::default().max_words);
    set.examples[2].utterance = long;
    assert_eq!(Limits::of(&set.domain, &set.terms, &set.examples).max_words, 30);
    assert_eq!(Limits::of(&set.domain, &set.terms, &[]), Limits::default());
}

/// In how many examples one function is nested in another, counted on the text of programs: the functions above are the names
/// before open parentheses.
fn nested_by_text(set: &Set, above: &str, below: &str) -> usize {
    let is_nested = |example: &&Explained| {
        // `state(all)` is a constant without arguments.
        let text = set.terms.display(example.program).to_string().replace(' ', "").replace("(all)", "");
        let mut open: Vec<&str> = Vec::new();
        let (mut name, mut found) = ("", false);
        for word in text.split_inclusive(['(', ')', ',']) {
            let (word, sign) = word.split_at(word.len() - 1);
            if !word.trim().is_empty() {
                name = word.trim();
            }
            match sign {
                "(" => {
                    found |= name == below && open.contains(&above);
                    open.push(name);
                }
                ")" => drop(open.pop()),
                _ => {}
            }
        }
        found
    };
    set.examples.iter().filter(is_nested).count()
}

#[cfg(feature = "geo")]
#[test]
fn nested_functions_are_counted_as_in_the_text_of_programs() {
    // In this domain, constants are written by their names.
    let Some(mut set) = Set::read("geo", "geo/splits/train.json", 540) else { return };
    let bank = Bank::new(&set.domain, &mut set.terms, &set.examples, Limits::default());
    let nested = bank.nested.clone();
    let functions: HashSet<ConstantId> = nested.keys().flat_map(|&(above, below)| [above, below]).collect();
    let name = |id: ConstantId| set.domain.constants()[id].name.as_str();
    let mut n_seen = 0;
    for &above in &functions {
        for &below in &functions {
            let counted = nested.get(&(above, below)).copied().unwrap_or(0);
            let (above, below) = (name(above), name(below));
            assert_eq!(counted, nested_by_text(&set, above, below), "{below} below {above}");
            n_seen += usize::from(counted > 0);
        }
    }
    assert!(n_seen > 100, "{n_seen}");
}

#[test]
fn of_several_exchanges_the_rarest_composition_is_chosen() {
    let Some(mut set) = Set::read("clevr", "clevr/train.jsonl", 300) else { return };
    let mut share_of_new = |choices: usize| {
        let limits = Limits { choices, ..Limits::of(&set.domain, &set.terms, &set.examples) };
        let found = set.run(300, 3, &limits);
        check(&set, &found, &limits);
        let bank = Bank::new(&set.domain, &mut set.terms, &set.examples, limits);
        let is_new = |new: &&Recombined| {
            let analysis = set.domain.analyze(&set.terms, new.program).unwrap();
            let (above, below) = functions(&set.domain, &analysis);
            let mut pairs = (0..above.len()).flat_map(|node| product(&above[node], &below[node]));
            pairs.any(|pair| !bank.nested.contains_key(&pair))
        };
        found.iter().filter(is_new).count() as f64 / found.len() as f64
    };
    let (any, rare) = (share_of_new(1), share_of_new(8));
    assert!(rare > 1.5 * any && rare > 0.5, "{any} {rare}");
}

#[test]
fn opposites_are_exchanged_in_words_and_programs() {
    let source = r#"
        name = "home"
        types = ["Light", "Action"]
        root = { types = ["Action"], wrap = "do({})" }
        contrasts = [["on", "off"]]
        lexicon = { on = "on", off = "off", hall = "hall", lamp = "lamp", then = "then" }
        [constants]
        on = "Light -> Action"
        off = "Light -> Action"
        then = "Action, Action -> Action"
        hall = "Light"
        lamp = "Light"
    "#;
    let mut set =
        Set::new(Domain::load(source, "home.toml", None, &spanwise_lang::domain::NoTables).unwrap());
    for (text, program) in [
        ("hall on please", "do(on(hall))"),
        ("lamp on", "do(on(lamp))"),
        ("switch off the lamp", "do(off(lamp))"),
        // Which of the two is meant by its words is not clear.
        ("hall on then lamp on", "do(then(on(hall), on(lamp)))"),
    ] {
        assert!(set.add(text, program), "{text}");
    }
    let Set { domain, grammar, candidates, mut terms, examples } = set;
    let made = contrasted(&domain, (&grammar, &candidates), &mut terms, &examples, 10, 1);
    let mut shown: Vec<(String, String)> = made
        .iter()
        .map(|new| (new.utterance.text().to_owned(), terms.display(new.program).to_string()))
        .collect();
    shown.sort();
    assert_eq!(shown.len(), 3, "{shown:?}");
    for (text, program) in &shown {
        assert_eq!(text.contains("off"), program.contains("off("), "{text}: {program}");
        assert_eq!(
            text.contains(" on") || text.starts_with("on"),
            program.contains("on("),
            "{text}: {program}"
        );
    }
    assert!(contrasted(&domain, (&grammar, &candidates), &mut terms, &examples, 1, 1).len() == 1);
}

#[test]
fn an_argument_that_is_copied_changes_in_both_places() {
    let source = "name = 'verbs'\ntypes = ['Person', 'Infinitive', 'Event']\nroot = { types = ['Event'] }\n[constants]\n\
        ann = 'Person'\nben = 'Person'\ndance = { type = 'Infinitive', form = 'dance(agent({0}))' }\n\
        see = { type = 'Person -> Infinitive', form = 'see(agent({0}), theme({1}))' }\n\
        hate = { type = 'Infinitive>, <Person -> Event', form = 'hate(agent({2}), xcomp({1:2}))' }\n\
        love = { type = 'Infinitive>, <Person -> Event', form = 'love(agent({2}), xcomp({1:2}))' }\n\
        [lexicon]\nann = 'ann'\nben = 'ben'\ndance = 'to dance'\nsee = 'to see'\nhate = 'hated'\nlove = 'loved'\n";
    let mut set =
        Set::new(Domain::load(source, "verbs.toml", None, &spanwise_lang::domain::NoTables).unwrap());
    assert!(set.add("ann hated to dance", "hate(agent(ann), xcomp(dance(agent(ann))))"));
    assert!(set.add("ben loved to see ann", "love(agent(ben), xcomp(see(agent(ben), theme(ann))))"));
    let limits = Limits { values: true, ..Limits::default() };
    let found = set.run(10, 1, &limits);
    check(&set, &found, &limits);
    let program = |text: &str| {
        let new = found.iter().find(|new| new.utterance.text() == text);
        new.map(|new| set.terms.display(new.program).to_string())
    };
    assert_eq!(program("ben hated to dance").unwrap(), "hate(agent(ben), xcomp(dance(agent(ben))))");
    let seen = "hate(agent(ann), xcomp(see(agent(ann), theme(ann))))";
    assert_eq!(program("ann hated to see ann").unwrap(), seen);
    assert_eq!(program("ben loved to dance").unwrap(), "love(agent(ben), xcomp(dance(agent(ben))))");
}
