//! `spanwise exec`: programs to denotations.

use super::context::Context;
use super::format::{Format, FormatArgs, write_csv};
use super::lines::{INPUT_BYTES, context_of, next_line, read_object, text_of, without_mark};
use super::{check_types, domain_help, executor, load};
use crate::output::{Status, WrongCall, say, write_text};
use anyhow::{Context as _, Result};
use serde_json::{Value, json};
use spanwise_domains::exec::{Denotation, ExecError, Executor};
use spanwise_domains::load::Spec;
use spanwise_lang::domain::ExecutorChoice;
use spanwise_lang::{Diagnostic, Domain, TermId, Terms};
use spanwise_render::TableLimits;
use std::io::{self, BufReader, IsTerminal, Write};

/// Evaluate programs.
///
/// With programs as arguments, prints their denotations, tables with their columns below each other. Without, reads JSON lines with a field `program`
/// (and `context` or `scene`) from standard input and writes one JSON line for each, in order, with
/// `program`, `denotation` (text), `answer` (the same value, typed), and `error` or `note` where there is one. A line
/// is answered before the next one is read. Programs for a command or a server are type-checked first.
#[derive(clap::Args)]
#[command(after_help = "Examples:\n  \
    spanwise exec geo \"answer(capital(loc_2(stateid('texas'))))\"\n  \
    spanwise exec scan 'i_twice(i_walk(i_left))'\n  \
    spanwise exec shop.toml --explain 'count(orders)'\n  \
    spanwise exec clevr 'count(filter(red, scene()))' --context scene.json\n  \
    spanwise exec shop.toml 'orders(all())' --format csv > orders.csv\n  \
    spanwise exec geo < programs.jsonl > denotations.jsonl")]
pub(crate) struct Args {
    #[arg(help = domain_help())]
    domain: String,
    /// Programs to evaluate instead of reading standard input
    programs: Vec<String>,
    #[command(flatten)]
    context: super::context::ContextArgs,
    /// Send ill-typed programs to the domain's command or server too
    #[arg(long)]
    unchecked: bool,
    /// Print the SQL of the programs with its parameters, and do not run it; for domains whose programs run in a database
    #[arg(long)]
    explain: bool,
    #[command(flatten)]
    format: FormatArgs,
}

/// Terms after which the store starts afresh, so that memory stays flat on endless input.
const MAX_TERMS: usize = 1 << 20;

pub(crate) fn run(args: &Args) -> Result<Status> {
    let (format, limits) = (args.format.for_arguments(args.programs.len())?, args.format.limits());
    let spec = Spec::parse(&args.domain);
    let domain = load(spec)?;
    let executor = executor(&domain, spec)?;
    let context = args.context.read()?;
    if args.explain && !matches!(domain.executor(), ExecutorChoice::Sql(_)) {
        let name = domain.name();
        return Err(WrongCall(format!(
            "the programs of {name} do not run in a database, so they have no SQL"
        ))
        .into());
    }
    let mut runner = Runner {
        is_explained: args.explain,
        terms: domain.new_terms(),
        domain: &domain,
        executor: &*executor,
        is_checked: !args.unchecked,
        context,
        n: 0,
        n_failed: 0,
    };
    let mut out = io::BufWriter::new(io::stdout().lock());
    if args.programs.is_empty() {
        runner.stream(&mut out)?;
    } else {
        for program in &args.programs {
            if args.explain {
                runner.explain_one(program, format == Format::Json, &mut out)?;
                continue;
            }
            let outcome = runner.evaluate(program, None);
            match (outcome, format) {
                (outcome, Format::Json) => writeln!(out, "{}", answer(program, outcome))?,
                (Ok(denotation), _) => {
                    match format {
                        Format::Csv => write_csv(&mut out, &denotation.answer)?,
                        Format::Plain | Format::Json => writeln_text(&mut out, &denotation.text)?,
                        Format::Table => write_text(&mut out, &in_words(&denotation, limits))?,
                    }
                    if let Some(note) = denotation.note {
                        out.flush()?;
                        say(&format!("note: {note}"));
                    }
                }
                (Err(fault), _) => {
                    out.flush()?;
                    say(&fault.in_full(program));
                }
            }
        }
    }
    out.flush()?;
    if runner.n_failed > 0 && (args.programs.is_empty() || format == Format::Json) {
        say(&format!("{} of {} programs could not be evaluated", runner.n_failed, runner.n));
    }
    Ok(if runner.n_failed == 0 { Status::Success } else { Status::PartialFailure })
}

/// An answer in human-readable form: a table, a number with its unit, or what the executor calls it.
fn in_words(denotation: &Denotation, limits: TableLimits) -> String {
    let Denotation { answer, info, text, .. } = denotation;
    let table = spanwise_render::table(answer, info, limits);
    table.unwrap_or_else(|| {
        format!("{}\n", spanwise_render::with_unit(answer, info).unwrap_or_else(|| text.clone()))
    })
}

fn writeln_text(out: &mut dyn Write, text: &str) -> io::Result<()> {
    write_text(out, &format!("{text}\n"))
}

/// Why a program has no denotation.
enum Fault {
    /// It cannot be read.
    Syntax(Diagnostic),
    /// It cannot be evaluated.
    Other(String),
}

