//! Signatures: argument and result types of a constant, written `City, Manner? -> Action`, `T -> T where T in [State, City]`.
//!
//! ```text
//! signature := [ slot { "," slot } ] [ "->" ] Type [ "where" binding { "," binding } ]
//! slot      := [ "<" ] Type [ "/" ] [ ">" ] [ "=" term | "?" ]   a term with spaces in it goes into quotes
//! binding   := Var "in" "[" Type { "," Type } "]"
//!            | "(" Var { "," Var } ")" "in" "[" tuple { "," tuple } "]"
//! ```
//!
//! A signature with type variables is expanded to one plain signature per choice of the variables.

use crate::diag::Diagnostic;
use crate::form::parse_at;
use crate::term::Terms;
use crate::types::{TypeId, Types};
use std::ops::Range;

/// Most plain signatures that one written signature may expand to.
const MAX_EXPANSION: usize = 4096;

/// What happens when nothing fills a slot.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum Absent {
    /// The slot must be filled.
    Required,
    /// The argument is left out: `walk()`.
    Omitted,
    /// This term is used instead: `city(all)`.
    Default(String),
    /// The argument is missing: the term lacks it.
    Lacking,
}

/// A side of something in the words.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Side {
    /// Before it.
    Left,
    /// After it.
    Right,
}

impl Side {
    /// The opposite side.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Left => Self::Right,
            Self::Right => Self::Left,
        }
    }
}

/// One argument position.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Slot {
    /// The type of its arguments.
    pub ty: TypeId,
    /// Where its arguments stand, from the function's point of view; `None` for either side.
    pub side: Option<Side>,
    /// What happens when nothing fills it.
    pub absent: Absent,
    /// Whether its argument can be missing, or contain a gap where one is.
    pub can_gap: bool,
}

/// A signature without type variables.
///
/// ```
/// use spanwise_lang::signature::{self, Absent};
/// use spanwise_lang::types::{TypeDecl, Types};
///
/// let names = ["State", "City", "Number"];
/// let decls = names.map(|name| TypeDecl { name: (name.to_owned(), 0..0), parents: Vec::new() });
/// let types = Types::build(&decls, &mut Vec::new());
/// let plain = signature::parse("T = all -> Number where T in [State, City]", 0, &types).unwrap();
/// assert_eq!(plain.len(), 2);
/// assert_eq!(types.name(plain[1].slots[0].ty), "City");
/// assert_eq!(plain[1].slots[0].absent, Absent::Default("all".to_owned()));
/// ```
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Signature {
    /// The argument positions in order.
    pub slots: Vec<Slot>,
    /// The type of the complete term.
    pub result: TypeId,
}

/// Parses one signature. `base` is the position of `text` in the file, for diagnostics.
///
/// # Errors
/// The first problem in the text.
pub fn parse(text: &str, base: usize, types: &Types) -> Result<Vec<Signature>, Diagnostic> {
    let tokens = lex(text, base)?;
    let end = base + text.len();
    let mut reader = Reader { text, base, tokens: &tokens, at: 0, end };
    let raw = reader.signature()?;
    raw.expand(types)
}

#[derive(Clone, Debug, PartialEq)]
struct Word<'a> {
    text: &'a str,
    range: Range<usize>,
}

fn lex(text: &str, base: usize) -> Result<Vec<Word<'_>>, Diagnostic> {
    let mut words = Vec::new();
    let mut at = 0;
    while let Some(ch) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = if ch.is_whitespace() {
            at += ch.len_utf8();
            continue;
        } else if rest.starts_with("->") {
            2
        } else if matches!(ch, ',' | '=' | '?' | '[' | ']' | '(' | ')' | '<' | '>') {
            1
        } else if matches!(ch, '\'' | '"') {
            let place = base + at..base + at + 1;
            quoted_len(rest, ch).ok_or_else(|| Diagnostic::new(place, "this quote is never closed"))?
        } else {
            let stop = |c: char| c.is_whitespace() || ",=?[]()'\"".contains(c);
            let run = rest.find(stop).unwrap_or(rest.len());
            let run = rest[..run].find("->").filter(|&arrow| arrow > 0).unwrap_or(run);
            rest[..run].find(['<', '>']).unwrap_or(run)
        };
        words.push(Word { text: &rest[..len], range: base + at..base + at + len });
        at += len;
    }
    if words.is_empty() {
        return Err(Diagnostic::new(base..base + text.len(), "empty signature")
            .hint("write for example `State -> City`, or `-> State` for a constant without arguments"));
    }
    Ok(words)
}

