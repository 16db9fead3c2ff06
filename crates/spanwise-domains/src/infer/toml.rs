//! Pieces of TOML.

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut out = String::from("\"");
    for ch in text.chars() {
        match ch {
            '"' => out += "\\\"",
            '\\' => out += "\\\\",
            ch if ch.is_control() => out += &format!("\\u{:04X}", ch as u32),
            ch => out.push(ch),
        }
    }
    out + "\""
}

/// A key, in quotes where it needs them.
pub(super) fn key(name: &str) -> String {
    let is_bare = |ch: char| ch.is_ascii_alphanumeric() || ch == '_' || ch == '-';
    if !name.is_empty() && name.chars().all(is_bare) { name.to_owned() } else { text(name) }
}

/// A list of texts on one line.
pub(super) fn list<S: AsRef<str>>(texts: &[S]) -> String {
    let texts: Vec<String> = texts.iter().map(|one| text(one.as_ref())).collect();
    format!("[{}]", texts.join(", "))
}

/// A text if there is one, a list otherwise.
pub(super) fn one_or_list<S: AsRef<str>>(texts: &[S]) -> String {
    match texts {
        [one] => text(one.as_ref()),
        _ => list(texts),
    }
}

/// A comment that cannot end early.
pub(super) fn comment(text: &str) -> String {
    let plain: String = text.chars().map(|ch| if ch.is_control() { ' ' } else { ch }).collect();
    format!("# {plain}")
}
