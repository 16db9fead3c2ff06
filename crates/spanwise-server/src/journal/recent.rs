//! The questions that can still be judged.

use super::entry::Question;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

/// Most questions that are remembered, and most bytes of them.
const MAX_QUESTIONS: usize = 10_000;
const MAX_BYTES: usize = 16 << 20;

/// The questions that can still be judged, by id. The oldest are forgotten first.
#[derive(Default)]
pub(super) struct Recent {
    known: BTreeMap<String, Arc<Question>>,
    order: VecDeque<(String, usize)>,
    n_bytes: usize,
}

impl Recent {
    pub(super) fn add(&mut self, question: &Question) {
        let id = question.id.clone();
        let size = serde_json::to_string(question).map_or(0, |text| text.len());
        self.known.insert(id.clone(), Arc::new(question.clone()));
        self.order.push_back((id, size));
        self.n_bytes += size;
        while self.order.len() > MAX_QUESTIONS || self.n_bytes > MAX_BYTES {
            let Some((oldest, size)) = self.order.pop_front() else { break };
            self.known.remove(&oldest);
            self.n_bytes -= size;
        }
    }

    pub(super) fn find(&self, id: &str) -> Option<Arc<Question>> {
        self.known.get(id).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Kind, ModelName, Outcome};
    use super::*;

    #[test]
    fn what_is_remembered_is_bounded_by_number_and_by_size() {
        let question = |at: usize, length: usize| Question {
            version: 1,
            kind: Kind::Question,
            id: at.to_string(),
            time: 0.0,
            model: ModelName::default(),
            utterance: "x".repeat(length),
            now: None,
            context: None,
            outcome: Outcome::Nothing,
            cause: None,
            program: None,
            probability: None,
            in_domain: None,
            alternatives: Vec::new(),
        };
        let mut recent = Recent::default();
        (0..MAX_QUESTIONS + 5).for_each(|at| recent.add(&question(at, 3)));
        assert!(recent.find("4").is_none() && recent.find("5").is_some());
        assert_eq!((recent.known.len(), recent.order.len()), (MAX_QUESTIONS, MAX_QUESTIONS));
        (20_000..20_020).for_each(|at| recent.add(&question(at, 1 << 20)));
        assert!(recent.n_bytes <= MAX_BYTES && recent.known.len() == 15, "{}", recent.known.len());
        assert!(recent.find("20019").is_some());
    }
}
