//! `spanwise exec`: programs to denotations.

use super::{DOMAIN_HELP, directory_of, domain, read_text};
use crate::output::{Done, WrongCall, say};
use anyhow::{Context, Result, bail};
use serde_json::{Map, Value, json};
use spanwise_domains::exec::{Denotation, Executor};
use spanwise_lang::{Domain, Terms};
use std::io::{self, BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

/// Evaluate programs.
///
/// With programs as arguments, prints their denotations. Without, reads JSON lines with a field `program`
/// (and `context` or `scene`) from standard input and writes one JSON line for each, in order, with
/// `program`, `denotation`, and `error` or `note` where there is something to say.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise exec geo \"answer(capital(loc_2(stateid('texas'))))\"\n  \
    spanwise exec scan 'i_twice(i_walk(i_left))'\n  \
    spanwise exec clevr 'count(filter(red, scene()))' --context scene.json\n  \
    spanwise exec geo < programs.jsonl > denotations.jsonl")]
pub(crate) struct Args {
    #[arg(help = DOMAIN_HELP)]
    domain: String,
    /// Programs to evaluate instead of reading standard input
    programs: Vec<String>,
    /// What programs are evaluated in: a file with a scene (JSON, or CLEVR's compact text)
    #[arg(long, value_name = "FILE")]
    context: Option<PathBuf>,
    /// Which scene of a file with many (`scenes`) to take, by its `image_index`
    #[arg(long, value_name = "N", requires = "context")]
    index: Option<u64>,
    /// Print JSON for programs given as arguments too
    #[arg(long)]
    json: bool,
}

/// Terms after which the store starts afresh, so that memory stays flat on endless input.
const MAX_TERMS: usize = 1 << 20;
/// Longest input line.
const MAX_LINE_BYTES: u64 = 64 << 20;

pub(crate) fn run(args: &Args) -> Result<Done> {
    let domain = domain(&args.domain)?;
    let executor = spanwise_domains::exec::open(&domain, directory_of(&args.domain).as_deref())?;
    let Some(executor) = executor else {
        return Err(WrongCall(format!(
            "the domain {} has no [executor], so its programs have no value",
            domain.name()
        ))
        .into());
    };
    let context = args.context.as_ref().map(|path| context(path, args.index)).transpose()?;
    let mut runner = Runner {
        terms: domain.new_terms(),
        domain: &domain,
        executor: &*executor,
        context,
        n: 0,
        n_failed: 0,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.programs.is_empty() {
        runner.stream(&mut out)?;
    } else {
        for program in &args.programs {
            let outcome = runner.evaluate(program, None);
            match (outcome, args.json) {
                (outcome, true) => writeln!(out, "{}", answer(program, outcome))?,
                (Ok(denotation), false) => {
                    writeln!(out, "{}", denotation.text)?;
                    if let Some(note) = denotation.note {
                        out.flush()?;
                        say(&format!("note: {note}"));
                    }
                }
                (Err(message), false) => {
                    out.flush()?;
                    say(if message.starts_with("error: ") { message } else { format!("error: {message}") }
                        .as_str());
                }
            }
        }
    }
    out.flush()?;
    if runner.n_failed > 0 && (args.programs.is_empty() || args.json) {
        say(&format!("{} of {} programs could not be evaluated", runner.n_failed, runner.n));
    }
    Ok(if runner.n_failed == 0 { Done::Well } else { Done::WithFailures })
}

fn context(path: &Path, index: Option<u64>) -> Result<Value> {
    let text = read_text(path)?;
    let trimmed = text.trim();
    if !trimmed.starts_with(['{', '[', '"']) {
        return Ok(Value::String(trimmed.to_owned()));
    }
    let value: Value =
        serde_json::from_str(trimmed).with_context(|| format!("{} is not valid JSON", path.display()))?;
    let Some(scenes) = value.get("scenes").and_then(Value::as_array) else {
        if index.is_some() {
            bail!("{} has no list `scenes` to take --index from", path.display());
        }
        return Ok(value);
    };
    let found = match index {
        Some(index) => {
            scenes.iter().find(|scene| scene.get("image_index").and_then(Value::as_u64) == Some(index))
        }
        None if scenes.len() == 1 => scenes.first(),
        None => bail!("{} has {} scenes: pick one with --index", path.display(), scenes.len()),
    };
    found.cloned().with_context(|| format!("{} has no scene with that `image_index`", path.display()))
}

struct Runner<'a> {
    domain: &'a Domain,
    executor: &'a dyn Executor,
    terms: Terms,
    context: Option<Value>,
    n: usize,
    n_failed: usize,
}

impl Runner<'_> {
    /// The denotation of one program, or why there is none.
    fn evaluate(&mut self, program: &str, context: Option<&Value>) -> Result<Denotation, String> {
        self.n += 1;
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
        }
        let outcome = match self.terms.parse(program) {
            Err(problem) => Err(problem.render("program", program)),
            Ok(id) => {
                let context = context.or(self.context.as_ref());
                self.executor.execute(&self.terms, id, context).map_err(|error| error.to_string())
            }
        };
        self.n_failed += usize::from(outcome.is_err());
        outcome
    }

    fn stream(&mut self, out: &mut dyn Write) -> Result<()> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            say("reading JSON lines {\"program\": ..} from the terminal; end with Ctrl-D");
        }
        let mut input = stdin.lock();
        let mut line = Vec::new();
        for number in 1.. {
            line.clear();
            let read = io::Read::take(&mut input, MAX_LINE_BYTES).read_until(b'\n', &mut line);
            if read.context("cannot read standard input")? == 0 {
                return Ok(());
            }
            if line.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let reply = self.line(&line, number);
            writeln!(out, "{reply}")?;
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], number: usize) -> Value {
        let mut fail = |message: String| {
            self.n += 1;
            self.n_failed += 1;
            json!({ "program": null, "denotation": null, "error": format!("line {number}: {message}") })
        };
        if line.len() as u64 == MAX_LINE_BYTES && line.last() != Some(&b'\n') {
            return fail(format!("longer than {MAX_LINE_BYTES} bytes"));
        }
        let Ok(text) = std::str::from_utf8(line) else { return fail("not valid UTF-8".to_owned()) };
        let object: Map<String, Value> = match serde_json::from_str(text) {
            Ok(object) => object,
            Err(error) => return fail(format!("expected a JSON object with the field `program` ({error})")),
        };
        let Some(program) = object.get("program").and_then(Value::as_str) else {
            return fail("expected a text in the field `program`".to_owned());
        };
        let context = object.get("context").or_else(|| object.get("scene")).filter(|value| !value.is_null());
        answer(program, self.evaluate(program, context))
    }
}

fn answer(program: &str, outcome: Result<Denotation, String>) -> Value {
    match outcome {
        Err(error) => json!({ "program": program, "denotation": null, "error": error }),
        Ok(Denotation { text, note: None, .. }) => json!({ "program": program, "denotation": text }),
        Ok(Denotation { text, note, .. }) => json!({ "program": program, "denotation": text, "note": note }),
    }
}
