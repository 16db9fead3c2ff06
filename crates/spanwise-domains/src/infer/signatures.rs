//! Names of types, and signatures in the notation of domain files.

use super::corpus::{Corpus, Head};
use super::entities::Names;
use super::typing::{Place, Sort, Typing};
use std::collections::{BTreeMap, BTreeSet};

/// Variables for slots that take several types. Types have longer names.
const VARIABLES: [&str; 8] = ["S", "T", "U", "V", "W", "X", "Y", "Z"];
/// Most slots of a signature, and most optional ones.
const MAX_SLOTS: usize = 16;
const MAX_OPTIONAL: usize = 5;

/// A type and the constants that have it.
pub(super) struct TypeLine {
    pub(super) name: String,
    pub(super) parent: Option<String>,
    pub(super) members: Vec<String>,
}

/// What several slots take, as a type of its own.
struct Union {
    name: String,
    sorts: BTreeSet<Sort>,
}

/// Types for sorts, and signatures for heads.
pub(super) struct Signatures<'a> {
    corpus: &'a Corpus,
    typing: &'a Typing,
    names: BTreeMap<Sort, String>,
    members: BTreeMap<Sort, Vec<usize>>,
    unions: Vec<Union>,
    /// Constants without words that are defaults of slots.
    defaults: &'a BTreeSet<usize>,
    /// The default of each position that has one.
    default_of: BTreeMap<Place, (usize, String)>,
    pub(super) arities: BTreeMap<usize, BTreeSet<usize>>,
}

/// The types that a slot takes, and its default.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Slot {
    types: Vec<String>,
    default: Option<String>,
    is_optional: bool,
}

impl<'a> Signatures<'a> {
    pub(super) fn new(corpus: &'a Corpus, typing: &'a Typing, defaults: &'a BTreeSet<usize>) -> Self {
        let mut arities: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
        let mut default_of: BTreeMap<Place, (usize, String)> = BTreeMap::new();
        for node in corpus.graphs.iter().flatten() {
            arities.entry(node.head).or_default().insert(node.children.len());
        }
        for graph in &corpus.graphs {
            for node in graph {
                for (slot, &child) in node.children.iter().enumerate() {
                    let default = graph[child].head;
                    if defaults.contains(&default) {
                        let written = corpus.terms.display(graph[child].term).to_string();
                        default_of
                            .insert(typing.place(node.head, node.children.len(), slot), (default, written));
                    }
                }
            }
        }
        let mut members: BTreeMap<Sort, Vec<usize>> = BTreeMap::new();
        for (&(head, _), &sort) in &typing.results {
            let known = members.entry(sort).or_default();
            if !known.contains(&head) {
                known.push(head);
            }
        }
        let uses = corpus.uses();
        members.values_mut().for_each(|heads| {
            heads
                .sort_by_key(|&head| (typing.split.contains_key(&head), std::cmp::Reverse(uses[head]), head));
        });
        let mut taken = Names::default();
        VARIABLES.iter().for_each(|variable| drop(taken.fresh(variable)));
        let names = members
            .iter()
            .map(|(&sort, heads)| (sort, taken.fresh(&type_name(corpus.name(heads[0])))))
            .collect();
        let mut all =
            Self { corpus, typing, names, members, unions: Vec::new(), defaults, default_of, arities };
        all.find_unions(&mut taken, &uses);
        all
    }

