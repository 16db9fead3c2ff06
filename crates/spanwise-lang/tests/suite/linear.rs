//! Programs as tokens: what is one token, and that tokens and programs determine each other.

use proptest::prelude::*;
use spanwise_lang::domain::NoTables;
use spanwise_lang::linear::{AssembleError, Leaf, Token, assemble, leaf, linearize, vocabulary};
use spanwise_lang::{Domain, Terms};

const HOME: &str = r#"
    name = "home"
    types = ["Light", "Place", "Level", "Percent", "Time", "Action"]
    [root]
    types = ["Action"]
    wrap = "do({})"
    [constants]
    lamp = "Light"
    full = { type = "Level", form = "level(100)" }
    dim = { type = "Light, Level -> Action", form = "set({2}, {1})" }
    fade = "Light, Percent -> Action"
    off = "Light, Time = 'right now' -> Action"
    warm = "Place = place('hall') -> Action"
    stop = ["-> Action", "Light -> Action"]
    [[entities]]
    class = "place"
    type = "Place"
    form = "place('{name}')"
    names = ["hall", "living room"]
    [[literals]]
    class = "percent"
    type = "Percent"
    kind = "integer"
    form = "{value}"
"#;

fn home() -> Domain {
    Domain::load(HOME, "home.toml", None, &NoTables).unwrap_or_else(|errors| panic!("{errors}"))
}

/// The tokens of a program, with the class of each leaf, after checking that they give the program back.
fn shown(domain: &Domain, program: &str) -> String {
    let mut terms = domain.new_terms();
    let id = terms.parse(program).unwrap();
    let tokens = linearize(domain, &terms, id);
    assert_eq!(assemble(&mut terms, &tokens), Ok(id), "{program}");
    let show = |token: &Token| match token {
        Token::Leaf(Leaf { text, class: Some(class) }) => {
            format!("[{text}: {}]", domain.classes()[*class].name)
        }
        Token::Leaf(Leaf { text, class: None }) => format!("[{text}]"),
        other => other.to_string(),
    };
    tokens.iter().map(show).collect::<Vec<_>>().join(" ")
}

#[test]
fn entities_and_literals_are_one_token_and_everything_else_is_taken_apart() {
    let domain = home();
    for (program, expected) in [
        ("do(warm(place('living room')))", "do ( warm ( [place('living room'): place] ) )"),
        ("do(fade(lamp, 40))", "do ( fade ( lamp , [40: percent] ) )"),
        ("do(set(level(100), lamp))", "do ( set ( level ( [100: percent] ) , lamp ) )"),
        ("do(off(lamp, 'right now'))", "do ( off ( lamp , ['right now'] ) )"),
        ("do(stop())", "do ( stop ( ) )"),
    ] {
        assert_eq!(shown(&domain, program), expected);
    }
}

#[test]
fn programs_that_are_not_well_typed_have_tokens_too() {
    let domain = home();
    for (program, expected) in [
        ("lamp", "lamp"),
        ("do(place('attic'), _)", "do ( [place('attic')] , [_] )"),
        ("place('hall', 'a')", "place ( ['hall'] , ['a'] )"),
        ("unknown(1.50, 'it''s', f())", "unknown ( [1.50] , ['it''s'] , f ( ) )"),
        ("7(lamp)", "7 ( lamp )"),
    ] {
        assert_eq!(shown(&domain, program), expected);
    }
}

#[test]
fn the_token_of_a_text_is_the_token_in_programs() {
    let domain = home();
    let mut terms = domain.new_terms();
    let class =
        |name: &str| domain.classes().iter_enumerated().find(|(_, class)| class.name == name).unwrap().0;
    let place = Leaf { text: "place('hall')".to_owned(), class: Some(class("place")) };
    assert_eq!(leaf(&domain, &mut terms, "place ( 'hall' )"), Some(Token::Leaf(place)));
    for other in ["place('attic')", "lamp", "'right now'", "(", ""] {
        assert_eq!(leaf(&domain, &mut terms, other), None, "{other}");
    }
}

#[test]
fn the_vocabulary_has_every_token_that_forms_and_defaults_contain() {
    let texts: Vec<String> = vocabulary(&home()).iter().map(ToString::to_string).collect();
    assert_eq!(texts.join(" "), "( , ) do lamp level 100 set fade off 'right now' warm place('hall') stop");
}

#[test]
fn a_program_of_depth_ten_thousand_has_tokens_and_comes_back() {
    let domain = home();
    let mut terms = domain.new_terms();
    let id = terms.parse(&format!("{}lamp{}", "f(".repeat(10_000), ")".repeat(10_000))).unwrap();
    let tokens = linearize(&domain, &terms, id);
    assert_eq!(tokens.len(), 30_001);
    assert_eq!(assemble(&mut terms, &tokens), Ok(id));
}

#[test]
fn tokens_that_are_no_program_are_errors_at_the_first_wrong_token() {
    let name = |text: &str| Token::Name(text.to_owned());
    let value = |text: &str| Token::Leaf(Leaf { text: text.to_owned(), class: None });
    let at = |tokens: &[Token]| match assemble(&mut Terms::new(), tokens).unwrap_err() {
        AssembleError::Unexpected { at, .. } => format!("unexpected {at}"),
        AssembleError::Unwritable { at, .. } => format!("unwritable {at}"),
        AssembleError::Incomplete => "incomplete".to_owned(),
    };
    assert_eq!(at(&[]), "incomplete");
    assert_eq!(at(&[name("f"), Token::Open]), "incomplete");
    assert_eq!(at(&[name("f"), Token::Open, name("a")]), "incomplete");
    assert_eq!(at(&[name("f"), name("a")]), "unexpected 1");
    assert_eq!(at(&[name("f"), Token::Open, name("a"), Token::Comma, Token::Close]), "unexpected 4");
    assert_eq!(at(&[value("'a'"), Token::Open]), "unexpected 1");
    assert_eq!(at(&[name("f"), Token::Open, Token::Close, Token::Close]), "unexpected 3");
    assert_eq!(at(&[name("a b")]), "unwritable 0");
    assert_eq!(at(&[name("7")]), "unwritable 0");
    assert_eq!(at(&[value("'a")]), "unwritable 0");
}

fn any_token() -> impl Strategy<Value = Token> {
    let texts = vec!["f", "lamp", "7", "'a b'", "place('hall')", "a b", "", "do"];
    prop_oneof![
        prop::sample::select(texts.clone()).prop_map(|text| Token::Name(text.to_owned())),
        prop::sample::select(texts).prop_map(|text| Token::Leaf(Leaf { text: text.to_owned(), class: None })),
        Just(Token::Open),
        Just(Token::Comma),
        Just(Token::Close),
    ]
}

proptest! {
    #[test]
    fn any_tokens_are_an_error_or_a_program_that_can_be_written_and_has_tokens(
        tokens in prop::collection::vec(any_token(), 0..8)
    ) {
        let domain = home();
        let mut terms = domain.new_terms();
        if let Ok(program) = assemble(&mut terms, &tokens) {
            let text = terms.display(program).to_string();
            prop_assert_eq!(terms.parse(&text), Ok(program));
            let again = linearize(&domain, &terms, program);
            prop_assert_eq!(assemble(&mut terms, &again), Ok(program));
        }
    }
}
