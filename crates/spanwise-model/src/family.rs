//! The seam between models and everything that uses them: what a model family offers for parsing, training and saving.

use crate::directory::ModelError;
use crate::families::Settings;
use crate::outcome::{Details, Parse, Predicted, Refused};
use crate::span_model::{Doubt, SpanModel};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use spanwise_chart::budget::Budget;
use spanwise_chart::gold_tree::GoldTree;
use spanwise_chart::spans::SpanPosterior;
use spanwise_core::{Span, Utterance};
use spanwise_lang::{ConstantId, Domain, TermId, Terms};
use spanwise_nn::pretrained::{Activation, Architecture, EncoderConfig, Weights};
use spanwise_nn::tokenizer::WordTable;
use spanwise_nn::{Gradients, Noise, Params, Pieces, Tokenizer};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

/// What training maximizes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Objective {
    /// The probability of the gold program among all programs: a conditional random field.
    #[default]
    Crf,
    /// The best tree of the gold program, found anew at every step.
    HardEm,
    /// The sum over all trees of the gold program under the per-span softmax.
    Marginal,
    /// The gold trees of the data, or those that programs and phrases give.
    GoldTrees,
}

/// An utterance with what is right for it: what training learns from.
#[derive(Clone, Debug)]
pub struct Pair {
    /// The utterance.
    pub utterance: Utterance,
    /// Its program, or its answer for a family that gives no programs.
    pub gold: Gold,
}

/// What is right for an utterance.
#[derive(Clone, Debug)]
pub enum Gold {
    /// A program.
    Program {
        /// The gold program.
        program: TermId,
        /// The leaves of the gold tree, where the data has one: which constant is aligned to which words.
        leaves: Option<Vec<(Span, ConstantId)>>,
    },
    /// An answer in a context.
    Answer {
        /// The gold answer, in the notation of the domain's executor.
        answer: String,
        /// What it is an answer in, such as a scene.
        context: Arc<Value>,
    },
}

impl Pair {
    /// An utterance with its program, without a tree.
    #[must_use]
    pub fn new(utterance: Utterance, program: TermId) -> Self {
        Self { utterance, gold: Gold::Program { program, leaves: None } }
    }

    /// The gold program, if one is learned.
    #[must_use]
    pub fn program(&self) -> Option<TermId> {
        match self.gold {
            Gold::Program { program, .. } => Some(program),
            Gold::Answer { .. } => None,
        }
    }

    /// The leaves of its gold tree, if there is one.
    #[must_use]
    pub fn leaves(&self) -> Option<&[(Span, ConstantId)]> {
        match &self.gold {
            Gold::Program { leaves, .. } => leaves.as_deref(),
            Gold::Answer { .. } => None,
        }
    }
}

/// A pair as part of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Task<'a> {
    /// The pair.
    pub pair: &'a Pair,
    /// The output of the frozen layers for it, if it is cached.
    pub lower: Option<&'a [f32]>,
    /// The weight of its loss.
    pub weight: f32,
}

/// One shard of a training batch. A batch is always cut into the same number of shards, so that results do not depend on
/// the number of cores.
#[derive(Clone, Copy, Debug)]
pub struct Shard<'a> {
    /// The store of all gold programs.
    pub terms: &'a Terms,
    /// The pairs.
    pub tasks: &'a [Task<'a>],
    /// What is maximized.
    pub objective: Objective,
    /// Dropout.
    pub noise: Noise,
    /// Factor of every loss: one over the size of the batch.
    pub scale: f32,
    /// Whether only the encoder is timed: one span is scored per utterance, the loss is the sum of its logits, and
    /// nothing is decoded.
    pub encoder_only: bool,
}

/// Loss and gradients of a shard.
#[derive(Debug)]
pub struct ShardGradients {
    /// Gradients of all parameters.
    pub gradients: Gradients,
    /// The sum of the unweighted losses.
    pub loss: f64,
    /// How many pairs contributed; a search that finds no tree for a pair learns nothing from it.
    pub n_learned: usize,
    /// Where the time went.
    pub time: StepTime,
}

impl ShardGradients {
    /// Those of `n_learned` pairs whose losses the network itself computes: `run` passes what it is given to the network,
    /// which calls it with the losses between its forward and its backward pass.
    pub(crate) fn of_network(
        started: Instant,
        n_learned: usize,
        run: impl FnOnce(fn(&[f64]) -> (f64, Instant)) -> (Gradients, (f64, Instant)),
    ) -> Self {
        let prepared = Instant::now();
        let (gradients, (loss, scored)) = run(|losses| (losses.iter().sum(), Instant::now()));
        let time = StepTime {
            prepare: (prepared - started).as_secs_f64(),
            forward: (scored - prepared).as_secs_f64(),
            charts: 0.0,
            backward: scored.elapsed().as_secs_f64(),
        };
        Self { gradients, loss, n_learned, time }
    }
}

