//! What families that score spans share: grammar, labels, lattices, network, and the way of a batch through them.
//!
//! [`SpanModel`] holds the parts. `SpanFamily` is what differs between such families; `parse_batch` (in `parse`) and
//! `shard_gradients` are the two passes over it, written once: prepare, score with the network, then decode or compute
//! the loss.

mod doubts;
mod implicit;
mod lexicon;
mod meaning;
mod parse;
mod reader;
mod tables;

pub use doubts::Doubt;
pub use implicit::ImplicitColumns;
pub use lexicon::{LeafMatch, LexiconUse, PHRASE_WEIGHTS};
pub(crate) use parse::{Decoded, exhausted, parse_batch};
pub use reader::Read;
pub use tables::{COST, SpanGradient, Tables};

use crate::directory::ModelError;
use crate::families::Settings;
use crate::family::{
    Blueprint, BuildError, EncoderSource, Family, Objective, Pair, Parsed, Request, Shard, ShardGradients,
    StepTime, Stored, Task,
};
use crate::labels::Labels;
use crate::outcome::{Details, Parse};
use meaning::Meanings;
use reader::{Reader, Vocabulary};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use spanwise_chart::budget::Meter;
use spanwise_chart::candidates::{Candidates, forbidden, omissions};
use spanwise_chart::gold::OwnScores;
use spanwise_chart::gold_tree::GoldTree;
use spanwise_chart::grammar::{Grammar, N_USAGES, Options};
use spanwise_chart::lattice::{ChartError, Lattice, Leaf};
use spanwise_chart::tree::SpanTree;
use spanwise_chart::whole_phrases::{Found, whole_phrases};
use spanwise_core::{Random, Span, Utterance};
use spanwise_lang::domain::Omission;
use spanwise_lang::matching::MatchKind;
use spanwise_lang::{Domain, TermId, Terms};
use spanwise_nn::pretrained::{EncoderConfig, Pretrained, Weights, WeightsError};
use spanwise_nn::{Group, HeadConfig, Item, Logits, Network, ParamId, Params, Pieces, Tokenizer};
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;
use std::time::Instant;

/// The tensors of the weights of inexact matches. Models of earlier versions do not have them.
const MATCHES: &str = "tables.matches";
const MEANING: &str = "tables.meaning";
/// The tensor of the weight of words that the lexicon matches. Models of earlier versions have no such weight.
const MATCHED: &str = "tables.matched";

/// What a [`SpanModel`] is made from, besides weights.
pub(crate) struct Spec {
    /// What the grammar allows.
    pub(crate) options: Options,
    /// Which constants are allowed on which words.
    pub(crate) candidates: Candidates,
    /// Which lexicon matches count.
    pub(crate) lexicon: LexiconUse,
    /// Whether names and phrases are also matched inexactly, and typing errors corrected.
    pub(crate) approximate: bool,
    /// Whether phrases are also matched by meaning.
    pub(crate) meaning: bool,
    /// Width of the span scorer's hidden layer.
    pub(crate) hidden: usize,
    /// Columns of logits besides those of labels and of implicit constants.
    pub(crate) n_extra: usize,
    /// Whether implicit constants have columns of their own.
    pub(crate) scores_implicit: bool,
}

/// Widest span scorer; a wider one would only exhaust memory.
const MAX_HIDDEN: usize = 1 << 14;
/// The most words of one span with a constant, more than any utterance has.
const MAX_WORDS: usize = 1 << 20;

/// Larger scores are not used. A chart adds up less than a million of them, which is then still a number.
const MAX_SCORE: f32 = 1e30;

/// Checks the sizes that all families that score spans have.
pub(crate) fn check_sizes(hidden: usize, max_words: usize) -> Result<(), String> {
    if !(1..=MAX_WORDS).contains(&max_words) || !(1..=MAX_HIDDEN).contains(&hidden) {
        return Err(format!(
            "`model.max_words` must be from 1 to {MAX_WORDS}, `model.hidden` from 1 to {MAX_HIDDEN}"
        ));
    }
    Ok(())
}

