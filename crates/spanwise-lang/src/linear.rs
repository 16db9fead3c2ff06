//! Programs as sequences of tokens, for models that write a program from left to right.
//!
//! The order is that of the text, with brackets and commas: constants may take a variable number of arguments, so names
//! alone would not determine a program. An entity or a literal is one token, however it is written, so that a model can copy
//! it from the words as a whole. Whether a term is one is what type checking says; terms that are not well-typed are taken
//! apart by syntax. Nothing here recurses on the depth of a program.

use crate::domain::{ClassId, Domain};
use crate::form::{Form, With};
use crate::surface::{is_head, is_name};
use crate::term::{Shape, TermId, Terms};
use hashbrown::{HashMap, HashSet};
use std::fmt;

/// A token of a program.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Token {
    /// A bare name: a constant, the wrapper of the domain, or another name that a form is written with.
    Name(String),
    /// `(`
    Open,
    /// `,`
    Comma,
    /// `)`
    Close,
    /// A whole entity or literal.
    Leaf(Leaf),
}

/// An entity or a literal as one token.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Leaf {
    /// How it is written in programs, in the default style: as in the names of constants and in [`Domain::literals`].
    pub text: String,
    /// Its class; `None` for quoted names, numbers and `_` that are no member of a class, and for members that the table of
    /// their class lacks.
    pub class: Option<ClassId>,
}

/// Why tokens are no program.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum AssembleError {
    /// A token that cannot follow those before it.
    #[error("token {at}, `{token}`, cannot follow the tokens before it")]
    Unexpected {
        /// The position of the token.
        at: usize,
        /// The token.
        token: Token,
    },
    /// A name or leaf whose text no program could contain.
    #[error("token {at}, `{token}`, cannot be written in a program")]
    Unwritable {
        /// The position of the token.
        at: usize,
        /// The token.
        token: Token,
    },
    /// The tokens end before the program does.
    #[error("the program is not complete")]
    Incomplete,
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Name(text) | Self::Leaf(Leaf { text, .. }) => text,
            Self::Open => "(",
            Self::Comma => ",",
            Self::Close => ")",
        })
    }
}

/// The tokens of a term, in the order of the text.
///
/// Cost: that of type checking, and linear in the text.
///
/// ```
/// use spanwise_lang::domain::NoTables;
/// use spanwise_lang::{Domain, linear};
///
/// let source = r#"
///     name = "home"
///     types = ["Place", "Action"]
///     root = { types = ["Action"], wrap = "do({})" }
///     constants = { warm = "Place -> Action" }
///     entities = [{ class = "place", type = "Place", form = "place('{name}')", names = ["hall"] }]
/// "#;
/// let domain = Domain::load(source, "home.toml", None, &NoTables)?;
/// let mut terms = domain.new_terms();
/// let program = terms.parse("do(warm(place('hall')))").unwrap();
/// let tokens = linear::linearize(&domain, &terms, program);
/// let texts: Vec<String> = tokens.iter().map(ToString::to_string).collect();
/// assert_eq!(texts, ["do", "(", "warm", "(", "place('hall')", ")", ")"]);
/// assert_eq!(linear::assemble(&mut terms, &tokens), Ok(program));
/// # Ok::<(), spanwise_lang::DomainErrors>(())
/// ```
#[must_use]
pub fn linearize(domain: &Domain, terms: &Terms, program: TermId) -> Vec<Token> {
    let classes = domain.leaves(terms, program);
    let mut tokens = Vec::new();
    // Open calls, with the number of arguments already written.
    let mut open: Vec<(&[TermId], usize)> = Vec::new();
    let mut next = Some(program);
    loop {
        if let Some(term) = next.take() {
            if is_leaf(domain, terms, term, &classes) {
                let text = terms.display(term).to_string();
                tokens.push(Token::Leaf(Leaf { text, class: classes.get(&term).copied() }));
            } else {
                tokens.push(Token::Name(terms.head_text(term).to_owned()));
                if terms.shape(term) == Shape::Call {
                    tokens.push(Token::Open);
                    open.push((terms.args(term), 0));
                }
            }
        }
        let Some((args, n_written)) = open.last_mut() else { return tokens };
        match args.get(*n_written) {
            None => {
                tokens.push(Token::Close);
                open.pop();
            }
            Some(&arg) => {
                if *n_written > 0 {
                    tokens.push(Token::Comma);
                }
                *n_written += 1;
                next = Some(arg);
            }
        }
    }
}

