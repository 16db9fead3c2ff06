//! Programs as text: a parser that ignores spacing, and a printer with a few styles.
//!
//! The three languages of the paper (FunQL, SCAN-SP, the CLEVR DSL) share this syntax and differ only in
//! spacing. A name is any run of characters other than white space, parentheses, commas and quotes. Quoted
//! names keep their inner spaces; a quote inside is doubled (`''`), `\'` is accepted too. Reading and writing
//! are linear in the text and use no recursion.

use crate::diag::Diagnostic;
use crate::term::{Shape, TermId, Terms};
use std::fmt::{self, Write as _};

/// The spacing of printed programs.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Style {
    /// `f ( x )` instead of `f(x)`.
    pub spaced: bool,
    /// The separator between arguments, `, ` by default.
    pub comma: String,
}

impl Default for Style {
    fn default() -> Self {
        Self { spaced: false, comma: ", ".to_owned() }
    }
}

impl Terms {
    /// Parses one program. The whole text must be one term.
    ///
    /// # Errors
    /// A diagnostic at the first character that cannot continue a program.
    pub fn parse(&mut self, text: &str) -> Result<TermId, Diagnostic> {
        Reader { terms: self, text, at: 0 }.program()
    }

    /// The term as text in the default style.
    #[must_use]
    pub fn display(&self, id: TermId) -> impl fmt::Display + '_ {
        Written { terms: self, id, style: Style::default() }
    }

    /// The term as text in the given style.
    #[must_use]
    pub fn display_styled(&self, id: TermId, style: &Style) -> impl fmt::Display + '_ {
        Written { terms: self, id, style: style.clone() }
    }
}

struct Reader<'a> {
    terms: &'a mut Terms,
    text: &'a str,
    at: usize,
}

/// A call whose closing parenthesis has not been read yet.
struct OpenCall<'a> {
    head: &'a str,
    paren_at: usize,
    args: Vec<TermId>,
}

impl<'a> Reader<'a> {
    fn program(mut self) -> Result<TermId, Diagnostic> {
        let mut open: Vec<OpenCall<'a>> = Vec::new();
        loop {
            // A term is expected here, or `)` right after `(`.
            self.skip_space();
            let mut done = match self.peek() {
                Some(')') if open.last().is_some_and(|call| call.args.is_empty()) => {
                    self.at += 1;
                    let call = open.pop().expect("checked above");
                    self.terms.call(call.head, &call.args)
                }
                _ => match self.atom(&mut open)? {
                    Some(leaf) => leaf,
                    None => continue,
                },
            };
            // A term is complete. Close calls until a comma announces the next argument.
            loop {
                self.skip_space();
                let Some(call) = open.last_mut() else {
                    return match self.peek() {
                        None => Ok(done),
                        Some(_) => Err(self
                            .error_here("expected the end of the program, found more text")
                            .hint("write one program per line, with balanced parentheses")),
                    };
                };
                call.args.push(done);
                match self.peek() {
                    Some(',') => {
                        self.at += 1;
                        break;
                    }
                    Some(')') => {
                        self.at += 1;
                        let call = open.pop().expect("still open");
                        done = self.terms.call(call.head, &call.args);
                    }
                    None => {
                        let at = call.paren_at;
                        return Err(Diagnostic::new(at..at + 1, "this parenthesis is never closed"));
                    }
                    Some(_) => return Err(self.error_here("expected `,` or `)`")),
                }
            }
        }
    }

    /// Reads a leaf, or opens a call and returns `None`.
    fn atom(&mut self, open: &mut Vec<OpenCall<'a>>) -> Result<Option<TermId>, Diagnostic> {
        let text = self.text;
        let start = self.at;
        match self.peek() {
            None => {
                let message = if open.is_empty() {
                    "expected a program, found nothing"
                } else {
                    "expected an argument"
                };
                return Err(Diagnostic::new(start..start, message));
            }
            Some(quote @ ('\'' | '"')) => {
                let name = self.quoted(quote)?;
                return Ok(Some(self.terms.leaf(Shape::Quoted, &name)));
            }
            Some(_) => {}
        }
        let len = text[start..].find(|ch| !is_name_char(ch)).unwrap_or(text.len() - start);
        if len == 0 {
            return Err(self.error_here("expected a name, a number or a quoted name"));
        }
        self.at += len;
        let name = &text[start..self.at];
        self.skip_space();
        if self.peek() == Some('(') {
            open.push(OpenCall { head: name, paren_at: self.at, args: Vec::new() });
            self.at += 1;
            return Ok(None);
        }
        let shape = match name {
            "_" => Shape::Wildcard,
            _ if is_number(name) => Shape::Number,
            _ => Shape::Name,
        };
        Ok(Some(self.terms.leaf(shape, name)))
    }

