//! Writes the statement of a plan.

use super::plan::{Plan, What, name};
use super::value::{parameter, placeholder, sample};
use super::{ComposeError, Layout, Query};
use crate::database::{Dialect, Statement, Value};
use hashbrown::HashMap;
use spanwise_lang::domain::{ClassId, Domain};
use spanwise_lang::sql::{Combine, FieldKind, Fragment, Hole, Piece, Yields};
use spanwise_lang::{TermId, Terms};
use std::fmt::Write as _;
use std::ops::Range;

pub(super) struct Writer<'a> {
    domain: &'a Domain,
    terms: &'a Terms,
    plan: &'a Plan<'a>,
    dialect: Dialect,
    sql: String,
    parameters: Vec<Value>,
    known: HashMap<Value, usize>,
    /// The number of each part that has an expression.
    numbers: Vec<usize>,
    origins: Vec<Origin>,
}

/// Bytes of a statement, and the byte of the domain file that the first one is from.
pub(super) type Origin = (Range<usize>, usize);

impl<'a> Writer<'a> {
    pub(super) fn new(domain: &'a Domain, terms: &'a Terms, plan: &'a Plan<'a>, dialect: Dialect) -> Self {
        Self {
            domain,
            terms,
            plan,
            dialect,
            sql: String::new(),
            parameters: Vec::new(),
            known: HashMap::new(),
            numbers: vec![0; plan.parts.len()],
            origins: Vec::new(),
        }
    }

    pub(super) fn query(mut self) -> Result<Query, ComposeError> {
        let order = self.plan.order();
        self.expressions(&order)?;
        let body_at = self.sql.len();
        let (layout, order_at) = self.answer();
        let statement = Statement { sql: self.sql, parameters: self.parameters };
        Ok(Query { statement, layout, body_at, order_at, dialect: self.dialect, origins: self.origins })
    }

    /// The statement that selects what the fragment of the whole yields, with its own columns, and where its parts are from.
    pub(super) fn bare(mut self) -> Result<(Statement, Vec<Origin>), ComposeError> {
        let mut order = self.plan.order();
        order.pop();
        self.expressions(&order)?;
        self.sql.push_str(if order.is_empty() { "select * from (\n" } else { "\nselect * from (\n" });
        let root = self.plan.root();
        if let Some(fragment) = self.plan.fragment(root) {
            self.fragment(root, fragment)?;
        }
        self.sql.push_str("\n) as checked");
        Ok((Statement { sql: self.sql, parameters: self.parameters }, self.origins))
    }

    /// The common table expressions of some parts.
    fn expressions(&mut self, order: &[usize]) -> Result<(), ComposeError> {
        for (at, &part) in order.iter().enumerate() {
            self.numbers[part] = at + 1;
            let start = if at == 0 { "with " } else { ",\n" };
            let (name, columns) = (self.name(part), self.plan.yields(part).columns());
            let _ = writeln!(self.sql, "{start}{name}({columns}) as (");
            match self.plan.parts[part].what {
                What::Set(set) => {
                    let combine = self.plan.sql.of_set(set).unwrap_or(Combine::Intersect);
                    self.combined(part, combine);
                }
                _ => {
                    if let Some(fragment) = self.plan.fragment(part) {
                        self.fragment(part, fragment)?;
                    }
                }
            }
            // On a line of its own: a fragment may end with a comment.
            self.sql.push_str("\n)");
        }
        Ok(())
    }

    /// The name of the expression of a part.
    fn name(&self, part: usize) -> String {
        format!("{}{}", self.plan.sql.prefix(), self.numbers[part])
    }

    /// The keys that all elements of a set have, or any.
    fn combined(&mut self, part: usize, combine: Combine) {
        let word = match combine {
            Combine::Intersect => "\nintersect\n",
            Combine::Union => "\nunion\n",
        };
        for (at, &element) in self.plan.parts[part].args.iter().enumerate() {
            if at > 0 {
                self.sql.push_str(word);
            }
            self.select(element, Yields::Keys);
        }
    }

    fn fragment(&mut self, part: usize, fragment: &Fragment) -> Result<(), ComposeError> {
        let is_given = |slot: usize| self.plan.argument(self.domain, part, slot).is_some();
        let pieces: Vec<Piece> = fragment.active(&is_given).into_iter().cloned().collect();
        for piece in &pieces {
            match piece {
                Piece::Text(text, at) => {
                    self.space(text.chars().next());
                    let start = self.sql.len();
                    self.sql.push_str(text);
                    self.origins.push((start..self.sql.len(), *at));
                }
                Piece::Hole(hole, range) => {
                    self.space(Some('x'));
                    let start = self.sql.len();
                    self.hole(part, hole)?;
                    self.origins.push((start..start + 1, range.start));
                }
                Piece::If { .. } => {}
            }
        }
        Ok(())
    }

    /// Keeps words apart that stood next to a hole.
    fn space(&mut self, next: Option<char>) {
        let is_word = |ch: char| ch.is_alphanumeric() || matches!(ch, '_' | '?' | '$');
        if self.sql.chars().next_back().is_some_and(is_word) && next.is_some_and(is_word) {
            self.sql.push(' ');
        }
    }

