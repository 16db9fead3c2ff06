//! Tables of units, looked up by the words of their names.

use crate::atoms::Atoms;
use crate::language::{BuiltinUnit, ENGLISH, ENGLISH_UNITS};
use crate::options::{Kind, Measure, Options, Unit};
use crate::ratio::Ratio;
use spanwise_core::Utterance;
use std::collections::HashMap;

/// A unit that is ready to use.
#[derive(Clone, Debug)]
pub(crate) struct Scale {
    pub(crate) base: String,
    pub(crate) factor: Ratio,
    /// Added before the factor applies.
    pub(crate) offset: Ratio,
    /// The unit of a number that follows alone.
    pub(crate) next: Option<usize>,
}

impl Scale {
    /// The amount in base units.
    pub(crate) fn convert(&self, amount: Ratio) -> Option<Ratio> {
        amount.plus(self.offset)?.times(self.factor)
    }

    /// The amount in this unit of an amount in base units.
    pub(crate) fn invert(&self, amount: Ratio) -> Option<Ratio> {
        amount.times(self.factor.inverse()?)?.plus(self.offset.negated())
    }
}

/// The units of a recognizer.
#[derive(Clone, Default, Debug)]
pub(crate) struct Units {
    scales: Vec<Scale>,
    /// The rest of each name and its unit, by the first word.
    names: HashMap<String, Vec<(Vec<String>, usize)>>,
}

impl Units {
    pub(crate) fn new(kind: Kind, options: &Options) -> Result<Self, String> {
        let mut units = Self::default();
        match kind {
            Kind::Money => units.add_currencies(options)?,
            Kind::Duration | Kind::DateTime => units.add_measure(Some(Measure::Duration)),
            Kind::Quantity => {
                if options.measure.is_some() || options.units.is_empty() {
                    units.add_measure(options.measure);
                }
                options.units.iter().try_for_each(|unit| units.add_own(unit))?;
            }
            _ => {}
        }
        Ok(units)
    }

    pub(crate) fn get(&self, index: usize) -> &Scale {
        &self.scales[index]
    }

    /// The units with their names, both in a fixed order.
    pub(crate) fn named(&self) -> Vec<(usize, Vec<String>)> {
        let mut named = vec![Vec::new(); self.scales.len()];
        let entries =
            self.names.iter().flat_map(|(first, rests)| rests.iter().map(move |rest| (first, rest)));
        for (first, (rest, unit)) in entries {
            let words: Vec<&str> = std::iter::once(first).chain(rest).map(String::as_str).collect();
            named[*unit].push(words.join(" "));
        }
        named.iter_mut().for_each(|names| names.sort_unstable());
        named.into_iter().enumerate().filter(|(_, names)| !names.is_empty()).collect()
    }

    pub(crate) fn has_base(&self, base: &str) -> bool {
        self.scales.iter().any(|scale| scale.base == base)
    }

