//! Gold trees from programs: which words of an utterance say which constant, where that is beyond doubt.
//!
//! An utterance with its program comes in, labelled spans or a reason go out. The way is the paper's (section 4.4), as
//! far as it tells: a lexicon with more phrases than a parser has says where each constant may stand, and the program
//! says which of these fit together. Here that is a gold chart over the licensed phrases. It holds every way to lay the
//! program over the words; preferences then thin it out one after the other, each keeping the best derivations and no
//! other. Where what is left agrees on the words of every constant, there is an annotation; derivations that differ in
//! brackets alone are one to it, and the chart's first counts. Where it does not agree, the example is left out.
//!
//! Nothing here reads files or knows a predicate by name: phrases and preferences are data of the domain.

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
    /// How many trees were left when the words of every constant were decided; more than one where brackets are free.
    pub n_trees: f64,
}

impl Annotated {
    /// Whether some constant of the program is on no words.
    #[must_use]
    pub fn has_unsaid(&self) -> bool {
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
    /// No derivation with the phrases there are.
    Underivable(Cause),
    /// More than one place for a constant, and no preference decides.
    Ambiguous(ConstantId),
}

/// An example without an annotation.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Omission {
    /// The short name of the reason.
    pub kind: &'static str,
    /// The reason in words.
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

    /// The reason in words.
    #[must_use]
    pub fn describe(&self, domain: &Domain, terms: &Terms) -> String {
        match self {
            Self::NoProgram => "there is no program to annotate".to_owned(),
            Self::Unreadable(reason) => reason.clone(),
            Self::Underivable(cause) => cause.describe(domain, terms),
            Self::Ambiguous(constant) => {
                format!("`{}` can stand on different words", domain.constants()[*constant].name)
            }
        }
    }
}

/// The examples for which the domain's own phrases give a tree, with that tree.
///
/// # Errors
/// Everything that is wrong with the phrases.
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
    /// Compiles the grammar: parts in any order; constants may go without saying where the domain allows it.
    #[must_use]
    pub fn new(domain: &'a Domain, annotation: &'a Annotation) -> Self {
        let options = Options { discontinuity: Discontinuity::Open, implicit: true };
        Self { domain, annotation, grammar: Grammar::new(domain, options) }
    }

    /// Annotates an example.
    ///
    /// # Errors
    /// Why it is left out, in words.
    pub fn example(&self, example: &Example) -> Result<Annotated, Omission> {
        let mut terms = self.domain.new_terms();
        let outcome = match &example.program {
            None => Err(LeftOut::NoProgram),
            Some(text) => terms.parse(text).map_err(|error| LeftOut::Unreadable(error.one_line(text))),
        };
        let utterance = Utterance::new(example.utterance.as_str());
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
    /// Why it is left out.
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
        let nothing = vec![0.0; lattice.leaves().len() * N_USAGES + self.grammar.n_rules()];
        let tree = chart.best_tree(domain, &lattice, terms, &nothing).map(|best| best.tree);
        let tree = tree.expect("a gold chart has a derivation, and all scores are finite");
        if let Some(doubtful) = doubtful(&chart, &tree) {
            return Err(LeftOut::Ambiguous(doubtful));
        }
        let ones = vec![1.0; nothing.len()];
        let n_trees = chart.graph().inside::<Count>(&ones).last().copied().unwrap_or_default();
        Ok(Annotated { spans: predicted_tree(domain, &tree), tree, n_trees })
    }

    /// The derivations that are left when every preference has had its say.
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

    /// What a preference gives for one leaf of a derivation.
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

/// What a preference gives for one use of a rule.
fn rule_score(preference: Preference, rule: &RuleKey) -> f32 {
    match (preference, rule.kind, rule.side) {
        (Preference::FunctionFirst, RuleKind::Apply | RuleKind::Fill(_) | RuleKind::Finish, Side::Right) => {
            1.0
        }
        // Later slots to the right, earlier ones to the left.
        (Preference::SlotOrder, RuleKind::Fill(slot), Side::Right) => f32::from(slot),
        (Preference::SlotOrder, RuleKind::Fill(slot), Side::Left) => -f32::from(slot),
        _ => 0.0,
    }
}

/// A constant on whose words the derivations of a chart do not agree; one of them has the tree.
fn doubtful(chart: &GoldChart, tree: &SpanTree) -> Option<ConstantId> {
    let alignments = chart.alignments();
    let n_said = tree.nodes.iter().filter(|node| matches!(node.category, Category::Constant(_))).count();
    if alignments.len() == n_said {
        return None;
    }
    // Either one node of the program has two places, or some node is said in one derivation and not in another.
    let twice = alignments.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[0].0);
    let (node, _) = twice.map_or(alignments[0], |node| (node, 0));
    match &chart.analysis().nodes[node] {
        Node::Constant { constant, .. } => Some(*constant),
        Node::Gather { .. } | Node::Unlisted { .. } => None,
    }
}

#[cfg(test)]
mod tests;
