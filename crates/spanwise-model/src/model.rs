//! A model: a domain and everything that scores its programs.

use crate::confidence::Confidence;
use crate::labels::Labels;
use crate::settings::{Search, Settings};
use spanwise_chart::grammar::{Grammar, N_USAGES};
use spanwise_core::Utterance;
use spanwise_lang::Domain;
use spanwise_lang::lexicon::Source;
use spanwise_nn::{Group, HeadConfig, Network, ParamId, Tokenizer};

/// Scores that are read from tables.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Tables {
    /// For each label, how it likes to be used.
    pub usages: Vec<f32>,
    /// For each rule of the grammar.
    pub rules: Vec<f32>,
    /// What a match of the lexicon is worth.
    pub lexicon: f32,
    /// The score of every rare label.
    pub rare: f32,
}

/// What a match of the lexicon is worth before training.
const LEXICON_WEIGHT: f32 = 5.0;

impl Tables {
    /// Nothing, in the same sizes.
    #[must_use]
    pub fn zeros(&self) -> Self {
        Self {
            usages: vec![0.0; self.usages.len()],
            rules: vec![0.0; self.rules.len()],
            lexicon: 0.0,
            rare: 0.0,
        }
    }

    /// Multiplies everything.
    pub fn scale(&mut self, factor: f32) {
        self.usages.iter_mut().chain(&mut self.rules).for_each(|g| *g *= factor);
        self.lexicon *= factor;
        self.rare *= factor;
    }

    /// Adds another one, number by number.
    pub fn add(&mut self, other: &Self) {
        self.usages.iter_mut().zip(&other.usages).for_each(|(a, b)| *a += b);
        self.rules.iter_mut().zip(&other.rules).for_each(|(a, b)| *a += b);
        self.lexicon += other.lexicon;
        self.rare += other.rare;
    }
}

/// A domain and everything that scores its programs.
#[derive(Debug)]
pub struct Model {
    /// The domain.
    pub domain: Domain,
    /// The make of the model.
    pub settings: Settings,
    /// The grammar of the domain, as the settings want it.
    pub grammar: Grammar,
    /// What the network scores.
    pub labels: Labels,
    /// Words to pieces.
    pub tokenizer: Tokenizer,
    /// The network.
    pub network: Network,
    /// The tables, as the parameters of the network hold them.
    pub tables: Tables,
    /// How far answers can be trusted.
    pub confidence: Confidence,
    table_ids: [ParamId; 3],
}

impl Model {
    /// Labels of the network for a model: those of the domain, and what else its search asks for.
    #[must_use]
    pub fn n_labels(labels: &Labels, settings: &Settings) -> usize {
        labels.len()
            + match settings.search {
                Search::Exact => N_USAGES + settings.joins.n_labels(),
                // Join and null.
                Search::Paper => 2,
            }
    }

    /// The span scorer for a model.
    #[must_use]
    pub fn head(labels: &Labels, settings: &Settings) -> HeadConfig {
        HeadConfig { hidden: settings.hidden, n_labels: Self::n_labels(labels, settings) }
    }

    /// Puts a model together; the tables are added to the parameters of the network.
    #[must_use]
    pub fn new(
        domain: Domain,
        settings: Settings,
        labels: Labels,
        tokenizer: Tokenizer,
        mut network: Network,
    ) -> Self {
        let grammar = Grammar::new(&domain, settings.options());
        let tables = Tables {
            usages: vec![0.0; labels.len() * N_USAGES],
            rules: vec![0.0; grammar.n_rules()],
            lexicon: LEXICON_WEIGHT,
            rare: 0.0,
        };
        let mut add =
            |name: &str, shape: &[usize], values| network.params.add(name, shape, Group::Table, values);
        let table_ids = [
            add("tables.usages", &[labels.len(), N_USAGES], tables.usages.clone()),
            add("tables.rules", &[grammar.n_rules()], tables.rules.clone()),
            add("tables.weights", &[2], vec![tables.lexicon, tables.rare]),
        ];
        let confidence = Confidence::default();
        Self { domain, settings, grammar, labels, tokenizer, network, tables, confidence, table_ids }
    }

    /// Reads the tables from the parameters, after these changed.
    pub fn refresh(&mut self) {
        let [usages, rules, weights] = self.table_ids.map(|id| self.network.params.values(id));
        self.tables = Tables { usages, rules, lexicon: weights[0], rare: weights[1] };
    }

    /// For each word of an utterance, whether it is part of a name that the domain knows.
    #[must_use]
    pub fn is_name(&self, utterance: &Utterance) -> Vec<bool> {
        let mut is_name = vec![false; utterance.len()];
        for found in self.domain.lexicon().matches(utterance) {
            if found.source == Source::Name {
                is_name[found.span.start as usize..found.span.end as usize].fill(true);
            }
        }
        is_name
    }

    /// Puts the gradient of the tables where the optimiser looks for it.
    pub fn place(&self, gradient: Tables, gradients: &mut spanwise_nn::Gradients) {
        let Tables { usages, rules, lexicon, rare } = gradient;
        let n_parameters = gradients.len();
        // The tables are the last parameters.
        gradients[n_parameters - 3] = Some(usages);
        gradients[n_parameters - 2] = Some(rules);
        gradients[n_parameters - 1] = Some(vec![lexicon, rare]);
    }
}