    fn quoted(&mut self, quote: char) -> Result<String, Diagnostic> {
        let start = self.at;
        let mut name = String::new();
        let mut chars = self.text[start + 1..].char_indices().peekable();
        while let Some((offset, ch)) = chars.next() {
            if ch == quote {
                if chars.peek().is_some_and(|&(_, next)| next == quote) {
                    chars.next();
                    name.push(quote);
                    continue;
                }
                self.at = start + 1 + offset + 1;
                // The released data has `' new york '`. Spaces at either end are not part of a name.
                return Ok(name.trim().to_owned());
            }
            match chars.peek() {
                Some(&(_, next)) if ch == '\\' && (next == quote || next == '\\') => {
                    chars.next();
                    name.push(next);
                }
                _ => name.push(ch),
            }
        }
        Err(Diagnostic::new(start..start + 1, "this quote is never closed"))
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn skip_space(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error_here(&self, message: &str) -> Diagnostic {
        let width = self.peek().map_or(0, char::len_utf8);
        Diagnostic::new(self.at..self.at + width, message)
    }
}

/// Whether `text` can be written in a program as a bare name: not empty, without white space, control characters,
/// parentheses, commas and quotes, and neither a number nor `_`.
#[must_use]
pub fn is_name(text: &str) -> bool {
    is_head(text) && text != "_" && !is_number(text)
}

/// Whether `text` can be written before parentheses: like a bare name, but it may look like a number.
pub(crate) fn is_head(text: &str) -> bool {
    !text.is_empty() && text.chars().all(is_name_char)
}

fn is_name_char(ch: char) -> bool {
    !ch.is_whitespace() && !ch.is_control() && !matches!(ch, '(' | ')' | ',' | '\'' | '"')
}

fn is_number(name: &str) -> bool {
    name.starts_with(|ch: char| ch.is_ascii_digit() || ch == '-')
        && name.parse::<f64>().is_ok_and(f64::is_finite)
}

struct Written<'a> {
    terms: &'a Terms,
    id: TermId,
    style: Style,
}

impl fmt::Display for Written<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { terms, id, style } = self;
        let (open, empty, close) = if style.spaced { (" ( ", " ( )", " )") } else { ("(", "()", ")") };
        // Open calls, with the number of arguments already printed.
        let mut stack: Vec<(TermId, usize)> = Vec::new();
        let mut next = Some(*id);
        loop {
            if let Some(id) = next.take() {
                let head = terms.head_text(id);
                match terms.shape(id) {
                    Shape::Quoted => write_quoted(f, head)?,
                    Shape::Call if terms.args(id).is_empty() => write!(f, "{head}{empty}")?,
                    Shape::Call => {
                        write!(f, "{head}{open}")?;
                        stack.push((id, 0));
                    }
                    Shape::Name | Shape::Number | Shape::Wildcard => f.write_str(head)?,
                }
            }
            let Some((call, n_written)) = stack.last_mut() else { return Ok(()) };
            let args = terms.args(*call);
            if *n_written == args.len() {
                f.write_str(close)?;
                stack.pop();
            } else {
                if *n_written > 0 {
                    f.write_str(&style.comma)?;
                }
                next = Some(args[*n_written]);
                *n_written += 1;
            }
        }
    }
}