    /// Sets of sorts that slots take become types above them, as far as no two overlap in part; what most slots take first.
    fn find_unions(&mut self, taken: &mut Names, uses: &[usize]) {
        let mut slots: BTreeMap<BTreeSet<Sort>, (usize, usize)> = BTreeMap::new();
        for (place, &slot_type) in &self.typing.slot_types {
            let Place::Slot { head, .. } = *place else { continue };
            let sorts = self.live(&self.typing.accepted[slot_type]);
            if sorts.len() > 1 {
                let (n, commonest) = slots.entry(sorts).or_insert((0, head));
                *n += 1;
                if uses[head] > uses[*commonest] {
                    *commonest = head;
                }
            }
        }
        let mut slots: Vec<_> = slots.into_iter().collect();
        slots.sort_by(|(a, (n_a, _)), (b, (n_b, _))| n_b.cmp(n_a).then(b.len().cmp(&a.len())).then(a.cmp(b)));
        for (sorts, (_, head)) in slots {
            let fits = |other: &Union| {
                sorts.is_disjoint(&other.sorts)
                    || sorts.is_subset(&other.sorts)
                    || other.sorts.is_subset(&sorts)
            };
            if self.unions.iter().all(fits) {
                let name = taken.fresh(&format!("{}Argument", type_name(self.corpus.name(head))));
                self.unions.push(Union { name, sorts });
            }
        }
        // Small ones first, so that the first one that has a sort is its parent.
        self.unions.sort_by_key(|union| union.sorts.len());
    }

    /// Sorts that have a constant, not only defaults.
    fn live(&self, sorts: &BTreeSet<Sort>) -> BTreeSet<Sort> {
        let is_live = |sort: &&Sort| self.members[*sort].iter().any(|head| !self.defaults.contains(head));
        sorts.iter().filter(is_live).copied().collect()
    }

    /// The declarations of all types: what several slots take, then the types of constants, the most frequent first.
    pub(super) fn lines(&self) -> Vec<TypeLine> {
        let mut lines = Vec::new();
        for (at, union) in self.unions.iter().enumerate().rev() {
            let above = self.unions[at + 1..].iter().find(|other| union.sorts.is_subset(&other.sorts));
            let parent = above.map(|other| other.name.clone());
            lines.push(TypeLine { name: union.name.clone(), parent, members: Vec::new() });
        }
        for (sort, heads) in &self.members {
            let parent = self.unions.iter().find(|union| union.sorts.contains(sort));
            lines.push(TypeLine {
                name: self.names[sort].clone(),
                parent: parent.map(|union| union.name.clone()),
                members: heads.iter().map(|&head| self.corpus.name(head).to_owned()).collect(),
            });
        }
        lines
    }

    /// The type of a sort.
    pub(super) fn type_of(&self, sort: Sort) -> &str {
        &self.names[&sort]
    }

    /// The types that together have exactly these sorts.
    fn cover(&self, sorts: &BTreeSet<Sort>) -> Vec<String> {
        let mut left = sorts.clone();
        let mut names = Vec::new();
        for union in self.unions.iter().rev() {
            if union.sorts.is_subset(&left) {
                left = left.difference(&union.sorts).copied().collect();
                names.push(union.name.clone());
            }
        }
        names.extend(left.iter().map(|sort| self.names[sort].clone()));
        names
    }

    /// The types of complete programs.
    pub(super) fn roots(&self) -> Vec<String> {
        let accepted = self.typing.slot_types.get(&Place::Root).map(|&root| &self.typing.accepted[root]);
        accepted.map_or_else(Vec::new, |sorts| self.cover(sorts))
    }

    /// The types of the elements of a set.
    pub(super) fn elements(&self, head: usize) -> BTreeSet<Sort> {
        let slot_type = self.typing.slot_types.get(&self.typing.place(head, 0, 0));
        let own = self.typing.results.get(&(head, None));
        let accepted = slot_type.map(|&slot_type| self.live(&self.typing.accepted[slot_type]));
        let mut sorts = accepted.unwrap_or_default();
        sorts.retain(|sort| own != Some(sort));
        sorts
    }

    /// The signatures of a head.
    pub(super) fn of(&self, head: usize) -> Vec<String> {
        let arities: Vec<usize> = self.arities[&head].iter().copied().filter(|&n| n <= MAX_SLOTS).collect();
        if let Some(one) = self.optional(head, &arities) {
            return vec![one];
        }
        let mut found = Vec::new();
        for arity in arities {
            for (result, slots) in self.alternatives(head, arity) {
                found.extend(with_defaults(slots).iter().map(|slots| written(slots, self.type_of(result))));
            }
        }
        found.dedup();
        if let [one] = found.as_mut_slice() {
            *one = one.trim_start_matches("-> ").to_owned();
        }
        found
    }

