//! Second readings: an utterance that is not understood is parsed again with other words that may have been meant. So is
//! one with a misspelt word that may be one of two.

use crate::confidence::Familiarity;
use crate::family::{Parsed, Request};
use crate::model::Model;
use crate::outcome::{Correction, Details, Outcome, Parse, Predicted};
use crate::span_model::Doubt;
use spanwise_chart::budget::Budget;
use spanwise_reading::Cause;
use std::borrow::Cow;

/// An utterance without ties is read again only if its best program is less probable than this.
const NOT_UNDERSTOOD: f64 = 0.8;
/// Words that the domain knows are doubted only if it is less probable than this.
const DOUBTS_KNOWN_WORDS: f64 = 0.5;
/// The least probability of a program with other words,
const UNDERSTOOD: f64 = 0.5;
/// and by how much it must exceed that of the first program.
const MARGIN: f64 = 0.1;
/// The factor of the probability of a suggestion: the word that was written is as likely to be meant.
const SUGGESTED: f64 = 0.5;
/// Most other words of one utterance that are tried.
const MAX_DOUBTS: usize = 6;
/// A longer utterance is not read again.
const MAX_WORDS: usize = 40;

/// One other way to read an utterance.
struct Variant {
    /// The place of the utterance in its batch.
    at: usize,
    doubts: Vec<Doubt>,
    request: Request<'static>,
}

impl Model {
    /// Reads again what was not understood, and puts better readings in the place of the first ones.
    ///
    /// Cost: none for an utterance that is understood and has no misspelt word; one more pass for each word that is doubted
    /// in the others.
    pub(crate) fn read_again(
        &self,
        outcomes: &mut [Outcome],
        settings: Vec<(Details, Budget)>,
        with_vectors: bool,
    ) {
        let places = outcomes.iter().zip(settings).enumerate();
        let variants: Vec<Variant> =
            places.flat_map(|(at, (outcome, settings))| self.variants(at, outcome, &settings)).collect();
        if variants.is_empty() {
            return;
        }
        let requests = variants.iter().map(|it| it.request.clone()).collect();
        let parsed = self.family.parse_batch(requests, with_vectors);
        let mut best: Vec<Option<Box<Parse>>> = outcomes.iter().map(|_| None).collect();
        let mut ties: Vec<Option<(Correction, f64)>> = outcomes.iter().map(|_| None).collect();
        for (Variant { at, doubts, .. }, parsed) in variants.into_iter().zip(parsed) {
            let tie = match doubts.as_slice() {
                [doubt] if doubt.is_tie => Some(doubt.correction.clone()),
                _ => None,
            };
            let Some(other) = self.reread(&outcomes[at], doubts, parsed) else { continue };
            let is_same =
                outcomes[at].parse().is_some_and(|first| self.written(first) == self.written(&other));
            // Another word that leads to the same program is nothing to ask about.
            if is_same && other.is_suggestion() {
                continue;
            }
            if let Some(tie) = tie.filter(|_| !is_same && other.probability >= UNDERSTOOD) {
                ties[at] = Some((tie, other.probability));
            }
            if best[at].as_ref().is_none_or(|before| other.probability > before.probability) {
                best[at] = Some(other);
            }
        }
        for ((outcome, other), tie) in outcomes.iter_mut().zip(best).zip(ties) {
            if let (Outcome::Found(first), Some((correction, probability))) = (&mut *outcome, tie)
                && first.probability >= UNDERSTOOD
                && first.corrections.iter().any(|it| it.span == correction.span)
            {
                // Both are understood: who wrote the word must say which one is meant.
                let share = first.probability / (first.probability + probability);
                first.probability *= share;
                first.alternatives.iter_mut().for_each(|other| other.probability *= share);
                first.tied = Some(correction);
                continue;
            }
            let least = outcome.parse().map_or(0.0, |before| before.probability + MARGIN).max(UNDERSTOOD);
            let Some(mut other) = other.filter(|other| other.probability >= least) else { continue };
            if other.is_suggestion() {
                other.probability *= SUGGESTED;
                other.alternatives.iter_mut().for_each(|other| other.probability *= SUGGESTED);
            }
            *outcome = Outcome::Found(other);
        }
    }

    /// The other ways to read an utterance that is not understood: with each word that is doubted replaced, and with all.
    fn variants(&self, at: usize, outcome: &Outcome, settings: &(Details, Budget)) -> Vec<Variant> {
        let (utterance, parse) = (outcome.utterance(), outcome.parse());
        let is_costly = matches!(outcome, Outcome::Nothing { cause: Cause::TooCostly, .. });
        let probability = parse.map_or(0.0, |parse| parse.probability);
        let is_understood = probability >= NOT_UNDERSTOOD;
        let has_misspelt = parse.is_some_and(|parse| !parse.corrections.is_empty());
        if is_understood && !has_misspelt || is_costly || utterance.len() > MAX_WORDS {
            return Vec::new();
        }
        let read = parse.map_or(Cow::Borrowed(utterance), Parse::read);
        let mut doubts = self.family.doubts(utterance, parse);
        doubts.retain(|it| it.is_tie || !is_understood);
        let has_meaning = |word: &str| self.confidence.words.familiarity(word) != Familiarity::Null;
        doubts
            .retain(|it| !it.is_known || probability < DOUBTS_KNOWN_WORDS && has_meaning(&it.correction.to));
        doubts.sort_by_key(|it| it.is_known);
        doubts.truncate(MAX_DOUBTS);
        let mut all: Vec<Vec<Doubt>> = doubts.iter().map(|doubt| vec![doubt.clone()]).collect();
        // Several words that the domain does not know may all be errors; known words are hardly ever two at once.
        doubts.retain(|it| !it.is_known);
        doubts.dedup_by_key(|it| it.correction.span);
        if doubts.len() > 1 {
            all.push(doubts);
        }
        let variant = |doubts: Vec<Doubt>| {
            let words =
                doubts.iter().map(|it| (it.correction.span.start as usize, it.correction.to.as_str()));
            let utterance = read.with_words(words);
            let (details, budget) = settings.clone();
            let is_same_length = utterance.len() == read.len();
            // A family that reads words again finds programs, which need no context.
            let request = Request { utterance, details, budget, context: None };
            is_same_length.then_some(Variant { at, doubts, request })
        };
        all.into_iter().filter_map(variant).collect()
    }

    /// The parse of an utterance with other words, if there is one. Where it replaces a word of the language it becomes
    /// a suggestion: whoever wrote that may have meant it.
    fn reread(&self, first: &Outcome, doubts: Vec<Doubt>, mut second: Parsed) -> Option<Box<Parse>> {
        let Ok(Predicted::Program(parse)) = &mut second.predicted else { return None };
        parse.utterance = first.utterance().clone();
        let is_changed = |it: &&Correction| doubts.iter().any(|doubt| doubt.correction.span == it.span);
        let before = first.parse().map_or(&[][..], |parse| &parse.corrections);
        parse.corrections.extend(before.iter().filter(|it| !is_changed(it)).cloned());
        parse.corrections.extend(doubts.iter().map(|doubt| doubt.correction.clone()));
        parse.corrections.sort_by_key(|it| (it.span.start, it.span.end));
        parse.corrections.dedup_by_key(|it| it.span);
        parse.suggested = doubts.into_iter().filter(|it| it.is_word).map(|it| it.correction).collect();
        second.utterance = first.utterance().clone();
        match self.calibrate(second) {
            Outcome::Found(parse) => Some(parse),
            Outcome::Answered(_) | Outcome::Nothing { .. } => None,
        }
    }
}
