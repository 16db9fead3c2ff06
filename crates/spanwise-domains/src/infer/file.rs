//! Writes a guess as a domain file with comments, and its tables.

use super::corpus::Cell;
use super::entities::{Class, Member, spoken};
use super::guess::{Constant, Guess};
use super::toml::{comment, key, list, one_or_list, text};
use std::collections::BTreeMap;

/// Most members of a class that are listed in the file itself.
const MAX_NAMES: usize = 12;
/// Members of a type that its comment names.
const SHOWN: usize = 4;
/// Null words on one line.
const WORDS_PER_LINE: usize = 12;

/// The text of the file, and the texts of its tables by path.
pub(super) fn write(name: &str, guess: &Guess<'_>) -> (String, BTreeMap<String, String>) {
    let mut tables = BTreeMap::new();
    let classes: String =
        guess.classes.iter().map(|(class, ty)| entity_class(class, ty, &mut tables)).collect();
    let sets: String = guess
        .sets
        .iter()
        .map(|set| {
            format!(
                "\n# {} uses: any number of arguments, in any order.\n[[sets]]\nhead = {}\nelements = {}\nresult = {}\n",
                set.uses,
                text(&set.head),
                list(&set.elements),
                text(&set.result),
            )
        })
        .collect();
    let out = head(name, guess) + &types(guess) + &words(guess) + &root(guess) + &constants(guess);
    (out + &sets + &lexicon(guess) + &classes, tables)
}

fn head(name: &str, guess: &Guess<'_>) -> String {
    let sure = guess.held_out.map_or_else(
        || "# There were too few programs to try the types on others.\n".to_owned(),
        |share| {
            format!(
                "# Types made from four fifths of the programs accept {:.1} % of the others.\n",
                100.0 * share
            )
        },
    );
    format!(
        "# Guessed from {} programs by `spanwise infer-domain`, to be edited: names of types and classes are those of their most\n\
         # frequent constants. Uncertain guesses are marked with `?`.\n{sure}\
         format = 1\nname = {}\nabout = \"guessed from examples\"\n",
        guess.corpus.programs.len(),
        text(name),
    )
}

fn types(guess: &Guess<'_>) -> String {
    let mut out = String::from("\ntypes = [\n");
    for line in &guess.types {
        let declared = match &line.parent {
            Some(parent) => format!("{} < {parent}", line.name),
            None => line.name.clone(),
        };
        let shown: Vec<&str> = line.members.iter().take(SHOWN).map(String::as_str).collect();
        let more = match line.members.len().saturating_sub(SHOWN) {
            0 => String::new(),
            n => format!(" and {n} more"),
        };
        let members =
            if shown.is_empty() { String::new() } else { comment(&format!("{}{more}", shown.join(", "))) };
        out += format!("    {}, {members}", text(&declared)).trim_end();
        out += "\n";
    }
    out + "]\n"
}

fn words(guess: &Guess<'_>) -> String {
    let mut out = String::new();
    if guess.has_stems {
        out += "\n# Phrases match other forms of their words: this explains more than exact words do.\ninflections = \"english\"\n";
    }
    if !guess.null_words.is_empty() {
        out += "\n# Frequent words that go with no constant.\nno_meaning = [\n";
        for words in guess.null_words.chunks(WORDS_PER_LINE) {
            let words: Vec<String> = words.iter().map(|word| text(word)).collect();
            out += &format!("    {},\n", words.join(", "));
        }
        out += "]\n";
    }
    out
}

fn root(guess: &Guess<'_>) -> String {
    let mut out = format!("\n[root]\ntypes = {}\n", list(&guess.roots));
    if let Some(wrap) = &guess.corpus.wrap {
        out += &format!("wrap = {}\n", text(&format!("{wrap}({{}})")));
    }
    let style = &guess.corpus.style;
    out + &format!("\n[surface]\nspaced = {}\ncomma = {}\n", style.spaced, text(&style.comma))
}

fn constants(guess: &Guess<'_>) -> String {
    let mut out = String::from("\n# With their numbers of programs.\n[constants]\n");
    for constant in &guess.constants {
        out += &format!(
            "{} = {}  # {}{}\n",
            key(&constant.key),
            value(constant),
            constant.uses,
            doubt(constant)
        );
    }
    out
}

