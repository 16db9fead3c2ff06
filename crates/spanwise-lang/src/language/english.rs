//! English: stems, articles, and nouns without content.
//!
//! `border`, `borders`, `bordered` and `bordering` have one stem. The rules know no exceptions (`men`, `ran`) and do not relate
//! different parts of speech (`population` and `populous` have different stems).

use super::Language;

/// English.
pub const ENGLISH: Language = Language {
    name: "english",
    stem,
    words,
    articles: &["the", "a", "an"],
    filler_nouns: &["thing", "things", "object", "objects"],
    // The last is what is left of `don't`.
    negations: &[
        "not",
        "no",
        "nor",
        "never",
        "neither",
        "without",
        "except",
        "excluding",
        "cannot",
        "cant",
        "dont",
        "doesnt",
        "isnt",
        "arent",
        "wasnt",
        "werent",
        "didnt",
        "hasnt",
        "havent",
        "none",
        "nothing",
        "nobody",
        "t",
    ],
    number_words: &[
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
        "twenty",
        "thirty",
        "forty",
        "fifty",
        "sixty",
        "seventy",
        "eighty",
        "ninety",
        "hundred",
        "thousand",
        "million",
        "billion",
        "dozen",
        "half",
        "first",
        "second",
        "third",
        "fourth",
        "fifth",
        "sixth",
        "seventh",
        "eighth",
        "ninth",
        "tenth",
        "once",
        "twice",
    ],
    question_words: &["what", "when", "where", "which", "who", "whom", "whose", "why", "how"],
    // Neither negations nor comparisons, no preposition of place or time, and no past or future: each of them says something.
    light_words: &[
        "am",
        "be",
        "being",
        "has",
        "have",
        "having",
        "can",
        "could",
        "shall",
        "should",
        "may",
        "might",
        "must",
        "let",
        "lets",
        "get",
        "got",
        "there",
        "here",
        "that",
        "this",
        "these",
        "those",
        "its",
        "with",
        "whose",
        "who",
        "whom",
        "whoever",
        "me",
        "my",
        "i",
        "you",
        "your",
        "yours",
        "we",
        "our",
        "ours",
        "they",
        "them",
        "their",
        "he",
        "him",
        "his",
        "she",
        "her",
        "show",
        "list",
        "tell",
        "give",
        "find",
        "display",
        "print",
        "return",
        "look",
        "see",
        "want",
        "like",
        "need",
        "know",
        "wonder",
        "wondering",
        "please",
        "thanks",
        "thank",
        "hello",
        "hi",
        "hey",
        "just",
        "also",
        "ok",
        "okay",
        "so",
        "well",
        "really",
        "actually",
    ],
    conjunctions: &["and", "or", "but", "plus"],
    courtesies: [&["please", "please,", "hi,", "ok,"], &["please", ", please", ", thanks"]],
};

/// A list of 178,000 English words.
fn words() -> &'static [&'static str] {
    random_word::all(random_word::Lang::En)
}

/// The stem of an English word. Short words and words with other characters than a to z are their own stems.
fn stem(word: &str) -> String {
    if word.len() < 4 || !word.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return word.to_owned();
    }
    let singular = singular(word);
    let base = ["ing", "ed"]
        .iter()
        .find_map(|ending| singular.strip_suffix(ending).filter(|rest| is_base(rest)))
        .map_or(singular.as_str(), undoubled);
    // `traverse` and `traversing` meet without the e.
    base.strip_suffix('e').filter(|rest| rest.len() >= 3).unwrap_or(base).to_owned()
}

/// The word without the ending of a plural or of a third person.
fn singular(word: &str) -> String {
    if let Some(rest) = word.strip_suffix("ies").filter(|rest| rest.len() >= 2) {
        return format!("{rest}y");
    }
    let hissing = |rest: &&str| ["ss", "x", "ch", "sh", "z"].iter().any(|end| rest.ends_with(end));
    if let Some(rest) = word.strip_suffix("es").filter(hissing) {
        return rest.to_owned();
    }
    let keeps_its_s = ["ss", "us", "is"].iter().any(|end| word.ends_with(end));
    word.strip_suffix('s').filter(|_| !keeps_its_s).unwrap_or(word).to_owned()
}

/// Whether `ing` or `ed` is an ending after this, and not part of the word as in `string` or `red`.
fn is_base(rest: &str) -> bool {
    rest.len() >= 3 && rest.bytes().any(|byte| b"aeiouy".contains(&byte))
}

/// `runn` as in `running` is `run`; `cross` stays.
fn undoubled(base: &str) -> &str {
    let bytes = base.as_bytes();
    match bytes {
        [.., before, last] if before == last && !b"lsz".contains(last) => &base[..base.len() - 1],
        _ => base,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn forms_of_a_word_have_one_stem() {
        for forms in [
            "border borders bordered bordering",
            "state states",
            "city cities",
            "density densities",
            "run runs running",
            "traverse traverses traversed traversing",
            "pass passes passed passing",
            "box boxes",
            "live lives lived living",
            "sphere spheres",
        ] {
            let stems: Vec<String> = forms.split(' ').map(stem).collect();
            assert!(stems.iter().all(|stem| *stem == stems[0]), "{forms}: {stems:?}");
        }
    }

    #[test]
    fn other_words_have_other_stems() {
        let words = "string red bed is this us texas kansas area all through in of large largest high highest sing ring";
        let stems: Vec<String> = words.split(' ').map(stem).collect();
        let distinct: std::collections::BTreeSet<&String> = stems.iter().collect();
        assert_eq!(distinct.len(), stems.len(), "{stems:?}");
        for word in ["is", "this", "string", "red", "über", "o'neil", "42", ""] {
            assert_eq!(stem(word), word);
        }
    }
}
