//! Forms: the notation of a constant in programs, with holes for its arguments.
//!
//! `next_to_2` has the form `next_to_2({1})`, CLEVR's `behind` has `relate(behind, {1})`, and every program of the
//! geography domain is wrapped in `answer({1})`.

use crate::diag::Diagnostic;
use crate::term::{Shape, Symbol, TermId, Terms};

/// How [`Form::Lacking`] is written, in forms and in terms that lack something.
const LACKING: &str = "{0}";

/// Deepest form that is accepted. Functions on forms recurse; two or three levels are usual.
const MAX_DEPTH: u32 = 32;

/// What completes an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum With {
    /// Another argument, which has a hole of its own, too.
    Argument(usize),
    /// A term.
    Term(TermId),
}

/// A term with numbered holes.
///
/// ```
/// use spanwise_lang::Terms;
/// use spanwise_lang::form::Form;
///
/// let mut terms = Terms::new();
/// let behind = Form::parse(&mut terms, "relate(behind, {1})", 0).unwrap();
/// let scene = terms.parse("scene()").unwrap();
/// let built = behind.build(&mut terms, &[scene]);
/// assert_eq!(terms.display(built).to_string(), "relate(behind, scene())");
/// // Matching is the inverse of building.
/// let mut args = [None];
/// assert!(behind.take_apart(&terms, built, &mut args));
/// assert_eq!(args, [Some(scene)]);
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Form {
    /// The argument with this number.
    Hole(usize),
    /// An argument that lacks something, with another one in its place.
    Completed {
        /// The argument that lacks something.
        argument: usize,
        /// What stands in the place of what it lacks.
        with: With,
    },
    /// What the term lacks: whatever takes it as an argument says what stands here.
    Lacking,
    /// A term without holes.
    Ground(TermId),
    /// A call with a hole somewhere inside.
    Call {
        /// The name before the parentheses.
        head: Symbol,
        /// The arguments.
        args: Vec<Form>,
    },
}

impl Form {
    /// Parses a form. Holes are `{}` (the next argument) or `{2}` (the second one), `{0}` is what the term lacks, and `{2:1}` is
    /// the second argument with the first one in the place of what it lacks, `{2:who}` with the name `who` there. `base` is the position of `text` in its file.
    ///
    /// # Errors
    /// Broken syntax, or a form nested too deep.
    pub fn parse(terms: &mut Terms, text: &str, base: usize) -> Result<Self, Diagnostic> {
        let root = parse_at(terms, text, base)?;
        Self::from_term(terms, root, &mut 0).ok_or_else(|| {
            let message = "holes are written `{}`, or `{1}`, `{2}` and so on; `{0}` and `{2:1}` are for what terms lack";
            Diagnostic::new(base..base + text.len(), message)
        })
    }

