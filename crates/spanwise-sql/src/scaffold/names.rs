//! Words of names: `tbl_OrderLines` is *order line*, and several of them are *order lines*.

/// Prefixes that say what kind of thing a table is, and not what is in it.
const PREFIXES: &[&str] = &["tbl", "table", "t", "dim", "fact", "fct", "vw", "view", "v", "tb", "stg"];

/// Endings of columns that say how a value is stored.
const STORAGE: &[&str] = &["id", "ids", "fk", "key"];

/// The words of a name in lower case: at underscores and other signs, at changes of case, between letters and digits of
/// camel case.
///
/// ```
/// use spanwise_sql::scaffold::names::words;
///
/// assert_eq!(words("order_line"), ["order", "line"]);
/// assert_eq!(words("HTTPServerLog2"), ["http", "server", "log2"]);
/// assert_eq!(words("Straßen-Größe"), ["straßen", "größe"]);
/// ```
#[must_use]
pub fn words(name: &str) -> Vec<String> {
    let chars: Vec<char> = name.chars().collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (place, &ch) in chars.iter().enumerate() {
        let before = place.checked_sub(1).map(|place| chars[place]);
        let after = chars.get(place + 1);
        let rises =
            before.is_some_and(|before| before.is_lowercase() || before.is_numeric()) && ch.is_uppercase();
        // The last capital of several begins a word: `HTTPServer`.
        let ends = before.is_some_and(char::is_uppercase)
            && ch.is_uppercase()
            && after.is_some_and(|ch| ch.is_lowercase());
        if (rises || ends || !ch.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if ch.is_alphanumeric() {
            word.extend(ch.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

/// The first word that all names have, if there are three or more names: `app` of `app_user` and `app_order`.
pub fn common_prefix<'a>(names: impl Iterator<Item = &'a str>) -> Option<String> {
    let all: Vec<Vec<String>> = names.map(words).collect();
    let first = all.first()?.first()?.clone();
    let shared = all.len() >= 3 && all.iter().all(|words| words.len() > 1 && words[0] == first);
    shared.then_some(first)
}

/// The words of a table's name, without prefixes. At least one is left if there is one.
#[must_use]
pub fn table_words(name: &str, prefix: &Option<String>) -> Vec<String> {
    let mut words = words(name);
    if words.len() > 1 && prefix.as_ref() == words.first() {
        words.remove(0);
    }
    while words.len() > 1 && PREFIXES.contains(&words[0].as_str()) {
        words.remove(0);
    }
    if words.len() > 1
        && words.last().is_some_and(|word| matches!(word.as_str(), "tbl" | "table" | "view" | "vw"))
    {
        words.pop();
    }
    words
}

/// The words of a column that refers to another table: `billing address` of `billing_address_id`.
#[must_use]
pub fn reference_words(name: &str) -> Vec<String> {
    let mut words = words(name);
    while words.len() > 1 && words.last().is_some_and(|word| STORAGE.contains(&word.as_str())) {
        words.pop();
    }
    if words.len() > 1 && matches!(words[0].as_str(), "fk" | "id") {
        words.remove(0);
    }
    words
}

/// Nouns whose plural follows no rule.
const IRREGULAR: &[(&str, &str)] = &[
    ("person", "people"),
    ("child", "children"),
    ("man", "men"),
    ("woman", "women"),
    ("mouse", "mice"),
    ("foot", "feet"),
    ("tooth", "teeth"),
    ("goose", "geese"),
    ("ox", "oxen"),
    ("criterion", "criteria"),
    ("phenomenon", "phenomena"),
    ("analysis", "analyses"),
    ("diagnosis", "diagnoses"),
    ("crisis", "crises"),
    ("thesis", "theses"),
    ("basis", "bases"),
    ("index", "indexes"),
    ("vertex", "vertices"),
    ("matrix", "matrices"),
    ("leaf", "leaves"),
    ("shelf", "shelves"),
    ("half", "halves"),
    ("wolf", "wolves"),
    ("knife", "knives"),
    ("wife", "wives"),
    ("life", "lives"),
    ("thief", "thieves"),
    ("hero", "heroes"),
    ("potato", "potatoes"),
    ("tomato", "tomatoes"),
    ("movie", "movies"),
    ("cookie", "cookies"),
    ("tie", "ties"),
    ("pie", "pies"),
    ("calorie", "calories"),
    ("zombie", "zombies"),
    ("selfie", "selfies"),
    ("quiz", "quizzes"),
    ("gas", "gases"),
    ("bus", "buses"),
    ("status", "statuses"),
    ("campus", "campuses"),
    ("bonus", "bonuses"),
    ("virus", "viruses"),
    ("menu", "menus"),
    ("datum", "data"),
    ("medium", "media"),
    ("alumnus", "alumni"),
    ("axis", "axes"),
    ("cache", "caches"),
    ("horse", "horses"),
    ("house", "houses"),
    ("course", "courses"),
    ("nurse", "nurses"),
    ("purchase", "purchases"),
    ("warehouse", "warehouses"),
    ("database", "databases"),
    ("release", "releases"),
    ("license", "licenses"),
    ("expense", "expenses"),
    ("response", "responses"),
    ("case", "cases"),
    ("phase", "phases"),
    ("exercise", "exercises"),
    ("disease", "diseases"),
    ("price", "prices"),
    ("size", "sizes"),
    ("prize", "prizes"),
    ("lens", "lenses"),
    ("canvas", "canvases"),
    ("atlas", "atlases"),
];

/// Nouns that are the same for one and for several.
const INVARIABLE: &[&str] = &[
    "series",
    "species",
    "sheep",
    "fish",
    "deer",
    "aircraft",
    "equipment",
    "information",
    "inventory",
    "stock",
    "news",
    "money",
    "staff",
    "music",
    "history",
    "metadata",
    "software",
    "hardware",
    "feedback",
    "luggage",
    "weather",
    "progress",
    "means",
    "headquarters",
    "sales",
    "goods",
];

/// The word for several.
///
/// ```
/// use spanwise_sql::scaffold::names::plural_word;
///
/// assert_eq!(["city", "box", "day", "person", "series"].map(plural_word), ["cities", "boxes", "days", "people", "series"]);
/// ```
#[must_use]
pub fn plural_word(word: &str) -> String {
    if let Some((_, plural)) = IRREGULAR.iter().find(|(one, _)| *one == word) {
        return (*plural).to_owned();
    }
    if INVARIABLE.contains(&word) || !word.chars().last().is_some_and(|ch| ch.is_ascii_alphabetic()) {
        return word.to_owned();
    }
    if let Some(stem) = word.strip_suffix('y') {
        let vowel = stem.ends_with(['a', 'e', 'i', 'o', 'u']);
        return if vowel || stem.is_empty() { format!("{word}s") } else { format!("{stem}ies") };
    }
    if ["s", "x", "z", "ch", "sh"].iter().any(|end| word.ends_with(end)) {
        return format!("{word}es");
    }
    format!("{word}s")
}

/// The word for one, of a word for one or for several.
///
/// ```
/// use spanwise_sql::scaffold::names::singular_word;
///
/// assert_eq!(["cities", "boxes", "addresses", "people", "status", "bus"].map(singular_word),
///     ["city", "box", "address", "person", "status", "bus"]);
/// ```
#[must_use]
pub fn singular_word(word: &str) -> String {
    if INVARIABLE.contains(&word) || IRREGULAR.iter().any(|(one, _)| *one == word) {
        return word.to_owned();
    }
    if let Some((one, _)) = IRREGULAR.iter().find(|(_, plural)| *plural == word) {
        return (*one).to_owned();
    }
    let is_short = word.chars().count() <= 3;
    for (end, one) in
        [("ies", "y"), ("sses", "ss"), ("xes", "x"), ("ches", "ch"), ("shes", "sh"), ("zzes", "zz")]
    {
        if let Some(stem) = word.strip_suffix(end).filter(|stem| stem.chars().count() > 1) {
            return format!("{stem}{one}");
        }
    }
    let keeps = ["ss", "us", "is", "as", "os"].iter().any(|end| word.ends_with(end));
    match word.strip_suffix('s') {
        Some(stem) if !keeps && !is_short => stem.to_owned(),
        // `photos`, `videos`, and `cameras` end in a vowel and `s`.
        Some(stem) if !is_short && (word.ends_with("os") || word.ends_with("as")) => stem.to_owned(),
        _ => word.to_owned(),
    }
}

/// The words for one.
#[must_use]
pub fn singular(words: &[String]) -> Vec<String> {
    with_last(words, singular_word)
}

/// The words for several.
#[must_use]
pub fn plural(words: &[String]) -> Vec<String> {
    with_last(words, |word| plural_word(&singular_word(word)))
}

fn with_last(words: &[String], change: impl Fn(&str) -> String) -> Vec<String> {
    let mut words = words.to_vec();
    if let Some(last) = words.last_mut() {
        *last = change(last);
    }
    words
}

/// The name of a type: `OrderLine` of *order line*. Names that have no letter get `fallback`.
#[must_use]
pub fn camel(words: &[String], fallback: &str) -> String {
    let mut name = String::new();
    for word in words {
        let mut chars = word.chars();
        if let Some(first) = chars.next() {
            name.extend(first.to_uppercase());
            name.extend(chars);
        }
    }
    if name.starts_with(char::is_alphabetic) { name } else { format!("{fallback}{name}") }
}

/// The name of a constant: `order_line` of *order line*. Names that do not begin with a letter get `fallback`.
#[must_use]
pub fn snake(words: &[String], fallback: &str) -> String {
    let name = words.join("_");
    if name.starts_with(char::is_alphabetic) { name } else { format!("{fallback}_{name}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn owned(words: &[&str]) -> Vec<String> {
        words.iter().map(|word| (*word).to_owned()).collect()
    }

    #[test]
    fn names_split_at_signs_case_and_never_inside_words() {
        for (name, expected) in [
            ("customer", &["customer"][..]),
            ("CustomerOrder", &["customer", "order"]),
            ("customerOrder", &["customer", "order"]),
            ("CUSTOMER_ORDER", &["customer", "order"]),
            ("customer order", &["customer", "order"]),
            ("a.b\"c", &["a", "b", "c"]),
            ("address1", &["address1"]),
            ("größe", &["größe"]),
            ("客户", &["客户"]),
            ("__x__", &["x"]),
            ("", &[]),
            ("\"'", &[]),
        ] {
            assert_eq!(words(name), owned(expected), "{name}");
        }
    }

    #[test]
    fn prefixes_go_and_one_word_stays() {
        let none = None;
        assert_eq!(table_words("tbl_customers", &none), ["customers"]);
        assert_eq!(table_words("tblCustomer", &none), ["customer"]);
        assert_eq!(table_words("t", &none), ["t"]);
        assert_eq!(table_words("view", &none), ["view"]);
        let prefix = common_prefix(["app_user", "app_order", "app_item"].into_iter());
        assert_eq!(prefix.as_deref(), Some("app"));
        assert_eq!(table_words("app_user", &prefix), ["user"]);
        assert_eq!(common_prefix(["order_a", "order_b"].into_iter()), None);
        assert_eq!(common_prefix(["order_a", "order", "order_b"].into_iter()), None);
        assert_eq!(reference_words("billing_address_id"), ["billing", "address"]);
        assert_eq!(reference_words("id"), ["id"]);
    }

    #[test]
    fn singular_undoes_plural_and_neither_changes_its_own_result() {
        for word in [
            "customer", "city", "box", "day", "address", "status", "person", "child", "series", "category",
            "bus", "photo", "camera", "match", "dish", "class", "movie", "horse", "analysis", "key",
            "company", "bike", "tax", "wife", "employee", "fee", "house", "price", "size", "house", "shoe",
            "search",
        ] {
            let plural = plural_word(word);
            assert_eq!(singular_word(&plural), word, "{plural}");
            assert_eq!(singular_word(word), word, "{word}");
        }
        assert_eq!(plural(&owned(&["order", "lines"])), ["order", "lines"]);
        assert_eq!(plural(&owned(&["größe"])), ["größes"]);
        assert_eq!(plural(&owned(&["客户"])), ["客户"]);
        assert_eq!(singular(&owned(&["客户"])), ["客户"]);
    }

    #[test]
    fn names_of_types_and_constants_begin_with_a_letter() {
        assert_eq!(camel(&owned(&["order", "line"]), "T"), "OrderLine");
        assert_eq!(camel(&owned(&["2", "x"]), "Table3"), "Table32X");
        assert_eq!(camel(&[], "Table3"), "Table3");
        assert_eq!(snake(&owned(&["order", "line"]), "t"), "order_line");
        assert_eq!(snake(&[], "table3"), "table3_");
    }
}
