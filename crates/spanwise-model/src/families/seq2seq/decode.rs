//! Parsing: reads a batch of utterances in one pass, then searches for the most probable programs of each.

use super::Seq2SeqParser;
use super::constrained::Allowed;
use super::input::Input;
use super::vocabulary::Vocabulary;
use crate::batch::{Ready, in_batches};
use crate::beam::{Found, Limits, Scored, Scorer, search};
use crate::family::{Parsed, Request};
use crate::outcome::{Details, Parse, Predicted, Refused};
use spanwise_chart::budget::{Exhausted, Meter};
use spanwise_lang::TermId;
use spanwise_lang::constraint::Prefix;
use spanwise_lang::linear::{self, Token};
use spanwise_nn::seq2seq::{Decoding, Previous, Reads, State};

/// Parses utterances; see [`Family::parse_batch`](crate::Family::parse_batch).
pub(super) fn parse_batch(
    parser: &Seq2SeqParser,
    requests: Vec<Request<'_>>,
    with_vectors: bool,
) -> Vec<Parsed> {
    in_batches(
        requests,
        |request| prepare_checked(parser, request),
        |input| input.pieces.ids.len(),
        |batch| read_and_search(parser, batch, with_vectors),
    )
}

/// The work to write a program for so many words: every step of every sequence takes some matrix products.
pub(super) fn work(parser: &Seq2SeqParser, n_words: usize) -> u64 {
    let steps = (parser.max_length * parser.settings.beam) as u64;
    steps.saturating_mul(step_work(parser, n_words))
}

fn step_work(parser: &Seq2SeqParser, n_words: usize) -> u64 {
    let hidden = parser.settings.hidden as u64;
    hidden * (hidden + n_words as u64)
}

/// Makes an utterance ready for the network, or says why it has no parse.
fn prepare_checked(parser: &Seq2SeqParser, request: &Request<'_>) -> Result<Input, Refused> {
    let Request { utterance, budget, .. } = request;
    if utterance.is_empty() {
        return Err(Refused::no_program("the utterance has no words"));
    }
    let meter = Meter::new(budget);
    meter.look().map_err(Refused::given_up)?;
    let input = parser.prepare(utterance.clone());
    let encoder = parser.network.encoder();
    let (n, limit) = (input.pieces.ids.len(), encoder.max_pieces());
    if n > limit {
        let reason = format!("the utterance has {n} word-pieces, the encoder takes at most {limit}");
        return Err(Refused::too_costly(reason));
    }
    // Attention between word-pieces, and the states of words once for each sequence.
    let pairs = if encoder.layers > 0 { 2 * n * n * encoder.heads } else { 0 };
    let states = 2 * n * parser.settings.hidden.max(encoder.hidden) * parser.settings.beam;
    let too_long = |limit: Exhausted| {
        Refused::too_costly(format!("the utterance is too long: {} words exceed {limit}", utterance.len()))
    };
    meter.fits((pairs + states) * size_of::<f32>()).map_err(too_long)?;
    Ok(input)
}

fn read_and_search(
    parser: &Seq2SeqParser,
    batch: Vec<Ready<'_, Input>>,
    with_vectors: bool,
) -> Vec<(usize, Parsed)> {
    let reads: Vec<Reads<'_>> = batch
        .iter()
        .map(|Ready { input, .. }| Reads { pieces: &input.pieces, lower: None, copies: &input.copies })
        .collect();
    let decodings = parser.network.read(&reads);
    batch
        .iter()
        .zip(decodings)
        .map(|(Ready { at, request, input }, mut decoding)| {
            let word_vectors =
                if with_vectors { std::mem::take(&mut decoding.word_vectors) } else { Vec::new() };
            let meter = Meter::new(&request.budget);
            let allowed = parser.grammar.as_ref().map(|grammar| Allowed::new(grammar, parser, input));
            let writer = Writer { parser, input, decoding, allowed, meter };
            let parse = writer.parse(request.details).map(Box::new);
            let predicted = parse.map(Predicted::Program);
            let utterance = request.utterance.clone();
            (*at, Parsed { utterance, predicted, word_vectors, spans: Vec::new() })
        })
        .collect()
}

/// Writes programs for one utterance.
struct Writer<'a> {
    parser: &'a Seq2SeqParser,
    input: &'a Input,
    decoding: Decoding<'a>,
    /// `None` where anything may be written.
    allowed: Option<Allowed<'a>>,
    meter: Meter,
}

