//! The scene classifier: an encoder that reads words together with the objects of a scene, and chooses one of several classes.
//!
//! An object is a number of features, such as a color and a rank from left to right. Its vector is the sum of their
//! embeddings, normalized. The vectors of all objects follow the word-pieces, in no order: they have no positions. The class is chosen from the
//! encoder's output for the first piece.

#[cfg(test)]
mod tests;

use crate::device::device;
use crate::encoder::{Encoder, Sequence, numbers};
use crate::layers::{Dropout, HeadBuilder, Linear, Norm, Padded, Source, indices};
use crate::network::Noise;
use crate::params::{Gradients, Group, ParamId, Params, View};
use crate::pretrained::{EncoderConfig, Weights, WeightsError};
use crate::tokenizer::Pieces;
use crate::transformer::Transformer;
use burn::tensor::{Tensor, TensorData, activation};
use spanwise_core::Random;

/// Sizes of what is added to the encoder.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SceneConfig {
    /// Number of features that an object may have.
    pub n_features: usize,
    /// Number of features that every object has; at least one.
    pub per_object: usize,
    /// Number of classes.
    pub n_classes: usize,
}

/// An utterance about a scene.
#[derive(Clone, Copy, Debug)]
pub struct SceneInput<'a> {
    /// Its word-pieces; at least one.
    pub pieces: &'a Pieces,
    /// The output of the frozen layers ([`SceneClassifier::lower`]), piece after piece; `None` to compute it.
    pub lower: Option<&'a [f32]>,
    /// The features of the objects, object after object. Their order does not matter.
    pub features: &'a [u32],
}

/// An utterance about a scene with the class to learn.
#[derive(Clone, Copy, Debug)]
pub struct SceneLesson<'a> {
    /// What is read.
    pub input: SceneInput<'a>,
    /// Its class.
    pub class: u32,
    /// The weight of its loss.
    pub weight: f32,
}

/// An encoder that reads words together with the objects of a scene, and chooses one of several classes.
///
/// ```
/// use spanwise_core::Utterance;
/// use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig};
/// use spanwise_nn::scene_classifier::{SceneClassifier, SceneConfig, SceneInput};
/// use spanwise_nn::tokenizer::{Tokenizer, WordTable};
///
/// let utterance = Utterance::new("is the red thing left of the cube");
/// let tokenizer = Tokenizer::Words(WordTable::from_utterances([&utterance], 1));
/// let encoder = EncoderConfig {
///     architecture: Architecture::Compact,
///     vocab_size: tokenizer.vocab_size(),
///     hidden: 8,
///     layers: 1,
///     heads: 2,
///     intermediate: 16,
///     max_positions: 64,
///     type_vocab: 0,
///     layer_norm_eps: 1e-6,
///     dropout: 0.1,
///     position_offset: 0,
///     relative_buckets: 16,
///     activation: Activation::Gelu,
/// };
/// let config = SceneConfig { n_features: 6, per_object: 2, n_classes: 2 };
/// let network = SceneClassifier::from_scratch(encoder, tokenizer.n_buckets(), config, 1)?;
/// // Three objects of two features each.
/// let pieces = tokenizer.encode(&utterance);
/// let input = SceneInput { pieces: &pieces, lower: None, features: &[0, 3, 1, 4, 0, 5] };
/// let found = network.log_probabilities(&[input]);
/// assert!((found[0].iter().map(|log| log.exp()).sum::<f32>() - 1.0).abs() < 1e-5);
/// # Ok::<(), spanwise_nn::pretrained::WeightsError>(())
/// ```
#[derive(Debug)]
pub struct SceneClassifier {
    /// All parameters.
    pub params: Params,
    encoder: Encoder,
    /// A vector for every feature.
    features: ParamId,
    norm: Norm,
    classes: Linear,
    config: SceneConfig,
}

impl SceneClassifier {
    /// A pretrained encoder with a new table of features and a new classifier. The embeddings of such an encoder are never
    /// trained, nor are its lowest `n_frozen` layers. Those see the words alone: objects join above them.
    ///
    /// # Errors
    /// Weights that do not fit the configuration.
    pub fn pretrained(
        encoder: EncoderConfig,
        weights: &mut Weights,
        config: SceneConfig,
        n_frozen: usize,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut network = Self::build(encoder, 0, &mut Source::Weights(weights), config, seed)?;
        network.encoder.freeze(&mut network.params, n_frozen);
        Ok(network)
    }

    /// A network with random weights, with a table for hashed character n-grams unless `ngram_buckets` is zero. All of it
    /// learns at the rate of a head.
    ///
    /// # Errors
    /// Never: the signature is that of the other constructors.
    pub fn from_scratch(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        config: SceneConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut random = Random::new(seed, &[1]);
        let mut network =
            Self::build(encoder, ngram_buckets, &mut Source::Random(&mut random), config, seed)?;
        network.params.assign_all(Group::Head);
        Ok(network)
    }

    /// A network from a file of weights that this program saved, with so many frozen layers, or `None` if it has none.
    ///
    /// # Errors
    /// Weights that do not fit the configurations.
    pub fn saved(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        config: SceneConfig,
        n_frozen: Option<usize>,
        weights: &mut Weights,
    ) -> Result<Self, WeightsError> {
        let mut network = Self::build(encoder, ngram_buckets, &mut Source::Saved(weights), config, 0)?;
        if let Some(n_frozen) = n_frozen {
            network.encoder.freeze(&mut network.params, n_frozen);
        }
        Ok(network)
    }