/// Whether a term is one token. Where type checking has no reading for it, it is one if a class has its form, or if it is
/// an atom other than a bare name.
fn is_leaf(domain: &Domain, terms: &Terms, term: TermId, classes: &HashMap<TermId, ClassId>) -> bool {
    classes.contains_key(&term)
        || match terms.shape(term) {
            Shape::Quoted | Shape::Number | Shape::Wildcard => true,
            Shape::Name => false,
            Shape::Call => {
                domain.frames_like(terms, term).is_empty() && domain.class_of(terms, term).is_some()
            }
        }
}

/// The token of an entity or a literal that is written like `text`; `None` if it is neither.
pub fn leaf(domain: &Domain, terms: &mut Terms, text: &str) -> Option<Token> {
    let term = terms.parse(text).ok()?;
    let class = domain.leaves(terms, term).get(&term).copied()?;
    Some(Token::Leaf(Leaf { text: terms.display(term).to_string(), class: Some(class) }))
}

/// The program with these tokens: the inverse of [`linearize`]. It need not be well-typed.
///
/// Cost: linear in the tokens.
///
/// # Errors
/// The first token that cannot continue a program, or that the program is not complete.
pub fn assemble(terms: &mut Terms, tokens: &[Token]) -> Result<TermId, AssembleError> {
    // Open calls: the name and the arguments so far.
    let mut open: Vec<(&str, Vec<TermId>)> = Vec::new();
    // The term that the tokens so far end with.
    let mut done: Option<TermId> = None;
    let mut rest = tokens.iter().enumerate().peekable();
    while let Some((at, token)) = rest.next() {
        let unwritable = || AssembleError::Unwritable { at, token: token.clone() };
        done = match (token, done, open.last_mut()) {
            (Token::Name(name), None, _) => {
                if rest.next_if(|(_, next)| **next == Token::Open).is_some() {
                    if !is_head(name) {
                        return Err(unwritable());
                    }
                    open.push((name, Vec::new()));
                    // Only here, a closing bracket needs no argument before it.
                    let is_empty = rest.next_if(|(_, next)| **next == Token::Close).is_some();
                    is_empty.then(|| close(terms, &mut open)).flatten()
                } else if is_name(name) {
                    Some(terms.leaf(Shape::Name, name))
                } else {
                    return Err(unwritable());
                }
            }
            (Token::Leaf(leaf), None, _) => Some(terms.parse(&leaf.text).map_err(|_| unwritable())?),
            (Token::Comma, Some(arg), Some((_, args))) => {
                args.push(arg);
                None
            }
            (Token::Close, Some(arg), Some((_, args))) => {
                args.push(arg);
                close(terms, &mut open)
            }
            _ => return Err(AssembleError::Unexpected { at, token: token.clone() }),
        };
    }
    done.filter(|_| open.is_empty()).ok_or(AssembleError::Incomplete)
}

/// The innermost open call as a term.
fn close(terms: &mut Terms, open: &mut Vec<(&str, Vec<TermId>)>) -> Option<TermId> {
    open.pop().map(|(head, args)| terms.call(head, &args))
}

/// The tokens that do not depend on the utterance, each once: brackets and comma, then what the wrapper, the constants and
/// the accumulators of the domain are written with. Leaves are among them where a form or a default contains one.
#[must_use]
pub fn vocabulary(domain: &Domain) -> Vec<Token> {
    let terms = domain.new_terms();
    let mut tokens = vec![Token::Open, Token::Comma, Token::Close];
    let frames = domain.predicates().flat_map(|(id, _)| domain.frames_of(id));
    for form in domain.wrap().into_iter().chain(frames.filter_map(|(_, frame)| frame.form.as_ref())) {
        form_tokens(domain, &terms, form, &mut tokens);
    }
    for accumulator in domain.accumulators().iter() {
        tokens.push(Token::Name(terms.text(accumulator.head).to_owned()));
        tokens.extend(accumulator.default.into_iter().flat_map(|term| linearize(domain, &terms, term)));
    }
    let mut seen = HashSet::new();
    tokens.retain(|token| seen.insert(token.clone()));
    tokens
}

/// Adds the tokens of a form without its holes. The depth of forms is limited.
fn form_tokens(domain: &Domain, terms: &Terms, form: &Form, tokens: &mut Vec<Token>) {
    match form {
        Form::Hole(_) | Form::Completed { with: With::Argument(_), .. } | Form::Lacking => {}
        Form::Completed { with: With::Term(term), .. } | Form::Ground(term) => {
            tokens.extend(linearize(domain, terms, *term))
        }
        Form::Call { head, args } => {
            tokens.push(Token::Name(terms.text(*head).to_owned()));
            for arg in args {
                form_tokens(domain, terms, arg, tokens);
            }
        }
    }
}
