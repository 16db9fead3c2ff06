//! English names of units, with their size in the base unit of their measure.

use crate::options::Measure;

/// A unit: its names, its factor as text, and the unit of a number that follows it alone (`5 min 30`).
pub(crate) struct BuiltinUnit {
    pub(crate) measure: Measure,
    /// Unique within its measure.
    pub(crate) key: &'static str,
    pub(crate) names: &'static [&'static str],
    /// The base unit. Months do not have a fixed number of seconds, so durations have two.
    pub(crate) base: &'static str,
    /// A decimal, or a fraction such as `5/9`.
    pub(crate) factor: &'static str,
    /// What is added before the factor applies.
    pub(crate) offset: &'static str,
    pub(crate) next: Option<&'static str>,
}

const fn unit(
    measure: Measure,
    base: &'static str,
    key: &'static str,
    factor: &'static str,
    names: &'static [&'static str],
) -> BuiltinUnit {
    BuiltinUnit { measure, key, names, base, factor, offset: "0", next: None }
}

impl BuiltinUnit {
    const fn then(self, next: &'static str) -> Self {
        Self { next: Some(next), ..self }
    }

    const fn shifted(self, offset: &'static str) -> Self {
        Self { offset, ..self }
    }
}

use Measure::{Area, Data, Duration, Length, Percent, Speed, Temperature, Volume, Weight};