    fn build(
        encoder: EncoderConfig,
        ngram_buckets: usize,
        source: &mut Source<'_>,
        config: SceneConfig,
        seed: u64,
    ) -> Result<Self, WeightsError> {
        let mut params = Params::default();
        let encoder = Encoder::new(Transformer::new(encoder, ngram_buckets, &mut params, source)?);
        let width = encoder.config().hidden;
        let mut build = HeadBuilder { params: &mut params, source, random: Random::new(seed, &[2]) };
        let features = build.matrix("objects.features.weight", [config.n_features, width])?;
        let norm = build.norm("objects.norm", width)?;
        let classes = build.linear("classes", width, config.n_classes)?;
        Ok(Self { params, encoder, features, norm, classes, config })
    }

    /// The encoder's configuration.
    #[must_use]
    pub fn encoder(&self) -> &EncoderConfig {
        self.encoder.config()
    }

    /// The sizes of the rest.
    #[must_use]
    pub fn config(&self) -> SceneConfig {
        self.config
    }

    /// How many layers are frozen; `None` when even the embeddings are trained.
    #[must_use]
    pub fn n_frozen(&self) -> Option<usize> {
        self.encoder.is_frozen_below().then(|| self.encoder.n_frozen())
    }

    /// The output of the frozen layers for each sequence, piece after piece. It is constant during training.
    #[must_use]
    pub fn lower(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.lower(&self.params, batch)
    }

    /// The encoder's vector of every word of each sequence, read without a scene.
    #[must_use]
    pub fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.encoder.word_vectors(&self.params, batch)
    }

    /// The log-probability of every class, for each input.
    #[must_use]
    pub fn log_probabilities(&self, inputs: &[SceneInput<'_>]) -> Vec<Vec<f32>> {
        if inputs.is_empty() {
            return Vec::new();
        }
        let found = numbers(self.forward(&self.params.view(false), inputs, &mut None));
        found.chunks_exact(self.config.n_classes).map(<[f32]>::to_vec).collect()
    }

    /// Runs a batch forward, calls `respond` with the loss of every lesson (the negative log-likelihood of its class,
    /// unweighted), and runs the batch backward.
    pub fn gradients<R>(
        &self,
        lessons: &[SceneLesson<'_>],
        noise: Noise,
        respond: impl FnOnce(&[f64]) -> R,
    ) -> (Gradients, R) {
        if lessons.is_empty() {
            return (self.params.no_gradients(), respond(&[]));
        }
        let view = self.params.view(true);
        let mut dropout = Some(Dropout::new(noise.dropout, Random::new(noise.seed, &[3])));
        let inputs: Vec<SceneInput<'_>> = lessons.iter().map(|lesson| lesson.input).collect();
        let found = self.forward(&view, &inputs, &mut dropout);
        let (shape, n_classes) = (found.dims(), self.config.n_classes);
        let place = |(at, lesson): (usize, &SceneLesson<'_>)| at * n_classes + lesson.class as usize;
        let places = || lessons.iter().enumerate().map(place);
        let values = numbers(found.clone().inner());
        let losses: Vec<f64> = places().map(|place| -f64::from(values[place])).collect();
        let result = respond(&losses);
        let mut weights = vec![0.0; shape[0] * n_classes];
        places().zip(lessons).for_each(|(place, lesson)| weights[place] = -lesson.weight);
        let loss = (found * Tensor::<2>::from_data(TensorData::new(weights, shape), &device())).sum();
        (view.gradients(loss.backward()), result)
    }

    /// The log-probabilities of classes, `[n, classes]`.
    fn forward(&self, view: &View, inputs: &[SceneInput<'_>], dropout: &mut Option<Dropout>) -> Tensor<2> {
        let lengths = inputs.iter().map(|input| input.pieces.ids.len()).collect();
        let counts = inputs.iter().map(|input| input.features.len() / self.config.per_object).collect();
        let padded = Padded::with_unordered(lengths, counts);
        let batch: Vec<Sequence<'_>> = inputs.iter().map(|input| (input.pieces, input.lower)).collect();
        let objects = self.objects(view, inputs, &padded);
        let first = self.encoder.first(view, &batch, objects, &padded, dropout);
        activation::log_softmax(self.classes.forward(view, first), 1)
    }

    /// The vectors of objects, `[n, objects, hidden]`; `None` where no scene has any.
    fn objects(&self, view: &View, inputs: &[SceneInput<'_>], padded: &Padded) -> Option<Tensor<3>> {
        if padded.n_unordered == 0 {
            return None;
        }
        let (per_object, hidden) = (self.config.per_object, self.encoder().hidden);
        let n_rows = padded.n * padded.n_unordered;
        let mut ids = Vec::with_capacity(n_rows * per_object);
        for (at, input) in inputs.iter().enumerate() {
            ids.extend(input.features.iter().map(|&id| i64::from(id)));
            // Which features padding has does not matter: nothing attends to it.
            ids.resize((at + 1) * padded.n_unordered * per_object, 0);
        }
        let all = view.matrix(self.features).select(0, indices(ids));
        let sums = all.reshape([n_rows, per_object, hidden]).sum_dim(1).reshape([n_rows, hidden]);
        let epsilon = self.encoder().layer_norm_eps;
        Some(self.norm.forward(view, sums, epsilon).reshape([padded.n, padded.n_unordered, hidden]))
    }
}
