//! The definition of approximate matches without any index: every span is compared with every name.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

pub(super) type Entry = (String, ConstantId, Source);

/// A candidate: its kind, the cost of its words, its whole cost, its constant and source.
type Candidate = (MatchKind, f32, f32, ConstantId, Source);

fn is_mark(word: &str) -> bool {
    ["'", "."].contains(&word)
}

/// Words that are no marks, each with whether a mark comes before it.
fn without_marks<'a>(words: &[&'a str]) -> Vec<(&'a str, bool)> {
    let at = (0..words.len()).filter(|&at| !is_mark(words[at]));
    at.map(|at| (words[at], at > 0 && is_mark(words[at - 1]))).collect()
}

/// The letters of words, and where they are parted: by a mark or by a space.
fn letters(words: &[(&str, bool)]) -> (String, BTreeMap<usize, bool>) {
    let (mut text, mut borders) = (String::new(), BTreeMap::new());
    for (n, (word, mark)) in words.iter().enumerate() {
        if n > 0 {
            borders.insert(text.chars().count(), *mark);
        }
        text += &fold(word);
    }
    (text, borders)
}

/// The best alternative with this folded form.
fn best(alternatives: &[Alternative<'_>], folded: &str) -> Option<(MatchKind, f32)> {
    let same = alternatives.iter().filter(|other| fold(other.word) == folded);
    same.map(|other| (other.kind, other.cost)).min_by(|a, b| a.partial_cmp(b).unwrap())
}

fn word_by_word(
    span: &[&Vec<Alternative<'_>>],
    entry: &(Vec<&str>, ConstantId, Source),
    is_content: fn(&str) -> bool,
) -> Vec<Candidate> {
    let name: Vec<String> = without_marks(&entry.0).iter().map(|(word, _)| fold(word).into_owned()).collect();
    let mut found = Vec::new();
    for part in name.windows(span.len()) {
        let words: Option<Vec<_>> = span.iter().zip(part).map(|(word, folded)| best(word, folded)).collect();
        let Some(words) = words else { continue };
        let kind = words.iter().map(|word| word.0).max().unwrap();
        let cost = words.iter().fold(0.0, |cost, word| cost + word.1);
        let missing = (name.len() - part.len()) as f32 / name.len() as f32;
        if missing == 0.0 {
            found.push((kind.max(MatchKind::Folded), cost, cost, entry.1, entry.2));
        } else if entry.2 == Source::Name && part.iter().any(|word| word.len() > 1 && is_content(word)) {
            found.push((MatchKind::Part, cost, cost + missing, entry.1, entry.2));
        }
    }
    found
}

fn other_spaces(
    typed: &[(&str, bool)],
    first: &[Alternative<'_>],
    entry: &(Vec<&str>, ConstantId, Source),
) -> Option<Candidate> {
    let (text, borders) = letters(typed);
    let (name, own) = letters(&without_marks(&entry.0));
    let (kind, cost) = match typed.len() {
        1 => best(first, &name)?,
        _ if text == name => (MatchKind::Exact, 0.0),
        _ => return None,
    };
    let places: BTreeSet<usize> = borders.keys().chain(own.keys()).copied().collect();
    let differ = places.into_iter().filter(|at| borders.contains_key(at) != own.contains_key(at));
    let marks: Vec<bool> = differ.map(|at| borders.get(&at).or(own.get(&at)).copied().unwrap()).collect();
    let n_plain = marks.iter().filter(|&&mark| !mark).count();
    let by_spaces = if n_plain == 0 { MatchKind::Folded } else { MatchKind::Spelling };
    let is_long = n_plain == 0 || name.chars().count() >= MIN_JOINED;
    let cost = cost + JOIN * n_plain as f32;
    (!marks.is_empty() && is_long && typed.len() <= MAX_TORN).then_some((
        kind.max(by_spaces),
        cost,
        cost,
        entry.1,
        entry.2,
    ))
}

/// What is offered of the candidates of a span, and the size of the first group if nothing is.
fn offered(mut candidates: Vec<Candidate>, exact: &[ConstantId]) -> (Vec<Candidate>, Option<u32>) {
    candidates.sort_by(|a, b| a.partial_cmp(b).unwrap());
    let (mut kept, mut taken): (Vec<Candidate>, Vec<ConstantId>) = (Vec::new(), exact.to_vec());
    for group in candidates.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1)) {
        let mut fresh: Vec<Candidate> = Vec::new();
        for candidate in group {
            if !taken.contains(&candidate.3) {
                taken.push(candidate.3);
                fresh.push(*candidate);
            }
        }
        if kept.len() + fresh.len() > CAP {
            let is_first = kept.is_empty() && exact.is_empty();
            return (kept, is_first.then_some(group.len() as u32));
        }
        kept.extend(fresh);
    }
    (kept, None)
}

pub(super) fn plain_matches(
    entries: &[Entry],
    words: &[Vec<Alternative<'_>>],
    is_content: fn(&str) -> bool,
) -> (Vec<Approximate>, Vec<(Span, u32)>) {
    let split = |entry: &'_ Entry| entry.0.clone().split(' ').map(str::to_owned).collect::<Vec<_>>();
    let names: BTreeSet<(Vec<String>, ConstantId, Source)> =
        entries.iter().map(|entry| (split(entry), entry.1, entry.2)).collect();
    let (mut found, mut crowded) = (Vec::new(), Vec::new());
    for start in 0..words.len() {
        for end in start + 1..=words.len() {
            let span = Span::new(start as u32, end as u32);
            let text: Vec<&str> = words[start..end].iter().map(|word| word[0].word).collect();
            let typed = without_marks(&text);
            let choices: Vec<_> = words[start..end].iter().filter(|word| !is_mark(word[0].word)).collect();
            let (mut exact, mut candidates) = (Vec::new(), Vec::new());
            for (name, constant, source) in &names {
                let entry = (name.iter().map(String::as_str).collect::<Vec<_>>(), *constant, *source);
                if entry.0 == text {
                    exact.push(*constant);
                    let kind = MatchKind::Exact;
                    found.push(Approximate { span, constant: *constant, source: *source, kind, cost: 0.0 });
                }
                let only_marks = name.iter().all(|word| is_mark(word));
                if !only_marks && !is_mark(text[0]) && !is_mark(text[text.len() - 1]) {
                    candidates.extend(word_by_word(&choices, &entry, is_content));
                    candidates.extend(other_spaces(&typed, choices[0], &entry));
                }
            }
            let (kept, crowd) = offered(candidates, &exact);
            found.extend(kept.into_iter().map(|(kind, _, cost, constant, source)| Approximate {
                span,
                constant,
                source,
                kind,
                cost,
            }));
            crowded.extend(crowd.map(|n| (span, n)));
        }
    }
    without_inner(found, &crowded)
}

fn without_inner(found: Vec<Approximate>, crowded: &[(Span, u32)]) -> (Vec<Approximate>, Vec<(Span, u32)>) {
    let is_longer = |outer: Span, inner: Span| outer != inner && outer.contains(inner);
    let is_hidden = |inner: &Approximate| {
        let same = found.iter().filter(|outer| outer.constant == inner.constant && outer.kind <= inner.kind);
        inner.kind != MatchKind::Exact && same.into_iter().any(|outer| is_longer(outer.span, inner.span))
    };
    let mut kept: Vec<Approximate> = found.iter().filter(|found| !is_hidden(found)).copied().collect();
    kept.sort_by_key(|found| (found.span, found.kind, found.cost.to_bits(), found.source, found.constant));
    let names = kept.iter().filter(|found| found.source == Source::Name).map(|found| found.span);
    let outer: Vec<Span> = names.chain(crowded.iter().map(|crowd| crowd.0)).collect();
    let left = crowded.iter().filter(|crowd| !outer.iter().any(|&outer| is_longer(outer, crowd.0)));
    (kept, left.copied().collect())
}
