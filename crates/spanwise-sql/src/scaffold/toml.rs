//! The text of a domain file.

use super::Options;
use super::language::{Class, Constant, Language, Signature, Sql};
use super::nouns::{NounKind, Plan};
use std::fmt::Write as _;

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            ch if ch.is_control() => {
                let _ = write!(out, "\\u{:04X}", ch as u32);
            }
            ch => out.push(ch),
        }
    }
    out + "\""
}

/// SQL in quotes. Between `'` nothing is escaped, which keeps names in quotes readable, and positions exact.
fn sql_text(sql: &str) -> String {
    let is_plain = |ch: char| !ch.is_control();
    if !sql.contains('"') && !sql.contains('\\') || !sql.chars().all(is_plain) {
        text(sql)
    } else if !sql.contains('\'') {
        format!("'{sql}'")
    } else if !sql.contains("'''") && !sql.ends_with('\'') {
        format!("'''{sql}'''")
    } else {
        text(sql)
    }
}

fn key(name: &str) -> String {
    let is_bare = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { text(name) }
}

fn list(texts: &[String]) -> String {
    let texts: Vec<String> = texts.iter().map(|one| text(one)).collect();
    format!("[{}]", texts.join(", "))
}

/// A comment that cannot end early.
fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect();
    format!("# {plain}")
}

/// The whole file.
pub(super) fn domain(plan: &Plan, language: &Language, options: &Options) -> String {
    let mut out = String::new();
    head(&mut out, plan, language, options);
    types(&mut out, language);
    let _ = writeln!(out, "[executor]");
    let password = options.password_env.as_ref().map(|name| format!(", password_env = {}", text(name)));
    let _ = writeln!(out, "sql = {{ database = {}{} }}\n", text(&options.url), password.unwrap_or_default());
    constants(&mut out, language);
    for class in &language.classes {
        entity(&mut out, class);
    }
    for set in &language.sets {
        let _ = writeln!(
            out,
            "[[sets]]\nhead = {}\nelements = [{}]\nresult = {}\nsql = \"intersect\"\nsay = [\"{{1}} {{2}}\", \"{{1}} {{2}}\", \"{{1}} and {{2}}\"]\n",
            text(&set.head),
            text(&set.element),
            text(&set.result)
        );
    }
    out += LITERALS;
    out += "# How rows are shown: the first column is their key, and is not shown.\n[show]\n";
    for (ty, sql) in &language.show {
        let _ = writeln!(out, "{} = {}", key(ty), sql_text(sql));
    }
    units(&mut out, plan);
    out += "\n# Phrases that name a constant. They are hints: a model learns other words from examples.\n[lexicon]\n";
    let with_phrases = || language.constants.iter().filter(|constant| !constant.phrases.is_empty());
    for constant in with_phrases() {
        let _ = writeln!(
            out,
            "{} = {}",
            key(&constant.name),
            list(&constant.phrases[..constant.phrases.len().min(2)])
        );
    }
    out += "\n# More of them.\n[synonyms]\n";
    for constant in with_phrases().filter(|constant| constant.phrases.len() > 2) {
        let _ = writeln!(out, "{} = {}", key(&constant.name), list(&constant.phrases[2..]));
    }
    out += "\n# How questions begin, for `spanwise data generate`.\n[say]\n";
    for (ty, texts) in &language.say {
        let _ = writeln!(out, "{} = {}", key(ty), list(texts));
    }
    out
}

/// Units of shown columns, where all columns of a name have the same one.
fn units(out: &mut String, plan: &Plan) {
    let attributes = || plan.nouns.iter().flat_map(|noun| &noun.attributes);
    let mut named: Vec<(&str, &str)> = Vec::new();
    for attribute in attributes() {
        let Some(unit) = attribute.unit else { continue };
        let is_same =
            attributes().filter(|other| other.text == attribute.text).all(|other| other.unit == Some(unit));
        let is_shown =
            plan.nouns.iter().any(|noun| noun.shown.iter().any(|(heading, _)| *heading == attribute.text));
        if is_same && is_shown && named.iter().all(|(text, _)| *text != attribute.text) {
            named.push((&attribute.text, unit));
        }
    }
    if !named.is_empty() {
        *out += "\n# Units of columns.\n[units]\n";
        for (name, unit) in named {
            let _ = writeln!(out, "{} = {}", key(name), text(unit));
        }
    }
}

