//! A report as a list of blocks, before it is Markdown or HTML.
//!
//! Text is plain text but for `code` in backquotes. How blocks look is for the writers.

/// A part of a document.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Block {
    /// A heading below the title.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A table; its first columns are to the left, the others to the right.
    Table(Table),
    /// Lines in a row.
    List(Vec<String>),
    /// Pictures side by side.
    Figures(Vec<Figure>),
    /// Commands, which may be many.
    Commands { title: String, lines: Vec<String> },
}

/// Lines of cells.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Table {
    /// The names of the columns.
    pub(crate) head: Vec<String>,
    /// As many cells a line.
    pub(crate) rows: Vec<Vec<String>>,
    /// How many columns hold names instead of numbers.
    pub(crate) n_names: usize,
}

/// A picture.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Figure {
    /// The name of its file, without ending.
    pub(crate) name: String,
    /// What it shows.
    pub(crate) title: String,
    /// The picture.
    pub(crate) svg: String,
}

/// A report.
#[derive(Clone, PartialEq, Debug, Default)]
pub(crate) struct Document {
    /// What it is.
    pub(crate) title: String,
    /// What must be read before anything else.
    pub(crate) warning: Option<String>,
    /// The rest.
    pub(crate) blocks: Vec<Block>,
}

/// What stands where there is no number.
pub(crate) const NONE: &str = "–";
