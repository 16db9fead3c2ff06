//! Divides examples into train, dev and test.
//!
//! The functions take one descriptor per example (a template, a length) and a [`Plan`], and return the indices of the
//! examples on each side. The same plan gives the same division on every machine. The paper's divisions of GeoQuery
//! are plans.

use super::random::PythonRandom;
use hashbrown::HashMap;

/// How many examples.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Size {
    /// A number of examples.
    Count(usize),
    /// A fraction of all examples, from 0 to 1, rounded to the nearest number.
    Fraction(f64),
}

/// The sizes and seeds of a division. Train gets the remaining examples.
///
/// ```
/// use spanwise_domains::data::split::{Plan, Size, by_length};
///
/// let plan = Plan { test: Size::Fraction(0.4), dev: Size::Count(1), seed: 0, dev_seed: 0 };
/// let partition = by_length(&[7, 2, 9, 3, 4], plan)?;
/// assert_eq!((partition.train.len(), partition.dev.len()), (2, 1));
/// assert_eq!(partition.test, [0, 2]); // the longest, by their index
/// # Ok::<(), spanwise_domains::data::split::SplitError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// Examples for testing; an upper bound when templates are kept together.
    pub test: Size,
    /// Examples for development, drawn at random from those that are not for testing.
    pub dev: Size,
    /// Decides what goes to test.
    pub seed: u64,
    /// Decides what goes from train to dev, and the order of both.
    pub dev_seed: u64,
}

/// Indices of examples.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Partition {
    /// For training, shuffled.
    pub train: Vec<usize>,
    /// For development, shuffled.
    pub dev: Vec<usize>,
    /// For testing, in the order in which the division found them.
    pub test: Vec<usize>,
}

/// Why examples cannot be divided according to a plan.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SplitError {
    /// There is nothing to divide.
    #[error("there are no examples to split")]
    Empty,
    /// The plan leaves nothing for training.
    #[error("cannot take {test} test and {dev} dev examples from {n_examples}: nothing is left for training")]
    TooFew {
        /// Number of examples.
        n_examples: usize,
        /// Examples requested for testing.
        test: usize,
        /// Examples requested for development.
        dev: usize,
    },
    /// A fraction outside 0 to 1.
    #[error("the size of {part} must be a fraction between 0 and 1, found {found}")]
    BadFraction {
        /// `test` or `dev`.
        part: &'static str,
        /// What was given.
        found: f64,
    },
    /// Templates cannot be kept together.
    #[error(
        "all {n_examples} examples have the same template, so none can be held out \
         (hint: split at random or by length)"
    )]
    OneTemplate {
        /// Number of examples.
        n_examples: usize,
    },
    /// All templates were assigned to train.
    #[error(
        "the templates are too large: train took all {n_templates} of them and test got none \
         (hint: request a larger test set or take another seed)"
    )]
    NoTest {
        /// Number of templates.
        n_templates: usize,
    },
}

/// Splits at random.
///
/// # Errors
/// See [`SplitError`].
pub fn random(n_examples: usize, plan: Plan) -> Result<Partition, SplitError> {
    let sizes = Sizes::new(n_examples, plan)?;
    let mut order: Vec<usize> = (0..n_examples).collect();
    PythonRandom::new(plan.seed).shuffle(&mut order);
    let test = order.split_off(n_examples - sizes.test);
    Ok(draw_dev(order, test, sizes.dev, plan.dev_seed))
}

/// Splits by length: the longest examples are for testing. Among equally long ones the later go to test.
///
/// # Errors
/// See [`SplitError`].
pub fn by_length(lengths: &[usize], plan: Plan) -> Result<Partition, SplitError> {
    let sizes = Sizes::new(lengths.len(), plan)?;
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&example| lengths[example]);
    let test = order.split_off(lengths.len() - sizes.test);
    Ok(draw_dev(order, test, sizes.dev, plan.dev_seed))
}

/// Splits by template: no template is both in test and in train or dev. Templates are assigned to train in random order
/// until it has the examples that the plan leaves to it, so test may get fewer examples than requested.
///
/// # Errors
/// See [`SplitError`].
pub fn by_template<T: AsRef<str>>(templates: &[T], plan: Plan) -> Result<Partition, SplitError> {
    let sizes = Sizes::new(templates.len(), plan)?;
    let mut groups = group(templates);
    let n_templates = groups.len();
    if n_templates == 1 && sizes.test > 0 {
        return Err(SplitError::OneTemplate { n_examples: templates.len() });
    }
    PythonRandom::new(plan.seed).shuffle(&mut groups);
    let (mut train, mut test) = (Vec::new(), Vec::new());
    for examples in groups {
        let side = if train.len() < templates.len() - sizes.test { &mut train } else { &mut test };
        side.extend(examples);
    }
    if test.is_empty() && sizes.test > 0 {
        return Err(SplitError::NoTest { n_templates });
    }
    Ok(draw_dev(train, test, sizes.dev, plan.dev_seed))
}

