//! Recognizers: a kind with its options, ready to read.

use crate::canonical;
use crate::literal::{Found, Literal, Value};
use crate::options::{Kind, Options};
use crate::scene::Scene;
use crate::strings::{collapsed, spelled, texts};
use crate::units::Units;
use spanwise_core::{Span, Utterance};

/// Reads the literals of one kind.
#[derive(Clone, Debug)]
pub struct Recognizer {
    kind: Kind,
    options: Options,
    units: Units,
}

impl Recognizer {
    /// A recognizer of a kind.
    ///
    /// # Errors
    ///
    /// If an option makes no sense, such as a unit without a name.
    pub fn new(kind: Kind, options: Options) -> Result<Self, String> {
        if kind == Kind::Text && options.max_words == 0 {
            return Err("a text of at most 0 words is no text; max_words must be at least 1".to_owned());
        }
        if kind != Kind::Quantity && (options.measure.is_some() || !options.units.is_empty()) {
            return Err(format!("a measure and units belong to quantities, not to the kind {kind}"));
        }
        if kind != Kind::Money && options.currency.is_some() {
            return Err(format!("a currency belongs to money, not to the kind {kind}"));
        }
        if kind != Kind::Money && !options.currencies.is_empty() {
            return Err(format!("currencies belong to money, not to the kind {kind}"));
        }
        let units = Units::new(kind, &options)?;
        if let Some(code) = options.currencies.iter().find(|code| !units.has_base(code)) {
            return Err(format!("`{code}` is no currency; expected a code such as `USD`"));
        }
        Ok(Self { kind, options, units })
    }

    /// What it reads.
    #[must_use]
    pub fn kind(&self) -> Kind {
        self.kind
    }

    /// How it reads.
    #[must_use]
    pub fn options(&self) -> &Options {
        &self.options
    }

    /// Its units.
    pub(crate) fn units(&self) -> &Units {
        &self.units
    }

    /// Every reading of every span, sorted by span and value, each once. Cost: linear in the number of words.
    #[must_use]
    pub fn read(&self, utterance: &Utterance) -> Vec<Literal> {
        let mut literals = match self.kind {
            Kind::Text => {
                let text = |span| vec![("value", spelled(&collapsed(utterance.slice(span)), &self.options))];
                let spans = texts(utterance, self.options.max_words).into_iter();
                spans.map(|span| Literal { span, fields: text(span) }).collect()
            }
            _ => self.literals(utterance),
        };
        literals.sort();
        literals.dedup();
        literals
    }

    /// The fields of each literal, which programs may use.
    #[must_use]
    pub fn fields(&self) -> &'static [&'static str] {
        match self.kind {
            Kind::Money | Kind::Quantity | Kind::Duration => &["value", "number", "unit"],
            Kind::Period => &["value", "begin", "end"],
            _ => &["value"],
        }
    }

    /// Whether `text` is a canonical value of the field: what `read` writes is, and nothing else that means the same.
    #[must_use]
    pub fn accepts(&self, field: &str, text: &str) -> bool {
        canonical::accepts(self.kind, &self.options, &self.units, field, text)
    }

    fn literals(&self, utterance: &Utterance) -> Vec<Literal> {
        let scene = Scene::new(utterance, &self.options, &self.units);
        let spanned = self.found(&scene, utterance).into_iter().filter_map(|found| {
            let quoted = self.kind == Kind::Quoted;
            let span =
                if quoted { quoted_span(&scene, &found) } else { scene.atoms.span(found.start, found.end) };
            Some((span?, found))
        });
        let kept = longest(spanned.collect());
        // Only now: `5 euros` contains no number without a currency.
        let is_wanted = |found: &Found| match &found.value {
            Value::Amount(_, unit) => self.options.has_currency(unit),
            _ => true,
        };
        let kept = kept.into_iter().filter(|(_, found)| is_wanted(found));
        let literals = kept.filter_map(|(span, found)| {
            let mut fields = found.value.fields()?;
            if self.options.verbatim {
                fields[0].1 = collapsed(utterance.slice(span));
            }
            Some(Literal { span, fields })
        });
        literals.collect()
    }

    fn found(&self, scene: &Scene<'_>, utterance: &Utterance) -> Vec<Found> {
        match self.kind {
            Kind::Integer | Kind::Decimal | Kind::Ordinal => self.plain_numbers(scene),
            Kind::Money => scene.amounts(),
            Kind::Quantity => scene.quantities(),
            Kind::Duration => scene.durations(),
            Kind::Date => scene.days(),
            Kind::Time => scene.times(),
            Kind::DateTime => scene.moments(),
            Kind::Period => scene.periods(),
            Kind::Quoted => scene.quoted(utterance),
            Kind::Text => Vec::new(),
        }
    }

    fn plain_numbers(&self, scene: &Scene<'_>) -> Vec<Found> {
        let mut found = Vec::new();
        for start in 0..scene.atoms.len() {
            for number in scene.numbers.at(start).iter().filter(|number| number.whole) {
                let wanted = match self.kind {
                    Kind::Integer => !number.ordinal && !number.decimal && number.value.is_whole(),
                    Kind::Ordinal => number.ordinal,
                    _ => !number.ordinal,
                };
                if wanted {
                    let value = Value::Number(number.value);
                    found.push(Found { soft: number.soft, ..Found::new(start, number.end, value) });
                }
            }
        }
        found
    }
}

/// Quotes are single tokens, whatever they touch.
fn quoted_span(scene: &Scene<'_>, found: &Found) -> Option<Span> {
    let (first, last) = (scene.atoms.get(found.start)?, scene.atoms.get(found.end - 1)?);
    Some(Span::new(first.token, last.token + 1))
}

/// Drops what is inside a longer reading that is certain.
fn longest(mut found: Vec<(Span, Found)>) -> Vec<(Span, Found)> {
    found.sort_by_key(|(span, _)| (span.start, std::cmp::Reverse(span.end)));
    let mut kept: Vec<(Span, Found)> = Vec::with_capacity(found.len());
    // The furthest end of a certain reading with another span, and that of the current span.
    let (mut covered, mut current) = (0, None::<(Span, bool)>);
    for (span, one) in found {
        if current.is_none_or(|(other, _)| other != span) {
            if let Some((other, _)) = current.filter(|(_, hard)| *hard) {
                covered = covered.max(other.end);
            }
            current = Some((span, false));
        }
        if span.end > covered {
            current = current.map(|(span, hard)| (span, hard || !one.soft));
            kept.push((span, one));
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ratio::Ratio;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn what_is_kept_is_what_comparing_all_pairs_keeps(
            spans in prop::collection::vec((0u32..6, 1u32..4, any::<bool>()), 0..12),
        ) {
            let found: Vec<(Span, Found)> = spans
                .iter()
                .map(|(start, length, soft)| {
                    let found = Found::new(*start as usize, 0, Value::Number(Ratio::ONE));
                    (Span::new(*start, start + length), Found { soft: *soft, ..found })
                })
                .collect();
            let is_inside = |inner: Span| {
                found.iter().any(|(outer, found)| !found.soft && *outer != inner && outer.contains(inner))
            };
            let mut expected: Vec<Span> = found.iter().map(|(span, _)| *span).filter(|span| !is_inside(*span)).collect();
            let mut kept: Vec<Span> = longest(found.clone()).into_iter().map(|(span, _)| span).collect();
            expected.sort();
            kept.sort();
            prop_assert_eq!(kept, expected);
        }
    }
}