    /// The slots for each result of a head with so many arguments.
    fn alternatives(&self, head: usize, arity: usize) -> Vec<(Sort, Vec<Slot>)> {
        let decides = self.typing.split.get(&head).copied().filter(|&slot| slot < arity);
        let Some(decides) = decides else {
            let result = self.typing.results.get(&(head, None)).copied();
            return result.map(|result| (result, self.slots(head, arity))).into_iter().collect();
        };
        let place = self.typing.place(head, arity, decides);
        let accepted = &self.typing.accepted[self.typing.slot_types[&place]];
        let mut by_result: BTreeMap<Sort, BTreeSet<Sort>> = BTreeMap::new();
        for sort in accepted {
            if let Some(&result) = self.typing.results.get(&(head, Some(*sort))) {
                by_result.entry(result).or_default().insert(*sort);
            }
        }
        let alternative = |(result, sorts): (Sort, BTreeSet<Sort>)| {
            let mut slots = self.slots(head, arity);
            // A default belongs to the signature of its own sort.
            let default = self.default_of.get(&place).map(|(head, _)| head);
            let has_default =
                default.is_some_and(|head| sorts.iter().any(|sort| self.members[sort].contains(head)));
            let live = self.live(&sorts);
            slots[decides].types = self.cover(if live.is_empty() { &sorts } else { &live });
            slots[decides].default = slots[decides].default.take().filter(|_| has_default);
            (result, slots)
        };
        by_result.into_iter().map(alternative).collect()
    }

    fn slots(&self, head: usize, arity: usize) -> Vec<Slot> {
        let slot = |slot: usize| {
            let place = self.typing.place(head, arity, slot);
            let accepted = &self.typing.accepted[self.typing.slot_types[&place]];
            let live = self.live(accepted);
            let types = self.cover(if live.is_empty() { accepted } else { &live });
            let default = self.default_of.get(&place).map(|(_, written)| written.clone());
            Slot { types, default, is_optional: false }
        };
        (0..arity).map(slot).collect()
    }

    /// One signature with optional slots for all numbers of arguments, where exactly the choices that it allows occur.
    fn optional(&self, head: usize, arities: &[usize]) -> Option<String> {
        let longest = *arities.last().filter(|_| arities.len() > 1)?;
        let result =
            *self.typing.results.get(&(head, None)).filter(|_| !self.typing.split.contains_key(&head))?;
        let mut slots = self.slots(head, longest);
        let mut masks = BTreeSet::new();
        for &arity in arities {
            let mut mask = vec![false; longest];
            let mut from = 0;
            for slot in self.slots(head, arity) {
                let at = (from..longest).find(|&at| slots[at] == slot)?;
                (mask[at], from) = (true, at + 1);
            }
            masks.insert(mask);
        }
        let optional: Vec<usize> = (0..longest).filter(|&at| masks.iter().any(|mask| !mask[at])).collect();
        let types: BTreeSet<&Vec<String>> = optional.iter().map(|&at| &slots[at].types).collect();
        let is_plain = optional.iter().all(|&at| slots[at].types.len() == 1 && slots[at].default.is_none());
        if !is_plain
            || types.len() < optional.len()
            || optional.len() > MAX_OPTIONAL
            || masks.len() != 1 << optional.len()
        {
            return None;
        }
        optional.iter().for_each(|&at| slots[at].is_optional = true);
        Some(written(&slots, self.type_of(result)))
    }

    /// Whether a head is used with exactly one argument.
    pub(super) fn takes_one(&self, head: usize) -> bool {
        self.arities[&head].contains(&1)
    }