fn write_quoted(f: &mut fmt::Formatter<'_>, name: &str) -> fmt::Result {
    f.write_char('\'')?;
    for ch in name.chars() {
        match ch {
            '\'' => f.write_str("''")?,
            '\\' => f.write_str("\\\\")?,
            _ => f.write_char(ch)?,
        }
    }
    f.write_char('\'')
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(text: &str, expected: &str) {
        let mut terms = Terms::new();
        let id = terms.parse(text).unwrap_or_else(|error| panic!("{}", error.render("test", text)));
        assert_eq!(terms.display(id).to_string(), expected);
    }

    fn check_error(text: &str, offset: usize, message: &str) {
        let error = Terms::new().parse(text).unwrap_err();
        assert_eq!((error.range.start, error.message.as_str()), (offset, message), "for {text:?}");
    }

    #[test]
    fn spacing_does_not_matter() {
        for text in ["f(a,'b c',g())", " f ( a , 'b c' , g ( ) ) ", "f(a ,' b c ',\tg( ))"] {
            check(text, "f(a, 'b c', g())");
        }
    }

    #[test]
    fn quotes_inside_names_survive() {
        check(r"p('coeur d''alene')", "p('coeur d''alene')");
        check(r"p('coeur d\'alene')", "p('coeur d''alene')");
        check(r#"p("new york")"#, "p('new york')");
        check(r"p('back\\slash')", r"p('back\\slash')");
    }

    #[test]
    fn styles_reproduce_the_three_surface_forms() {
        let mut terms = Terms::new();
        for (text, comma) in [
            ("answer ( size ( city ( cityid ( 'new york', _ ) ) ) )", ", "),
            ("query ( shape , filter ( red , scene ( ) ) )", " , "),
            ("i_and ( i_walk ( ) , i_turn ( i_left , i_around ) )", " , "),
        ] {
            let id = terms.parse(text).unwrap();
            let style = Style { spaced: true, comma: comma.to_owned() };
            assert_eq!(terms.display_styled(id, &style).to_string(), text);
        }
    }

    #[test]
    fn errors_point_at_the_character() {
        check_error("", 0, "expected a program, found nothing");
        check_error("f(a", 1, "this parenthesis is never closed");
        check_error("f(a))", 4, "expected the end of the program, found more text");
        check_error("f(a b)", 4, "expected `,` or `)`");
        check_error("f(,a)", 2, "expected a name, a number or a quoted name");
        check_error("f(a,)", 4, "expected a name, a number or a quoted name");
        check_error("f('a", 2, "this quote is never closed");
        check_error("f(a,", 4, "expected an argument");
        check_error("\u{1F600}(a)\u{0}", 7, "expected the end of the program, found more text");
    }

    #[test]
    fn depth_ten_thousand_neither_overflows_nor_takes_quadratic_time() {
        let deep = |n: usize| format!("{}x{}", "f(".repeat(n), ")".repeat(n));
        let mut terms = Terms::new();
        let id = terms.parse(&deep(10_000)).unwrap();
        assert_eq!(terms.depth(id), 10_001);
        assert_eq!(terms.display(id).to_string(), deep(10_000));
        assert_eq!(terms.bottom_up(id).len(), 10_001);
        // Quadratic time would need minutes here.
        let huge = terms.parse(&deep(300_000)).unwrap();
        assert_eq!(terms.display(huge).to_string().len(), 900_001);
    }

    fn any_term() -> impl Strategy<Value = String> {
        let leaf = prop_oneof![
            "[a-z][a-z0-9_]{0,6}",
            "-?[0-9]{1,4}(\\.[0-9]{1,2})?",
            Just("_".to_owned()),
            "[^'\\\\\\p{C}]{0,8}".prop_map(|name| format!("'{}'", name.trim())),
        ];
        leaf.prop_recursive(6, 64, 4, |inner| {
            ("[a-z][a-z0-9_]{0,6}", prop::collection::vec(inner, 0..4))
                .prop_map(|(head, args)| format!("{head}({})", args.join(", ")))
        })
    }

    proptest! {
        #[test]
        fn parse_after_print_is_the_identity(text in any_term(), spaced: bool, comma in "[ ]{0,2},[ ]{0,2}") {
            let mut terms = Terms::new();
            let id = terms.parse(&text).unwrap();
            prop_assert_eq!(terms.display(id).to_string(), text);
            let again = terms.display_styled(id, &Style { spaced, comma }).to_string();
            prop_assert_eq!(terms.parse(&again).unwrap(), id);
        }

        #[test]
        fn any_text_gives_a_term_that_round_trips_or_an_error_inside_the_text(text in "[a-z(),' _\\\\\"é0-9]{0,24}") {
            let mut terms = Terms::new();
            match terms.parse(&text) {
                Ok(id) => {
                    let printed = terms.display(id).to_string();
                    prop_assert_eq!(terms.parse(&printed).unwrap(), id);
                }
                Err(error) => {
                    prop_assert!(error.range.end <= text.len());
                    let _ = error.render("test", &text);
                }
            }
        }
    }
}