    /// The end of the longest name at `at`, and the units that have it.
    pub(crate) fn at<'t>(
        &'t self,
        atoms: &Atoms<'_>,
        at: usize,
    ) -> Option<(usize, impl Iterator<Item = usize> + 't)> {
        let names = self.names.get(atoms.text(at))?;
        let matches = |rest: &[String]| rest.iter().enumerate().all(|(i, word)| atoms.is(at + 1 + i, word));
        let longest = names.iter().filter(|(rest, _)| matches(rest)).map(|(rest, _)| rest.len()).max()?;
        let same: Vec<usize> = names
            .iter()
            .filter(|(rest, _)| rest.len() == longest && matches(rest))
            .map(|(_, unit)| *unit)
            .collect();
        Some((at + 1 + longest, same.into_iter()))
    }

    fn add(&mut self, names: &[&str], scale: Scale) -> Result<(), String> {
        self.scales.push(scale);
        let index = self.scales.len() - 1;
        for name in names {
            let utterance = Utterance::new(*name);
            let atoms = Atoms::new(&utterance);
            let mut words = (0..atoms.len()).map(|at| atoms.text(at).to_owned());
            let first = words.next().ok_or("a unit has an empty name")?;
            self.names.entry(first).or_default().push((words.collect(), index));
        }
        Ok(())
    }

    fn add_measure(&mut self, measure: Option<Measure>) {
        let chosen = |unit: &&BuiltinUnit| measure.is_none_or(|measure| unit.measure == measure);
        let units: Vec<&BuiltinUnit> = ENGLISH_UNITS.iter().filter(chosen).collect();
        for unit in &units {
            let next = unit.next.and_then(|next| {
                units.iter().position(|other| other.measure == unit.measure && other.key == next)
            });
            let (factor, offset) = (factor(unit.factor), Ratio::from_text(unit.offset));
            if let (Some(factor), Some(offset)) = (factor, offset) {
                // Names in tables are never empty.
                let _ = self.add(unit.names, Scale { base: unit.base.to_owned(), factor, offset, next });
            }
        }
    }

    fn add_own(&mut self, unit: &Unit) -> Result<(), String> {
        let base = unit.base.trim();
        if base.is_empty() || base.split_whitespace().count() != 1 {
            return Err(format!("the base unit `{}` is not one word", unit.base));
        }
        let factor = factor(&unit.factor).filter(|factor| !factor.is_zero() && !factor.is_negative());
        let factor = factor.ok_or_else(|| {
            format!("the factor `{}` of a unit is not a positive number such as 0.0254 or 1/3", unit.factor)
        })?;
        if unit.names.is_empty() {
            return Err(format!("a unit in `{base}` has no name"));
        }
        let names: Vec<&str> = unit.names.iter().map(String::as_str).collect();
        self.add(&names, Scale { base: base.to_owned(), factor, offset: Ratio::whole(0), next: None })
    }

    fn add_currencies(&mut self, options: &Options) -> Result<(), String> {
        let own = options.currency.as_deref();
        if let Some(code) =
            own.filter(|code| code.len() != 3 || !code.bytes().all(|byte| byte.is_ascii_uppercase()))
        {
            return Err(format!("`{code}` is not the code of a currency, such as USD"));
        }
        let meant = |code: &'static str, cents: bool| match own {
            Some(own) if code == "USD" && ENGLISH.dollars.contains(&own) => own.to_owned(),
            Some("EUR") if code == "USD" && cents => "EUR".to_owned(),
            _ => code.to_owned(),
        };
        let cent = Ratio::new(1, 100).ok_or("no hundredth")?;
        for (name, code) in ENGLISH.currencies {
            let explicit = name.starts_with("us");
            let base = if explicit { (*code).to_owned() } else { meant(code, false) };
            self.add(&[name], Scale { base, factor: Ratio::ONE, offset: Ratio::whole(0), next: None })?;
        }
        for (name, code) in ENGLISH.cents {
            let base = meant(code, true);
            self.add(&[name], Scale { base, factor: cent, offset: Ratio::whole(0), next: None })?;
        }
        // Names may also be the hundredths of euros, after euros.
        if own != Some("EUR") {
            self.add(
                &["euro cent", "euro cents"],
                Scale { base: "EUR".into(), factor: cent, offset: Ratio::whole(0), next: None },
            )?;
        }
        if let Some(code) = own.filter(|code| !self.has_base(code)) {
            let scale =
                Scale { base: code.to_owned(), factor: Ratio::ONE, offset: Ratio::whole(0), next: None };
            self.add(&[code], scale)?;
        }
        Ok(())
    }
}

/// A decimal, or a fraction such as `5/9`.
fn factor(text: &str) -> Option<Ratio> {
    match text.split_once('/') {
        Some((numerator, denominator)) => Ratio::new(numerator.parse().ok()?, denominator.parse().ok()?),
        None => Ratio::from_text(text),
    }
}
