//! English words for numbers, currencies and the calendar.

use super::Language;

#[rustfmt::skip]
pub(crate) const ENGLISH: Language = Language {
    small: &[
        ("zero", 0), ("one", 1), ("two", 2), ("three", 3), ("four", 4), ("five", 5), ("six", 6), ("seven", 7),
        ("eight", 8), ("nine", 9), ("ten", 10), ("eleven", 11), ("twelve", 12), ("thirteen", 13),
        ("fourteen", 14), ("fifteen", 15), ("sixteen", 16), ("seventeen", 17), ("eighteen", 18),
        ("nineteen", 19),
    ],
    tens: &[
        ("twenty", 20), ("thirty", 30), ("forty", 40), ("fourty", 40), ("fifty", 50), ("sixty", 60),
        ("seventy", 70), ("eighty", 80), ("ninety", 90),
    ],
    hundred: &["hundred", "hundreds"],
    scales: &[
        ("thousand", 1_000), ("thousands", 1_000), ("million", 1_000_000), ("millions", 1_000_000),
        ("mio", 1_000_000), ("billion", 1_000_000_000), ("billions", 1_000_000_000),
        ("trillion", 1_000_000_000_000), ("trillions", 1_000_000_000_000),
    ],
    suffixes: &[
        ("k", 1_000), ("mn", 1_000_000), ("mln", 1_000_000), ("mio", 1_000_000), ("bn", 1_000_000_000),
        ("tn", 1_000_000_000_000),
    ],
    money_suffixes: &[("m", 1_000_000), ("mm", 1_000_000), ("b", 1_000_000_000), ("t", 1_000_000_000_000)],
    groups: &[("dozen", 12), ("couple", 2)],
    small_ordinals: &[
        ("first", 1), ("second", 2), ("third", 3), ("fourth", 4), ("fifth", 5), ("sixth", 6), ("seventh", 7),
        ("eighth", 8), ("ninth", 9), ("tenth", 10), ("eleventh", 11), ("twelfth", 12), ("thirteenth", 13),
        ("fourteenth", 14), ("fifteenth", 15), ("sixteenth", 16), ("seventeenth", 17), ("eighteenth", 18),
        ("nineteenth", 19),
    ],
    tens_ordinals: &[
        ("twentieth", 20), ("thirtieth", 30), ("fortieth", 40), ("fiftieth", 50), ("sixtieth", 60),
        ("seventieth", 70), ("eightieth", 80), ("ninetieth", 90),
    ],
    scale_ordinals: &[
        ("hundredth", 100), ("thousandth", 1_000), ("millionth", 1_000_000), ("billionth", 1_000_000_000),
    ],
    ordinal_suffixes: &["st", "nd", "rd", "th"],
    parts: &[
        ("half", 2), ("third", 3), ("quarter", 4), ("fourth", 4), ("fifth", 5), ("sixth", 6), ("seventh", 7),
        ("eighth", 8), ("ninth", 9), ("tenth", 10),
    ],
    plural_parts: &[
        ("halves", 2), ("thirds", 3), ("quarters", 4), ("fourths", 4), ("fifths", 5), ("sixths", 6),
        ("sevenths", 7), ("eighths", 8), ("ninths", 9), ("tenths", 10), ("hundredths", 100),
        ("thousandths", 1_000),
    ],
    half: &["half"],
    articles: &["a", "an"],
    and: &["and", "&"],
    of: &["of"],
    point: &["point"],
    minus: &["minus", "negative"],
    oh: &["oh", "o"],
    currencies: &[
        ("$", "USD"), ("usd", "USD"), ("us$", "USD"), ("dollar", "USD"), ("dollars", "USD"), ("us dollar", "USD"),
        ("us dollars", "USD"), ("buck", "USD"), ("bucks", "USD"), ("€", "EUR"), ("eur", "EUR"), ("euro", "EUR"),
        ("euros", "EUR"), ("£", "GBP"), ("gbp", "GBP"), ("quid", "GBP"), ("pound", "GBP"), ("pounds", "GBP"),
        ("pound sterling", "GBP"), ("pounds sterling", "GBP"), ("¥", "JPY"), ("jpy", "JPY"), ("yen", "JPY"),
        ("cny", "CNY"), ("rmb", "CNY"), ("yuan", "CNY"), ("chf", "CHF"), ("franc", "CHF"), ("francs", "CHF"),
        ("swiss franc", "CHF"), ("swiss francs", "CHF"), ("₹", "INR"), ("inr", "INR"), ("rupee", "INR"),
        ("rupees", "INR"), ("cad", "CAD"), ("canadian dollar", "CAD"), ("canadian dollars", "CAD"),
        ("aud", "AUD"), ("australian dollar", "AUD"), ("australian dollars", "AUD"), ("nzd", "NZD"),
        ("sgd", "SGD"), ("hkd", "HKD"), ("sek", "SEK"), ("nok", "NOK"), ("dkk", "DKK"), ("pln", "PLN"),
        ("zloty", "PLN"), ("zlotys", "PLN"), ("czk", "CZK"), ("huf", "HUF"), ("₽", "RUB"), ("rub", "RUB"),
        ("ruble", "RUB"), ("rubles", "RUB"), ("₩", "KRW"), ("krw", "KRW"), ("won", "KRW"), ("brl", "BRL"),
        ("mxn", "MXN"), ("peso", "MXN"), ("pesos", "MXN"), ("zar", "ZAR"),
        ("₺", "TRY"), ("lira", "TRY"), ("₿", "BTC"), ("btc", "BTC"), ("bitcoin", "BTC"),
        ("bitcoins", "BTC"),
    ],
    cents: &[("cent", "USD"), ("cents", "USD"), ("¢", "USD"), ("penny", "GBP"), ("pence", "GBP")],
    dollars: &["USD", "CAD", "AUD", "NZD", "SGD", "HKD"],
    months: &[
        ("january", 1), ("jan", 1), ("february", 2), ("feb", 2), ("march", 3), ("mar", 3), ("april", 4),
        ("apr", 4), ("may", 5), ("june", 6), ("jun", 6), ("july", 7), ("jul", 7), ("august", 8), ("aug", 8),
        ("september", 9), ("sep", 9), ("sept", 9), ("october", 10), ("oct", 10), ("november", 11), ("nov", 11),
        ("december", 12), ("dec", 12),
    ],
    weekdays: &[
        ("monday", 1), ("mon", 1), ("tuesday", 2), ("tue", 2), ("tues", 2), ("wednesday", 3), ("wed", 3),
        ("thursday", 4), ("thu", 4), ("thur", 4), ("thurs", 4), ("friday", 5), ("fri", 5), ("saturday", 6),
        ("sat", 6), ("sunday", 7), ("sun", 7),
    ],
    days: &[("today", 0), ("tomorrow", 1), ("yesterday", -1)],
    day_phrases: &[
        (&["the", "day", "after", "tomorrow"], 2), (&["day", "after", "tomorrow"], 2),
        (&["the", "day", "before", "yesterday"], -2), (&["day", "before", "yesterday"], -2),
    ],
    decades: &[
        ("twenties", 20), ("thirties", 30), ("forties", 40), ("fifties", 50), ("sixties", 60), ("seventies", 70),
        ("eighties", 80), ("nineties", 90),
    ],
    hours: &[("noon", 12), ("midday", 12), ("midnight", 0)],
    day_halves: &[
        (&["am"], false), (&["pm"], true), (&["a", ".", "m", "."], false), (&["p", ".", "m", "."], true),
        (&["a", ".", "m"], false), (&["p", ".", "m"], true), (&["in", "the", "morning"], false),
        (&["in", "the", "afternoon"], true), (&["in", "the", "evening"], true), (&["at", "night"], true),
        (&["tonight"], true),
    ],
};
