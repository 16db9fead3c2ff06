//! Parsing: from text to a program, the tree that explains it, and how sure the model is.

use crate::confidence::Novel;
use crate::directory::ModelError;
use crate::model::Model;
use crate::scorer::{PaperPrepared, Prepared};
use crate::settings::Search;
use spanwise_chart::derivation::BestChart;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::N_USAGES;
use spanwise_chart::lattice::{ChartError, Scores};
use spanwise_chart::objective::posterior;
use spanwise_chart::outside::{log_partition, marginals};
use spanwise_chart::paper::{PaperOutcome, decode, log_prob};
use spanwise_chart::semiring::{Max, Sum};
use spanwise_chart::tree::{Category, SpanTree};
use spanwise_chart::typed::{Input, RuleValues};
use spanwise_core::{Span, Utterance};
use spanwise_domains::exec::{self, Denotation, ExecError, Executor};
use spanwise_lang::{ConstantId, TermId, Terms};
use spanwise_nn::{Item, Logits};
use std::collections::HashMap;
use std::path::Path;

/// How much is asked for besides the best program.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Details {
    /// Other programs, at most this many.
    pub alternatives: usize,
    /// Which constant each word carries, and how sure that is.
    pub provenance: bool,
}

/// A program that was not chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct Alternative {
    /// The program.
    pub program: TermId,
    /// Its calibrated probability, never above that of the chosen one.
    pub probability: f64,
    /// Its posterior among all programs.
    pub posterior: f64,
    /// The score of its best derivation.
    pub score: f32,
}

/// What one word contributes to a parse.
#[derive(Clone, PartialEq, Debug)]
pub struct Provenance {
    /// The constant on the word, `None` for a word without meaning.
    pub constant: Option<ConstantId>,
    /// The words that say the constant together.
    pub span: Span,
    /// The probability that exactly these words say it, over all readings; for a word without meaning, that it has none.
    pub probability: f64,
}

/// A reading of an utterance. Programs live in `terms`.
#[derive(Clone, Debug)]
pub struct Parse {
    /// The utterance.
    pub utterance: Utterance,
    /// The store of all programs here.
    pub terms: Terms,
    /// The program.
    pub program: TermId,
    /// The tree over the words that gives it.
    pub tree: SpanTree,
    /// The sum of the tree's scores.
    pub score: f32,
    /// The probability that the program is right: calibrated, and lower where the utterance looks foreign.
    pub probability: f64,
    /// The probability of the program among all programs; of the tree under the per-span softmax for the paper's search.
    pub posterior: f64,
    /// The probability that the utterance is of the domain at all; 1 for a model that was never asked to tell.
    pub in_domain: f64,
    /// The words that nothing is known about, where the utterance is more likely foreign than not.
    pub unknown_words: Vec<u32>,
    /// Other programs, the most probable first.
    pub alternatives: Vec<Alternative>,
    /// One entry per word, if asked for.
    pub provenance: Vec<Provenance>,
}

impl Parse {
    /// The [`unknown_words`](Self::unknown_words), as they were said.
    pub fn unknown(&self) -> impl Iterator<Item = &str> {
        self.unknown_words.iter().map(|&at| self.utterance.slice(Span { start: at, end: at + 1 }))
    }
}

/// What became of an utterance.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// A program was found.
    Found(Box<Parse>),
    /// None was, and why.
    Nothing {
        /// The utterance.
        utterance: Utterance,
        /// The reason, in words.
        reason: String,
    },
}

impl Outcome {
    /// The reading, if there is one.
    #[must_use]
    pub fn parse(&self) -> Option<&Parse> {
        match self {
            Self::Found(parse) => Some(parse),
            Self::Nothing { .. } => None,
        }
    }

    /// The utterance.
    #[must_use]
    pub fn utterance(&self) -> &Utterance {
        match self {
            Self::Found(parse) => &parse.utterance,
            Self::Nothing { utterance, .. } => utterance,
        }
    }
}

