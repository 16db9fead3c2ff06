//! A cache of the outputs of frozen layers, which are computed once per training utterance.

use rayon::prelude::*;
use spanwise_model::{Family, Pair};
use spanwise_nn::Pieces;
use std::ops::ControlFlow;

/// Most bytes of cached outputs.
const MAX_BYTES: usize = 4 << 30;
/// The number of utterances in a batch.
const BATCH: usize = 32;
/// Utterances between two reports of progress.
const BLOCK: usize = 512;

/// Cached outputs, one per pair; empty where nothing is cached.
#[derive(Default)]
pub(crate) struct Cache(Vec<Vec<f32>>);

impl Cache {
    /// Computes the outputs of all pairs, unless no layer is frozen or they would take too much memory. Utterances of similar
    /// length share a batch. `progress` gets the number of utterances done and may stop the work; the result is then a
    /// break.
    pub(crate) fn fill(
        family: &dyn Family,
        pairs: &[Pair],
        progress: &mut dyn FnMut(usize) -> ControlFlow<()>,
    ) -> ControlFlow<(), Self> {
        let pieces: Vec<Pieces> =
            pairs.iter().map(|pair| family.tokenizer().encode(&pair.utterance)).collect();
        let n_pieces: usize = pieces.iter().map(|pieces| pieces.ids.len()).sum();
        let is_frozen = family.frozen_outputs(&[]).is_some();
        if !is_frozen || n_pieces * family.encoder().hidden * size_of::<f32>() > MAX_BYTES {
            return ControlFlow::Continue(Self::default());
        }
        let mut order: Vec<usize> = (0..pieces.len()).collect();
        order.sort_by_key(|&at| (pieces[at].ids.len(), at));
        let mut outputs = vec![Vec::new(); pieces.len()];
        let mut done = 0;
        for block in order.chunks(BLOCK) {
            let computed: Vec<(usize, Vec<f32>)> = block
                .par_chunks(BATCH)
                .flat_map_iter(|batch| {
                    let inputs: Vec<&Pieces> = batch.iter().map(|&at| &pieces[at]).collect();
                    let computed = family.frozen_outputs(&inputs).unwrap_or_default();
                    batch.iter().copied().zip(computed).collect::<Vec<_>>()
                })
                .collect();
            computed.into_iter().for_each(|(at, values)| outputs[at] = values);
            done += block.len();
            progress(done)?;
        }
        ControlFlow::Continue(Self(outputs))
    }

    /// The output for a pair, if it is cached.
    pub(crate) fn get(&self, pair: usize) -> Option<&[f32]> {
        self.0.get(pair).map(Vec::as_slice)
    }
}
