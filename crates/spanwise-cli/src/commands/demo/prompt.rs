//! The interactive prompt of the demo.
//!
//! A line is a question, or a command behind a colon. On a terminal there is a prompt; for a script, its own lines are
//! repeated, so that the answers can be told apart.

use super::super::picture::Format;
use super::reply::Answers;
use crate::output::{Status, write_text};
use anyhow::{Context as _, Result};
use clap::ValueEnum as _;
use spanwise_domains::data::{Example, write_atomic};
use spanwise_model::Withhold;
use spanwise_reading::Reading;
use spanwise_render::Screen;
use std::io::{self, Write};
use std::path::Path;

const HELP: &str = "\
Type a question about states, cities, rivers and mountains of the US, or
  :examples          questions to try
  :guess             my best guess for the last question that I did not answer
  :tree svg FILE     draw the last tree into a file; html and tikz work too
  :help              this
  :quit              the end, as is Ctrl-D
";

/// What a conversation needs.
pub(super) struct Prompt<'a> {
    pub(super) answers: Answers<'a>,
    pub(super) questions: &'a [Example],
    /// Whether lines are typed at a terminal.
    pub(super) is_interactive: bool,
}

/// What was said so far, as far as commands need it.
#[derive(Default)]
struct Past {
    /// The last reading with a tree.
    drawn: Option<Reading>,
    /// The last question whose answer was withheld.
    withheld: Option<String>,
}

/// What to do after a line.
enum Next {
    GoOn,
    Stop,
}

impl Prompt<'_> {
    /// Answers lines until there are no more.
    pub(super) fn converse(
        &self,
        lines: &mut dyn Iterator<Item = io::Result<String>>,
        out: &mut dyn Write,
    ) -> Result<Status> {
        let mut past = Past::default();
        if self.is_interactive {
            write!(out, "\n{HELP}")?;
        }
        loop {
            if self.is_interactive {
                write!(out, "\n> ")?;
                out.flush()?;
            }
            let Some(line) = lines.next() else { break };
            let line = line.context("cannot read standard input")?;
            let line = line.trim();
            if line.is_empty() {
                continue;
            }
            if !self.is_interactive {
                write_text(out, &format!("\n> {line}\n"))?;
            }
            if let Next::Stop = self.line(line, &mut past, out)? {
                break;
            }
            out.flush()?;
        }
        if self.is_interactive {
            writeln!(out)?;
        }
        Ok(Status::Success)
    }

    fn line(&self, line: &str, past: &mut Past, out: &mut dyn Write) -> Result<Next> {
        let Some(command) = line.strip_prefix(':') else {
            self.answer(self.answers, line, past, out)?;
            return Ok(Next::GoOn);
        };
        let words: Vec<&str> = command.split_whitespace().collect();
        match words[..] {
            ["quit" | "q" | "exit"] => return Ok(Next::Stop),
            ["help" | "h"] => write!(out, "{HELP}")?,
            ["examples"] => {
                for question in self.questions {
                    writeln!(out, "  {}", question.utterance)?;
                }
            }
            ["guess"] => match past.withheld.take() {
                Some(question) => {
                    let answers = Answers { withhold: Withhold::Never, ..self.answers };
                    self.answer(answers, &question, past, out)?;
                }
                None => writeln!(out, "I have withheld no answer since the last guess")?,
            },
            ["tree", format, ..] if words.len() > 2 => {
                // A file name may have spaces.
                let file = command.split_once(format).map_or("", |(_, file)| file.trim());
                write_text(out, &format!("{}\n", self.tree(format, file, past.drawn.as_ref())))?;
            }
            ["tree", ..] => writeln!(out, "expected :tree FORMAT FILE, as in `:tree svg tree.svg`")?,
            _ => {
                write_text(out, &format!("there is no command `{line}`; `:help` lists what there is\n"))?;
            }
        }
        Ok(Next::GoOn)
    }

    fn answer(
        &self,
        answers: Answers<'_>,
        question: &str,
        past: &mut Past,
        out: &mut dyn Write,
    ) -> Result<()> {
        let reply = answers.answer(question)?;
        write!(out, "\n{}", reply.text)?;
        if reply.reading.is_withheld() {
            past.withheld = Some(question.to_owned());
        }
        if reply.reading.tree.is_some() {
            past.drawn = Some(reply.reading);
        }
        Ok(())
    }

    /// Draws the last tree into a file. An error is reported and does not end the conversation.
    fn tree(&self, format: &str, file: &str, last: Option<&Reading>) -> String {
        let Ok(format) = Format::from_str(format, true) else {
            return format!("there is no picture of the kind `{format}`; expected svg, html, tikz or ascii");
        };
        let Some(reading) = last else { return "there is no tree yet; ask a question first".to_owned() };
        let screen = Screen { color: false, ..self.answers.screen };
        let drawn = format
            .draw(reading, screen)
            .and_then(|picture| Ok(write_atomic(Path::new(file), |out| out.write_all(picture.as_bytes()))?));
        match drawn {
            Ok(()) => format!("drawn into {file}"),
            Err(error) => format!("{error:#}"),
        }
    }
}