/// A domain with everything that scores spans of words for its constants.
#[derive(Debug)]
pub struct SpanModel {
    /// The domain.
    pub domain: Arc<Domain>,
    /// The grammar of the domain.
    pub grammar: Grammar,
    /// Which constants are allowed on which words.
    pub candidates: Candidates,
    /// The labels that the network scores.
    pub labels: Labels,
    /// Words to word-pieces.
    pub tokenizer: Tokenizer,
    /// Encoder and span scorer.
    pub network: Network,
    /// Where implicit constants are scored.
    pub implicit: ImplicitColumns,
    /// The trainable scores that are read from tables, as the parameters of the network hold them.
    pub tables: Tables,
    lexicon: LexiconUse,
    /// `None` where only exact matches count.
    reader: Option<Reader>,
    /// `None` where phrases are not matched by meaning.
    meanings: Option<Meanings>,
    table_ids: [ParamId; 6],
}

/// An utterance with its lattice: every constant that is allowed on every span of words.
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The utterance.
    pub utterance: Utterance,
    /// As it was read.
    pub read: Read,
    /// Its word-pieces, after corrections.
    pub pieces: Pieces,
    /// The constants that are allowed on its words.
    pub lattice: Lattice,
    /// For each leaf of the lattice, its lexicon match.
    pub matches: Vec<LeafMatch>,
    /// For each word, what it costs to leave it out.
    pub omissions: Vec<Omission>,
    /// For each leaf, whether it is a name, a phrase or a literal, and so uses its words.
    pub uses: Vec<bool>,
}

/// The part of `model.json` that restores a [`SpanModel`].
#[derive(Serialize, Deserialize)]
struct State {
    encoder: EncoderConfig,
    head: HeadConfig,
    labels: Vec<String>,
    rare: Vec<String>,
    n_rules: usize,
    /// The words of the training utterances outside of names; absent where only exact matches count.
    #[serde(default)]
    vocabulary: Option<Vocabulary>,
}

impl SpanModel {
    /// Puts a model together; the tables are added to the parameters of the network.
    pub(crate) fn new(
        domain: Arc<Domain>,
        spec: Spec,
        labels: Labels,
        tokenizer: Tokenizer,
        vocabulary: Option<Vocabulary>,
        mut network: Network,
    ) -> Self {
        let grammar = Grammar::new(&domain, spec.options);
        let tables = Tables::initial(labels.len() * N_USAGES, grammar.n_rules());
        let mut add =
            |name: &str, shape: &[usize], values| network.params.add(name, shape, Group::Table, values);
        let table_ids = [
            add("tables.usages", &[labels.len(), N_USAGES], tables.usages.clone()),
            add("tables.rules", &[grammar.n_rules()], tables.rules.clone()),
            add("tables.weights", &[2], vec![tables.lexicon, tables.rare]),
            add(MATCHES, &[tables::MEANING], tables.matches[..tables::MEANING].to_vec()),
            add(MEANING, &[1], tables.matches[tables::MEANING..].to_vec()),
            add(MATCHED, &[1], vec![tables.matched]),
        ];
        let scored = spec.implicit(&domain);
        let first = labels.len() + spec.n_extra;
        // Models of earlier versions have no columns for them.
        let has_columns = network.head().n_labels == first + scored.len();
        let implicit = if has_columns && !scored.is_empty() {
            ImplicitColumns::new(&grammar, &scored, first)
        } else {
            ImplicitColumns::default()
        };
        let Spec { candidates, lexicon, meaning, .. } = spec;
        let meanings = meaning.then(|| Meanings::new(&domain, &tokenizer, &network)).flatten();
        let reader = vocabulary.map(|vocabulary| Reader::new(Arc::clone(&domain), vocabulary, &tokenizer));
        Self {
            domain,
            grammar,
            candidates,
            labels,
            tokenizer,
            network,
            implicit,
            tables,
            lexicon,
            reader,
            meanings,
            table_ids,
        }
    }

