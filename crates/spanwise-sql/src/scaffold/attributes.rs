//! What a column can be asked about: its kind, its words, its adjectives.

use super::english::{self, Degrees};
use super::names;
use super::nouns::{ALIAS, ident};
use crate::database::Dialect;
use crate::schema::{Column, ColumnKind, Figures, Table};

/// What an attribute holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Kind {
    Number,
    Money,
    /// Days and moments; years too.
    Date,
    Text,
    Flag,
}

impl Kind {
    /// The end of the names of its types.
    pub(super) fn suffix(self) -> &'static str {
        match self {
            Self::Number => "Number",
            Self::Money => "Money",
            Self::Date => "Date",
            Self::Text | Self::Flag => "Text",
        }
    }

    /// Whether values have an order that people ask about.
    pub(super) fn is_ranked(self) -> bool {
        matches!(self, Self::Number | Self::Money | Self::Date)
    }

    /// Whether values can be added up.
    pub(super) fn is_amount(self) -> bool {
        matches!(self, Self::Number | Self::Money)
    }
}

/// An attribute of a noun.
#[derive(Clone, Debug)]
pub(super) struct Attribute {
    /// Its words: *unit price*, *ordered at*.
    pub(super) text: String,
    /// How it is said: *unit price*, *order date*.
    pub(super) said: String,
    /// The name of its constant.
    pub(super) name: String,
    pub(super) kind: Kind,
    /// The value, with [`ALIAS`] for the table.
    pub(super) value: String,
    /// The column as it is shown, which is its value but for years and moments.
    pub(super) shown: String,
    /// What happened then: *shipped*.
    pub(super) happened: Option<String>,
    pub(super) degrees: Option<&'static Degrees>,
    pub(super) unit: Option<&'static str>,
    pub(super) is_nullable: bool,
    pub(super) is_additive: bool,
    /// Whether a value without the name of the attribute means this one: *products over $5*.
    pub(super) is_main: bool,
    /// Longest text.
    pub(super) longest: u64,
}

/// The attribute of a column, if it is one that people ask about. Keys and references are not.
pub(super) fn attribute(table: &Table, place: usize, noun: &[String], dialect: Dialect) -> Option<Attribute> {
    let column = &table.columns[place];
    let figures = column.figures.as_ref()?;
    let (mut text, unit) = text_of(&column.name, noun);
    if names::words(&text).is_empty() {
        text = format!("column {}", place + 1);
    }
    let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
    let kind = kind(column, figures, &words)?;
    let raw = format!("{ALIAS}.{}", ident(&column.name));
    let is_year = kind == Kind::Date && matches!(column.kind, ColumnKind::Integer);
    let (value, shown) = match (column.kind, dialect) {
        (ColumnKind::Integer, Dialect::Sqlite) if is_year => (format!("printf('%04d-01-01', {raw})"), raw),
        (ColumnKind::Integer, Dialect::Postgres) if is_year => (format!("make_date({raw}::int, 1, 1)"), raw),
        (ColumnKind::Epoch, _) => {
            (format!("datetime({raw}, 'unixepoch')"), format!("datetime({raw}, 'unixepoch')"))
        }
        (ColumnKind::Decimal, Dialect::Postgres) if column.declared == "money" => {
            (format!("{raw}::numeric"), raw)
        }
        (ColumnKind::Text | ColumnKind::Uuid, Dialect::Postgres) => (format!("{raw}::text"), raw),
        _ => (raw.clone(), raw),
    };
    let happened = (kind == Kind::Date).then(|| happened(&column.name, noun)).flatten();
    let said = happened.as_ref().map_or_else(|| text.clone(), |happened| date_noun(&text, happened));
    Some(Attribute {
        said,
        name: names::snake(&names::words(&text), &format!("column_{}", place + 1)),
        happened,
        degrees: (kind.is_amount()).then(|| degrees(&words)).flatten(),
        is_additive: kind.is_amount()
            && english::has_any(&words, english::ADDITIVE)
            && !has(&words, &["unit", "average"]),
        text,
        kind,
        value,
        shown,
        unit,
        is_nullable: figures.missing > 0,
        is_main: false,
        longest: figures.longest,
    })
}

/// Chooses what a bare value means: for each kind at most one attribute.
pub(super) fn choose_main(attributes: &mut [Attribute], noun: &[String]) {
    // *Costs more than $5* is about the price, if there is one.
    if attributes.iter().any(|attribute| attribute.kind == Kind::Money && attribute.degrees.is_some()) {
        for attribute in attributes.iter_mut().filter(|attribute| attribute.text == "cost") {
            attribute.said = "cost price".to_owned();
        }
    }
    for kind in [Kind::Money, Kind::Date, Kind::Number] {
        let of_kind: Vec<usize> =
            (0..attributes.len()).filter(|&place| attributes[place].kind == kind).collect();
        let main = match kind {
            Kind::Money => {
                let rank = |&place: &usize| {
                    let words: Vec<String> = attributes[place].text.split(' ').map(str::to_owned).collect();
                    english::MONEY.iter().position(|word| words.iter().any(|known| known == word))
                };
                of_kind.iter().copied().min_by_key(|place| rank(place).unwrap_or(usize::MAX))
            }
            Kind::Date => main_date(attributes, &of_kind, noun),
            _ if of_kind.len() == 1 => Some(of_kind[0]),
            _ => None,
        };
        if let Some(main) = main {
            attributes[main].is_main = true;
        }
    }
}

