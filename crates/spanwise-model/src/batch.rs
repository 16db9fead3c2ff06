//! Batches of requests: as many at once through a network as memory allows.

use crate::family::{Parsed, Request};
use crate::outcome::Refused;

/// Most word-pieces of a batch that goes through a network at once, with padding.
const MAX_BATCH_PIECES: usize = 1 << 13;

/// A request that is ready for the network, with its place among all.
pub(crate) struct Ready<'a, I> {
    pub(crate) at: usize,
    pub(crate) request: Request<'a>,
    pub(crate) input: I,
}

/// Prepares every request, and passes those that are not refused on in batches of bounded size. The results are in the order
/// of the requests.
pub(crate) fn in_batches<'a, I>(
    requests: Vec<Request<'a>>,
    prepare: impl Fn(&Request<'a>) -> Result<I, Refused>,
    n_pieces: impl Fn(&I) -> usize,
    parse: impl Fn(Vec<Ready<'a, I>>) -> Vec<(usize, Parsed)>,
) -> Vec<Parsed> {
    let mut parsed = Vec::with_capacity(requests.len());
    let (mut batch, mut longest) = (Vec::new(), 0);
    for (at, request) in requests.into_iter().enumerate() {
        match prepare(&request) {
            Err(reason) => parsed.push((at, Parsed::nothing(request, reason))),
            Ok(input) => {
                let n = n_pieces(&input);
                if longest.max(n) * (batch.len() + 1) > MAX_BATCH_PIECES {
                    parsed.extend(parse(std::mem::take(&mut batch)));
                    longest = 0;
                }
                longest = longest.max(n);
                batch.push(Ready { at, request, input });
            }
        }
    }
    parsed.extend(parse(batch));
    parsed.sort_by_key(|(at, _)| *at);
    parsed.into_iter().map(|(_, parsed)| parsed).collect()
}