    /// A model with fresh or pretrained weights. Constants in fewer than `rare_below` programs get rare labels.
    ///
    /// # Errors
    /// An encoder that cannot be read.
    pub(crate) fn build(spec: Spec, blueprint: Blueprint<'_>, rare_below: usize) -> Result<Self, BuildError> {
        let Blueprint { domain, terms, pairs, encoder, seed } = blueprint;
        let mut labels = Labels::new(&domain);
        let programs: Vec<TermId> = pairs.iter().filter_map(Pair::program).collect();
        labels.mark_rare(&domain, terms, &programs, rare_below);
        let n_labels = labels.len() + spec.n_extra + spec.implicit(&domain).len();
        let head = HeadConfig { hidden: spec.hidden, n_labels };
        let (tokenizer, network) = match encoder {
            EncoderSource::Pretrained { directory, frozen_layers } => {
                let Pretrained { config, mut weights, tokenizer } =
                    Pretrained::open(directory).map_err(|error| BuildError::Encoder(error.to_string()))?;
                let network = Network::pretrained(config, &mut weights, head, frozen_layers, seed)
                    .map_err(|error| BuildError::Encoder(error.to_string()))?;
                (tokenizer, network)
            }
            EncoderSource::Compact { shape, dropout } => {
                let tokenizer = shape.words(pairs.iter().map(|pair| &pair.utterance));
                let config = shape.encoder(tokenizer.vocab_size(), dropout);
                let network = Network::from_scratch(config, tokenizer.n_buckets(), head, seed)
                    .map_err(|error| BuildError::Encoder(error.to_string()))?;
                (tokenizer, network)
            }
        };
        let texts = pairs.iter().map(|pair| &pair.utterance);
        let vocabulary = spec.approximate.then(|| reader::vocabulary(&domain, &tokenizer, texts));
        Ok(Self::new(domain, spec, labels, tokenizer, vocabulary, network))
    }

    /// A model from disk.
    ///
    /// # Errors
    /// A state or weights that do not fit the domain.
    pub(crate) fn load(spec: Spec, stored: Stored<'_>) -> Result<Self, ModelError> {
        let Stored { path, domain, state, tokenizer, weights } = stored;
        let damaged = |reason: String| ModelError::Damaged { path: path.to_owned(), reason };
        let changed = |reason: String| ModelError::Changed { path: path.to_owned(), reason };
        let state: State = serde_json::from_value(state).map_err(|error| damaged(error.to_string()))?;
        state.encoder.check(path).map_err(|error| damaged(error.to_string()))?;
        let mut labels = Labels::new(&domain);
        if labels.names() != state.labels {
            let mut both = state.labels.iter().zip(labels.names()).filter(|(was, is)| was != is);
            let first = both.next().map(|(was, is)| format!("`{was}` is now `{is}`"));
            let sizes = || format!("there were {}, there are {}", state.labels.len(), labels.len());
            return Err(changed(first.unwrap_or_else(sizes)));
        }
        labels.set_rare(&state.rare);
        let n_labels = labels.len() + spec.n_extra;
        let sizes = [n_labels, n_labels + spec.implicit(&domain).len()];
        if !sizes.iter().any(|&n_labels| state.head == HeadConfig { hidden: spec.hidden, n_labels }) {
            return Err(changed("the span scorer has another size".to_owned()));
        }
        if tokenizer.vocab_size() > state.encoder.vocab_size {
            return Err(damaged("the tokenizer has more word-pieces than the encoder".to_owned()));
        }
        let network = Network::saved(state.encoder, tokenizer.n_buckets(), state.head, weights)?;
        let mut model = Self::new(domain, spec, labels, tokenizer, state.vocabulary, network);
        let (was, is) = (state.n_rules, model.grammar.n_rules());
        if was != is {
            return Err(changed(format!("the grammar had {was} rules, now it has {is}")));
        }
        model.read_tables(weights)?;
        Ok(model)
    }

    /// Reads the tables, which are the parameters that the network itself does not have.
    fn read_tables(&mut self, weights: &mut Weights) -> Result<(), WeightsError> {
        let shapes = self.network.params.shapes().filter(|(id, ..)| self.table_ids.contains(id));
        let shapes: Vec<_> =
            shapes.map(|(id, name, shape, _)| (id, name.to_owned(), shape.to_vec())).collect();
        for (id, name, shape) in shapes {
            let is_stored = weights.contains(&name);
            if [MATCHES, MEANING].contains(&&*name) && !is_stored {
                continue;
            }
            let values =
                if name == MATCHED && !is_stored { vec![0.0] } else { weights.take(&name, &shape)? };
            self.network.params.set(id, values);
        }
        self.refresh();
        Ok(())
    }

    /// The part of `model.json` that [`SpanModel::load`] reads.
    pub(crate) fn state(&self) -> Value {
        let state = State {
            encoder: self.network.encoder().clone(),
            head: self.network.head(),
            labels: self.labels.names().to_vec(),
            rare: self.labels.rare_names().map(str::to_owned).collect(),
            n_rules: self.grammar.n_rules(),
            vocabulary: self.reader.as_ref().map(|reader| reader.vocabulary.clone()),
        };
        serde_json::to_value(state).unwrap_or_else(|_| unreachable!("names and numbers are JSON"))
    }

