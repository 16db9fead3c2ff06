//! Templates: programs with their entities made anonymous.

use hashbrown::HashMap;
use spanwise_lang::{Shape, TermId, Terms};

/// The text of `program` with every entity replaced by `$` and its class, so that programs that differ only
/// in entities get the same text. `class_of` returns the class of a term that is an entity; the outermost such
/// term is replaced as a whole.
///
/// Cost: linear in the program as written out.
pub fn template(
    terms: &Terms,
    program: TermId,
    class_of: impl Fn(&Terms, TermId) -> Option<String>,
) -> String {
    let mut anonymous = Terms::new();
    let mut copies: HashMap<TermId, TermId> = HashMap::new();
    let mut args = Vec::new();
    for term in terms.bottom_up(program) {
        let copy = if let Some(class) = class_of(terms, term) {
            anonymous.leaf(Shape::Name, &format!("${class}"))
        } else {
            args.clear();
            args.extend(terms.args(term).iter().map(|arg| copies[arg]));
            let head = anonymous.intern(terms.head_text(term));
            anonymous.term(terms.shape(term), head, &args)
        };
        copies.insert(term, copy);
    }
    anonymous.display(copies[&program]).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(program: &str, expected: &str) {
        let mut terms = Terms::new();
        let id = terms.parse(program).unwrap();
        let class_of = |terms: &Terms, term| {
            let name = terms.head_text(term);
            (terms.shape(term) == Shape::Call && name.ends_with("id")).then(|| name.to_owned())
        };
        assert_eq!(template(&terms, id, class_of), expected);
    }

    #[test]
    fn entities_become_their_class() {
        check("answer(loc_2(cityid('austin', 'tx')))", "answer(loc_2($cityid))");
        check("f(stateid('a'), stateid('b'), 3, 'c')", "f($stateid, $stateid, 3, 'c')");
    }

    #[test]
    fn the_outermost_entity_counts() {
        check("f(cityid('x', stateid('y')))", "f($cityid)");
        check("stateid('y')", "$stateid");
    }
}
