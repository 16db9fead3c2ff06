//! CLEVR: questions about pictures of simple objects.
//!
//! The executor evaluates a program in a scene and returns an answer in CLEVR's words (`yes`, `3`, `red`). A program is
//! checked as a whole before anything is evaluated; a scene can be in either of two notations ([`Scene`]).

mod program;
pub(crate) mod scene;
mod set;
mod words;

pub use scene::Scene;
pub use words::{Attribute, AttributeValue, Direction};

use crate::exec::{Denotation, ExecError, Executor, Limits};
use program::Op;
use serde_json::Value;
use set::ObjectSet;
use spanwise_lang::{TermId, Terms};
use spanwise_reading::Answer;

/// Evaluates CLEVR programs; the context is the scene.
///
/// Where a predicate is about one object (`relate`, `query`, ...) and gets several, the first of the scene's
/// order counts, as in the reference; an empty set there is [`ExecError::NoValue`]. A program that gives
/// a set rather than an answer denotes its objects, written `[2 large red metal cube, ...]` and typed as a table.
#[derive(Clone, Debug, Default)]
pub struct ClevrExecutor {
    limits: Limits,
}

impl ClevrExecutor {
    /// An executor with the default limits.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An executor with the given limits. A step is one object looked at once; items are objects.
    #[must_use]
    pub fn with_limits(limits: Limits) -> Self {
        Self { limits }
    }
}

impl Executor for ClevrExecutor {
    fn execute(
        &self,
        terms: &Terms,
        program: TermId,
        context: Option<&Value>,
    ) -> Result<Denotation, ExecError> {
        let ops = program::compile(terms, program)?;
        let context = context.ok_or_else(|| {
            ExecError::BadContext(
                "a CLEVR program needs a scene as its context, and none was given".to_owned(),
            )
        })?;
        let scene = Scene::from_context(context)?;
        if scene.len() as u64 > self.limits.items {
            return Err(ExecError::Limit { what: "objects in the scene", limit: self.limits.items });
        }
        Evaluation { scene: &scene, limits: self.limits, n_steps: 0, values: Vec::with_capacity(ops.len()) }
            .run(&ops)
    }
}

/// The result of an operation.
enum Outcome {
    Set(ObjectSet),
    Answer(Answer),
}

struct Evaluation<'a> {
    scene: &'a Scene,
    limits: Limits,
    n_steps: u64,
    /// One per operation done.
    values: Vec<Outcome>,
}

impl Evaluation<'_> {
    fn run(mut self, ops: &[Op]) -> Result<Denotation, ExecError> {
        for op in ops {
            self.pay(op)?;
            let value = self.step(op)?;
            self.values.push(value);
        }
        match self.values.pop() {
            Some(Outcome::Answer(answer)) => Ok(Denotation::typed(answer.to_string(), answer)),
            Some(Outcome::Set(set)) => Ok(Denotation {
                text: self.describe(&set),
                is_empty: set.is_empty(),
                ..Denotation::typed("", self.table(&set))
            }),
            None => unreachable!("a compiled program has at least one operation"),
        }
    }

    /// Counts the steps of an operation before it is done.
    fn pay(&mut self, op: &Op) -> Result<(), ExecError> {
        let n_passes = if let Op::Filter { values, .. } = op { values.len() as u64 } else { 1 };
        let n_steps = n_passes.saturating_mul(self.scene.len().max(1) as u64);
        self.n_steps = self.n_steps.saturating_add(n_steps);
        if self.n_steps > self.limits.steps {
            return Err(ExecError::Limit { what: "steps", limit: self.limits.steps });
        }
        Ok(())
    }

    fn step(&self, op: &Op) -> Result<Outcome, ExecError> {
        let (scene, n_objects) = (self.scene, self.scene.len());
        let set = match op {
            Op::Scene => ObjectSet::all(n_objects),
            Op::Filter { values, of } => {
                let of = self.set(*of);
                let fits = |object, value: &AttributeValue| scene.value(object, value.attribute()) == *value;
                ObjectSet::from_fn(n_objects, |object| {
                    of.contains(object) && values.iter().all(|value| fits(object, value))
                })
            }
            Op::Relate { direction, of } => scene.related(*direction, self.object("relate", *of)?),
            Op::RelateEqual { attribute, of } => {
                let object = self.object("relate_attribute_equal", *of)?;
                let value = scene.value(object, *attribute);
                ObjectSet::from_fn(n_objects, |other| {
                    other != object && scene.value(other, *attribute) == value
                })
            }
            Op::Union(left, right) => self.set(*left).union(self.set(*right)),
            Op::Intersect(left, right) => self.set(*left).intersection(self.set(*right)),
            answer => return self.answer(answer).map(Outcome::Answer),
        };
        Ok(Outcome::Set(set))
    }

    /// The value of an operation that does not give a set.
    fn answer(&self, op: &Op) -> Result<Answer, ExecError> {
        Ok(match op {
            Op::Exist(of) => (!self.set(*of).is_empty()).into(),
            Op::Count(of) => (self.set(*of).len() as u64).into(),
            Op::Query { attribute, of } => {
                self.scene.value(self.object("query", *of)?, *attribute).name().into()
            }
            Op::QueryEqual { attribute, of: [left, right] } => {
                let left = self.object("query_attribute_equal", *left)?;
                let right = self.object("query_attribute_equal", *right)?;
                (self.scene.value(left, *attribute) == self.scene.value(right, *attribute)).into()
            }
            Op::CompareCounts { expected, of: [left, right] } => {
                (self.set(*left).len().cmp(&self.set(*right).len()) == *expected).into()
            }
            _ => unreachable!("every other operation gives a set"),
        })
    }

    fn set(&self, place: usize) -> &ObjectSet {
        match &self.values[place] {
            Outcome::Set(set) => set,
            Outcome::Answer(_) => unreachable!("compilation lets only sets be operands"),
        }
    }

    fn object(&self, predicate: &str, place: usize) -> Result<usize, ExecError> {
        self.set(place)
            .first()
            .ok_or_else(|| ExecError::NoValue(format!("`{predicate}` needs an object and got an empty set")))
    }

    /// The objects as text.
    fn describe(&self, set: &ObjectSet) -> String {
        let objects = set.iter().map(|object| format!("{object} {}", self.values_of(object).join(" ")));
        format!("[{}]", objects.collect::<Vec<_>>().join(", "))
    }

    /// The objects as rows: their place in the scene, then their attributes.
    fn table(&self, set: &ObjectSet) -> Answer {
        let columns = ["object", "size", "color", "material", "shape"].map(str::to_owned).into();
        let row = |object: usize| {
            let values = self.values_of(object).map(Answer::from);
            std::iter::once(Answer::from(object as u64)).chain(values).collect()
        };
        Answer::Table { columns, rows: set.iter().map(row).collect() }
    }

    /// Size, color, material and shape of an object.
    fn values_of(&self, object: usize) -> [&'static str; 4] {
        [Attribute::Size, Attribute::Color, Attribute::Material, Attribute::Shape]
            .map(|attribute| self.scene.value(object, attribute).name())
    }
}