    /// Whether charts can add up scores made of these logits and of the tables. Weights that are not numbers, or so large
    /// that their sums are not, come from a training that diverged.
    pub(crate) fn is_usable(&self, logits: &[f32]) -> bool {
        let Tables { usages, rules, lexicon, rare, matches, matched } = &self.tables;
        let parts: [&[f32]; 5] = [logits, usages, rules, &[*lexicon, *rare, *matched], matches];
        // Also false for what is not a number.
        parts.into_iter().flatten().all(|score| score.abs() < MAX_SCORE)
    }

    /// Reads the tables from the parameters, after these changed.
    pub(crate) fn refresh(&mut self) {
        let [usages, rules, weights, mut matches, meaning, matched] =
            self.table_ids.map(|id| self.network.params.values(id));
        matches.extend(meaning);
        let matches = std::array::from_fn(|at| matches[at]);
        self.tables =
            Tables { usages, rules, lexicon: weights[0], rare: weights[1], matches, matched: matched[0] };
    }

    /// Makes the lattice of an utterance. Rare predicates are kept only where the lexicon matches.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    pub fn prepare(&self, utterance: Utterance) -> Result<Prepared, ChartError> {
        let mut read = match &self.reader {
            Some(reader) => reader.read(&self.tokenizer, &utterance),
            None => Read::exactly(&self.domain, &utterance),
        };
        self.lexicon.restrict(&mut read);
        let pieces = self.tokenizer.encode(&read.utterance);
        if let Some(meanings) = &self.meanings {
            let found = meanings.matches(&self.network, &pieces, |at| self.is_open(&read, at));
            read.found.extend(found);
        }
        let inexact: Vec<Leaf> = read
            .found
            .iter()
            .filter(|found| found.kind != MatchKind::Exact)
            .map(|found| Leaf::new(found.span.start, found.span.end, found.constant))
            .collect();
        let lattice = self.candidates.lattice_with(
            &self.domain,
            &utterance,
            &read.utterance,
            &read.exact(),
            inexact,
        )?;
        let matches = self.lexicon.matches(&read);
        // Without a phrase, a rare predicate would become a wildcard for unknown words. A literal is allowed on its words alone.
        let is_kept = |leaf: &Leaf| {
            !self.labels.is_rare(self.labels.of(leaf.constant))
                || leaf.value.is_some()
                || matches.of(leaf).weight > 0.0
        };
        let kept: Vec<Leaf> = lattice.leaves().iter().copied().filter(is_kept).collect();
        let lattice = if kept.len() == lattice.leaves().len() {
            lattice
        } else {
            Lattice::new(utterance.len(), kept)?.with_values(lattice.values().to_vec())
        };
        let matches = lattice.leaves().iter().map(|leaf| matches.of(leaf)).collect();
        let found = read.found.iter().filter(|found| found.kind <= MatchKind::Folded);
        let omissions = omissions(&self.domain, &lattice, found.map(|found| (found.span, found.constant)));
        let is_use = |leaf: &Leaf| leaf.value.is_some() || read.is_found(leaf);
        let uses = lattice.leaves().iter().map(is_use).collect();
        let lattice = lattice.using(&forbidden(&omissions), is_use);
        Ok(Prepared { utterance, read, pieces, lattice, matches, omissions, uses })
    }

    /// The tree of a program in which constants take whole phrases of the domain; `None` where they do in `tree`, or where the
    /// budget does not suffice for another. `scores` says what has scores of its own, and gives all scores.
    pub(crate) fn whole_phrases(
        &self,
        prepared: &Prepared,
        program: (&mut Terms, TermId),
        tree: &SpanTree,
        meter: &Meter,
        scores: impl FnOnce() -> (OwnScores, Vec<f32>),
    ) -> Option<SpanTree> {
        let phrases = self.domain.phrases().matches(&prepared.read.utterance);
        if phrases.is_empty() {
            return None;
        }
        let (own, scores) = scores();
        let (domain, grammar, lattice) = (&*self.domain, &self.grammar, &prepared.lattice);
        let found = Found { domain, grammar, lattice, own, scores: &scores };
        whole_phrases(&found, program, tree, &phrases, meter).unwrap_or_default()
    }

    /// Whether a word may have a meaning that no name or phrase accounts for.
    fn is_open(&self, read: &Read, at: usize) -> bool {
        let word = &read.utterance.tokens()[at].lower;
        let here = Span::new(at as u32, at as u32 + 1);
        word.chars().all(char::is_alphabetic)
            && !self.domain.is_no_meaning(word)
            && !read.found.iter().any(|found| found.span.contains(here))
    }
}