/// Bytes of the quoted name at the start of `text`; `None` when the quote is never closed. A doubled quote inside a name
/// starts another word; the default is cut from the text as a whole, so this makes no difference.
fn quoted_len(text: &str, quote: char) -> Option<usize> {
    let mut chars = text.char_indices().skip(1);
    while let Some((at, ch)) = chars.next() {
        if ch == '\\' {
            chars.next();
        } else if ch == quote {
            return Some(at + 1);
        }
    }
    None
}

impl Word<'_> {
    /// Whether this is neither quoted nor punctuation.
    fn is_bare(&self) -> bool {
        self.text != "->" && !self.text.starts_with([',', '=', '?', '[', ']', '(', ')', '<', '>', '\'', '"'])
    }
}

struct RawSlot<'a> {
    ty: Word<'a>,
    side: Option<Side>,
    absent: Absent,
    can_gap: bool,
}

/// Variables that are chosen together, and the types they may have.
struct Binding<'a> {
    vars: Vec<Word<'a>>,
    rows: Vec<Vec<Word<'a>>>,
}

struct RawSignature<'a> {
    slots: Vec<RawSlot<'a>>,
    result: Word<'a>,
    bindings: Vec<Binding<'a>>,
}

struct Reader<'a, 't> {
    text: &'a str,
    base: usize,
    tokens: &'t [Word<'a>],
    at: usize,
    end: usize,
}

impl<'a> Reader<'a, '_> {
    fn signature(&mut self) -> Result<RawSignature<'a>, Diagnostic> {
        let has_arrow = self.tokens.iter().any(|word| word.text == "->");
        let mut slots = Vec::new();
        if has_arrow && !self.eat("->") {
            loop {
                slots.push(self.slot()?);
                if self.eat("->") {
                    break;
                }
                self.expect(",", "`,` or `->`")?;
            }
        }
        let result = self.name("a type")?;
        let mut bindings = Vec::new();
        if self.eat("where") {
            loop {
                bindings.push(self.binding()?);
                if !self.eat(",") {
                    break;
                }
            }
        }
        match self.tokens.get(self.at) {
            None => Ok(RawSignature { slots, result, bindings }),
            Some(word) => Err(Diagnostic::new(word.range.clone(), format!("unexpected `{}`", word.text))
                .hint("a signature looks like `A, B -> C`")),
        }
    }

    fn slot(&mut self) -> Result<RawSlot<'a>, Diagnostic> {
        let is_left = self.eat("<");
        let mut ty = self.name("a type")?;
        let can_gap = ty.text.ends_with('/');
        if can_gap {
            ty.text = &ty.text[..ty.text.len() - 1];
            ty.range.end -= 1;
        }
        let side = match (is_left, self.tokens.get(self.at).filter(|word| word.text == ">")) {
            (true, Some(word)) => {
                let problem = Diagnostic::new(word.range.clone(), "an argument cannot be on both sides");
                return Err(problem.hint("write `A` for an argument on either side"));
            }
            (true, None) => Some(Side::Left),
            (false, Some(_)) => Some(Side::Right),
            (false, None) => None,
        };
        self.at += usize::from(side == Some(Side::Right));
        let absent = if self.eat("?") {
            Absent::Omitted
        } else if self.eat("=") {
            Absent::Default(self.default_term()?)
        } else {
            Absent::Required
        };
        Ok(RawSlot { ty, side, absent, can_gap })
    }

    /// A default: the text up to the next comma or arrow outside parentheses, which must be one term.
    fn default_term(&mut self) -> Result<String, Diagnostic> {
        let first = self.at;
        let mut depth = 0usize;
        while let Some(word) = self.tokens.get(self.at) {
            match word.text {
                "," | "->" if depth == 0 => break,
                "(" => depth += 1,
                ")" => depth = depth.saturating_sub(1),
                _ => {}
            }
            self.at += 1;
        }
        let words = &self.tokens[first..self.at];
        if words.is_empty() {
            return Err(self.expected("a default after `=`"));
        }
        let (range, text) = self.between(words);
        let apart = |a: &Word<'_>, b: &Word<'_>| a.is_bare() && b.is_bare() && a.range.end < b.range.start;
        if let Some(run) = words.chunk_by(apart).find(|run| run.len() > 1) {
            let (range, text) = self.between(run);
            let problem = Diagnostic::new(range, "a default of several words must be quoted");
            return Err(problem.hint(format!("write `'{text}'`")));
        }
        parse_at(&mut Terms::new(), text, range.start)?;
        Ok(text.to_owned())
    }

    /// The text from the first of some words to the last.
    fn between(&self, words: &[Word<'_>]) -> (Range<usize>, &'a str) {
        let start = words.first().map_or(self.end, |word| word.range.start);
        let end = words.last().map_or(self.end, |word| word.range.end);
        (start..end, &self.text[start - self.base..end - self.base])
    }

    fn binding(&mut self) -> Result<Binding<'a>, Diagnostic> {
        let tuple = self.tokens.get(self.at).is_some_and(|word| word.text == "(");
        let vars = if tuple { self.tuple()? } else { vec![self.name("a type variable")?] };
        self.expect("in", "`in`")?;
        self.expect("[", "`[`")?;
        let mut rows = Vec::new();
        loop {
            let start = self.tokens.get(self.at).map_or(self.end, |word| word.range.start);
            let row = if tuple { self.tuple()? } else { vec![self.name("a type")?] };
            if row.len() != vars.len() {
                let message = format!("expected {} types here, found {}", vars.len(), row.len());
                return Err(Diagnostic::new(start..self.previous_end(), message));
            }
            rows.push(row);
            if self.eat("]") {
                return Ok(Binding { vars, rows });
            }
            self.expect(",", "`,` or `]`")?;
        }
    }

    fn tuple(&mut self) -> Result<Vec<Word<'a>>, Diagnostic> {
        self.expect("(", "`(`")?;
        let mut items = vec![self.name("a name")?];
        while !self.eat(")") {
            self.expect(",", "`,` or `)`")?;
            items.push(self.name("a name")?);
        }
        Ok(items)
    }

    fn name(&mut self, what: &str) -> Result<Word<'a>, Diagnostic> {
        match self.tokens.get(self.at) {
            Some(word) if word.text.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
                self.at += 1;
                Ok(word.clone())
            }
            _ => Err(self.expected(what)),
        }
    }

    fn eat(&mut self, text: &str) -> bool {
        let hit = self.tokens.get(self.at).is_some_and(|word| word.text == text);
        self.at += usize::from(hit);
        hit
    }

    fn expect(&mut self, text: &str, what: &str) -> Result<(), Diagnostic> {
        if self.eat(text) { Ok(()) } else { Err(self.expected(what)) }
    }

    fn expected(&self, what: &str) -> Diagnostic {
        match self.tokens.get(self.at) {
            Some(word) => {
                Diagnostic::new(word.range.clone(), format!("expected {what}, found `{}`", word.text))
            }
            None => Diagnostic::new(self.end..self.end, format!("expected {what}")),
        }
    }

    fn previous_end(&self) -> usize {
        self.tokens[..self.at].last().map_or(self.end, |word| word.range.end)
    }
}