fn value(constant: &Constant) -> String {
    let signatures = one_or_list(&constant.signatures);
    if constant.form.is_none() && !constant.implicit {
        return signatures;
    }
    let form = constant.form.as_ref().map_or_else(String::new, |form| format!(", form = {}", text(form)));
    let implicit = if constant.implicit { ", implicit = true" } else { "" };
    format!("{{ type = {signatures}{form}{implicit} }}")
}

/// What is uncertain about a constant.
fn doubt(constant: &Constant) -> &'static str {
    if constant.implicit {
        "; ? inserted, because words seldom go with it"
    } else if constant.uses < 3 {
        "; ? rare"
    } else {
        ""
    }
}

fn lexicon(guess: &Guess<'_>) -> String {
    let (with, without): (Vec<&Constant>, Vec<&Constant>) =
        guess.constants.iter().partition(|constant| !constant.phrases.is_empty());
    if guess.constants.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n# With the share of the constant's examples that have a phrase, and of the phrase's examples that have the constant.\n[lexicon]\n",
    );
    for constant in with {
        let phrases: Vec<&str> = constant.phrases.iter().map(|phrase| phrase.text.as_str()).collect();
        let share: f64 = constant.phrases.iter().map(|phrase| phrase.share).sum();
        let precision = constant.phrases.iter().map(|phrase| phrase.precision).fold(1.0, f64::min);
        let mark = if precision < 0.5 || share < 0.5 { " ?" } else { "" };
        out += &format!(
            "{} = {}  # {:.0} %, {:.0} %{mark}\n",
            key(&constant.key),
            one_or_list(&phrases),
            100.0 * share.min(1.0),
            100.0 * precision,
        );
    }
    if !without.is_empty() {
        let names: Vec<&str> = without.iter().map(|constant| constant.key.as_str()).collect();
        out += &comment(&format!("? no phrase was found for: {}", names.join(", ")));
        out += "\n";
    }
    out
}

/// A class of entities or literals.
fn entity_class(class: &Class, ty: &str, tables: &mut BTreeMap<String, String>) -> String {
    let head = format!("class = {}\ntype = {}\n", text(&class.name), text(ty));
    if let Some(literal) = &class.literal {
        let read = 100.0 * literal.read;
        return format!(
            "\n# ? {read:.0} % of the values are read from the words.\n[[literals]]\n{head}{}",
            literal.keys
        );
    }
    let columns = columns(class);
    let n_uses: usize = class.members.iter().map(|member| member.uses).sum();
    let out = format!(
        "\n# {n_uses} uses of {} members; {:.0} % of the time, their names are in the words.\n[[entities]]\n{head}form = {}\n",
        class.members.len(),
        100.0 * class.named(),
        text(&form(class, &columns)),
    );
    let is_odd = !class.members.iter().all(|member| cells(class, member).iter().all(|cell| is_plain(cell)));
    let is_number = class.form.cells.contains(&Cell::Number) && columns.len() == 1;
    let open = if is_number || is_odd { "open = true\n" } else { "" };
    out + &members(class, &columns, is_odd, tables) + open
}

/// The members of a class: in the file if they are few, in a table otherwise.
fn members(class: &Class, columns: &[String], is_odd: bool, tables: &mut BTreeMap<String, String>) -> String {
    let is_blank = |member: &Member| cells(class, member).iter().any(|cell| cell.trim().is_empty());
    if class.members.iter().all(is_blank) {
        return String::new();
    }
    if class.members.len() <= MAX_NAMES && columns.len() == 1 && columns[0] == "name" && !is_odd {
        return inline(class);
    }
    let path = path(&class.name, if is_odd { "json" } else { "tsv" }, tables);
    let table = format!("table = {}\n", text(&path));
    tables.insert(path, if is_odd { json(class, columns) } else { tsv(class, columns) });
    table
}

/// The cells of a member that its form names as columns.
fn cells<'a>(class: &Class, member: &'a Member) -> Vec<&'a str> {
    let cells = member.cells.iter().zip(&class.form.cells).filter(|(_, kind)| **kind != Cell::Wildcard);
    cells.map(|(cell, _)| cell.as_str()).collect()
}

