//! Stores of terms, and what clones share.

use super::*;
use proptest::prelude::*;

#[test]
fn equal_terms_have_equal_ids() {
    let mut terms = Terms::new();
    let texas = terms.leaf(Shape::Quoted, "texas");
    let a = terms.call("stateid", &[texas]);
    let b = terms.call("stateid", &[texas]);
    let bare = terms.leaf(Shape::Name, "texas");
    assert_eq!(a, b);
    assert_ne!(texas, bare);
    assert_eq!((terms.depth(a), terms.size(a), terms.len()), (2, 2, 3));
}

#[test]
fn a_name_and_an_empty_call_are_different_terms() {
    let mut terms = Terms::new();
    assert_ne!(terms.leaf(Shape::Name, "scene"), terms.call("scene", &[]));
}

#[test]
fn sizes_of_shared_terms_saturate_instead_of_overflowing() {
    let mut terms = Terms::new();
    let mut id = terms.leaf(Shape::Name, "x");
    for _ in 0..100 {
        id = terms.call("pair", &[id, id]);
    }
    assert_eq!(terms.size(id), u64::MAX);
    assert_eq!(terms.len(), 101);
}

#[test]
fn import_keeps_structure_and_sharing() {
    let mut a = Terms::new();
    let root = a.parse("f(g('x'), g('x'), _, 3)").unwrap();
    let mut b = Terms::new();
    b.leaf(Shape::Name, "something else first");
    let copy = b.import(&a, root);
    assert_eq!(b.display(copy).to_string(), "f(g('x'), g('x'), _, 3)");
    assert_eq!(b.len(), 6);
}

/// One thing done to a store; numbers choose among the terms that are there.
#[derive(Clone, Debug)]
enum Action {
    Intern(u8),
    Leaf(Shape, u8),
    Call(u8, Vec<usize>),
}

fn any_action() -> impl Strategy<Value = Action> {
    let shape = prop_oneof![
        Just(Shape::Name),
        Just(Shape::Quoted),
        Just(Shape::Number),
        Just(Shape::Wildcard),
        Just(Shape::Call),
    ];
    prop_oneof![
        (0u8..12).prop_map(Action::Intern),
        (shape, 0u8..12).prop_map(|(shape, text)| Action::Leaf(shape, text)),
        (0u8..6, proptest::collection::vec(0usize..40, 0..4))
            .prop_map(|(head, args)| Action::Call(head, args)),
    ]
}

/// Does it and returns the id that comes of it.
fn act(terms: &mut Terms, action: &Action) -> u32 {
    match action {
        Action::Intern(text) => terms.intern(&format!("text {text}")).0,
        Action::Leaf(shape, text) => terms.leaf(*shape, &format!("text {text}")).0,
        Action::Call(head, args) => {
            let n = terms.len();
            let args: Vec<TermId> =
                args.iter().filter(|_| n > 0).map(|at| TermId((at % n.max(1)) as u32)).collect();
            terms.call(&format!("text {head}"), &args).0
        }
    }
}

/// Everything that can be read of a store.
fn contents(terms: &Terms) -> Vec<impl PartialEq + std::fmt::Debug + use<>> {
    let ids = (0..terms.len() as u32).map(TermId);
    ids.map(|id| {
        let (text, args) = (terms.head_text(id).to_owned(), terms.args(id).to_vec());
        let (depth, size) = (terms.depth(id), terms.size(id));
        (terms.shape(id), terms.head(id), text, args, depth, size, terms.bottom_up(id))
    })
    .collect()
}

proptest! {
    #[test]
    fn a_clone_that_shares_terms_is_like_a_plain_copy(
        before in proptest::collection::vec(any_action(), 0..30),
        after in proptest::collection::vec(any_action(), 0..30),
    ) {
        let mut plain = Terms::new();
        let mut base = Terms::new();
        for action in &before {
            prop_assert_eq!(act(&mut plain, action), act(&mut base, action));
        }
        let base = base.shared();
        let first = contents(&base);
        prop_assert_eq!(&first, &contents(&plain));
        let mut clone = base.clone();
        prop_assert!(clone.copies_nothing_of(&base));
        for action in &after {
            prop_assert_eq!(act(&mut plain, action), act(&mut clone, action));
        }
        prop_assert_eq!(contents(&plain), contents(&clone));
        prop_assert_eq!(contents(&plain), contents(&clone.clone()));
        prop_assert_eq!(contents(&plain), contents(&clone.shared()));
        prop_assert_eq!(first, contents(&base));
    }
}