fn head(out: &mut String, plan: &Plan, language: &Language, options: &Options) {
    let _ =
        writeln!(out, "# Questions about a database, written by `spanwise new {} --from-db`.", options.name);
    *out += "# It works as it is. Change what reads badly: names, words, what is shown. `spanwise check domain.toml` tells what is wrong,\n";
    *out += "# and docs/domain-format.md is the reference. `say` is how generated questions are worded.\n#\n";
    *out += "# What can be asked for, with the table it comes from:\n";
    for noun in plan.nouns.iter().filter(|noun| matches!(noun.kind, NounKind::Rows | NounKind::Values)) {
        let samples = if noun.samples.is_empty() {
            String::new()
        } else {
            format!(", such as {}", noun.samples.join(", "))
        };
        let _ = writeln!(
            out,
            "{}",
            comment(&format!("  {}: {}, {} rows{samples}", noun.many, noun.title, noun.rows))
        );
    }
    let guessed: Vec<String> = plan
        .links
        .iter()
        .filter(|link| link.is_guessed)
        .map(|link| {
            format!("{}.{} -> {}", plan.nouns[link.child].title, link.role, plan.nouns[link.parent].title)
        })
        .collect();
    if !guessed.is_empty() {
        *out += "#\n# References that nothing declares. Their names and values suggest them:\n";
        for guess in guessed {
            let _ = writeln!(out, "{}", comment(&format!("  {guess}")));
        }
    }
    if !plan.left_out.is_empty() {
        *out += "#\n# What was left out, and why:\n";
        for reason in &plan.left_out {
            let _ = writeln!(out, "{}", comment(&format!("  {reason}")));
        }
    }
    let _ = writeln!(out, "format = 1\nname = {}", text(&options.name));
    let _ = writeln!(out, "about = {}", text(&format!("questions about the database {}", options.name)));
    *out += "language = \"english\"\ninflections = \"english\"\n";
    *out += "no_meaning = [\"the\", \"a\", \"an\", \"please\"]\n";
    let pair = |(one, other): &(String, String)| format!("[{}, {}]", text(one), text(other));
    let pairs: Vec<String> = language.contrasts.iter().map(pair).collect();
    let _ = writeln!(out, "contrasts = [{}]", pairs.join(", "));
    *out += "# All constants are found by their phrases only, which keeps charts small. With examples that have other words, take the\n";
    *out += "# constants that they are about out of this list.\n";
    let named: Vec<String> = language
        .constants
        .iter()
        .filter(|constant| !constant.phrases.is_empty())
        .map(|constant| constant.name.clone())
        .collect();
    let _ = writeln!(out, "only_phrases = {}\n", list(&named));
}

fn types(out: &mut String, language: &Language) {
    *out += "# Types: what can be combined. For orders, `OrderRows` are some of them, `OrderFilter` is what narrows them, `OrderMoney` an amount\n";
    *out += "# that each of them has, `OrderMoneyOf` the amounts of some of them, `OrderEach` a group for each.\ntypes = [\n";
    for (name, parents) in &language.types {
        let line = if parents.is_empty() { name.clone() } else { format!("{name} < {}", parents.join(", ")) };
        let _ = writeln!(out, "    {},", text(&line));
    }
    *out += "    \"Money\", \"Number\", \"Whole\", \"Period\", \"Quoted\",\n]\n\n[root]\n";
    let _ = writeln!(out, "types = {}\n", list(&language.roots));
}

fn constants(out: &mut String, language: &Language) {
    *out += "# Constants: with the types of what they take and what they give, and the SQL they become.\n";
    for constant in &language.constants {
        if !constant.signatures.is_empty() {
            one(out, constant);
        }
    }
}

fn one(out: &mut String, constant: &Constant) {
    let _ = writeln!(out, "[constants.{}]", key(&constant.name));
    let signatures = &constant.signatures;
    let first = &signatures[0];
    let lines = |write: &dyn Fn(&Signature) -> String| {
        let each: Vec<String> =
            signatures.iter().map(|signature| format!("    {},\n", write(signature))).collect();
        format!("[\n{}]", each.concat())
    };
    if signatures.len() == 1 {
        let _ = writeln!(out, "type = {}", text(&first.text));
    } else {
        let _ = writeln!(out, "type = {}", lines(&|signature| text(&signature.text)));
    }
    if signatures.iter().all(|signature| signature.sql == first.sql) {
        let _ = writeln!(out, "sql = {}", fragment(&first.sql));
    } else {
        let _ = writeln!(out, "sql = {}", lines(&|signature| fragment(&signature.sql)));
    }
    if signatures.iter().all(|signature| signature.say == first.say) {
        let _ = writeln!(out, "say = {}", list(&first.say));
    } else {
        let _ = writeln!(out, "say = {}", lines(&|signature| list(&signature.say)));
    }
    if constant.is_implicit {
        *out += "implicit = true\n";
    }
    if let Some(weight) = constant.weight {
        let _ = writeln!(out, "weight = {weight}");
    }
    out.push('\n');
}

fn fragment(sql: &Sql) -> String {
    match sql {
        Sql::Keys(sql) => sql_text(sql),
        Sql::Value(sql) => format!("{{ value = {} }}", sql_text(sql)),
        Sql::Rank(sql) => format!("{{ rank = {} }}", sql_text(sql)),
    }
}

fn entity(out: &mut String, class: &Class) {
    let _ = writeln!(
        out,
        "[[entities]]\nclass = {}\ntype = {}\nform = {}\ntable = {}\nsql = {}\nsay = {}\nmust_be_used = 3",
        text(&class.name),
        text(&class.ty),
        text(&class.form),
        sql_text(&class.table),
        sql_text(&class.sql),
        list(&class.say)
    );
    if !class.phrases.is_empty() {
        let _ = writeln!(out, "phrases = {}", list(&class.phrases));
    }
    if let Some(weight) = class.weight {
        let _ = writeln!(out, "weight = {weight}");
    }
    out.push('\n');
}

/// Values that are read from the words.
const LITERALS: &str = r#"# Values that are read from the words. An amount without a currency is one of the first currency; the amounts of the
# database are compared as numbers, whatever their currency.
[[literals]]
class = "money"
type = "Money"
kind = "money"
currency = "USD"
form = "money({number}, {unit})"
must_be_used = 3

[[literals]]
class = "number"
type = "Number"
kind = "decimal"
form = "number({value})"
must_be_used = 3

[[literals]]
class = "whole"
type = "Whole"
kind = "integer"
form = "whole({value})"
must_be_used = 3

[[literals]]
class = "period"
type = "Period"
kind = "period"
tense = "past"
form = "period('{begin}', '{end}')"
must_be_used = 3

[[literals]]
class = "quoted"
type = "Quoted"
kind = "quoted"
form = "quoted('{value}')"
must_be_used = 3

"#;