    fn hole(&mut self, part: usize, hole: &Hole) -> Result<(), ComposeError> {
        let (class, term, column) = match hole {
            Hole::Argument { slot, part: column } => {
                // Checked when the domain was loaded: a hole of a slot that was left out is in a condition.
                let Some(argument) = self.plan.argument(self.domain, part, *slot) else { return Ok(()) };
                if let Some(yields) = self.plan.selected(argument, column.as_deref()) {
                    self.select(argument, yields);
                    return Ok(());
                }
                let what = self.plan.parts[argument].what;
                match (what, column) {
                    (What::Member(class, term), Some(column)) => (class, Some(term), column),
                    (What::Sample(class), Some(column)) => (class, None, column),
                    _ => return Err(ComposeError::NoSql(name(self.domain, self.terms, what))),
                }
            }
            Hole::Column(column) => match self.plan.parts[part].what {
                What::Member(class, term) => (class, Some(term), column),
                What::Sample(class) => (class, None, column),
                what => return Err(ComposeError::NoSql(name(self.domain, self.terms, what))),
            },
        };
        let value = self.cell(class, term, column)?;
        self.bind(value);
        Ok(())
    }

    /// A select on the expression of a part.
    fn select(&mut self, part: usize, yields: Yields) {
        let name = self.name(part);
        let _ = write!(self.sql, "select {} from {name}", yields.columns());
        // So that `not in` is safe. A value may be that of something without a key, such as what has none of something.
        if yields == Yields::Keys {
            self.sql.push_str(" where key is not null");
        }
    }

    fn cell(&self, class: ClassId, term: Option<TermId>, column: &str) -> Result<Value, ComposeError> {
        let kind = self.plan.sql.field(class, column).unwrap_or(FieldKind::Text);
        let Some(term) = term else { return Ok(sample(kind)) };
        let cells = self.domain.cells(self.terms, class, term).unwrap_or_default();
        let Some((_, cell)) = cells.into_iter().find(|(name, _)| *name == column) else {
            let class = &self.domain.classes()[class].name;
            return Err(ComposeError::Value(format!("`{class}` has no column `{column}`")));
        };
        parameter(self.terms.head_text(cell), kind)
    }

    fn bind(&mut self, value: Value) {
        let number = match self.known.get(&value) {
            Some(&number) => number,
            None => {
                self.parameters.push(value.clone());
                self.known.insert(value.clone(), self.parameters.len());
                self.parameters.len()
            }
        };
        self.sql.push_str(&placeholder(&value, number, self.dialect));
    }

    /// The last `select`, on the expression of the whole.
    fn answer(&mut self) -> (Layout, usize) {
        let root = self.plan.root();
        let yields = self.plan.yields(root);
        let types = self.domain.types();
        let ty = types.base(self.plan.ty);
        let show = self.plan.sql.show(types, ty);
        let mut layout = Layout {
            yields,
            is_shown: show.is_some(),
            has_place: false,
            type_name: types.name(ty).to_owned(),
            name: name(self.domain, self.terms, self.plan.parts[root].what),
        };
        let keys = self.name(root);
        let Some(show) = show else { return (layout, self.plain(&keys, yields)) };
        layout.has_place = show.is_ordered && yields != Yields::Ranks;
        self.sql.push_str("\nselect ");
        let (more, join, order) = match yields {
            Yields::Keys => ("", String::new(), "shown.key"),
            Yields::Values => (
                ", found.value",
                format!("\njoin (select distinct key, value from {keys}) as found on found.key = shown.key"),
                "shown.key",
            ),
            Yields::Ranks => (
                "",
                format!(
                    "\njoin (select key, min(rank) as rank from {keys} group by key) as found on found.key = shown.key"
                ),
                "found.rank, shown.key",
            ),
        };
        let _ = writeln!(self.sql, "shown.*{more} from (");
        if layout.has_place {
            self.sql.push_str("select listed.*, row_number() over () as place from (\n");
        }
        for piece in &show.pieces {
            if let Piece::Text(text, at) = piece {
                let start = self.sql.len();
                self.sql.push_str(text);
                self.origins.push((start..self.sql.len(), *at));
            }
        }
        self.sql.push_str(if layout.has_place { "\n) as listed\n) as shown" } else { "\n) as shown" });
        self.sql.push_str(&join);
        if yields == Yields::Keys {
            let _ = write!(self.sql, "\nwhere shown.key in (select key from {keys})");
        }
        let order_at = self.sql.len();
        let _ = write!(
            self.sql,
            "\norder by {}",
            if layout.has_place { "shown.place, shown.key" } else { order }
        );
        (layout, order_at)
    }

    /// The keys themselves, with their values if there are any.
    fn plain(&mut self, keys: &str, yields: Yields) -> usize {
        self.sql.push_str("\nselect ");
        let order = match yields {
            Yields::Keys => {
                let _ = write!(self.sql, "distinct key from {keys} where key is not null");
                "key"
            }
            Yields::Values => {
                let _ = write!(self.sql, "distinct key, value from {keys} where key is not null");
                "key, value"
            }
            Yields::Ranks => {
                let _ = write!(self.sql, "key from {keys} where key is not null group by key");
                "min(rank), key"
            }
        };
        let order_at = self.sql.len();
        let _ = write!(self.sql, "\norder by {order}");
        order_at
    }
}
