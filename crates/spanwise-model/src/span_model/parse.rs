//! Parsing with a family that scores spans: prepare, score with the network, decode, all within a budget.

use super::{Prepared, SpanFamily};
use crate::batch::{Ready, in_batches};
use crate::family::{Parsed, Request};
use crate::outcome::{Parse, Predicted, Refused};
use spanwise_chart::budget::{Exhausted, Meter};
use spanwise_chart::spans::SpanPosterior;
use spanwise_nn::Item;

/// What decoding one utterance gives.
pub(crate) struct Decoded {
    /// The best program, or why there is none.
    pub(crate) parse: Result<Box<Parse>, Refused>,
    /// Posteriors of spans, if they were requested.
    pub(crate) spans: Vec<SpanPosterior>,
}

impl Decoded {
    pub(crate) fn nothing(reason: Refused) -> Self {
        Self { parse: Err(reason), spans: Vec::new() }
    }
}

/// Why an utterance has no parse: its charts exceed the budget.
pub(crate) fn exhausted(prepared: &Prepared, limit: Exhausted) -> Refused {
    let (words, readings) = (prepared.utterance.len(), prepared.lattice.leaves().len());
    match limit {
        Exhausted::Deadline | Exhausted::Cancelled => Refused::given_up(limit),
        Exhausted::Work | Exhausted::Memory | Exhausted::Time => Refused::too_costly(format!(
            "the utterance is too long and too ambiguous: {words} words have {readings} readings, and combining \
             them exceeds {limit}; ask a shorter question"
        )),
    }
}

/// Parses utterances: prepare, score as many of them at once as memory allows, decode each.
pub(crate) fn parse_batch<F: SpanFamily>(
    family: &F,
    requests: Vec<Request<'_>>,
    with_vectors: bool,
) -> Vec<Parsed> {
    in_batches(
        requests,
        |request| prepare_checked(family, request),
        |input| F::parts(input).0.ids.len(),
        |batch| score_and_decode(family, batch, with_vectors),
    )
}

/// Scores prepared utterances in one pass of the network and decodes each.
fn score_and_decode<F: SpanFamily>(
    family: &F,
    batch: Vec<Ready<'_, F::Input>>,
    with_vectors: bool,
) -> Vec<(usize, Parsed)> {
    let items: Vec<Item<'_>> = batch
        .iter()
        .map(|ready| F::parts(&ready.input))
        .map(|(pieces, spans)| Item { pieces, lower: None, spans })
        .collect();
    let network = &family.model().network;
    let (logits, vectors) = if with_vectors {
        network.logits_and_words(&items)
    } else {
        (network.logits(&items), vec![Vec::new(); items.len()])
    };
    let mut parsed = Vec::with_capacity(batch.len());
    for (item, (Ready { at, request, input }, word_vectors)) in batch.into_iter().zip(vectors).enumerate() {
        let logits = logits.of(item);
        if !family.model().is_usable(logits) {
            parsed.push((at, Parsed::nothing(request, Refused::diverged())));
            continue;
        }
        let Request { utterance, details, budget, .. } = request;
        let Decoded { mut parse, spans } = family.decode(&input, logits, details, &Meter::new(&budget));
        if let Ok(parse) = &mut parse {
            F::prepared(&input).read.note(&family.model().domain, parse);
        }
        let predicted = parse.map(Predicted::Program);
        parsed.push((at, Parsed { utterance, predicted, word_vectors, spans }));
    }
    parsed
}

/// Makes an utterance ready for the network; or says why it has no parse, as far as that is known before it is scored.
pub(super) fn prepare_checked<F: SpanFamily>(family: &F, request: &Request<'_>) -> Result<F::Input, Refused> {
    let Request { utterance, budget, .. } = request;
    if utterance.is_empty() {
        return Err(Refused::no_program("the utterance has no words"));
    }
    let too_long = |limit: Exhausted| {
        let n = utterance.len();
        Refused::too_costly(format!("the utterance is too long: scoring {n} words exceeds {limit}"))
    };
    let meter = Meter::new(budget);
    meter.look().map_err(Refused::given_up)?;
    meter.fits(family.bytes(utterance.len())).map_err(too_long)?;
    let too_large = |error| Refused::too_costly(format!("the utterance is too long: {error}"));
    let input = family.prepare(utterance.clone()).map_err(too_large)?;
    if let Some(reason) = family.refusal(&input) {
        return Err(Refused::no_program(reason));
    }
    let encoder = family.model().network.encoder();
    let (n, limit) = (F::parts(&input).0.ids.len(), encoder.max_pieces());
    if n > limit {
        let reason = format!("the utterance has {n} word-pieces, the encoder takes at most {limit}");
        return Err(Refused::too_costly(reason));
    }
    // Attention: weights before and after the softmax, for every pair of word-pieces.
    meter.fits(2 * n * n * encoder.heads * size_of::<f32>()).map_err(too_long)?;
    meter.can_spend(family.work(&input)).map_err(|limit| exhausted(F::prepared(&input), limit))?;
    Ok(input)
}
