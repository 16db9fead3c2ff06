//! Annotation: derives gold trees from utterances and programs, where the alignment is unambiguous.
//!
//! The method follows section 4.4 of the paper, as far as it is described there. A lexicon with more phrases than the
//! parser's gives the words that each constant can be aligned to. A gold chart over these phrases holds all derivations of
//! the program. The domain's preferences are applied one after the other; each keeps only the derivations with the
//! highest score under it. If the derivations that remain agree on the words of every constant, the example is
//! annotated. Derivations that differ only in bracketing count as agreeing, and the Viterbi tree of the chart is taken.
//! Otherwise the example is left out.
//!
//! Phrases and preferences are data of the domain; no predicate is known by name here.

use crate::agreement::annotated_example;
use crate::tree_f1::{LabelledSpans, predicted_tree};
use rayon::prelude::*;
use spanwise_chart::candidates::licensed;
use spanwise_chart::derivable::Cause;
use spanwise_chart::gold::{GoldChart, Joins};
use spanwise_chart::grammar::{Discontinuity, Grammar, N_USAGES, Options, RuleKey, RuleKind, Side, Usage};
use spanwise_chart::lattice::{Lattice, Leaf};
use spanwise_chart::semiring::Count;
use spanwise_chart::{Category, SpanTree};
use spanwise_core::Utterance;
use spanwise_domains::data::Example;
use spanwise_domains::load::Spec;
use spanwise_lang::{Annotation, ConstantId, Domain, DomainErrors, Kind, Node, Preference, TermId, Terms};

/// An annotated utterance.
#[derive(Clone, PartialEq, Debug)]
pub struct Annotated {
    /// The tree.
    pub tree: SpanTree,
    /// The tree in the conventions of gold trees.
    pub spans: LabelledSpans,
    /// The number of trees that remain with this alignment; more than one if the bracketing is ambiguous.
    pub n_trees: f64,
}

impl Annotated {
    /// Whether some constant of the program is implicit: it is inserted, and no words are aligned to it.
    #[must_use]
    pub fn has_implicit(&self) -> bool {
        self.tree.nodes.iter().any(|node| matches!(node.category, Category::Implicit(_)))
    }
}

/// Why an example has no annotation.
#[derive(Clone, PartialEq, Debug)]
pub enum LeftOut {
    /// It has no program.
    NoProgram,
    /// Its program cannot be read.
    Unreadable(String),
    /// The phrases allow no derivation of the program.
    Underivable(Cause),
    /// A constant can be aligned to different words, and no preference decides.
    Ambiguous(ConstantId),
}

/// An example without an annotation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Omission {
    /// The short name of the reason.
    pub kind: &'static str,
    /// The reason, human-readable.
    pub reason: String,
    /// The utterance.
    pub utterance: String,
}

impl LeftOut {
    /// A short name of the reason, for counting.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::NoProgram => "no program",
            Self::Unreadable(_) => "program cannot be read",
            Self::Underivable(cause) => cause.kind(),
            Self::Ambiguous(_) => "more than one reading",
        }
    }

    /// The reason, human-readable.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        match self {
            Self::NoProgram => "there is no program to annotate".to_owned(),
            Self::Unreadable(reason) => reason.clone(),
            Self::Underivable(cause) => cause.describe(domain, terms),
            Self::Ambiguous(constant) => {
                format!("`{}` can be aligned to different words", domain.constants()[*constant].name)
            }
        }
    }
}

/// Annotates examples with the phrases of their domain. Examples without an annotation are dropped.
///
/// # Errors
/// All errors in the annotation phrases.
pub fn trees(spec: &Spec<'_>, domain: &Domain, examples: &[Example]) -> Result<Vec<Example>, DomainErrors> {
    let annotation = spec.annotation(domain)?;
    let annotator = Annotator::new(domain, &annotation);
    let annotated = |example: &Example| Some(annotated_example(example, &annotator.example(example).ok()?));
    Ok(examples.par_iter().filter_map(annotated).collect())
}

/// Annotates utterances of one domain.
#[derive(Clone, Debug)]
pub struct Annotator<'a> {
    domain: &'a Domain,
    annotation: &'a Annotation,
    grammar: Grammar,
}

impl<'a> Annotator<'a> {
    /// Compiles the grammar: discontinuous parts are allowed, and so are implicit constants that the domain declares.
    #[must_use]
    pub fn new(domain: &'a Domain, annotation: &'a Annotation) -> Self {
        let options = Options { discontinuity: Discontinuity::Open, implicit: true };
        Self { domain, annotation, grammar: Grammar::new(domain, options) }
    }