/// What differs between families that score spans. Every such family is a [`Family`].
pub(crate) trait SpanFamily: fmt::Debug + Send + Sync {
    /// An utterance ready for the network.
    type Input: Send;

    /// Its hyper-parameters.
    fn settings(&self) -> Settings;

    fn model(&self) -> &SpanModel;

    fn model_mut(&mut self) -> &mut SpanModel;

    /// Recomputes what is derived from parameters.
    fn refresh(&mut self) {
        self.model_mut().refresh();
    }

    /// The best tree of each pair's gold program; see [`Family::gold_trees`].
    fn gold_trees(&self, _terms: &mut Terms, tasks: &[Task<'_>]) -> Vec<Option<GoldTree>> {
        vec![None; tasks.len()]
    }

    /// Makes an utterance ready for the network.
    ///
    /// # Errors
    /// An utterance that is too long for a chart.
    fn prepare(&self, utterance: Utterance) -> Result<Self::Input, ChartError>;

    /// The word-pieces of an input, and the spans that the network scores.
    fn parts(input: &Self::Input) -> (&Pieces, &[(u32, u32)]);

    /// The utterance of an input, with its lattice.
    fn prepared(input: &Self::Input) -> &Prepared;

    /// Why an input cannot be parsed, if that is clear before it is scored.
    fn refusal(&self, _input: &Self::Input) -> Option<String> {
        None
    }

    /// The best program, and posteriors of spans if they are requested.
    fn decode(&self, input: &Self::Input, logits: &[f32], details: Details, meter: &Meter) -> Decoded;

    /// The bytes that scoring an utterance of so many words takes.
    fn bytes(&self, _n_words: usize) -> usize {
        0
    }

    /// The work to decode an input, as far as it is known before; see [`Family::work`].
    fn work(&self, _input: &Self::Input) -> u64 {
        0
    }

    /// Loss and gradient of one pair; `None` when nothing can be learned from it. `terms` holds the gold programs.
    fn loss(
        &self,
        input: &Self::Input,
        logits: &[f32],
        target: &LossTarget<'_>,
    ) -> Option<(f64, SpanGradient)>;
}

impl<F: SpanFamily> Family for F {
    fn settings(&self) -> Settings {
        SpanFamily::settings(self)
    }

    fn tokenizer(&self) -> &Tokenizer {
        &self.model().tokenizer
    }

    fn encoder(&self) -> &EncoderConfig {
        self.model().network.encoder()
    }

    fn span_model(&self) -> Option<&SpanModel> {
        Some(self.model())
    }

    fn parse_batch(&self, requests: Vec<Request<'_>>, with_vectors: bool) -> Vec<Parsed> {
        parse_batch(self, requests, with_vectors)
    }

    fn work(&self, request: &Request<'_>) -> u64 {
        parse::prepare_checked(self, request).map_or(0, |input| SpanFamily::work(self, &input))
    }

    fn doubts(&self, utterance: &Utterance, parse: Option<&Parse>) -> Vec<Doubt> {
        self.model().doubts(utterance, parse)
    }

    fn word_vectors(&self, batch: &[&Pieces]) -> Vec<Vec<f32>> {
        self.model().network.word_vectors(batch)
    }

    fn params(&self) -> &Params {
        &self.model().network.params
    }

    fn params_mut(&mut self) -> &mut Params {
        &mut self.model_mut().network.params
    }

    fn refresh(&mut self) {
        SpanFamily::refresh(self);
    }

    fn frozen_outputs(&self, batch: &[&Pieces]) -> Option<Vec<Vec<f32>>> {
        let network = &self.model().network;
        network.is_frozen_below().then(|| network.lower(batch))
    }

    fn gradients(&self, shard: &Shard<'_>) -> ShardGradients {
        shard_gradients(self, shard)
    }