    /// The notation of a head, where it is not that of its name and arguments.
    pub(super) fn form(&self, head: usize, is_shared: bool) -> Option<String> {
        let name = self.corpus.name(head);
        match self.corpus.heads[head] {
            Head::Call(_) if self.arities[&head].iter().all(|&n| n == 0) => Some(format!("{name}()")),
            Head::Bare(_) if is_shared || name == "_" => Some(name.to_owned()),
            _ => None,
        }
    }
}

/// Slots with a default and several types as two choices: the default with the first type, and the other types.
fn with_defaults(slots: Vec<Slot>) -> Vec<Vec<Slot>> {
    let mut found = vec![slots.clone()];
    for at in (0..slots.len()).filter(|&at| slots[at].default.is_some() && slots[at].types.len() > 1) {
        found = found
            .into_iter()
            .flat_map(|slots| {
                let (mut first, mut rest) = (slots.clone(), slots);
                first[at].types.truncate(1);
                rest[at].types.remove(0);
                rest[at].default = None;
                [first, rest]
            })
            .collect();
    }
    found
}

/// A signature in the notation of domain files.
fn written(slots: &[Slot], result: &str) -> String {
    let mut variables = VARIABLES.iter();
    let mut bindings: Vec<String> = Vec::new();
    let mut texts = Vec::new();
    for slot in slots {
        let ty = match (slot.types.as_slice(), variables.len()) {
            ([one], _) => one.clone(),
            (_, 0) => slot.types[0].clone(),
            (types, _) => {
                let variable = variables.next().copied().unwrap_or_default();
                bindings.push(format!("{variable} in [{}]", types.join(", ")));
                variable.to_owned()
            }
        };
        let default = slot.default.as_ref().map_or(String::new(), |default| format!(" = {default}"));
        let mark = if slot.is_optional { "?" } else { "" };
        texts.push(format!("{ty}{default}{mark}"));
    }
    let condition =
        if bindings.is_empty() { String::new() } else { format!(" where {}", bindings.join(", ")) };
    if texts.is_empty() {
        format!("-> {result}")
    } else {
        format!("{} -> {result}{condition}", texts.join(", "))
    }
}

/// A name as the name of a type: letters and digits, beginning with a capital.
fn type_name(name: &str) -> String {
    let mut out = String::new();
    let mut is_start = true;
    for ch in name.trim_end_matches(|ch: char| ch.is_ascii_digit() || ch == '_').chars() {
        if !ch.is_alphanumeric() {
            is_start = true;
            continue;
        }
        if is_start {
            out.extend(ch.to_uppercase());
        } else {
            out.push(ch);
        }
        is_start = false;
    }
    if out.chars().count() < 2 || !out.starts_with(char::is_alphabetic) {
        out.insert_str(0, "Type");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_types_are_words_with_capitals() {
        let names = ["next_to_2", "nmod.on", "x", "42", "stateid", "größe", "!", "number others"];
        let written = names.map(type_name);
        assert_eq!(
            written,
            ["NextTo", "NmodOn", "TypeX", "Type", "Stateid", "Größe", "Type", "NumberOthers"]
        );
    }

    #[test]
    fn several_types_are_a_variable_and_a_default_has_one() {
        let slot = |types: &[&str], default: Option<&str>| Slot {
            types: types.iter().map(|&ty| ty.to_owned()).collect(),
            default: default.map(str::to_owned),
            is_optional: false,
        };
        let slots = vec![slot(&["City", "State"], Some("all")), slot(&["Number"], None)];
        let texts: Vec<String> = with_defaults(slots).iter().map(|slots| written(slots, "Answer")).collect();
        assert_eq!(texts, ["City = all, Number -> Answer", "State, Number -> Answer"]);
        let slots = [slot(&["City", "State"], None), slot(&["River", "Lake"], None)];
        let text = "S, T -> Answer where S in [City, State], T in [River, Lake]";
        assert_eq!(written(&slots, "Answer"), text);
        assert_eq!(written(&[], "Answer"), "-> Answer");
    }
}
