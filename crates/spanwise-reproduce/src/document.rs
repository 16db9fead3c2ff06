//! A page as a list of blocks, from which Markdown and HTML are written.
//!
//! Text is plain text, except for `code` in backquotes.

/// A part of a document.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Block {
    /// A heading below the title.
    Heading(String),
    /// A paragraph.
    Text(String),
    /// A table; columns of names are aligned to the left, columns of numbers to the right.
    Table(Table),
    /// A list.
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
    /// Lines, each with as many cells.
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
    /// A warning above the title.
    pub(crate) warning: Option<String>,
    /// The rest.
    pub(crate) blocks: Vec<Block>,
}

/// A cell without a number.
pub(crate) const NONE: &str = "–";