/// Seconds that the parts of a training step took.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct StepTime {
    /// Tokenization, lexicon matching and lattices.
    pub prepare: f64,
    /// The forward pass of the network.
    pub forward: f64,
    /// Charts: loss and gradient of the scores.
    pub charts: f64,
    /// The backward pass of the network.
    pub backward: f64,
}

impl StepTime {
    /// Adds a share of another time.
    pub fn add_share(&mut self, other: &Self, n_shards: usize) {
        let n = n_shards as f64;
        self.prepare += other.prepare / n;
        self.forward += other.forward / n;
        self.charts += other.charts / n;
        self.backward += other.backward / n;
    }
}

/// An utterance to parse, what is wanted, and what it may cost.
#[derive(Clone, Debug)]
pub struct Request<'a> {
    /// The utterance.
    pub utterance: Utterance,
    /// What it is asked about, such as a scene. Families that give programs do not look at it.
    pub context: Option<&'a Value>,
    /// What is computed besides the best program.
    pub details: Details,
    /// What it may cost.
    pub budget: Budget,
}

impl Request<'_> {
    /// An utterance without a context, of which the best program is wanted, within the default budget.
    #[must_use]
    pub fn new(utterance: Utterance) -> Self {
        Self { utterance, context: None, details: Details::default(), budget: Budget::default() }
    }
}

/// What a family returns for one utterance, before calibration.
#[derive(Debug)]
pub struct Parsed {
    /// The utterance.
    pub utterance: Utterance,
    /// The best program or answer with uncalibrated probabilities, or why there is none.
    pub predicted: Result<Predicted, Refused>,
    /// The encoder's vector of every word, one after the other; empty where there is none.
    pub word_vectors: Vec<f32>,
    /// Posterior probabilities of spans, if they were requested and the family has them.
    pub spans: Vec<SpanPosterior>,
}

impl Parsed {
    /// Nothing, and why.
    pub(crate) fn nothing(request: Request<'_>, reason: Refused) -> Self {
        Self {
            utterance: request.utterance,
            predicted: Err(reason),
            word_vectors: Vec::new(),
            spans: Vec::new(),
        }
    }
}

/// A trained or trainable model of one family.
///
/// Object safe: training, evaluation, the server and the command line hold a `Box<dyn Family>` inside
/// [`Model`](crate::Model) and know no family by name.
pub trait Family: fmt::Debug + Send + Sync {
    /// Its hyper-parameters.
    fn settings(&self) -> Settings;

    /// Its tokenizer.
    fn tokenizer(&self) -> &Tokenizer;

    /// The shape of its encoder.
    fn encoder(&self) -> &EncoderConfig;

    /// The grammar, labels and lattices behind its trees; `None` for a family without trees.
    fn span_model(&self) -> Option<&SpanModel> {
        None
    }

