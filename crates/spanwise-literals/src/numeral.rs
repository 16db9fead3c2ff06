//! Numbers in digits: separators of thousands, decimal marks, and all readings of a mark that may be either.

use crate::atoms::Atoms;
use crate::options::DecimalMark;
use crate::ratio::Ratio;

/// Longer digit strings are no numbers but keys.
const MAX_DIGITS: usize = 30;

/// A number in digits.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Numeral {
    pub(crate) end: usize,
    pub(crate) value: Ratio,
    /// Whether it has a decimal mark.
    pub(crate) decimal: bool,
    /// Whether it may also be several numbers: `2 500`.
    pub(crate) soft: bool,
}

/// All readings of the digits that begin at `at`: none for those that are no number, such as `1.2.3` or `007`.
pub(crate) fn numerals(atoms: &Atoms<'_>, at: usize, mark: DecimalMark) -> Vec<Numeral> {
    let (mut parts, mut marks) = (Vec::new(), Vec::new());
    let mut end = at;
    if atoms.is_any(at, &[".", ","]) && atoms.glued(at + 1) {
        parts.push("0");
        marks.push(atoms.text(at));
        end += 1;
    }
    let Some(digits) = atoms.digits(end) else { return Vec::new() };
    parts.push(digits);
    end += 1;
    while let Some(next) = joined(atoms, end) {
        marks.push(atoms.text(end));
        parts.push(next);
        end += 2;
    }
    let mut found: Vec<Numeral> = readings(&parts, &marks, mark, end);
    if marks.is_empty() {
        found.extend(spaced(atoms, at, mark));
    }
    found
}

/// The digits after a mark at `at` that continue a number.
fn joined<'a>(atoms: &Atoms<'a>, at: usize) -> Option<&'a str> {
    let next = atoms.digits(at + 1).filter(|_| atoms.tight(at))?;
    match atoms.text(at) {
        "." | "," => Some(next),
        // Otherwise feet and inches.
        "'" | "’" if next.len() == 3 => Some(next),
        _ => None,
    }
}

fn readings(parts: &[&str], marks: &[&str], option: DecimalMark, end: usize) -> Vec<Numeral> {
    if parts.iter().map(|part| part.len()).sum::<usize>() > MAX_DIGITS {
        return Vec::new();
    }
    let mut found: Vec<Numeral> = Vec::new();
    for (thousands, point) in conventions(option) {
        if let Some((value, decimal)) = read(parts, marks, thousands, point) {
            let numeral = Numeral { end, value, decimal, soft: false };
            if !found.contains(&numeral) {
                found.push(numeral);
            }
        }
    }
    found
}

/// The marks of thousands and of decimals.
fn conventions(option: DecimalMark) -> impl Iterator<Item = (&'static str, &'static str)> {
    let all = [(DecimalMark::Comma, (",", ".")), (DecimalMark::Point, (".", ","))];
    all.into_iter().filter(move |(other, _)| *other != option).map(|(_, marks)| marks)
}

fn read(parts: &[&str], marks: &[&str], thousands: &str, point: &str) -> Option<(Ratio, bool)> {
    let decimal = marks.last() == Some(&point);
    let (groups, fraction) = if decimal { parts.split_at(parts.len() - 1) } else { (parts, &[] as &[&str]) };
    let separators = &marks[..groups.len() - 1];
    let same = separators.iter().all(|mark| *mark == separators[0] && *mark != point);
    let known = separators.first().is_none_or(|mark| *mark == thousands || matches!(*mark, "'" | "’"));
    let first = groups[0];
    let grouped = groups.len() == 1 || (first.len() <= 3 && groups[1..].iter().all(|group| group.len() == 3));
    let no_zeros = !first.starts_with('0') || (first == "0" && groups.len() == 1);
    if !(same && known && grouped && no_zeros) {
        return None;
    }
    let digits = groups.concat() + fraction.first().unwrap_or(&"");
    Some((Ratio::from_digits(&digits, fraction.first().map_or(0, |part| part.len()))?, decimal))
}

/// Thousands that spaces separate: `1 000`, `12 500,5`.
fn spaced(atoms: &Atoms<'_>, at: usize, option: DecimalMark) -> Vec<Numeral> {
    let mut parts = vec![atoms.text(at)];
    let mut end = at + 1;
    while atoms.digits(end).is_some_and(|group| group.len() == 3) && !atoms.glued(end) && parts.len() < 10 {
        parts.push(atoms.text(end));
        end += 1;
    }
    if parts.len() == 1 || parts[0].len() > 3 || parts[0].starts_with('0') {
        return Vec::new();
    }
    let soft = parts[1..].iter().all(|group| !group.starts_with('0'));
    let digits = parts.concat();
    let numeral = |digits: &str, scale, end| {
        let value = Ratio::from_digits(digits, scale)?;
        Some(Numeral { end, value, decimal: scale > 0, soft })
    };
    if digits.len() > MAX_DIGITS {
        return Vec::new();
    }
    let points = conventions(option).any(|(_, point)| atoms.is(end, point));
    match joined(atoms, end).filter(|part| points && digits.len() + part.len() <= MAX_DIGITS) {
        Some(part) => numeral(&(digits + part), part.len(), end + 2).into_iter().collect(),
        None => numeral(&digits, 0, end).into_iter().collect(),
    }
}