/// A program that is not finished: the state of the decoder, and what may follow.
struct Unfinished<'a> {
    state: State,
    prefix: Option<Prefix<'a>>,
}

impl<'a> Writer<'a> {
    /// The most probable program, with what else was requested.
    fn parse(&self, details: Details) -> Result<Parse, Refused> {
        let Seq2SeqParser { domain, settings, max_length, .. } = self.parser;
        let limits = Limits { width: settings.beam, max_length: *max_length, end: Vocabulary::END };
        let found = search(self, limits)?;
        let mut terms = domain.new_terms();
        let n_found = found.len();
        // What is no program is left out.
        let mut program = |found: Found| -> Option<(TermId, f64)> {
            let tokens: Vec<Token> =
                found.symbols.iter().filter_map(|&symbol| self.parser.token(self.input, symbol)).collect();
            Some((linear::assemble(&mut terms, &tokens).ok()?, found.log_probability))
        };
        let programs: Vec<(TermId, f64)> = found.into_iter().filter_map(&mut program).collect();
        let utterance = self.input.utterance.clone();
        Parse::without_tree(utterance, terms, &programs, details).ok_or_else(|| {
            Refused::no_program(match n_found {
                0 => format!("the search found no program of less than {max_length} tokens"),
                n => format!("none of the {n} most probable sequences of tokens is a program"),
            })
        })
    }

    /// The log-probabilities of symbols, from those of tokens and copies: copies of one symbol add up.
    fn symbols(&self, choices: &[f32]) -> Result<Vec<f32>, Refused> {
        let n_tokens = self.parser.vocabulary.len();
        let mut symbols = vec![f32::NEG_INFINITY; self.parser.n_symbols(self.input)];
        symbols[..n_tokens].copy_from_slice(&choices[..n_tokens]);
        for (choice, &symbol) in choices[n_tokens..].iter().zip(&self.input.copied) {
            let sum = &mut symbols[symbol as usize];
            *sum = log_add(*sum, *choice);
        }
        if symbols.iter().any(|symbol| symbol.is_nan()) {
            return Err(Refused::diverged());
        }
        Ok(symbols)
    }

    /// One step of several sequences, each with its state and what it ends with so far.
    fn step(&self, sequences: Vec<Continued<'_, 'a>>) -> Result<Vec<Scored<Unfinished<'a>>>, Refused> {
        let work = step_work(self.parser, self.input.utterance.len());
        self.meter.spend(work * sequences.len() as u64).map_err(Refused::given_up)?;
        let states: Vec<_> = sequences.iter().map(|(state, previous, _)| (*state, *previous)).collect();
        let steps = self.decoding.step(&states).into_iter().zip(sequences);
        steps
            .map(|((state, choices), (_, _, prefix))| {
                let mut symbols = self.symbols(&choices)?;
                if let (Some(allowed), Some(prefix)) = (&self.allowed, &prefix) {
                    allowed.mask(prefix, &mut symbols);
                }
                Ok((Unfinished { state, prefix }, symbols))
            })
            .collect()
    }
}

/// A sequence with one more symbol: the state before it, what it is to the decoder, and what may follow.
type Continued<'s, 'a> = (&'s State, Previous, Option<Prefix<'a>>);

impl<'a> Scorer for Writer<'a> {
    type State = Unfinished<'a>;
    type Stop = Refused;

    fn start(&self) -> Result<Scored<Unfinished<'a>>, Refused> {
        let prefix = self.allowed.as_ref().map(Allowed::start);
        let mut steps = self.step(vec![(&self.decoding.start(), Previous::Nothing, prefix)])?;
        Ok(steps.pop().unwrap_or_else(|| unreachable!("one sequence has one state")))
    }

    fn advance(&self, sequences: &[(&Unfinished<'a>, u32)]) -> Result<Vec<Scored<Unfinished<'a>>>, Refused> {
        let continued = |&(before, symbol): &(&'_ Unfinished<'a>, u32)| {
            let both = self.allowed.as_ref().zip(before.prefix.as_ref());
            both.map(|(allowed, prefix)| allowed.after(prefix, symbol))
        };
        let sequences = sequences
            .iter()
            .map(|one| (&one.0.state, self.parser.previous(self.input, one.1), continued(one)))
            .collect();
        self.step(sequences)
    }
}

/// The logarithm of the sum of two numbers that are given by their logarithms.
fn log_add(a: f32, b: f32) -> f32 {
    let (most, least) = if a > b { (a, b) } else { (b, a) };
    if least == f32::NEG_INFINITY { most } else { most + (least - most).exp().ln_1p() }
}