enum Ready {
    Typed(Box<Prepared>),
    Paper(Box<PaperPrepared>),
    Not(String),
}

/// A model ready to parse. It can be shared between threads.
pub struct Parser {
    model: Model,
    executor: Option<Box<dyn Executor>>,
    best_rules: RuleValues<Max>,
    sum_rules: RuleValues<Sum>,
}

impl Parser {
    /// Reads a model directory.
    ///
    /// # Errors
    /// A directory that is missing, damaged or of another version.
    pub fn load(directory: impl AsRef<Path>) -> Result<Self, ModelError> {
        let directory = directory.as_ref();
        let model = Model::load(directory)?;
        let executor = exec::open(&model.domain, Some(directory))
            .map_err(|error| ModelError::Executor { reason: error.to_string() })?;
        Ok(Self::new(model, executor))
    }

    /// A parser for a model, with an executor for its programs if there is one.
    #[must_use]
    pub fn new(model: Model, executor: Option<Box<dyn Executor>>) -> Self {
        let best_rules = RuleValues::new(&model.grammar, &model.tables.rules);
        let sum_rules = RuleValues::new(&model.grammar, &model.tables.rules);
        Self { model, executor, best_rules, sum_rules }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Model {
        &self.model
    }

    /// Gives the model back.
    #[must_use]
    pub fn into_model(self) -> Model {
        self.model
    }

    /// Reads one utterance.
    #[must_use]
    pub fn parse(&self, text: &str) -> Outcome {
        self.parse_with(Utterance::new(text), Details::default())
    }

    /// Reads one utterance, with details.
    #[must_use]
    pub fn parse_with(&self, utterance: Utterance, details: Details) -> Outcome {
        self.parse_batch(vec![utterance], details).pop().unwrap_or_else(|| Outcome::Nothing {
            utterance: Utterance::new(""),
            reason: "there is nothing to read".to_owned(),
        })
    }

    /// Reads a batch; the results are in the order of the utterances. Utterances of similar length go through the
    /// network together; nothing of one influences another.
    #[must_use]
    pub fn parse_batch(&self, utterances: Vec<Utterance>, details: Details) -> Vec<Outcome> {
        let ready: Vec<(Utterance, Ready)> =
            utterances.into_iter().map(|utterance| (utterance.clone(), self.ready(utterance))).collect();
        let items: Vec<Item<'_>> = ready
            .iter()
            .filter_map(|(_, ready)| match ready {
                Ready::Typed(prepared) => Some((&prepared.pieces, &prepared.spans)),
                Ready::Paper(prepared) => Some((&prepared.pieces, &prepared.spans)),
                Ready::Not(_) => None,
            })
            .map(|(pieces, spans)| Item { pieces, lower: None, spans })
            .collect();
        let has_novelty = self.model.confidence.novelty.is_some();
        let (logits, vectors) = if has_novelty {
            self.model.network.logits_and_words(&items)
        } else {
            (self.model.network.logits(&items), Vec::new())
        };
        let mut at = 0;
        let mut outcomes = Vec::with_capacity(ready.len());
        for (utterance, ready) in ready {
            let found = match &ready {
                Ready::Not(reason) => Err(reason.clone()),
                Ready::Typed(prepared) => self.exact(prepared, row(&logits, &mut at), details),
                Ready::Paper(prepared) => self.paper(prepared, row(&logits, &mut at)),
            };
            let vectors = at.checked_sub(1).and_then(|item| vectors.get(item)).map_or(&[][..], Vec::as_slice);
            outcomes.push(match found {
                Ok(parse) => Outcome::Found(Box::new(self.trusted(parse, vectors))),
                Err(reason) => Outcome::Nothing { utterance, reason },
            });
        }
        outcomes
    }

    /// Turns the posteriors of a parse into probabilities, given the encoder's vectors of its words.
    fn trusted(&self, mut parse: Parse, vectors: &[f32]) -> Parse {
        let confidence = &self.model.confidence;
        if let Some(novelty) = &confidence.novelty {
            let novel: Novel = novelty.of(vectors, &self.model.is_name(&parse.utterance));
            parse.in_domain = novelty.scale.in_domain(&novel);
            if parse.in_domain < 0.5 {
                let said: Vec<&str> = parse.utterance.tokens().iter().map(|token| &*token.lower).collect();
                let strange = novelty.unknown_words(&novel, &said);
                parse.unknown_words = strange.into_iter().map(|at| at as u32).collect();
            }
        }
        parse.alternatives.sort_by(|a, b| b.posterior.total_cmp(&a.posterior));
        let others: Vec<f64> = parse.alternatives.iter().map(|other| other.posterior).collect();
        let (best, others) = confidence.probabilities(parse.in_domain, parse.posterior, &others);
        parse.probability = best;
        parse.alternatives.iter_mut().zip(others).for_each(|(other, p)| other.probability = p);
        parse
    }

    /// What a program evaluates to; `None` when the domain's programs are not evaluated.
    ///
    /// # Errors
    /// As the executor has it.
    pub fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&serde_json::Value>,
    ) -> Option<Result<Denotation, ExecError>> {
        self.executor.as_ref().map(|executor| executor.execute(terms, program, context))
    }