/// Moves `n_dev` random examples from train to dev, or as many as there are.
#[must_use]
pub fn draw_dev(mut train: Vec<usize>, test: Vec<usize>, n_dev: usize, seed: u64) -> Partition {
    PythonRandom::new(seed).shuffle(&mut train);
    let dev = train.split_off(train.len().saturating_sub(n_dev));
    Partition { train, dev, test }
}

/// The examples of each template, templates in the order of their first example.
fn group<T: AsRef<str>>(templates: &[T]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut places: HashMap<&str, usize> = HashMap::new();
    for (example, template) in templates.iter().enumerate() {
        let place = *places.entry(template.as_ref()).or_insert(groups.len());
        if place == groups.len() {
            groups.push(Vec::new());
        }
        groups[place].push(example);
    }
    groups
}

struct Sizes {
    test: usize,
    dev: usize,
}

impl Sizes {
    fn new(n_examples: usize, plan: Plan) -> Result<Self, SplitError> {
        if n_examples == 0 {
            return Err(SplitError::Empty);
        }
        let count = |part, size| match size {
            Size::Count(count) => Ok(count),
            Size::Fraction(fraction) if (0.0..=1.0).contains(&fraction) => {
                Ok((fraction * n_examples as f64).round() as usize)
            }
            Size::Fraction(found) => Err(SplitError::BadFraction { part, found }),
        };
        let (test, dev) = (count("test", plan.test)?, count("dev", plan.dev)?);
        if test.saturating_add(dev) >= n_examples {
            return Err(SplitError::TooFew { n_examples, test, dev });
        }
        Ok(Self { test, dev })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn plan(test: Size, dev: Size) -> Plan {
        Plan { test, dev, seed: 1, dev_seed: 2 }
    }

    fn all(partition: &Partition) -> Vec<usize> {
        let mut all = [&partition.train[..], &partition.dev, &partition.test].concat();
        all.sort_unstable();
        all
    }

    #[test]
    fn sizes_are_counts_or_fractions() {
        let partition = random(10, plan(Size::Fraction(0.25), Size::Count(2))).unwrap();
        assert_eq!((partition.train.len(), partition.dev.len(), partition.test.len()), (5, 2, 3));
    }

    #[test]
    fn impossible_plans_are_refused_with_the_reason() {
        let check = |outcome: Result<Partition, SplitError>, message: &str| {
            assert_eq!(outcome.unwrap_err().to_string(), message);
        };
        let some = plan(Size::Count(2), Size::Count(1));
        check(random(0, some), "there are no examples to split");
        check(random(3, some), "cannot take 2 test and 1 dev examples from 3: nothing is left for training");
        let nothing_left = plan(Size::Count(usize::MAX), Size::Count(1));
        assert!(matches!(random(3, nothing_left), Err(SplitError::TooFew { .. })));
        check(
            by_length(&[1, 2], plan(Size::Fraction(1.5), Size::Count(0))),
            "the size of test must be a fraction between 0 and 1, found 1.5",
        );
        assert!(by_length(&[1, 2], plan(Size::Count(0), Size::Fraction(f64::NAN))).is_err());
        check(
            by_template(&["a"; 9], some),
            "all 9 examples have the same template, so none can be held out \
             (hint: split at random or by length)",
        );
        let lopsided = ["a", "b", "b", "b", "b", "b", "b"];
        assert!((0..20).any(|seed| by_template(&lopsided, Plan { seed, ..some })
            == Err(SplitError::NoTest { n_templates: 2 })));
    }

    #[test]
    fn the_longest_go_to_test_and_ties_keep_their_order() {
        let partition = by_length(&[5, 1, 3, 3, 9], plan(Size::Count(3), Size::Count(0))).unwrap();
        assert_eq!(partition.test, [3, 0, 4]);
    }

    proptest! {
        #[test]
        fn every_example_lands_in_one_set_and_templates_stay_together(
            keys in prop::collection::vec(0usize..12, 1..60),
            test in 0usize..20,
            dev in 0usize..10,
            seed: u64,
        ) {
            let plan = Plan { test: Size::Count(test), dev: Size::Count(dev), seed, dev_seed: seed };
            let templates: Vec<String> = keys.iter().map(ToString::to_string).collect();
            let outcomes = [random(keys.len(), plan), by_length(&keys, plan), by_template(&templates, plan)];
            for partition in outcomes.iter().flatten() {
                prop_assert!(all(partition).into_iter().eq(0..keys.len()));
                prop_assert!(!partition.train.is_empty() && partition.dev.len() == dev);
            }
            if let [Ok(random), Ok(by_length), by_template] = &outcomes {
                prop_assert_eq!((random.test.len(), random.dev.len()), (test, dev));
                let longest_kept = by_length.train.iter().chain(&by_length.dev).map(|&it| keys[it]).max();
                prop_assert!(by_length.test.iter().all(|&it| Some(keys[it]) >= longest_kept));
                if let Ok(by_template) = by_template {
                    prop_assert!(by_template.test.len() <= test);
                    let held_out = |key: usize| by_template.test.iter().any(|&it| keys[it] == key);
                    let mut kept = by_template.train.iter().chain(&by_template.dev);
                    prop_assert!(kept.all(|&it| !held_out(keys[it])));
                }
            } else {
                prop_assert!(test + dev >= keys.len());
            }
        }
    }
}
