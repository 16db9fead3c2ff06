//! A hundred thousand names, five thousand of which share a word.

use super::*;

/// A made-up word for a number, the same on every machine: two to four syllables.
fn word(n: u64) -> String {
    let mut state = n.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mut draw = |from: &[&'static str]| {
        state = (state ^ (state >> 29)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        from[(state >> 40) as usize % from.len()]
    };
    let onsets = [
        "b", "c", "d", "f", "g", "h", "j", "k", "l", "m", "n", "p", "r", "s", "t", "v", "w", "br", "st", "ch",
    ];
    let (vowels, ends) = (["a", "e", "i", "o", "u", "ea", "ou"], ["", "", "n", "r", "s", "l", "t", "ck"]);
    let n_syllables = 2 + (n % 3) as usize;
    (0..n_syllables).map(|_| [draw(&onsets), draw(&vowels), draw(&ends)].concat()).collect()
}

fn names(n: u32) -> Vec<String> {
    let rare = |id: u32, salt: u64| word((u64::from(id) * 3 + salt) % 90_000);
    (0..n)
        .map(|id| match id % 20 {
            0 => format!("John {}", rare(id, 0)),
            1 => format!("{} {}", rare(id, 0), rare(id, 1)),
            at if at % 3 == 0 => format!("{} {}", rare(id, 1), rare(id, 2)),
            at if at % 3 == 1 => format!("{} of {} {}", rare(id, 0), rare(id, 1), rare(id, 2)),
            _ => format!("{} {} {}", rare(id, 0), rare(id / 7, 1), rare(id, 2)),
        })
        .collect()
}

#[test]
fn the_indexes_of_a_hundred_thousand_names_are_small_and_find_what_is_meant() {
    const MEGABYTE: usize = 1 << 20;
    let names = names(100_000);
    let mut lexicon = Lexicon::default();
    for (id, name) in names.iter().enumerate() {
        lexicon.insert(name, ConstantId(id as u32), Source::Name);
    }
    lexicon.shrink();
    assert!(lexicon.bytes() < 20 * MEGABYTE, "{} bytes", lexicon.bytes());
    let matcher = Matcher::new(&lexicon, is_content);
    let more: Vec<String> = (0..100_000).map(word).collect();
    let speller = Speller::new(matcher.name_words().chain(more.iter().map(|word| (word.as_str(), 1))));
    assert!(matcher.bytes() < 10 * MEGABYTE, "{} bytes", matcher.bytes());
    assert!(speller.len() > 95_000 && speller.bytes() < 40 * MEGABYTE, "{} bytes", speller.bytes());

    let (meant, typed) = (&names[77_777], names[77_777].replacen('e', "ee", 1));
    assert_ne!(*meant, typed);
    let utterance = Utterance::new(format!("songs of john and {typed}"));
    let near = |word| speller.near(word, 5).into_iter().map(Alternative::from);
    let words: Vec<Vec<Alternative<'_>>> = utterance
        .tokens()
        .iter()
        .map(|token| std::iter::once(Alternative::typed(&token.lower)).chain(near(&token.lower)).collect())
        .collect();
    let matches = matcher.matches(&lexicon, &words);
    let is_meant = |found: &&Approximate| found.constant == ConstantId(77_777);
    let found: Vec<_> = matches.found.iter().filter(is_meant).map(|found| (found.span, found.kind)).collect();
    assert_eq!(found, [(Span::new(4, 7), MatchKind::Spelling)]);
    assert_eq!(matches.crowded, [Crowd { span: Span::new(2, 3), text: "john".to_owned(), n: 5_000 }]);
}
