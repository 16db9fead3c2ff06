//! Why an answer is withheld, in words: what was not understood, or what the two readings are.

use crate::outcome::{Answered, Parse, Unread};
use spanwise_lang::Domain;
use spanwise_reading::{Cause, Clarification, UnreadKind};

/// Below this probability of being in the domain, that is the reason.
const IN_DOMAIN: f64 = 0.5;
/// Words that a reason names at most.
const MAX_WORDS: usize = 5;
/// Most letters of a word in a reason.
const MAX_LETTERS: usize = 40;

const TWO_READINGS: &str = "two readings are about as likely";

/// Why an answer is withheld.
pub(super) struct Withheld {
    pub(super) cause: Cause,
    pub(super) reason: String,
    pub(super) clarification: Option<Clarification>,
}

/// The reason why a parse below the threshold is withheld: the first of what a person would say.
pub(super) fn withheld(domain: &Domain, parse: &Parse, threshold: f64) -> Withheld {
    let is_only_tied = parse.probability >= threshold && parse.is_tied();
    let (cause, why) = match why(domain, parse) {
        (Cause::Ambiguous, why) => (Cause::Ambiguous, why),
        _ if is_only_tied => (Cause::Ambiguous, TWO_READINGS.to_owned()),
        other => other,
    };
    let reason = if parse.probability < threshold { below(&why, parse.probability, threshold) } else { why };
    Withheld { cause, reason, clarification: clarification(domain, parse, cause) }
}

/// The reason why an answer without a program is withheld.
pub(super) fn withheld_answer(answered: &Answered, threshold: f64) -> Withheld {
    let (cause, why) = out_of_domain(answered.in_domain, answered.unknown())
        .unwrap_or_else(|| (Cause::Unsure, "the best answer is doubtful".to_owned()));
    Withheld { cause, reason: below(&why, answered.probability, threshold), clarification: None }
}

/// A reason with a probability that is too low.
fn below(why: &str, probability: f64, threshold: f64) -> String {
    let probability = rounded_down(probability, threshold);
    format!("{why} (probability {probability}, the threshold is {threshold})")
}

/// That an utterance looks out-of-domain, with its unknown words, if there are any.
fn out_of_domain<'a>(in_domain: f64, unknown: impl Iterator<Item = &'a str>) -> Option<(Cause, String)> {
    let words = quoted(unknown);
    let about = if words.is_empty() { words } else { format!(": nothing is known about {words}") };
    (in_domain < IN_DOMAIN).then(|| (Cause::OutOfDomain, format!("this looks out-of-domain{about}")))
}

fn why(domain: &Domain, parse: &Parse) -> (Cause, String) {
    if let Some((from, [to, other])) = tied(parse) {
        return (Cause::Ambiguous, format!("`{from}` may be a typing error for `{to}` or for `{other}`"));
    }
    if let Some((from, to)) = suggested(parse) {
        return (Cause::Ambiguous, format!("`{from}` may be a typing error for `{to}`"));
    }
    if let Some(crowd) = parse.crowded.first() {
        let words = parse.utterance.slice(crowd.span);
        return (Cause::ManyNames, format!("{} names contain `{words}`", crowd.n_names));
    }
    if !parse.unknown_words.is_empty()
        && let Some(why) = out_of_domain(parse.in_domain, parse.unknown())
    {
        return why;
    }
    let of = |kind: UnreadKind| {
        let words = parse.unread.iter().filter(move |it| it.kind == kind);
        words.map(|it: &Unread| parse.utterance.slice(it.span)).collect::<Vec<_>>()
    };
    for (kind, cause, text) in [
        (UnreadKind::Question, Cause::UnreadWords, "a second question begins with"),
        (UnreadKind::Unknown, Cause::UnknownWords, "nothing is known about"),
        (UnreadKind::Number, Cause::UnreadWords, "no program here has a place for the number"),
        (UnreadKind::Name, Cause::UnreadWords, "no program here has a place for the name"),
        (UnreadKind::Negation, Cause::UnreadWords, "the best program leaves out"),
        (UnreadKind::Content, Cause::UnreadWords, "the best program leaves out"),
    ] {
        let words = of(kind);
        if !words.is_empty() {
            return (cause, format!("{text} {}", quoted(words.into_iter())));
        }
    }
    if let Some(guess) = parse.guessed.first() {
        let words = quoted(std::iter::once(parse.utterance.slice(guess.span)));
        let meaning = &domain.constants()[guess.constant].name;
        return (Cause::UnknownWords, format!("it is only a guess that {words} means `{meaning}`"));
    }
    if let Some(why) = out_of_domain(parse.in_domain, parse.unknown()) {
        return why;
    }
    if parse.answerable < 0.0 {
        return (Cause::Unanswerable, "it resembles questions that cannot be answered".to_owned());
    }
    if parse.rival.is_some() {
        return (Cause::Ambiguous, TWO_READINGS.to_owned());
    }
    (Cause::Unsure, "the best program is doubtful".to_owned())
}