/// The columns of a class: the first cell is the name, unless it is not what people write.
fn columns(class: &Class) -> Vec<String> {
    let kinds = class.form.cells.iter().filter(|kind| **kind != Cell::Wildcard);
    let is_other = |member: &Member| {
        let first = cells(class, member)[0];
        spoken(first, Cell::Plain) != first
    };
    let is_renamed = kinds.clone().next() == Some(&Cell::Plain) && class.members.iter().any(is_other);
    let first = if is_renamed { "id" } else { "name" };
    let name = |at: usize| if at == 0 { first.to_owned() } else { format!("value{}", at + 1) };
    (0..kinds.count()).map(name).collect()
}

fn form(class: &Class, columns: &[String]) -> String {
    let mut columns = columns.iter();
    let cell = |kind: &Cell| match kind {
        Cell::Wildcard => "_".to_owned(),
        Cell::Quoted => format!("'{{{}}}'", columns.next().map_or("name", String::as_str)),
        Cell::Number | Cell::Plain => format!("{{{}}}", columns.next().map_or("name", String::as_str)),
    };
    let cells: Vec<String> = class.form.cells.iter().map(cell).collect();
    match &class.form.head {
        Some(head) => format!("{head}({})", cells.join(", ")),
        None => cells.concat(),
    }
}

fn inline(class: &Class) -> String {
    let names: Vec<&str> = class.members.iter().map(|member| cells(class, member)[0]).collect();
    let with_aliases = class.members.iter().filter(|member| !member.aliases.is_empty());
    let aliases: Vec<String> = with_aliases
        .map(|member| format!("{} = {}", key(cells(class, member)[0]), list(&member.aliases)))
        .collect();
    let aliases =
        if aliases.is_empty() { String::new() } else { format!("aliases = {{ {} }}\n", aliases.join(", ")) };
    format!("names = {}\n{aliases}", list(&names))
}

/// A path for a table that no other class has.
fn path(name: &str, ending: &str, tables: &BTreeMap<String, String>) -> String {
    let plain = |ch: char| if ch.is_ascii_alphanumeric() { ch.to_ascii_lowercase() } else { '-' };
    let stem: String = name.chars().map(plain).collect();
    let stem = stem.trim_matches('-');
    let stem = if stem.is_empty() { "names" } else { stem };
    let mut numbered = std::iter::once(stem.to_owned()).chain((2..).map(|n| format!("{stem}-{n}")));
    let mut paths = numbered.by_ref().map(|stem| format!("{stem}.{ending}"));
    paths.find(|path| !tables.contains_key(path)).unwrap_or_default()
}

/// Whether a text can be a cell of a table with tabs.
fn is_plain(cell: &str) -> bool {
    !cell.chars().any(char::is_control) && !cell.starts_with('#') && cell.trim() == cell && !cell.is_empty()
}

/// The cells of a row: those of the form, the name where it is not one of them, and aliases.
fn row(class: &Class, member: &Member, columns: &[String]) -> Vec<String> {
    let mut row: Vec<String> = cells(class, member).into_iter().map(str::to_owned).collect();
    if columns[0] == "id" {
        row.push(spoken(&row[0], Cell::Plain));
    }
    row.push(member.aliases.join("|"));
    row
}

fn titles(columns: &[String]) -> Vec<String> {
    let name = (columns[0] == "id").then(|| "name".to_owned());
    columns.iter().cloned().chain(name).chain(["aliases".to_owned()]).collect()
}

fn tsv(class: &Class, columns: &[String]) -> String {
    let rows = class.members.iter().map(|member| row(class, member, columns));
    std::iter::once(titles(columns)).chain(rows).map(|cells| cells.join("\t") + "\n").collect()
}

fn json(class: &Class, columns: &[String]) -> String {
    let titles = titles(columns);
    let object = |member: &Member| {
        let cells = titles.iter().cloned().zip(row(class, member, columns));
        let cells = cells.map(|(title, cell)| (title, serde_json::Value::String(cell)));
        serde_json::Value::Object(cells.collect()).to_string()
    };
    let rows: Vec<String> = class.members.iter().map(object).collect();
    format!("[\n{}\n]\n", rows.join(",\n"))
}