/// The day that *in 2024* means: that of the noun itself (*ordered* of an order), or the first that is no birthday.
fn main_date(attributes: &[Attribute], of_kind: &[usize], noun: &[String]) -> Option<usize> {
    let own = |&place: &usize| {
        let stem = noun.last().map(|word| word.chars().take(5).collect::<String>()).unwrap_or_default();
        attributes[place].text.starts_with(&stem)
            || attributes[place].happened.as_ref().is_some_and(|happened| happened.starts_with(&stem))
    };
    let common =
        |&place: &usize| !matches!(attributes[place].happened.as_deref(), Some("born" | "died" | "due"));
    let mut places = of_kind.iter().copied();
    places.clone().find(own).or_else(|| places.clone().find(common)).or_else(|| places.next())
}

fn has(words: &[String], list: &[&str]) -> bool {
    words.iter().any(|word| list.contains(&word.as_str()))
}

fn kind(column: &Column, figures: &Figures, words: &[String]) -> Option<Kind> {
    let year = || {
        let within = |bound: &Option<String>| {
            bound
                .as_ref()
                .and_then(|text| text.parse::<i64>().ok())
                .is_some_and(|year| (1000..=2100).contains(&year))
        };
        has(words, &["year"]) && within(&figures.smallest) && within(&figures.largest)
    };
    let is_code = has(
        words,
        &[
            "id",
            "code",
            "postal",
            "phone",
            "fax",
            "isbn",
            "number",
            "latitude",
            "longitude",
            "uuid",
            "password",
            "hash",
        ],
    );
    let is_money =
        english::has_any(words, english::MONEY) && !has(words, &["percent", "count", "number", "tax rate"]);
    match column.kind {
        _ if figures.values == 0 => None,
        _ if has(words, &["password", "passwd", "secret", "token", "salt", "hash"]) => None,
        ColumnKind::Integer if year() => Some(Kind::Date),
        ColumnKind::Integer | ColumnKind::Decimal if is_code => None,
        ColumnKind::Integer if is_money && !has(words, &["total"]) => Some(Kind::Money),
        ColumnKind::Decimal if is_money => Some(Kind::Money),
        ColumnKind::Integer | ColumnKind::Decimal => {
            // 0 and 1 with the name of a property.
            let is_flag = figures.smallest.as_deref() == Some("0") && figures.largest.as_deref() == Some("1");
            if is_flag
                && column.kind == ColumnKind::Integer
                && has(words, &["is", "has", "was", "active", "enabled"])
            {
                Some(Kind::Flag)
            } else {
                Some(Kind::Number)
            }
        }
        ColumnKind::Boolean => Some(Kind::Flag),
        ColumnKind::Date | ColumnKind::Timestamp | ColumnKind::Epoch => Some(Kind::Date),
        ColumnKind::Text => Some(Kind::Text),
        ColumnKind::Uuid | ColumnKind::Other => None,
    }
}

/// The words for a column and its unit: *weight* and `kg` of `product_weight_kg` in the table of products.
pub(super) fn text_of(name: &str, noun: &[String]) -> (String, Option<&'static str>) {
    let mut words = names::words(name);
    let mut unit = None;
    if words.len() > 1
        && let Some((_, sign)) =
            english::UNITS.iter().find(|(unit, _)| Some(*unit) == words.last().map(String::as_str))
    {
        words.pop();
        unit = Some(*sign);
    }
    // `product_name` of a product is its name, but `order_date` of an order stays.
    let is_date = words.last().is_some_and(|word| english::DATES.contains(&word.as_str()));
    if words.len() > noun.len() && words.starts_with(noun) && !is_date {
        words.drain(..noun.len());
    }
    let words: Vec<&str> = words
        .iter()
        .map(|word| {
            english::SHORT.iter().find(|(short, _)| short == word).map_or(word.as_str(), |(_, long)| *long)
        })
        .collect();
    (words.join(" "), unit)
}

/// What happened on the day of a column: *shipped* for `shipped_at`, `ship_date` and `shipping_date`.
fn happened(name: &str, noun: &[String]) -> Option<String> {
    let mut words = names::words(name);
    if words.len() > 1 && words.last().is_some_and(|word| english::DATES.contains(&word.as_str())) {
        words.pop();
    }
    if words.len() > noun.len() && words.starts_with(noun) {
        words.drain(..noun.len());
    }
    let last = words.last()?.clone();
    let plain = if last == "year" && words.len() > 1 { words[words.len() - 2].clone() } else { last };
    let listed = english::HAPPENED.iter().find(|(known, _)| *known == plain);
    match listed {
        Some((_, happened)) => Some((*happened).to_owned()),
        None if plain.ends_with("ed") && plain.len() > 4 => Some(plain),
        None if matches!(plain.as_str(), "dob" | "birthdate" | "birthday") => Some("born".to_owned()),
        None => None,
    }
}

/// The noun for a day: *order date* for `ordered_at`.
fn date_noun(text: &str, happened: &str) -> String {
    if !text.ends_with(" at") && !text.ends_with(" on") && text != happened {
        return text.to_owned();
    }
    let listed = english::HAPPENED.iter().find(|(_, known)| *known == happened);
    match (listed, happened) {
        (_, "registered") => "registration date".to_owned(),
        (_, "delivered") => "delivery date".to_owned(),
        (_, "opened") => "opening date".to_owned(),
        (_, "founded") => "founding date".to_owned(),
        (Some((noun, _)), _) => format!("{noun} date"),
        (None, _) => format!("{happened} date"),
    }
}

fn degrees(words: &[String]) -> Option<&'static Degrees> {
    let found = english::DEGREES.iter().find(|degrees| english::has_any(words, degrees.columns))?;
    // The price of the purchase is not what *expensive* means.
    let other =
        has(words, &["cost", "tax", "shipping", "average", "minimum", "maximum", "min", "max", "discount"]);
    (!other).then_some(found)
}