/// A misspelt word that may be one of two others, and those.
fn tied(parse: &Parse) -> Option<(&str, [&str; 2])> {
    let other = parse.tied.as_ref()?;
    let first = parse.corrections.iter().find(|it| it.span == other.span)?;
    Some((parse.utterance.slice(other.span), [&first.to, &other.to]))
}

/// The first word that a suggestion changes, and what it becomes.
fn suggested(parse: &Parse) -> Option<(&str, &str)> {
    let first = parse.suggested.first()?;
    Some((parse.utterance.slice(first.span), first.to.as_str()))
}

fn quoted<'a>(words: impl Iterator<Item = &'a str>) -> String {
    let short = |word: &str| match word.char_indices().nth(MAX_LETTERS) {
        Some((end, _)) => format!("`{}...`", &word[..end]),
        None => format!("`{word}`"),
    };
    let words: Vec<String> = words.take(MAX_WORDS).map(short).collect();
    words.join(", ")
}

/// A question back, where an answer to it would help: a name that is not clear, a word that may be a typing error, two
/// readings that are close.
fn clarification(domain: &Domain, parse: &Parse, cause: Cause) -> Option<Clarification> {
    if let Some(crowd) = parse.crowded.first() {
        let words = parse.utterance.slice(crowd.span);
        let question = format!("which `{words}` do you mean? {} names contain it", crowd.n_names);
        return Some(Clarification { question, choices: Vec::new() });
    }
    if let (Some((from, [to, other])), Some(correction)) = (tied(parse), &parse.tied) {
        let question = format!("do you mean `{to}` or `{other}` where you wrote `{from}`?");
        let read = parse.read();
        let second = read.with_words([(correction.span.start as usize, other)]);
        return Some(Clarification {
            question,
            choices: vec![read.text().to_owned(), second.text().to_owned()],
        });
    }
    if let Some((from, to)) = suggested(parse) {
        let question = format!("do you mean `{to}` where you wrote `{from}`?");
        return Some(Clarification { question, choices: vec![parse.read().text().to_owned()] });
    }
    let rival = parse.rival.filter(|_| cause == Cause::Ambiguous)?;
    let choices =
        [parse.program, rival.program].map(|program| domain.display(&parse.terms, program).to_string());
    let question = format!("do you mean `{}` or `{}`?", choices[0], choices[1]);
    Some(Clarification { question, choices: choices.to_vec() })
}

/// A number in few digits that is still below a limit.
pub(super) fn rounded_down(p: f64, limit: f64) -> String {
    let short = |digits: usize| format!("{p:.digits$}");
    let is_below = |text: &String| text.parse::<f64>().is_ok_and(|p| p < limit);
    (2..17).map(short).find(is_below).unwrap_or_else(|| p.to_string())
}
