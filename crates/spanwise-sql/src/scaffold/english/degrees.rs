//! Adjectives of columns: *most expensive*, *cheaper than*, *how much is*.

/// What adjectives say about a column: the most and the least, more and less.
#[derive(Debug)]
pub(in crate::scaffold) struct Degrees {
    /// Words of a column's name, one of which must be there.
    pub(in crate::scaffold) columns: &'static [&'static str],
    /// The highest value: *most expensive*.
    pub(in crate::scaffold) most: &'static [&'static str],
    /// The lowest value: *cheapest*.
    pub(in crate::scaffold) least: &'static [&'static str],
    /// Before a value: *more expensive than*.
    pub(in crate::scaffold) more: &'static [&'static str],
    /// Before a value: *cheaper than*.
    pub(in crate::scaffold) less: &'static [&'static str],
    /// How a value is asked for, with `{1}` for the thing: *how much is {1}*.
    pub(in crate::scaffold) asked: &'static [&'static str],
}

/// Adjectives of columns. The first entry with a word of the name counts.
pub(in crate::scaffold) const DEGREES: &[Degrees] = &[
    Degrees {
        columns: &["salary", "wage", "pay", "income"],
        most: &["highest paid", "best paid"],
        least: &["lowest paid", "worst paid"],
        more: &["earning more than", "who earn more than", "who make more than", "earn over"],
        less: &["earning less than", "who earn less than", "who make less than", "earn under"],
        asked: &["how much does {1} earn", "what does {1} earn", "how much does {1} make"],
    },
    Degrees {
        columns: &["price", "msrp", "fare"],
        most: &["most expensive", "priciest", "dearest"],
        least: &["cheapest", "least expensive"],
        more: &[
            "more expensive than",
            "that cost more than",
            "costing more than",
            "cost over",
            "priced above",
        ],
        less: &["cheaper than", "that cost less than", "costing less than", "cost under", "priced below"],
        asked: &["how much is {1}", "how much does {1} cost", "what does {1} cost", "how expensive is {1}"],
    },
    Degrees {
        columns: &["weight", "mass"],
        most: &["heaviest"],
        least: &["lightest"],
        more: &["heavier than", "that weigh more than", "weighing over"],
        less: &["lighter than", "that weigh less than", "weighing under"],
        asked: &["how heavy is {1}", "how much does {1} weigh", "what does {1} weigh"],
    },
    Degrees {
        columns: &["height", "elevation", "altitude"],
        most: &["tallest", "highest"],
        least: &["shortest", "lowest"],
        more: &["taller than", "higher than"],
        less: &["shorter than", "lower than"],
        asked: &["how tall is {1}", "how high is {1}"],
    },
    Degrees {
        columns: &[
            "length",
            "duration",
            "runtime",
            "milliseconds",
            "minutes",
            "seconds",
            "distance",
            "pages",
        ],
        most: &["longest"],
        least: &["shortest"],
        more: &["longer than"],
        less: &["shorter than"],
        asked: &["how long is {1}", "how long does {1} take"],
    },
    Degrees {
        columns: &["rating", "score", "stars", "grade", "points"],
        most: &["best rated", "best", "top rated", "highest rated"],
        least: &["worst rated", "worst", "lowest rated"],
        more: &["rated above", "rated over", "rated higher than", "better than"],
        less: &["rated below", "rated under", "rated lower than", "worse than"],
        asked: &["how is {1} rated", "how good is {1}"],
    },
    Degrees {
        columns: &["size", "area", "capacity", "bytes", "volume", "seats"],
        most: &["largest", "biggest"],
        least: &["smallest"],
        more: &["larger than", "bigger than"],
        less: &["smaller than"],
        asked: &["how large is {1}", "how big is {1}"],
    },
    Degrees {
        columns: &["population", "inhabitants"],
        most: &["most populous", "largest", "biggest"],
        least: &["least populous", "smallest"],
        more: &["larger than", "with more than"],
        less: &["smaller than", "with fewer than"],
        asked: &["how many people live in {1}"],
    },
    Degrees {
        columns: &["age"],
        most: &["oldest"],
        least: &["youngest"],
        more: &["older than"],
        less: &["younger than"],
        asked: &["how old is {1}"],
    },
    Degrees {
        columns: &["depth"],
        most: &["deepest"],
        least: &["shallowest"],
        more: &["deeper than"],
        less: &["shallower than"],
        asked: &["how deep is {1}"],
    },
    Degrees {
        columns: &["speed", "velocity"],
        most: &["fastest"],
        least: &["slowest"],
        more: &["faster than"],
        less: &["slower than"],
        asked: &["how fast is {1}"],
    },
    Degrees {
        columns: &["width"],
        most: &["widest"],
        least: &["narrowest"],
        more: &["wider than"],
        less: &["narrower than"],
        asked: &["how wide is {1}"],
    },
    Degrees {
        columns: &["popularity", "views", "plays", "downloads", "likes", "votes"],
        most: &["most popular"],
        least: &["least popular"],
        more: &["more popular than"],
        less: &["less popular than"],
        asked: &["how popular is {1}"],
    },
];
