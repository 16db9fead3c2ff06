//! The decoder: blocks that attend to what is written, then to what was read.

use super::{Bart, BartConfig};
use crate::device::device;
use crate::layers::{
    Attended, Attention, Builder, Dropout, FeedForward, LayerShape, Norm, PADDED, Padded, Source, indices,
};
use crate::params::{ParamId, View};
use crate::pretrained::{Architecture, WeightsError};
use crate::transformer::{FEED_FORWARD, SELF_ATTENTION, waves};
use burn::tensor::{Tensor, TensorData};

const CROSS_ATTENTION: [&str; 5] = [
    "encoder_attn.q_proj",
    "encoder_attn.k_proj",
    "encoder_attn.v_proj",
    "encoder_attn.out_proj",
    "encoder_attn_layer_norm",
];
const LAYERS: &str = "decoder.layers";

/// The decoder's parameters, but for the table of word-pieces.
#[derive(Debug)]
pub(super) struct Decoder {
    /// `None` where positions are not learned.
    positions: Option<ParamId>,
    embedding_norm: Option<Norm>,
    layers: Vec<Block>,
    shape: LayerShape,
}

#[derive(Clone, Copy, Debug)]
struct Block {
    own: Attention,
    cross: Attention,
    feed_forward: FeedForward,
}

impl Decoder {
    pub(super) fn new(build: &mut Builder<'_, '_>, config: &BartConfig) -> Result<Self, WeightsError> {
        let hidden = config.encoder.hidden;
        let (mut positions, mut embedding_norm) = (None, None);
        if config.encoder.architecture == Architecture::Bart {
            let shape = [config.encoder.max_positions, hidden];
            positions = Some(build.matrix("decoder.embed_positions.weight", shape, false)?);
            embedding_norm = Some(build.norm("decoder.layernorm_embedding", hidden)?);
        }
        // No memory is reserved for layers that only the configuration has.
        let mut layers = Vec::new();
        for at in 0..config.decoder_layers {
            let name = |part: &str| format!("{LAYERS}.{at}.{part}");
            layers.push(Block {
                own: build.attention(SELF_ATTENTION.map(name), hidden)?,
                cross: build.attention(CROSS_ATTENTION.map(name), hidden)?,
                feed_forward: build
                    .feed_forward(FEED_FORWARD.map(name), [hidden, config.decoder_intermediate])?,
            });
        }
        if let Source::Weights(weights) = build.source {
            weights.check_layers(LAYERS, config.decoder_layers)?;
        }
        let shape = LayerShape { heads: config.decoder_heads, ..config.encoder.layer_shape() };
        Ok(Self { positions, embedding_norm, layers, shape })
    }

    /// Vectors of `n` sequences of equal length that begin at a position: `[n * length, hidden]`.
    fn embed(&self, network: &Bart, view: &View, ids: Vec<i64>, n: usize, from: usize) -> Tensor<2> {
        let transformer = &network.encoder.transformer;
        let (length, hidden) = (ids.len() / n, transformer.config.hidden);
        let words = view.matrix(transformer.words).select(0, indices(ids)) * transformer.scale;
        let positions = match self.positions {
            None => waves(from..from + length, hidden),
            Some(id) => {
                let from = (from + transformer.config.position_offset) as i64;
                view.matrix(id).select(0, indices((from..from + length as i64).collect()))
            }
        };
        let x = words.reshape([n, length, hidden]) + positions.unsqueeze::<3>();
        let x = x.reshape([n * length, hidden]);
        match self.embedding_norm {
            None => x,
            Some(norm) => norm.forward(view, x, self.shape.epsilon),
        }
    }

    /// The output for whole sequences, padded to one length: `[n * length, hidden]`.
    pub(super) fn forward(
        &self,
        network: &Bart,
        view: &View,
        ids: Vec<i64>,
        (words, padded): (Tensor<2>, &Padded),
        dropout: &mut Option<Dropout>,
    ) -> Tensor<2> {
        let (n, length) = (padded.n, ids.len() / padded.n);
        let mut x = Dropout::apply(dropout, self.embed(network, view, ids, n, 0));
        let (mask, past) = (padded.mask(), past(length));
        for block in &self.layers {
            let own = block.own.attended(view, x.clone(), n, self.shape.heads);
            x = block.own.forward(view, x, own, Some(&past), self.shape, dropout);
            let read = block.cross.attended(view, words.clone(), n, self.shape.heads);
            x = block.cross.forward(view, x, read, mask.as_ref(), self.shape, dropout);
            x = block.feed_forward.forward(view, x, self.shape, dropout);
        }
        x
    }

    /// What each block attends to of one text that was read.
    pub(super) fn read(&self, view: &View, words: &Tensor<2>) -> Vec<Attended> {
        let of = |block: &Block| block.cross.attended(view, words.clone(), 1, self.shape.heads);
        self.layers.iter().map(of).collect()
    }

    /// One step of `n` sequences that are equally long: the output, and for each block what the sequences now offer.
    /// `before` has what they offered before; it is empty for the first step.
    pub(super) fn step(
        &self,
        network: &Bart,
        view: &View,
        ids: Vec<i64>,
        (before, position): (Vec<Attended>, usize),
        read: &[Attended],
    ) -> (Tensor<2>, Vec<Attended>) {
        let n = ids.len();
        let mut x = self.embed(network, view, ids, n, position);
        let mut before = before.into_iter();
        let mut now = Vec::with_capacity(self.layers.len());
        for (block, read) in self.layers.iter().zip(read) {
            let mut own = block.own.attended(view, x.clone(), n, self.shape.heads);
            if let Some(Attended { keys, values }) = before.next() {
                own.keys = Tensor::cat(vec![keys, own.keys], 2);
                own.values = Tensor::cat(vec![values, own.values], 2);
            }
            x = block.own.forward(view, x, own.clone(), None, self.shape, &mut None);
            let repeat = |x: &Tensor<4>| x.clone().repeat_dim(0, n);
            let read = Attended { keys: repeat(&read.keys), values: repeat(&read.values) };
            x = block.cross.forward(view, x, read, None, self.shape, &mut None);
            x = block.feed_forward.forward(view, x, self.shape, &mut None);
            now.push(own);
        }
        (x, now)
    }
}

/// Minus a lot on what is not written yet, `[1, 1, length, length]`.
fn past(length: usize) -> Tensor<4> {
    let row = |from: usize| (0..length).map(move |to| if to <= from { 0.0 } else { PADDED });
    let values: Vec<f32> = (0..length).flat_map(row).collect();
    Tensor::from_data(TensorData::new(values, [1, 1, length, length]), &device())
}