impl Fault {
    /// The reason with the place in the program, for a terminal.
    fn in_full(&self, program: &str) -> String {
        match self {
            Self::Syntax(problem) => problem.render("program", program),
            Self::Other(message) => format!("error: {message}"),
        }
    }

    /// The reason on one line.
    fn in_short(&self, program: &str) -> String {
        match self {
            Self::Syntax(problem) => problem.one_line(program),
            Self::Other(message) => message.lines().map(str::trim).collect::<Vec<_>>().join(" "),
        }
    }
}

struct Runner<'a> {
    domain: &'a Domain,
    executor: &'a dyn Executor,
    /// Whether ill-typed programs are kept from executors outside of this process.
    is_checked: bool,
    /// Whether programs are shown as SQL and not evaluated.
    is_explained: bool,
    terms: Terms,
    context: Option<Context>,
    n: usize,
    n_failed: usize,
}

impl Runner<'_> {
    /// The denotation of one program, or why there is none.
    fn evaluate(&mut self, program: &str, context: Option<&Value>) -> Result<Denotation, Fault> {
        self.n += 1;
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
        }
        let outcome = match self.read(program) {
            Err(fault) => Err(fault),
            Ok(id) => {
                let from_file = self.context.as_ref().filter(|_| context.is_none());
                let context = context.or(from_file.map(|context| &context.value));
                self.executor.execute(&self.terms, id, context).map_err(|error| match (error, from_file) {
                    (ExecError::BadContext(why), Some(context)) => {
                        Fault::Other(format!("{}: {why}", context.file))
                    }
                    (error, _) => Fault::Other(error.to_string()),
                })
            }
        };
        self.n_failed += usize::from(outcome.is_err());
        outcome
    }

    /// The SQL of one program, or why it has none.
    fn explain(&mut self, program: &str) -> Result<String, Fault> {
        self.n += 1;
        if self.terms.len() > MAX_TERMS {
            self.terms = self.domain.new_terms();
        }
        let explained = self.read(program).and_then(|id| {
            let sql = self.executor.explain(&self.terms, id);
            sql.ok_or_else(|| {
                Fault::Other("this program is too large, or has a value that no database has".to_owned())
            })
        });
        self.n_failed += usize::from(explained.is_err());
        explained
    }

    fn explain_one(&mut self, program: &str, is_json: bool, out: &mut dyn Write) -> Result<()> {
        match (self.explain(program), is_json) {
            (explained, true) => writeln!(out, "{}", sql(program, explained))?,
            (Ok(text), false) => write_text(out, &format!("{text}\n"))?,
            (Err(fault), false) => {
                out.flush()?;
                say(&fault.in_full(program));
            }
        }
        Ok(())
    }

    fn read(&mut self, program: &str) -> Result<TermId, Fault> {
        let id = self.terms.parse(program).map_err(Fault::Syntax)?;
        if self.is_checked {
            check_types(self.domain, &self.terms, id).map_err(Fault::Other)?;
        }
        Ok(id)
    }

    fn stream(&mut self, out: &mut dyn Write) -> Result<()> {
        let stdin = io::stdin();
        if stdin.is_terminal() {
            say("reading JSON lines {\"program\": ..} from the terminal; end with Ctrl-D");
        }
        let mut input = BufReader::with_capacity(INPUT_BYTES, stdin.lock());
        let mut line = Vec::new();
        for number in 1.. {
            // The sender may wait for this reply before it sends the next line.
            if !input.buffer().contains(&b'\n') {
                out.flush()?;
            }
            if !next_line(&mut input, &mut line).context("cannot read standard input")? {
                break;
            }
            let text = without_mark(&line, number);
            if !text.iter().all(u8::is_ascii_whitespace) {
                writeln!(out, "{}", self.line(text, number))?;
            }
        }
        Ok(())
    }

    fn line(&mut self, line: &[u8], number: usize) -> Value {
        let mut fail = |message: String| {
            self.n += 1;
            self.n_failed += 1;
            let error = format!("line {number}: {message}");
            json!({ "program": null, "denotation": null, "answer": null, "error": error })
        };
        let object = match text_of(line).and_then(|text| read_object(text, "program")) {
            Ok(object) => object,
            Err(message) => return fail(message),
        };
        let Some(program) = object.get("program").and_then(Value::as_str) else {
            return fail("expected a text in the field `program`".to_owned());
        };
        if self.is_explained {
            return sql(program, self.explain(program));
        }
        let context = context_of(&object);
        answer(program, self.evaluate(program, context))
    }
}

fn sql(program: &str, explained: Result<String, Fault>) -> Value {
    match explained {
        Err(fault) => json!({ "program": program, "sql": null, "error": fault.in_short(program) }),
        Ok(sql) => json!({ "program": program, "sql": sql }),
    }
}

fn answer(program: &str, outcome: Result<Denotation, Fault>) -> Value {
    match outcome {
        Err(fault) => {
            json!({ "program": program, "denotation": null, "answer": null, "error": fault.in_short(program) })
        }
        Ok(Denotation { text, answer, info, note, .. }) => {
            let mut object = json!({ "program": program, "denotation": text, "answer": answer });
            if !info.is_empty() {
                object["answer_info"] = json!(info);
            }
            if let Some(note) = note {
                object["note"] = note.into();
            }
            object
        }
    }
}
