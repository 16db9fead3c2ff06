//! Wording shared by the error messages of this crate.

use spanwise_lang::diag;
use std::borrow::Cow;

/// ` (did you mean ...?)`, or nothing when no known name is close.
pub(crate) fn did_you_mean<'a>(name: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    diag::closest(name, known).map_or_else(String::new, |known| format!(" (did you mean `{known}`?)"))
}

/// A name as messages show it: long names are cut.
pub(crate) fn shown(name: &str) -> Cow<'_, str> {
    const LONGEST: usize = 60;
    match name.char_indices().nth(LONGEST) {
        None => Cow::Borrowed(name),
        Some((end, _)) => Cow::Owned(format!("{}...", &name[..end])),
    }
}

/// The message of the JSON parser without line and column, which callers give for the whole file.
pub(crate) fn json_reason(error: &serde_json::Error) -> String {
    let message = error.to_string();
    message.split(" at line ").next().unwrap_or_default().to_owned()
}
