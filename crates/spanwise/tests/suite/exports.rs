//! Every type inside a parse and a reading can be named through this crate.
//!
//! The patterns list all fields, so that a new field does not compile until its type is here, too.

use crate::support;
use spanwise::reading::{self, AnswerInfo, ChartSpan, Guess, NodeKind};
use spanwise::{
    Alternative, Answer, Category, ConstantId, Correction, Crowded, Details, Domain, Guessed, Outcome, Parse,
    Parser, Provenance, Question, Reading, Rival, Span, SpanPosterior, SpanTree, State, TermId, Terms, Token,
    Tree, TreeNode, TypeId, Unread, Utterance, Withhold,
};

const TEXT: &str = "blink the cellar lamp three times";

#[test]
fn every_field_of_a_parse_has_a_type_that_can_be_named() {
    let parser: Parser = support::train_lamps().unwrap();
    let domain: &Domain = &parser.model().domain;
    let details = Details { alternatives: 2, provenance: true, chart: true, rival: false };
    let outcome: Outcome = parser.parse_with(Utterance::new(TEXT), details);
    let Outcome::Found(parse) = outcome else { panic!("no parse") };
    let Parse {
        utterance,
        terms,
        program,
        tree,
        whole,
        score,
        probability,
        posterior,
        in_domain,
        answerable,
        unknown_words,
        corrections,
        suggested,
        tied,
        unread,
        guessed,
        crowded,
        rival,
        alternatives,
        provenance,
        spans,
    } = *parse;

    let (utterance, terms, program): (Utterance, Terms, TermId) = (utterance, terms, program);
    let tokens: &[Token] = utterance.tokens();
    assert_eq!(terms.display(program).to_string(), "do(blink(lamp('cellar'), thrice))");
    let numbers: (f32, f64, f64, f64, Vec<u32>) = (score, probability, posterior, in_domain, unknown_words);
    assert_eq!(answerable, 0.0);
    assert!(numbers.0.is_finite() && numbers.1 > 0.0 && numbers.2 > 0.0 && numbers.3 > 0.0);
    check_tree(&tree.unwrap(), domain, tokens.len());
    assert!(whole.is_none());

    let _: (Vec<Correction>, Vec<Unread>, Vec<Crowded>) = (corrections, unread, crowded);
    let _: (Option<Rival>, Vec<Correction>, Option<Correction>) = (rival, suggested, tied);
    let _: Vec<Guessed> = guessed;
    assert_eq!(alternatives.len(), 2);
    for Alternative { program, probability, posterior, score } in alternatives {
        let _: (TermId, f64, f64, f32) = (program, probability, posterior, score);
    }
    assert_eq!(provenance.len(), tokens.len());
    for Provenance { constant, span, probability } in provenance {
        let _: (Option<ConstantId>, Span, f64) = (constant, span, probability);
    }
    assert!(!spans.is_empty());
    for SpanPosterior { span, constant, probability } in spans {
        let _: (Span, Option<ConstantId>, f64) = (span, constant, probability);
    }
}

fn check_tree(tree: &SpanTree, domain: &Domain, n_words: usize) {
    let SpanTree { nodes } = tree;
    for TreeNode { span, category, children, program, state } in nodes {
        let (span, program): (Span, Option<TermId>) = (*span, *program);
        let state: &Option<State> = state;
        assert!(span.end as usize <= n_words && children.iter().all(|&child| child < nodes.len()));
        match category {
            Category::Constant(id) | Category::Implicit(id) => {
                let id: ConstantId = *id;
                assert!(!domain.constants()[id].name.is_empty());
            }
            Category::Join | Category::Null => {}
        }
        assert!(program.is_some() || *category == Category::Null);
        assert!(state.as_ref().is_none_or(|state| !domain.describe_state(state).is_empty()));
    }
    let _: &[TypeId] = tree.root().unwrap().open_slots();
}

#[test]
fn every_field_of_a_reading_has_a_type_that_can_be_named() {
    let parser = support::train_lamps().unwrap();
    let question = Question { alternatives: 2, chart: true, ..Question::new(TEXT) };
    let Reading {
        utterance,
        program,
        lines,
        answer,
        denotation,
        probability,
        posterior,
        in_domain,
        score,
        tree,
        alternatives,
        tokens,
        unknown_words,
        corrections,
        unread,
        threshold,
        now,
        chart,
        reason,
        cause,
        clarification,
        guess,
        error,
        note,
        answer_info,
        sql,
        id,
    } = parser.read(&question);

    let texts: [Option<String>; 6] = [program, lines, denotation, reason, error, note];
    assert!(utterance == TEXT && texts[0].is_some() && texts[3].is_none());
    let numbers: ([Option<f64>; 3], Option<f32>) = ([probability, posterior, in_domain], score);
    assert!(numbers.0.iter().all(Option::is_some) && numbers.1.is_some());
    // Lamps have no executor, and nothing was withheld.
    let (answer, guess): (Option<Answer>, Option<Guess>) = (answer, guess);
    assert!(answer.is_none() && guess.is_none());
    let _: (AnswerInfo, Option<String>, Option<String>) = (answer_info, sql, id);
    let unknown_words: Vec<String> = unknown_words;
    assert!(unknown_words.is_empty());

    let _: (Vec<reading::Correction>, Vec<reading::Unread>) = (corrections, unread);
    let _: (Option<f64>, Option<String>) = (threshold, now);
    let _: (Option<reading::Cause>, Option<reading::Clarification>) = (cause, clarification);
    let tree: Tree = tree.unwrap();
    for reading::TreeNode { span, words, kind, constant, program, r#type, probability, children } in
        tree.nodes
    {
        let _: ([u32; 2], String, Option<f64>, Vec<usize>) = (span, words, probability, children);
        let _: [Option<String>; 3] = [constant, program, r#type];
        let (NodeKind::Constant | NodeKind::Join | NodeKind::Implicit | NodeKind::Null) = kind;
    }
    assert_eq!(alternatives.len(), 2);
    for reading::Alternative { program, probability, posterior, score, answer, answer_info, denotation } in
        alternatives
    {
        let _: (String, f64, f64, f32) = (program, probability, posterior, score);
        let _: (Option<Answer>, AnswerInfo, Option<String>) = (answer, answer_info, denotation);
    }
    assert_eq!(tokens.len(), 6);
    for reading::Token { text, start, end, constant, span, probability, in_lexicon, unread, read_as } in
        tokens
    {
        let _: (String, usize, usize, bool) = (text, start, end, in_lexicon || unread);
        let _: Option<String> = read_as;
        let _: (Option<String>, Option<[u32; 2]>, Option<f64>) = (constant, span, probability);
    }
    let chart: Vec<ChartSpan> = chart.unwrap();
    for ChartSpan { span, constant, probability } in chart {
        let _: ([u32; 2], Option<String>, f64) = (span, constant, probability);
    }
}

#[test]
fn a_withheld_program_is_a_guess_with_all_its_fields() {
    let parser = support::train_lamps().unwrap();
    let reading = parser.read(&Question { withhold: Withhold::Below(1.1), ..Question::new(TEXT) });
    let Guess { program, answer, probability, posterior } = reading.guess.unwrap();
    assert!(
        reading.program.is_none()
            && program.is_some()
            && answer.is_none()
            && probability <= 1.0
            && posterior > 0.0
    );
}