    fn gold_trees(&self, terms: &mut Terms, tasks: &[Task<'_>]) -> Vec<Option<GoldTree>> {
        SpanFamily::gold_trees(self, terms, tasks)
    }

    fn state(&self) -> Value {
        self.model().state()
    }
}

/// What a loss is computed against.
pub(crate) struct LossTarget<'a> {
    pub(crate) objective: Objective,
    pub(crate) pair: &'a Pair,
    /// The seed of what is random about this pair, in this step.
    pub(crate) seed: u64,
    pub(crate) terms: &'a Terms,
}

/// Loss and gradients of a shard: prepare, forward pass, charts, backward pass.
pub(crate) fn shard_gradients<F: SpanFamily>(family: &F, shard: &Shard<'_>) -> ShardGradients {
    let started = Instant::now();
    let model = family.model();
    // Pairs that are too long for a chart were left out before.
    let inputs: Vec<(Task<'_>, F::Input)> = shard
        .tasks
        .iter()
        .filter_map(|task| Some((*task, family.prepare(task.pair.utterance.clone()).ok()?)))
        .collect();
    let lower = lower(family, inputs.iter().map(|(task, input)| (task.lower, F::parts(input).0)));
    let items: Vec<Item<'_>> = inputs
        .iter()
        .zip(&lower)
        .map(|((_, input), lower)| {
            let (pieces, spans) = F::parts(input);
            let spans = if shard.encoder_only { &[(0, 1)] } else { spans };
            Item { pieces, lower: lower.as_deref(), spans }
        })
        .collect();
    let prepared = Instant::now();
    let (gradients, (mut sums, begun, ended)) = model.network.gradients(&items, shard.noise, |logits| {
        let begun = Instant::now();
        let (gradients, sums) = logit_gradients(family, shard, &inputs, logits);
        (gradients, (sums, begun, Instant::now()))
    });
    let time = StepTime {
        prepare: (prepared - started).as_secs_f64(),
        forward: (begun - prepared).as_secs_f64(),
        charts: (ended - begun).as_secs_f64(),
        backward: ended.elapsed().as_secs_f64(),
    };
    sums.gradients = gradients;
    model.place(sums.tables, &mut sums.gradients);
    ShardGradients { gradients: sums.gradients, loss: sums.loss, n_learned: sums.n_learned, time }
}

/// What is summed up over the pairs of a shard.
#[derive(Default)]
struct Sums {
    gradients: spanwise_nn::Gradients,
    tables: Tables,
    loss: f64,
    n_learned: usize,
}

/// The gradient of the logits of each pair, and sums over all pairs.
fn logit_gradients<F: SpanFamily>(
    family: &F,
    shard: &Shard<'_>,
    inputs: &[(Task<'_>, F::Input)],
    logits: &Logits,
) -> (Vec<Vec<f32>>, Sums) {
    let mut gradients = logits.zeros();
    let mut sums = Sums { tables: family.model().tables.zeros(), ..Sums::default() };
    if shard.encoder_only {
        gradients.iter_mut().flatten().for_each(|gradient| *gradient = shard.scale);
        return (gradients, sums);
    }
    for (at, (task, input)) in inputs.iter().enumerate() {
        if !family.model().is_usable(logits.of(at)) {
            sums.loss = f64::NAN;
            break;
        }
        let seed = Random::new(shard.noise.seed, &[at as u64]).next();
        let target = LossTarget { objective: shard.objective, pair: task.pair, seed, terms: shard.terms };
        let Some((loss, mut gradient)) = family.loss(input, logits.of(at), &target) else { continue };
        gradient.scale(shard.scale * task.weight);
        sums.tables.add(&gradient.tables);
        gradients[at] = gradient.logits;
        sums.loss += loss;
        sums.n_learned += 1;
    }
    (gradients, sums)
}

/// The output of the frozen layers for each input: cached, or computed now in one pass; `None` when nothing is frozen.
pub(crate) fn lower<'a>(
    family: &impl Family,
    inputs: impl Iterator<Item = (Option<&'a [f32]>, &'a Pieces)> + Clone,
) -> Vec<Option<Cow<'a, [f32]>>> {
    let missing: Vec<&Pieces> =
        inputs.clone().filter(|(cached, _)| cached.is_none()).map(|(_, pieces)| pieces).collect();
    let mut computed = family.frozen_outputs(&missing).into_iter().flatten();
    inputs.map(|(cached, _)| cached.map(Cow::Borrowed).or_else(|| computed.next().map(Cow::Owned))).collect()
}