    /// Annotates an example.
    ///
    /// # Errors
    /// The reason why it is left out, human-readable.
    pub fn example(&self, example: &Example) -> Result<Annotated, Omission> {
        let mut terms = self.domain.new_terms();
        let outcome = match &example.program {
            None => Err(LeftOut::NoProgram),
            Some(text) => terms.parse(text).map_err(|error| LeftOut::Unreadable(error.one_line(text))),
        };
        let utterance = example.spoken();
        let outcome = outcome.and_then(|program| self.annotate(&utterance, &mut terms, program));
        outcome.map_err(|why| Omission {
            kind: why.kind(),
            reason: why.describe(self.domain, &terms),
            utterance: example.utterance.clone(),
        })
    }

    /// Annotates an utterance with its program.
    ///
    /// # Errors
    /// The reason why it is left out.
    pub fn annotate(
        &self,
        utterance: &Utterance,
        terms: &mut Terms,
        program: TermId,
    ) -> Result<Annotated, LeftOut> {
        let domain = self.domain;
        let leaves = licensed(domain, &self.annotation.matches(domain, utterance));
        let lattice = Lattice::new(utterance.len(), leaves)
            .map_err(|error| LeftOut::Underivable(Cause::Chart(error)))?;
        let chart = GoldChart::new(domain, &self.grammar, &lattice, terms, program, Joins::None)
            .map_err(|reason| LeftOut::Underivable(Cause::Underivable(reason)))?;
        let chart = self.preferred(&lattice, chart);
        let zeros = vec![0.0; lattice.leaves().len() * N_USAGES + self.grammar.n_rules()];
        let tree = chart.best_tree(domain, &lattice, terms, &zeros).map(|best| best.tree);
        let tree = tree.expect("a gold chart has a derivation, and all scores are finite");
        if let Some(constant) = ambiguous_constant(&chart, &tree) {
            return Err(LeftOut::Ambiguous(constant));
        }
        let ones = vec![1.0; zeros.len()];
        let n_trees = chart.graph().inside::<Count>(&ones).last().copied().unwrap_or_default();
        Ok(Annotated { spans: predicted_tree(domain, &tree), tree, n_trees })
    }

    /// The derivations that remain after all preferences were applied in order.
    fn preferred(&self, lattice: &Lattice, mut chart: GoldChart) -> GoldChart {
        for &preference in self.annotation.prefer() {
            let of_leaves = lattice
                .leaves()
                .iter()
                .flat_map(|leaf| Usage::ALL.map(|usage| self.leaf_score(preference, leaf, usage)));
            let of_rules = self.grammar.rules().iter().map(|rule| rule_score(preference, rule));
            let scores: Vec<f32> = of_leaves.chain(of_rules).collect();
            chart = chart.best_only(&scores).expect("scores are finite");
        }
        chart
    }

    /// The score of a leaf of a derivation under a preference.
    fn leaf_score(&self, preference: Preference, leaf: &Leaf, usage: Usage) -> f32 {
        let is_name = matches!(self.domain.constants()[leaf.constant].kind, Kind::Entity(_));
        let words = (leaf.end - leaf.start) as f32;
        match preference {
            Preference::Said => 1.0,
            Preference::Continuous => match usage {
                Usage::ComposeLeft | Usage::ComposeRight | Usage::Inner => -1.0,
                Usage::Closed | Usage::ApplyLeft | Usage::ApplyRight => 0.0,
            },
            Preference::LongPhrases if !is_name => words,
            Preference::LongNames if is_name => words,
            Preference::ShortNames if is_name => -words,
            Preference::LongPhrases | Preference::LongNames | Preference::ShortNames => 0.0,
            Preference::FunctionFirst | Preference::SlotOrder => 0.0,
        }
    }
}

/// The score of one use of a rule under a preference.
fn rule_score(preference: Preference, rule: &RuleKey) -> f32 {
    match (preference, rule.kind, rule.side) {
        (Preference::FunctionFirst, RuleKind::Apply | RuleKind::Fill(_) | RuleKind::Finish, Side::Right) => {
            1.0
        }
        // Prefers arguments of later slots on the right and of earlier slots on the left.
        (Preference::SlotOrder, RuleKind::Fill(slot), Side::Right) => f32::from(slot),
        (Preference::SlotOrder, RuleKind::Fill(slot), Side::Left) => -f32::from(slot),
        _ => 0.0,
    }
}

/// A constant that the derivations of a chart align to different words; `tree` is one of the derivations.
fn ambiguous_constant(chart: &GoldChart, tree: &SpanTree) -> Option<ConstantId> {
    let alignments = chart.alignments();
    let n_aligned = tree.nodes.iter().filter(|node| matches!(node.category, Category::Constant(_))).count();
    if alignments.len() == n_aligned {
        return None;
    }
    // Either a node of the program is aligned to two spans, or it is aligned in one derivation and implicit in another.
    let twice = alignments.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
    let (node, _) = twice.map_or(alignments[0], |node| (node, 0));
    match chart.analysis().nodes.get(node)? {
        Node::Constant { constant, .. } => Some(*constant),
        Node::Gather { .. } | Node::Unlisted { .. } => None,
    }
}

#[cfg(test)]
mod tests;