#[rustfmt::skip]
pub(crate) const ENGLISH_UNITS: &[BuiltinUnit] = &[
    unit(Length, "m", "mm", "0.001", &["mm", "millimeter", "millimeters", "millimetre", "millimetres"]),
    unit(Length, "m", "cm", "0.01", &["cm", "centimeter", "centimeters", "centimetre", "centimetres"]),
    unit(Length, "m", "m", "1", &["m", "meter", "meters", "metre", "metres"]),
    unit(Length, "m", "km", "1000", &["km", "kms", "kilometer", "kilometers", "kilometre", "kilometres"]),
    unit(Length, "m", "in", "0.0254", &["in", "inch", "inches", "\"", "”", "″", "''"]),
    unit(Length, "m", "ft", "0.3048", &["ft", "foot", "feet", "'", "’", "′"]).then("in"),
    unit(Length, "m", "yd", "0.9144", &["yd", "yds", "yard", "yards"]),
    unit(Length, "m", "mi", "1609.344", &["mi", "mile", "miles"]),
    unit(Length, "m", "nmi", "1852", &["nmi", "nautical mile", "nautical miles"]),
    unit(Duration, "s", "ms", "0.001", &["ms", "msec", "millisecond", "milliseconds"]),
    unit(Duration, "s", "s", "1", &["s", "sec", "secs", "second", "seconds"]),
    unit(Duration, "s", "min", "60", &["min", "mins", "minute", "minutes", "m"]).then("s"),
    unit(Duration, "s", "h", "3600", &["h", "hr", "hrs", "hour", "hours"]).then("min"),
    unit(Duration, "s", "d", "86400", &["d", "day", "days"]),
    unit(Duration, "s", "wk", "604800", &["wk", "wks", "week", "weeks"]),
    unit(Duration, "month", "month", "1", &["month", "months"]),
    unit(Duration, "month", "year", "12", &["yr", "yrs", "year", "years"]),
    unit(Duration, "month", "decade", "120", &["decade", "decades"]),
    unit(Weight, "kg", "mg", "0.000001", &["mg", "milligram", "milligrams"]),
    unit(Weight, "kg", "g", "0.001", &["g", "gram", "grams", "gramme", "grammes"]),
    unit(Weight, "kg", "kg", "1", &["kg", "kgs", "kilo", "kilos", "kilogram", "kilograms"]),
    unit(Weight, "kg", "t", "1000", &["t", "tonne", "tonnes", "metric ton", "metric tons"]),
    unit(Weight, "kg", "oz", "0.028349523125", &["oz", "ounce", "ounces"]),
    unit(Weight, "kg", "lb", "0.45359237", &["lb", "lbs", "pound", "pounds"]).then("oz"),
    unit(Weight, "kg", "ton", "907.18474", &["ton", "tons"]),
    unit(Data, "B", "bit", "0.125", &["bit", "bits"]),
    unit(Data, "B", "b", "1", &["b", "byte", "bytes"]),
    unit(Data, "B", "kb", "1000", &["kb", "kilobyte", "kilobytes"]),
    unit(Data, "B", "mb", "1000000", &["mb", "megabyte", "megabytes", "meg", "megs"]),
    unit(Data, "B", "gb", "1000000000", &["gb", "gigabyte", "gigabytes", "gig", "gigs"]),
    unit(Data, "B", "tb", "1000000000000", &["tb", "terabyte", "terabytes"]),
    unit(Data, "B", "kib", "1024", &["kib", "kibibyte", "kibibytes"]),
    unit(Data, "B", "mib", "1048576", &["mib", "mebibyte", "mebibytes"]),
    unit(Data, "B", "gib", "1073741824", &["gib", "gibibyte", "gibibytes"]),
    unit(Temperature, "°C", "c", "1", &["°c", "° c", "c", "celsius", "degree celsius", "degrees celsius",
        "degree c", "degrees c", "centigrade", "degrees centigrade", "°", "degree", "degrees"]),
    unit(Temperature, "°C", "f", "5/9", &["°f", "° f", "f", "fahrenheit", "degree fahrenheit", "degrees fahrenheit",
        "degree f", "degrees f", "°", "degree", "degrees"])
    .shifted("-32"),
    unit(Temperature, "°C", "k", "1", &["k", "kelvin", "kelvins"]).shifted("-273.15"),
    unit(Percent, "%", "%", "1", &["%", "percent", "per cent", "pct", "percentage points"]),
    unit(Percent, "%", "‰", "0.1", &["‰", "permille", "per mille"]),
    unit(Area, "m²", "m²", "1", &["m²", "m2", "sqm", "sq m", "square meter", "square meters", "square metre",
        "square metres"]),
    unit(Area, "m²", "km²", "1000000", &["km²", "km2", "sqkm", "sq km", "square kilometer", "square kilometers",
        "square kilometre", "square kilometres"]),
    unit(Area, "m²", "ft²", "0.09290304", &["ft²", "ft2", "sqft", "sq ft", "sq . ft", "square foot", "square feet"]),
    unit(Area, "m²", "mi²", "2589988.110336", &["sq mi", "square mile", "square miles"]),
    unit(Area, "m²", "acre", "4046.8564224", &["acre", "acres"]),
    unit(Area, "m²", "ha", "10000", &["ha", "hectare", "hectares"]),
    unit(Volume, "l", "ml", "0.001", &["ml", "milliliter", "milliliters", "millilitre", "millilitres"]),
    unit(Volume, "l", "cl", "0.01", &["cl", "centiliter", "centiliters", "centilitre", "centilitres"]),
    unit(Volume, "l", "l", "1", &["l", "liter", "liters", "litre", "litres"]),
    unit(Volume, "l", "gal", "3.785411784", &["gal", "gallon", "gallons"]),
    unit(Volume, "l", "pt", "0.473176473", &["pint", "pints"]),
    unit(Volume, "l", "m³", "1000", &["m³", "m3", "cubic meter", "cubic meters", "cubic metre", "cubic metres"]),
    unit(Speed, "km/h", "km/h", "1", &["km / h", "kmh", "kph", "km per hour", "kilometers per hour",
        "kilometres per hour"]),
    unit(Speed, "km/h", "m/s", "3.6", &["m / s", "meters per second", "metres per second"]),
    unit(Speed, "km/h", "mph", "1.609344", &["mph", "miles per hour", "mi / h"]),
    unit(Speed, "km/h", "kn", "1.852", &["kn", "knot", "knots"]),
];
