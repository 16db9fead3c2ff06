//! Ways from one noun to another over references.

use super::nouns::{ALIAS, Noun, Plan};

/// A reference from the rows of one noun to those of another.
#[derive(Clone, Debug)]
pub(super) struct Link {
    pub(super) child: usize,
    pub(super) parent: usize,
    /// Equal expressions of the child and of the parent, with [`ALIAS`] for the table.
    pub(super) on: Vec<(String, String)>,
    /// The words of its columns: *billing address*.
    pub(super) role: String,
    /// Whether another reference leads to the same noun, or the role is not the name of the noun.
    pub(super) has_role: bool,
    /// Whether a row may refer to nothing.
    pub(super) is_nullable: bool,
    pub(super) is_guessed: bool,
}

/// A step along a link.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Step {
    pub(super) link: usize,
    /// From the parent to the child.
    pub(super) is_down: bool,
}

/// Steps from one noun to another.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Path {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) steps: Vec<Step>,
}

impl Path {
    pub(super) fn one(plan: &Plan, link: usize, is_down: bool) -> Self {
        let (child, parent) = (plan.links[link].child, plan.links[link].parent);
        let (from, to) = if is_down { (parent, child) } else { (child, parent) };
        Self { from, to, steps: vec![Step { link, is_down }] }
    }

    /// Whether every row has at most one row at the other end.
    pub(super) fn is_functional(&self) -> bool {
        self.steps.iter().all(|step| !step.is_down)
    }

    /// The nouns on the way, with both ends.
    pub(super) fn nouns(&self, plan: &Plan) -> Vec<usize> {
        let end = |step: &Step| {
            let link = &plan.links[step.link];
            if step.is_down { link.child } else { link.parent }
        };
        std::iter::once(self.from).chain(self.steps.iter().map(end)).collect()
    }

    pub(super) fn then(&self, plan: &Plan, step: Step) -> Self {
        let link = &plan.links[step.link];
        let to = if step.is_down { link.child } else { link.parent };
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { from: self.from, to, steps }
    }

    /// `from` and `join` of all nouns on the way, `t0` for the first and `t1`, `t2` for the next ones.
    pub(super) fn joins(&self, plan: &Plan, kind: &str) -> String {
        let mut text = format!("{} as t0", plan.nouns[self.from].source);
        for (place, noun) in self.nouns(plan).iter().enumerate().skip(1) {
            let on = self.condition(plan, place);
            text += &format!(" {kind} {} as t{place} on {on}", plan.nouns[*noun].source);
        }
        text
    }

    /// The condition that joins the noun at `place` to the one before it.
    fn condition(&self, plan: &Plan, place: usize) -> String {
        let step = self.steps[place - 1];
        let link = &plan.links[step.link];
        let (child, parent) = if step.is_down { (place, place - 1) } else { (place - 1, place) };
        let equal = |(own, other): &(String, String)| {
            format!(
                "{} = {}",
                own.replace(ALIAS, &format!("t{child}")),
                other.replace(ALIAS, &format!("t{parent}"))
            )
        };
        link.on.iter().map(equal).collect::<Vec<_>>().join(" and ")
    }

    /// `exists` with the rows at the other end of a row `t0`, which satisfy a condition on their alias.
    pub(super) fn exists(&self, plan: &Plan, condition: &str) -> String {
        let nouns = self.nouns(plan);
        let mut text = String::new();
        let mut first = String::new();
        for (place, noun) in nouns.iter().enumerate().skip(1) {
            let on = self.condition(plan, place);
            if place == 1 {
                text = format!("select 1 from {} as t1", plan.nouns[*noun].source);
                first = on;
            } else {
                text += &format!(" join {} as t{place} on {on}", plan.nouns[*noun].source);
            }
        }
        format!("exists ({text} where {first} and {condition})")
    }

    /// The alias at the end.
    pub(super) fn last(&self) -> String {
        format!("t{}", self.steps.len())
    }
}

/// An expression of a noun for an alias.
pub(super) fn on(expression: &str, alias: &str) -> String {
    expression.replace(ALIAS, alias)
}

/// The key of a noun for an alias.
pub(super) fn key(noun: &Noun, alias: &str) -> String {
    on(&noun.key, alias)
}

/// Paths from a noun, shortest first: up, down, and down and then up again. Of several to the same noun over the same noun at
/// the bottom, those of the shortest length; none visits a noun twice.
pub(super) fn from(plan: &Plan, start: usize, longest: usize) -> Vec<Path> {
    let mut found: Vec<Path> = Vec::new();
    let mut border = vec![Path { from: start, to: start, steps: Vec::new() }];
    for _ in 0..longest {
        let mut next = Vec::new();
        for path in &border {
            let is_up = path.steps.last().is_some_and(|step| !step.is_down);
            for (link, declared) in plan.links.iter().enumerate() {
                for is_down in [false, true] {
                    let here = if is_down { declared.parent } else { declared.child };
                    // Down again after going up would lead to everything that shares a parent.
                    if here != path.to || (is_up && is_down) {
                        continue;
                    }
                    let longer = path.then(plan, Step { link, is_down });
                    let nouns = longer.nouns(plan);
                    if nouns[..nouns.len() - 1].contains(&longer.to) {
                        continue;
                    }
                    next.push(longer);
                }
            }
        }
        found.extend(next.iter().cloned());
        border = next;
    }
    let bottom = |path: &Path| {
        let n_down = path.steps.iter().filter(|step| step.is_down).count();
        (0 < n_down && n_down < path.steps.len()).then(|| path.nouns(plan)[n_down])
    };
    let shortest = |path: &Path| {
        // A way that only goes up, or only down, is better than one over something else.
        let straight = found.iter().any(|other| other.to == path.to && bottom(other).is_none());
        if straight && bottom(path).is_some() {
            return false;
        }
        let same = found.iter().filter(|other| other.to == path.to && bottom(other) == bottom(path));
        same.map(|other| other.steps.len()).min() == Some(path.steps.len())
    };
    found.iter().filter(|path| shortest(path)).cloned().collect()
}