    fn ready(&self, utterance: Utterance) -> Ready {
        if utterance.is_empty() {
            return Ready::Not("the utterance has no words".to_owned());
        }
        let limit = self.model.network.encoder().max_pieces();
        let too_long = |n: usize| {
            (n > limit)
                .then(|| format!("the utterance has {n} word pieces, the encoder takes at most {limit}"))
        };
        let chart = |error: ChartError| Ready::Not(format!("the utterance is too long: {error}"));
        match self.model.settings.search {
            Search::Exact => match self.model.prepare(utterance) {
                Ok(prepared) if prepared.spans.is_empty() => {
                    Ready::Not("no word could carry a constant of the domain".to_owned())
                }
                Ok(prepared) => match too_long(prepared.pieces.ids.len()) {
                    Some(reason) => Ready::Not(reason),
                    None => Ready::Typed(Box::new(prepared)),
                },
                Err(error) => chart(error),
            },
            Search::Paper => match self.model.prepare_paper(utterance) {
                Ok(prepared) => match too_long(prepared.pieces.ids.len()) {
                    Some(reason) => Ready::Not(reason),
                    None => Ready::Paper(Box::new(prepared)),
                },
                Err(error) => chart(error),
            },
        }
    }

    fn exact(&self, prepared: &Prepared, logits: &[f32], details: Details) -> Result<Parse, String> {
        let model = &self.model;
        let (leaves, joins) = model.typed_scores(prepared, logits, &model.tables);
        let scores = Scores { leaves: &leaves, rules: &model.tables.rules, joins: &joins };
        let broken = |error: ChartError| format!("the scores are broken: {error}");
        let input = Input::new(&model.domain, &model.grammar, &prepared.lattice, scores).map_err(broken)?;
        let chart = BestChart::new(input, &self.best_rules);
        let nothing = || "the words allow no complete program".to_owned();
        let best = chart.best().ok_or_else(nothing)?;
        let mut terms = model.domain.new_terms();
        let (program, tree) = chart.tree(&mut terms, &best).ok_or_else(nothing)?;
        let log_z = log_partition(&input, &self.sum_rules).unwrap_or(f64::INFINITY);
        let joined = if joins.is_empty() { Joins::None } else { Joins::Merges };
        let posterior_of = |terms: &Terms, program: TermId| {
            let (domain, grammar) = (&model.domain, &model.grammar);
            let gold = GoldChart::new(domain, grammar, &prepared.lattice, terms, program, joined);
            gold.map_or(0.0, |gold| posterior(&input, log_z, &gold))
        };
        let mut alternatives = Vec::new();
        if details.alternatives > 0 {
            let wanted = details.alternatives + 1;
            for (other, derivation) in chart.programs(&mut terms, wanted, wanted * 50) {
                if other != program {
                    let (posterior, score) = (posterior_of(&terms, other), derivation.score);
                    let probability = posterior;
                    alternatives.push(Alternative { program: other, probability, posterior, score });
                }
            }
            alternatives.truncate(details.alternatives);
        }
        let posterior = posterior_of(&terms, program);
        let provenance =
            if details.provenance { self.provenance(prepared, &input, &tree) } else { Vec::new() };
        let utterance = prepared.utterance.clone();
        Ok(Parse {
            utterance,
            terms,
            program,
            tree,
            score: best.score,
            probability: posterior,
            posterior,
            in_domain: 1.0,
            unknown_words: Vec::new(),
            alternatives,
            provenance,
        })
    }