impl RawSignature<'_> {
    fn expand(&self, types: &Types) -> Result<Vec<Signature>, Diagnostic> {
        self.check_bindings(types)?;
        let n_choices = self.bindings.iter().try_fold(1usize, |n, binding| n.checked_mul(binding.rows.len()));
        if n_choices.is_none_or(|n| n > MAX_EXPANSION) {
            let message = format!("this signature stands for more than {MAX_EXPANSION} plain ones");
            return Err(Diagnostic::new(self.result.range.clone(), message));
        }
        (0..n_choices.unwrap_or(0)).map(|choice| self.plain(choice, types)).collect()
    }

    /// The plain signature of one numbered choice of rows.
    fn plain(&self, mut choice: usize, types: &Types) -> Result<Signature, Diagnostic> {
        let mut rows = Vec::with_capacity(self.bindings.len());
        for binding in &self.bindings {
            rows.push(choice % binding.rows.len());
            choice /= binding.rows.len();
        }
        let resolve = |word: &Word<'_>| -> Result<TypeId, Diagnostic> {
            for (binding, &row) in self.bindings.iter().zip(&rows) {
                if let Some(column) = binding.vars.iter().position(|var| var.text == word.text) {
                    let chosen = &binding.rows[row][column];
                    return types
                        .find(chosen.text)
                        .ok_or_else(|| types.unknown(chosen.text, chosen.range.clone()));
                }
            }
            types.find(word.text).ok_or_else(|| types.unknown(word.text, word.range.clone()))
        };
        let slots = self
            .slots
            .iter()
            .map(|slot| {
                Ok(Slot {
                    ty: resolve(&slot.ty)?,
                    side: slot.side,
                    absent: slot.absent.clone(),
                    can_gap: slot.can_gap,
                })
            })
            .collect::<Result<_, Diagnostic>>()?;
        Ok(Signature { slots, result: resolve(&self.result)? })
    }

    fn check_bindings(&self, types: &Types) -> Result<(), Diagnostic> {
        let mut seen: Vec<&str> = Vec::new();
        for var in self.bindings.iter().flat_map(|binding| &binding.vars) {
            let problem = if seen.contains(&var.text) {
                "is bound twice"
            } else if types.find(var.text).is_some() {
                "is the name of a type and cannot be a variable"
            } else if !self.slots.iter().any(|slot| slot.ty.text == var.text) && self.result.text != var.text
            {
                "is bound but never used"
            } else {
                seen.push(var.text);
                continue;
            };
            return Err(Diagnostic::new(var.range.clone(), format!("`{}` {problem}", var.text)));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::TypeDecl;

    fn types() -> Types {
        let decls: Vec<_> = ["State", "City", "Number"]
            .map(|name| TypeDecl { name: (name.to_owned(), 0..0), parents: Vec::new() })
            .into_iter()
            .collect();
        Types::build(&decls, &mut Vec::new())
    }

    fn shown(text: &str) -> String {
        let types = types();
        let signatures = match parse(text, 0, &types) {
            Ok(signatures) => signatures,
            Err(problem) => return format!("{:?} {}", problem.range, problem.message),
        };
        let plain = |signature: &Signature| {
            let slots: Vec<_> = signature
                .slots
                .iter()
                .map(|slot| {
                    let name = match slot.side {
                        None => types.name(slot.ty).to_owned(),
                        Some(Side::Left) => format!("<{}", types.name(slot.ty)),
                        Some(Side::Right) => format!("{}>", types.name(slot.ty)),
                    };
                    match &slot.absent {
                        Absent::Required => name,
                        Absent::Omitted => format!("{name}?"),
                        Absent::Default(term) => format!("{name}={term}"),
                        Absent::Lacking => unreachable!("only gaps make it"),
                    }
                })
                .collect();
            format!("{} -> {}", slots.join(", "), types.name(signature.result))
        };
        signatures.iter().map(plain).collect::<Vec<_>>().join("; ")
    }

    #[test]
    fn plain_signatures() {
        assert_eq!(shown("State, City? -> Number"), "State, City? -> Number");
        assert_eq!(shown("State=all->City"), "State=all -> City");
        assert_eq!(shown("State = f('a b', x) -> City"), "State=f('a b', x) -> City");
        assert_eq!(shown("State = \"a, b\" -> City"), "State=\"a, b\" -> City");
        assert_eq!(shown(r"State = 'it''s \', so', City -> City"), r"State='it''s \', so', City -> City");
        assert_eq!(shown("-> City"), " -> City");
        assert_eq!(shown("City"), " -> City");
    }

    #[test]
    fn a_slot_can_say_on_which_side_its_argument_stands() {
        assert_eq!(shown("City>, <State -> Number"), "City>, <State -> Number");
        assert_eq!(shown("City>->Number"), "City> -> Number");
        assert_eq!(shown("< State?, T > = x -> T where T in [City]"), "<State?, City>=x -> City");
        assert_eq!(shown("<City> -> Number"), "5..6 an argument cannot be on both sides");
        assert_eq!(shown("City -> <Number"), "8..9 expected a type, found `<`");
        assert_eq!(shown("State = a>b -> City"), "State=a>b -> City");
    }

    #[test]
    fn variables_expand_to_plain_signatures() {
        assert_eq!(shown("T -> T where T in [State, City]"), "State -> State; City -> City");
        assert_eq!(
            shown("A, T -> B where (A, B) in [(State, Number), (City, City)], T in [State]"),
            "State, State -> Number; City, State -> City"
        );
    }

    #[test]
    fn errors_point_at_the_word() {
        assert_eq!(shown("Stat -> City"), "0..4 unknown type `Stat`");
        assert_eq!(shown("State -> "), "9..9 expected a type");
        assert_eq!(shown("State City -> City"), "6..10 expected `,` or `->`, found `City`");
        assert_eq!(shown("T -> T where T in [State, Towns]"), "26..31 unknown type `Towns`");
        assert_eq!(shown("State -> City where T in [State]"), "20..21 `T` is bound but never used");
        assert_eq!(shown(""), "0..0 empty signature");
        assert_eq!(shown("State = a new town -> City"), "8..18 a default of several words must be quoted");
        assert_eq!(shown("State = f(a)) -> City"), "12..13 expected the end of the program, found more text");
        assert_eq!(shown("State = 'a -> City"), "8..9 this quote is never closed");
        assert_eq!(shown("A -> B where (A, B) in [(State)]"), "24..31 expected 2 types here, found 1");
    }
}