    fn from_term(terms: &mut Terms, id: TermId, next: &mut usize) -> Option<Self> {
        if terms.shape(id) == Shape::Name {
            let text = terms.head_text(id).to_owned();
            if let Some(inner) = text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
                if inner.is_empty() {
                    *next += 1;
                    return Some(Self::Hole(*next - 1));
                }
                if text == LACKING {
                    return Some(Self::Lacking);
                }
                let number = |text: &str| text.parse::<usize>().ok()?.checked_sub(1);
                return match inner.split_once(':') {
                    None => number(inner).map(Self::Hole),
                    Some((argument, with)) => {
                        let with = match with.parse::<usize>() {
                            Ok(_) => With::Argument(number(with)?),
                            Err(_) if with.is_empty() || with.contains([':', '{', '}']) => return None,
                            Err(_) => With::Term(terms.leaf(Shape::Name, with)),
                        };
                        Some(Self::Completed { argument: number(argument)?, with })
                    }
                };
            }
        }
        let args = terms.args(id).to_vec();
        let args: Vec<Self> =
            args.into_iter().map(|arg| Self::from_term(terms, arg, next)).collect::<Option<_>>()?;
        if args.iter().all(|arg| matches!(arg, Self::Ground(_))) {
            return Some(Self::Ground(id));
        }
        Some(Self::Call { head: terms.head(id), args })
    }

    /// The plain form `name({1}, .., {n})`.
    pub fn plain(terms: &mut Terms, name: &str, n_args: usize) -> Self {
        let head = terms.intern(name);
        if n_args == 0 {
            return Self::Ground(terms.term(Shape::Call, head, &[]));
        }
        Self::Call { head, args: (0..n_args).map(Self::Hole).collect() }
    }

    /// The argument numbers in order of their holes, with repetitions.
    #[must_use]
    pub fn holes(&self) -> Vec<usize> {
        match self {
            Self::Hole(n) | Self::Completed { argument: n, .. } => vec![*n],
            Self::Ground(_) | Self::Lacking => Vec::new(),
            Self::Call { args, .. } => args.iter().flat_map(Self::holes).collect(),
        }
    }

    /// For each hole of this argument, what stands in the place of what it lacks.
    #[must_use]
    pub fn completions(&self, of: usize) -> Vec<Option<With>> {
        match self {
            Self::Hole(n) if *n == of => vec![None],
            Self::Completed { argument, with } if *argument == of => vec![Some(*with)],
            Self::Hole(_) | Self::Completed { .. } | Self::Ground(_) | Self::Lacking => Vec::new(),
            Self::Call { args, .. } => args.iter().flat_map(|arg| arg.completions(of)).collect(),
        }
    }

    /// Whether the terms of this form lack something.
    #[must_use]
    pub fn is_lacking(&self) -> bool {
        match self {
            Self::Lacking => true,
            Self::Hole(_) | Self::Completed { .. } | Self::Ground(_) => false,
            Self::Call { args, .. } => args.iter().any(Self::is_lacking),
        }
    }

    /// The form with every hole replaced by what `fill` returns for it; `None` drops the argument.
    pub fn refill(&self, terms: &mut Terms, fill: &dyn Fn(usize) -> Option<Self>) -> Option<Self> {
        match self {
            Self::Hole(n) => fill(*n),
            Self::Completed { argument, with } => {
                let filled = fill(*argument)?;
                let Self::Hole(argument) = filled else { return Some(filled) };
                Some(match with {
                    With::Term(_) => Self::Completed { argument, with: *with },
                    With::Argument(other) => match fill(*other)? {
                        Self::Hole(other) => Self::Completed { argument, with: With::Argument(other) },
                        Self::Ground(term) => Self::Completed { argument, with: With::Term(term) },
                        // What it lacks, the whole term lacks.
                        _ => Self::Hole(argument),
                    },
                })
            }
            Self::Ground(id) => Some(Self::Ground(*id)),
            Self::Lacking => Some(Self::Lacking),
            Self::Call { head, args } => {
                let args: Vec<Self> = args.iter().filter_map(|arg| arg.refill(terms, fill)).collect();
                let ground: Option<Vec<TermId>> = args
                    .iter()
                    .map(|arg| match arg {
                        Self::Ground(id) => Some(*id),
                        _ => None,
                    })
                    .collect();
                Some(match ground {
                    Some(ids) => Self::Ground(terms.term(Shape::Call, *head, &ids)),
                    None => Self::Call { head: *head, args },
                })
            }
        }
    }

    /// Shape and head of every term of this form; `None` if the form is only a hole.
    #[must_use]
    pub fn top(&self, terms: &Terms) -> Option<(Shape, Symbol)> {
        match self {
            Self::Hole(_) | Self::Completed { .. } | Self::Lacking => None,
            Self::Ground(id) => Some((terms.shape(*id), terms.head(*id))),
            Self::Call { head, .. } => Some((Shape::Call, *head)),
        }
    }

    /// The term with `args` in the holes. Cost: linear in the form, and in arguments that lack something.
    pub fn build(&self, terms: &mut Terms, args: &[TermId]) -> TermId {
        match self {
            Self::Hole(n) => args[*n],
            Self::Completed { argument, with } => {
                let lacking = terms.leaf(Shape::Name, LACKING);
                let with = match with {
                    With::Argument(n) => args[*n],
                    With::Term(term) => *term,
                };
                terms.replace(args[*argument], lacking, with)
            }
            Self::Lacking => terms.leaf(Shape::Name, LACKING),
            Self::Ground(id) => *id,
            Self::Call { head, args: inner } => {
                let built: Vec<TermId> = inner.iter().map(|form| form.build(terms, args)).collect();
                terms.term(Shape::Call, *head, &built)
            }
        }
    }

    /// Matches `term` against this form. Returns whether it matches, with the contents of the holes in `args`, which must have an
    /// entry for each hole, all `None`. Cost: linear in the form, independent of the size of the term.
    pub fn take_apart(&self, terms: &Terms, term: TermId, args: &mut [Option<TermId>]) -> bool {
        self.take_apart_with(terms, (term, None), args)
    }

    /// The same for a term and what stands in it in the place of what it lacks. So does the content of a completed hole contain
    /// what completes it.
    pub fn take_apart_with(
        &self,
        terms: &Terms,
        (term, with): (TermId, Option<TermId>),
        args: &mut [Option<TermId>],
    ) -> bool {
        match self {
            Self::Lacking => with == Some(term),
            Self::Hole(n) | Self::Completed { argument: n, .. } => {
                let known = args[*n].get_or_insert(term);
                *known == term
            }
            Self::Ground(id) => *id == term,
            Self::Call { head, args: inner } => {
                terms.shape(term) == Shape::Call
                    && terms.head(term) == *head
                    && terms.args(term).len() == inner.len()
                    && inner
                        .iter()
                        .zip(terms.args(term))
                        .all(|(form, &arg)| form.take_apart_with(terms, (arg, with), args))
            }
        }
    }
}