    fn provenance(&self, prepared: &Prepared, input: &Input<'_>, tree: &SpanTree) -> Vec<Provenance> {
        let expected =
            marginals(input, &self.sum_rules).map(|(_, gradient)| gradient.leaves).unwrap_or_default();
        let leaves = prepared.lattice.leaves().iter().zip(expected.chunks_exact(N_USAGES));
        let mut means_nothing = vec![1.0f64; prepared.utterance.len()];
        let mut sure = HashMap::new();
        for (leaf, usages) in leaves {
            let probability = usages.iter().map(|&p| f64::from(p)).sum::<f64>().clamp(0.0, 1.0);
            sure.insert((leaf.start, leaf.end, leaf.constant), probability);
            for at in leaf.start..leaf.end {
                means_nothing[at as usize] -= probability;
            }
        }
        let of = |span: Span, constant| sure.get(&(span.start, span.end, constant)).copied().unwrap_or(0.0);
        words(tree, &means_nothing, of)
    }

    fn paper(&self, prepared: &PaperPrepared, logits: &[f32]) -> Result<Parse, String> {
        let model = &self.model;
        let broken = |error: spanwise_chart::paper::PaperError| format!("the scores are broken: {error}");
        let scores = model.paper_scores(prepared, logits, &model.tables).map_err(broken)?;
        let mut terms = model.domain.new_terms();
        match decode(&model.domain, &mut terms, &scores, model.settings.paper()).map_err(broken)? {
            PaperOutcome::Found { tree, program, score } => {
                let utterance = prepared.utterance.clone();
                let probability = log_prob(&scores, &tree).exp();
                let provenance = words(&tree, &vec![probability; utterance.len()], |_, _| probability);
                Ok(Parse {
                    utterance,
                    terms,
                    program,
                    tree,
                    score,
                    probability,
                    posterior: probability,
                    in_domain: 1.0,
                    unknown_words: Vec::new(),
                    alternatives: Vec::new(),
                    provenance,
                })
            }
            PaperOutcome::NoDerivation => Err("no tree over the words is a program".to_owned()),
            PaperOutcome::BeamExhausted { width } => {
                Err(format!("none of the {width} best trees is a program"))
            }
        }
    }
}

fn row<'a>(logits: &'a Logits, at: &mut usize) -> &'a [f32] {
    *at += 1;
    logits.of(*at - 1)
}

/// One entry per word: the constant on it, or how sure it is that the word means nothing.
fn words(tree: &SpanTree, nothing: &[f64], sure: impl Fn(Span, ConstantId) -> f64) -> Vec<Provenance> {
    let mut words: Vec<Provenance> = nothing
        .iter()
        .enumerate()
        .map(|(at, probability)| Provenance {
            constant: None,
            span: Span::new(at as u32, at as u32 + 1),
            probability: probability.clamp(0.0, 1.0),
        })
        .collect();
    for node in &tree.nodes {
        if let Category::Constant(constant) = node.category {
            let found = Provenance {
                constant: Some(constant),
                span: node.span,
                probability: sure(node.span, constant),
            };
            for at in node.span.start..node.span.end {
                words[at as usize] = found.clone();
            }
        }
    }
    words
}