    /// Parses utterances; one result for each, in their order. Nothing of one utterance influences another.
    ///
    /// `with_vectors` asks for [`Parsed::word_vectors`], from the same pass through the network.
    fn parse_batch(&self, requests: Vec<Request<'_>>, with_vectors: bool) -> Vec<Parsed>;

    /// The work to parse an utterance, as far as it is known before, in the units of a [`Budget`]. Zero for an utterance
    /// that is refused at once. Cost: making its lattice.
    fn work(&self, request: &Request<'_>) -> u64;

    /// Other words that may have been meant in an utterance that is not understood, given its best parse, if there is one.
    fn doubts(&self, _utterance: &Utterance, _parse: Option<&Parse>) -> Vec<Doubt> {
        Vec::new()
    }

    /// The encoder's vector of every word of each sequence.
    fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>>;

    /// All parameters.
    fn params(&self) -> &Params;

    /// All parameters, to be changed; [`Family::refresh`] must follow.
    fn params_mut(&mut self) -> &mut Params;

    /// Recomputes what is derived from parameters.
    fn refresh(&mut self);

    /// The output of the frozen layers for each sequence, which training caches; `None` when nothing is frozen.
    fn frozen_outputs(&self, batch: &[&Pieces]) -> Option<Vec<Vec<f32>>>;

    /// Loss and gradients of one shard of a batch.
    fn gradients(&self, shard: &Shard<'_>) -> ShardGradients;

    /// The best tree of each pair's gold program under the current parameters, which recombination takes apart; `None`
    /// where there is none. Families that do not recombine keep the default.
    fn gold_trees(&self, terms: &mut Terms, tasks: &[Task<'_>]) -> Vec<Option<GoldTree>> {
        let _ = terms;
        vec![None; tasks.len()]
    }

    /// What `model.json` must hold besides settings, domain and files for [`FamilySettings::load`] to restore the model.
    fn state(&self) -> Value;
}

/// The encoder of a new model.
#[derive(Clone, Copy, Debug)]
pub enum EncoderSource<'a> {
    /// A directory with pretrained weights; so many of its lowest layers stay as they are.
    Pretrained {
        /// The directory.
        directory: &'a Path,
        /// Number of frozen layers.
        frozen_layers: usize,
    },
    /// An encoder that is trained from random weights.
    Compact {
        /// Its shape.
        shape: &'a Compact,
        /// Share of activations that are dropped in training.
        dropout: f32,
    },
}

/// The shape of the encoder that is trained from random weights.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Compact {
    /// Width.
    pub hidden: usize,
    /// Layers.
    pub layers: usize,
    /// Attention heads.
    pub heads: usize,
    /// Width inside a layer.
    pub intermediate: usize,
    /// Buckets for character n-grams; zero for words alone.
    pub ngram_buckets: usize,
    /// Words that occur less often in training are unknown words.
    pub min_count: usize,
}

impl Compact {
    /// A table of the words of some utterances.
    pub(crate) fn words<'a>(&self, utterances: impl IntoIterator<Item = &'a Utterance>) -> Tokenizer {
        let words = WordTable::from_utterances(utterances, self.min_count);
        Tokenizer::Words(words.with_buckets(self.ngram_buckets as u32))
    }

    /// The configuration of an encoder of this shape.
    pub(crate) fn encoder(&self, vocab_size: usize, dropout: f32) -> EncoderConfig {
        EncoderConfig {
            architecture: Architecture::Compact,
            vocab_size,
            hidden: self.hidden,
            layers: self.layers,
            heads: self.heads,
            intermediate: self.intermediate,
            max_positions: COMPACT_POSITIONS,
            type_vocab: 0,
            layer_norm_eps: 1e-5,
            dropout: f64::from(dropout),
            position_offset: 0,
            relative_buckets: 32,
            activation: Activation::Gelu,
        }
    }
}

/// Longest utterance of the compact encoder, with its ends.
const COMPACT_POSITIONS: usize = 5_002;

impl Default for Compact {
    fn default() -> Self {
        Self { hidden: 64, layers: 2, heads: 4, intermediate: 128, ngram_buckets: 4096, min_count: 1 }
    }
}

/// What a new model is built from.
#[derive(Clone, Debug)]
pub struct Blueprint<'a> {
    /// The domain.
    pub domain: Arc<Domain>,
    /// The store of the training programs.
    pub terms: &'a Terms,
    /// Training utterances with their programs or answers.
    pub pairs: &'a [Pair],
    /// The encoder.
    pub encoder: EncoderSource<'a>,
    /// Seed of the initial weights.
    pub seed: u64,
}

/// What a model is restored from.
#[derive(Debug)]
pub struct Stored<'a> {
    /// `model.json`, for messages.
    pub path: &'a str,
    /// The domain inside it.
    pub domain: Arc<Domain>,
    /// What [`Family::state`] returned when the model was saved.
    pub state: Value,
    /// The tokenizer.
    pub tokenizer: Tokenizer,
    /// All parameters.
    pub weights: &'a mut Weights,
}

/// Why a model cannot be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The encoder cannot be used.
    #[error("{0}")]
    Encoder(String),
    /// The training examples are not what the family learns from.
    #[error("{0}")]
    Examples(String),
}

/// The hyper-parameters of one family, and the ways to make a model from them.
pub trait FamilySettings: fmt::Debug {
    /// The name of the family.
    fn name(&self) -> &'static str;

    /// The objectives it can be trained with.
    fn objectives(&self) -> &'static [Objective];

    /// Whether it recombines training examples.
    fn recombines(&self) -> bool {
        false
    }

    /// Whether its models give answers without programs, and learn from the answers and contexts of examples.
    fn answers_directly(&self) -> bool {
        false
    }

    /// Settings of `[training]` whose default is another one for this family, as TOML writes them.
    fn training(&self) -> &'static [(&'static str, &'static str)] {
        &[]
    }

    /// Checks that the settings make sense together.
    ///
    /// # Errors
    /// The first that does not, in words.
    fn check(&self) -> Result<(), String>;

    /// The settings as fields.
    fn fields(&self) -> Map<String, Value>;

    /// A model with fresh or pretrained weights.
    ///
    /// # Errors
    /// An encoder that cannot be read.
    fn build(&self, blueprint: Blueprint<'_>) -> Result<Box<dyn Family>, BuildError>;

    /// A model from disk.
    ///
    /// # Errors
    /// A state or weights that do not fit the domain.
    fn load(&self, stored: Stored<'_>) -> Result<Box<dyn Family>, ModelError>;
}

/// The fields of settings that derive `Serialize`.
pub(crate) fn fields(settings: &impl Serialize) -> Map<String, Value> {
    match serde_json::to_value(settings) {
        Ok(Value::Object(fields)) => fields,
        _ => unreachable!("settings are structs"),
    }
}