/// Parses a term inside a domain file and limits its depth, so that recursion over it is safe.
pub(crate) fn parse_at(terms: &mut Terms, text: &str, base: usize) -> Result<TermId, Diagnostic> {
    let shifted = |mut problem: Diagnostic| {
        problem.range = base + problem.range.start..base + problem.range.end;
        problem
    };
    let root = terms.parse(text).map_err(shifted)?;
    if terms.depth(root) > MAX_DEPTH {
        let message = format!("nested deeper than {MAX_DEPTH} levels");
        return Err(Diagnostic::new(base..base + text.len(), message));
    }
    Ok(root)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn building_and_taking_apart_are_inverse() {
        let mut terms = Terms::new();
        let form = Form::parse(&mut terms, "relate(behind, {})", 0).unwrap();
        let set = terms.parse("scene()").unwrap();
        let built = form.build(&mut terms, &[set]);
        assert_eq!(terms.display(built).to_string(), "relate(behind, scene())");
        let mut args = [None];
        assert!(form.take_apart(&terms, built, &mut args));
        assert_eq!(args, [Some(set)]);
        let other = terms.parse("relate(front, scene())").unwrap();
        assert!(!form.take_apart(&terms, other, &mut [None]));
    }

    #[test]
    fn holes_may_be_numbered_reordered_and_repeated() {
        let mut terms = Terms::new();
        let form = Form::parse(&mut terms, "f({2}, g({1}), {2})", 0).unwrap();
        assert_eq!(form.holes(), [1, 0, 1]);
        let (a, b) = (terms.parse("a").unwrap(), terms.parse("b").unwrap());
        let built = form.build(&mut terms, &[a, b]);
        assert_eq!(terms.display(built).to_string(), "f(b, g(a), b)");
        let unequal = terms.parse("f(b, g(a), c)").unwrap();
        assert!(!form.take_apart(&terms, unequal, &mut [None, None]));
    }

    #[test]
    fn refill_fills_defaults_and_drops_omitted_arguments() {
        let mut terms = Terms::new();
        let form = Form::plain(&mut terms, "f", 3);
        let all = Form::Ground(terms.parse("all").unwrap());
        let fill = |n: usize| match n {
            0 => Some(all.clone()),
            1 => None,
            _ => Some(Form::Hole(0)),
        };
        let filled = form.refill(&mut terms, &fill).unwrap();
        let x = terms.parse("x").unwrap();
        let built = filled.build(&mut terms, &[x]);
        assert_eq!(terms.display(built).to_string(), "f(all, x)");
    }

    #[test]
    fn an_argument_completes_another_and_is_found_again() {
        let mut terms = Terms::new();
        let hate = Form::parse(&mut terms, "hate(agent({2}), xcomp({1:2}))", 0).unwrap();
        let see = Form::parse(&mut terms, "see(agent({0}), theme({1}))", 0).unwrap();
        assert_eq!((hate.completions(0), hate.completions(1)), (vec![Some(With::Argument(1))], vec![None]));
        assert!(see.is_lacking() && !hate.is_lacking());
        let [ann, ben] = ["ann", "ben"].map(|name| terms.parse(name).unwrap());
        let lacking = see.build(&mut terms, &[ben]);
        assert_eq!(terms.display(lacking).to_string(), "see(agent({0}), theme(ben))");
        let built = hate.build(&mut terms, &[lacking, ann]);
        assert_eq!(terms.display(built).to_string(), "hate(agent(ann), xcomp(see(agent(ann), theme(ben))))");
        let mut args = [None, None];
        assert!(hate.take_apart(&terms, built, &mut args));
        let inner = args[0].unwrap();
        assert!(see.take_apart_with(&terms, (inner, args[1]), &mut [None]));
        assert!(!see.take_apart_with(&terms, (inner, Some(ben)), &mut [None]));
        assert!(!see.take_apart(&terms, inner, &mut [None]));
    }

    #[test]
    fn odd_holes_and_deep_forms_are_errors() {
        let mut terms = Terms::new();
        assert!(Form::parse(&mut terms, "f({x})", 0).is_err());
        for wrong in ["f({1:0})", "f({0:1})", "f({1:})", "f({:})", "f({1:2:3})", "f({-1})", "f({x:1})"] {
            assert!(Form::parse(&mut terms, wrong, 0).is_err(), "{wrong}");
        }
        let deep = format!("{}x{}", "f(".repeat(40), ")".repeat(40));
        assert_eq!(Form::parse(&mut terms, &deep, 7).unwrap_err().range.start, 7);
    }
}
