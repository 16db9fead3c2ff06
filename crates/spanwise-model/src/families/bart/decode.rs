//! Parsing: reads a batch of utterances in one pass, then searches for the most probable texts of each and keeps those
//! that are programs.

use super::BartParser;
use crate::batch::{Ready, in_batches};
use crate::beam::{Found, Limits, Scored, Scorer, search};
use crate::family::{Parsed, Request};
use crate::outcome::{Details, Parse, Predicted, Refused};
use spanwise_chart::budget::{Exhausted, Meter};
use spanwise_core::Utterance;
use spanwise_lang::{TermId, Terms};
use spanwise_nn::Pieces;
use spanwise_nn::bart::{Decoding, State};

/// Multiplications that take as long as a unit of work.
const PER_UNIT: u64 = 20;

/// Parses utterances; see [`Family::parse_batch`](crate::Family::parse_batch).
pub(super) fn parse_batch(
    parser: &BartParser,
    requests: Vec<Request<'_>>,
    with_vectors: bool,
) -> Vec<Parsed> {
    in_batches(
        requests,
        |request| prepare_checked(parser, request),
        |pieces| pieces.ids.len(),
        |batch| read_and_search(parser, batch, with_vectors),
    )
}

/// The work to write a program: every step of every text takes some matrix products.
pub(super) fn work(parser: &BartParser) -> u64 {
    let steps = (parser.max_length * parser.settings.beam) as u64;
    steps.saturating_mul(step_work(parser))
}

fn step_work(parser: &BartParser) -> u64 {
    let config = parser.network.config();
    let hidden = config.encoder.hidden as u64;
    let layer = 8 * hidden + 2 * config.decoder_intermediate as u64;
    let columns = config.decoder_layers as u64 * layer + config.encoder.vocab_size as u64;
    hidden * columns / PER_UNIT
}

/// Makes an utterance ready for the network, or says why it has no parse.
fn prepare_checked(parser: &BartParser, request: &Request<'_>) -> Result<Pieces, Refused> {
    let Request { utterance, budget, .. } = request;
    if utterance.is_empty() {
        return Err(Refused::no_program("the utterance has no words"));
    }
    let meter = Meter::new(budget);
    meter.look().map_err(Refused::given_up)?;
    let pieces = parser.tokenizer.encode(utterance);
    let config = parser.network.config();
    let (n, limit) = (pieces.ids.len(), config.encoder.max_pieces());
    if n > limit {
        let reason = format!("the utterance has {n} word-pieces, the encoder takes at most {limit}");
        return Err(Refused::too_costly(reason));
    }
    // Attention between word-pieces; keys and values of what is read, and of each text that is written.
    let pairs = 2 * n * n * config.encoder.heads;
    let texts = (n + parser.max_length) * parser.settings.beam;
    let states = 2 * texts * config.encoder.hidden * config.decoder_layers;
    let too_long = |limit: Exhausted| {
        Refused::too_costly(format!("the utterance is too long: {} words exceed {limit}", utterance.len()))
    };
    meter.fits((pairs + states) * size_of::<f32>()).map_err(too_long)?;
    Ok(pieces)
}

fn read_and_search(
    parser: &BartParser,
    batch: Vec<Ready<'_, Pieces>>,
    with_vectors: bool,
) -> Vec<(usize, Parsed)> {
    let pieces: Vec<&Pieces> = batch.iter().map(|ready| &ready.input).collect();
    let decodings = parser.network.read(&pieces);
    batch
        .iter()
        .zip(decodings)
        .map(|(Ready { at, request, .. }, mut decoding)| {
            let word_vectors =
                if with_vectors { std::mem::take(&mut decoding.word_vectors) } else { Vec::new() };
            let utterance = request.utterance.clone();
            let writer = Writer::new(parser, decoding, Meter::new(&request.budget));
            let parse = writer.parse(&utterance, request.details).map(Box::new);
            let predicted = parse.map(Predicted::Program);
            (*at, Parsed { utterance, predicted, word_vectors, spans: Vec::new() })
        })
        .collect()
}

/// Writes programs for one utterance.
pub(super) struct Writer<'a> {
    parser: &'a BartParser,
    decoding: Decoding<'a>,
    meter: Meter,
}

impl<'a> Writer<'a> {
    pub(super) fn new(parser: &'a BartParser, decoding: Decoding<'a>, meter: Meter) -> Self {
        Self { parser, decoding, meter }
    }

    /// The most probable program, with what else was requested.
    fn parse(&self, utterance: &Utterance, details: Details) -> Result<Parse, Refused> {
        let BartParser { domain, settings, max_length, network, .. } = self.parser;
        let limits = Limits { width: settings.beam, max_length: *max_length, end: network.config().end };
        let found = search(self, limits)?;
        let mut terms = domain.new_terms();
        let n_found = found.len();
        let programs = self.programs(&mut terms, found);
        Parse::without_tree(utterance.clone(), terms, &programs, details).ok_or_else(|| {
            Refused::no_program(match n_found {
                0 => format!("the search found no text of less than {max_length} word-pieces"),
                n => format!("none of the {n} most probable texts is a program"),
            })
        })
    }

    /// The texts that are programs of the domain, with their log-probabilities, the most probable first. One program can
    /// be written in several ways, whose probabilities add up.
    pub(super) fn programs(&self, terms: &mut Terms, found: Vec<Found>) -> Vec<(TermId, f64)> {
        let mut programs: Vec<(TermId, f64)> = Vec::new();
        for Found { symbols, log_probability } in found {
            let Ok(program) = terms.parse(&self.parser.pieces().text(&symbols)) else { continue };
            if self.parser.domain.analyze(terms, program).is_err() {
                continue;
            }
            match programs.iter_mut().find(|(other, _)| *other == program) {
                Some((_, sum)) => *sum = (*sum + (log_probability - *sum).exp().ln_1p()).min(0.0),
                None => programs.push((program, log_probability)),
            }
        }
        // Stable: ties are broken by the order in which they were found.
        programs.sort_by(|a, b| b.1.total_cmp(&a.1));
        programs
    }

    fn step(&self, texts: &[(&State, u32)]) -> Result<Vec<Scored<State>>, Refused> {
        let work = step_work(self.parser).saturating_mul(texts.len() as u64);
        self.meter.spend(work).map_err(Refused::given_up)?;
        let mut steps = self.decoding.step(texts);
        for (_, scores) in &mut steps {
            if scores.iter().any(|score| score.is_nan()) {
                return Err(Refused::diverged());
            }
            for &piece in &self.parser.silent {
                scores[piece as usize] = f32::NEG_INFINITY;
            }
        }
        Ok(steps)
    }
}

impl Scorer for Writer<'_> {
    type State = State;
    type Stop = Refused;

    fn start(&self) -> Result<Scored<State>, Refused> {
        let (state, piece) = self.decoding.start();
        let mut steps = self.step(&[(&state, piece)])?;
        Ok(steps.pop().unwrap_or_else(|| unreachable!("one text has one state")))
    }

    fn advance(&self, texts: &[(&State, u32)]) -> Result<Vec<Scored<State>>, Refused> {
        self.step(texts)
    }
}
