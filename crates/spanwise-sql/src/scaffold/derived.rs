//! Nouns for the values of columns, and for months and years.

use super::attributes::{Attribute, Kind};
use super::english;
use super::names;
use super::nouns::{ALIAS, Noun, NounKind, Plan, ident, stopped, unused};
use super::paths::Link;
use crate::database::Dialect;
use crate::schema::{ColumnKind, Schema};
use hashbrown::HashSet;

/// The most different values of a column that is a noun of its own.
const MOST_VALUES: u64 = 300;

/// Nouns for the values of columns, and for months and years.
pub(super) fn values(
    schema: &Schema,
    number_of: &[Option<usize>],
    plan: &mut Plan,
    taken: &mut HashSet<String>,
) {
    for base in 0..plan.nouns.len() {
        let Some(place) = number_of.iter().position(|number| *number == Some(base)) else { continue };
        if plan.nouns[base].kind != NounKind::Rows {
            continue;
        }
        for attribute in plan.nouns[base].attributes.clone() {
            let table = &schema.tables[place];
            let column = table
                .columns
                .iter()
                .find(|column| attribute.shown.ends_with(&format!(".{}", ident(&column.name))));
            let Some(figures) = column.and_then(|column| column.figures.as_ref()) else { continue };
            let few = figures.distinct >= 2
                && figures.distinct <= MOST_VALUES
                && (figures.distinct * 3 <= figures.values
                    || figures.distinct <= 12 && figures.distinct < figures.values
                    || english::has_any(&names::words(&attribute.text), english::PLACES))
                && figures.longest <= 40;
            let labels =
                plan.nouns[base].label.as_ref().is_some_and(|label| label.contains(&attribute.value));
            if attribute.kind == Kind::Text && few && !labels && !is_coded(&attribute.text) {
                value_noun(plan, base, &attribute, &figures.common, figures.distinct, taken);
            }
            if attribute.kind == Kind::Date && attribute.is_main && plan.nouns[base].rows > 20 {
                period_nouns(
                    plan,
                    base,
                    &attribute,
                    column.is_some_and(|column| column.kind == ColumnKind::Integer),
                    taken,
                );
            }
        }
    }
}

fn is_coded(text: &str) -> bool {
    let words = names::words(text);
    english::has_any(
        &words,
        &[
            "code",
            "email",
            "mail",
            "phone",
            "fax",
            "url",
            "street",
            "postal",
            "description",
            "note",
            "body",
            "name",
            "comment",
            "text",
            "number",
            "address",
        ],
    ) && !matches!(text, "brand name" | "category name")
        || text == "title"
}

fn value_noun(
    plan: &mut Plan,
    base: usize,
    attribute: &Attribute,
    common: &[String],
    count: u64,
    taken: &mut HashSet<String>,
) {
    let noun = &plan.nouns[base];
    let words = names::singular(&names::words(&attribute.text));
    let own: Vec<String> = names::words(&noun.one).into_iter().chain(words.clone()).collect();
    let ty = unused(names::camel(&own, &format!("{}Value", noun.ty)), taken);
    let base_value = attribute.value.replace(ALIAS, "b");
    let source = format!(
        "(select distinct {base_value} as v from {} as b where {base_value} is not null)",
        noun.source
    );
    let value = format!("{ALIAS}.v");
    let number = plan.nouns.len();
    let link = Link {
        child: base,
        parent: number,
        on: vec![(attribute.value.clone(), value.clone())],
        role: attribute.text.clone(),
        has_role: false,
        is_nullable: attribute.is_nullable,
        is_guessed: false,
    };
    let noun = Noun {
        kind: NounKind::Values,
        title: format!("{}.{}", noun.title, attribute.text),
        name: names::snake(&names::plural(&words), &format!("values_{number}")),
        one: words.join(" "),
        many: names::plural(&words).join(" "),
        ty,
        source,
        key: value.clone(),
        label: Some(value.clone()),
        number: None,
        shown: vec![(attribute.text.clone(), value)],
        attributes: Vec::new(),
        rows: count,
        is_person: false,
        is_detail: false,
        stopped: stopped(common),
        samples: common.iter().take(3).cloned().collect(),
    };
    plan.nouns.push(noun);
    plan.links.push(link);
}

fn period_nouns(
    plan: &mut Plan,
    base: usize,
    attribute: &Attribute,
    is_year: bool,
    taken: &mut HashSet<String>,
) {
    for (one, width) in [("month", 7), ("year", 4)] {
        if is_year && one == "month" {
            continue;
        }
        let noun = &plan.nouns[base];
        let on = |alias: &str| {
            let value = attribute.value.replace(ALIAS, alias);
            match plan.dialect {
                Dialect::Sqlite => format!("substr({value}, 1, {width})"),
                Dialect::Postgres if one == "month" => format!("to_char({value}, 'YYYY-MM')"),
                Dialect::Postgres => format!("to_char({value}, 'YYYY')"),
            }
        };
        let source =
            format!("(select distinct {0} as v from {1} as b where {0} is not null)", on("b"), noun.source);
        let ty = unused(format!("{}{}", noun.ty, names::camel(&[one.to_owned()], "P")), taken);
        let value = format!("{ALIAS}.v");
        let number = plan.nouns.len();
        let link = Link {
            child: base,
            parent: number,
            on: vec![(on(ALIAS), value.clone())],
            role: one.to_owned(),
            has_role: false,
            is_nullable: true,
            is_guessed: false,
        };
        let noun = Noun {
            kind: NounKind::Periods,
            title: format!("{} of {}", one, noun.title),
            name: format!("{one}s"),
            one: one.to_owned(),
            many: format!("{one}s"),
            ty,
            source,
            key: value.clone(),
            label: None,
            number: None,
            shown: vec![(one.to_owned(), value)],
            attributes: Vec::new(),
            rows: 12,
            is_person: false,
            is_detail: false,
            stopped: Vec::new(),
            samples: Vec::new(),
        };
        plan.nouns.push(noun);
        plan.links.push(link);
    }
}
