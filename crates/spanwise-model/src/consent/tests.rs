//! Consent: what is shown, what it is bound to, and where it is kept.

use super::*;
use crate::families::chart::ChartSettings;
use crate::{Blueprint, Compact, EncoderSource, FamilySettings as _, Pair, Parser};
use spanwise_core::Utterance;
use spanwise_domains::exec::ExecError;
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;

/// A model with random weights whose domain has this executor; the files of its command are in `directory`.
fn model(executor: &str, directory: Option<&Path>) -> Model {
    let source = format!(
        "name = 'd'\ntypes = ['A']\nroot.types = ['A']\nconstants = {{ x = 'A' }}\n\
         lexicon = {{ x = 'it' }}\n[executor]\n{executor}\n"
    );
    let domain = Arc::new(Domain::load(&source, "d.toml", None, &NoTables).unwrap());
    let mut terms = domain.new_terms();
    let pairs = [Pair::new(Utterance::new("it"), terms.parse("x").unwrap())];
    let shape =
        Compact { hidden: 16, layers: 1, heads: 2, intermediate: 32, ngram_buckets: 16, min_count: 1 };
    let encoder = EncoderSource::Compact { shape: &shape, dropout: 0.1 };
    let blueprint = Blueprint { domain: Arc::clone(&domain), terms: &terms, pairs: &pairs, encoder, seed: 1 };
    let settings = ChartSettings { hidden: 16, rare_below: 0, ..ChartSettings::default() };
    Model::new(domain, settings.build(blueprint).unwrap(), directory)
}

fn external(executor: &str, directory: Option<&Path>) -> ExternalExecutor {
    model(executor, directory).external_executor().unwrap().unwrap()
}

#[test]
fn what_would_run_is_shown_in_words() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("run.py"), "1").unwrap();
    let sha256 = "6b86b273ff34fce19d6b804eff5a3f5747ada4eaa22f1d49c01e52ddb7875b4b";
    let command = external(r#"command = ['python3', 'run.py', "a b\u001b[2J"]"#, Some(directory.path()));
    assert_eq!(
        command.to_string(),
        format!(r#"run `python3 run.py "a b\u{{1b}}[2J"` with the file run.py (1 bytes, SHA-256 {sha256})"#)
    );
    let url = external("url = 'http://localhost:1/'\ntoken_env = 'AWS_SECRET_ACCESS_KEY'", None);
    let expected = "send programs to http://localhost:1/ with the value of the environment variable AWS_SECRET_ACCESS_KEY";
    assert_eq!(url.to_string(), expected);
    let long = external(&format!("command = ['x', '{}']", "y".repeat(10_000)), None);
    assert!(long.to_string().len() < 600 && long.command().len() > 10_000);
    assert_eq!(model("builtin = 'scan'", None).external_executor().unwrap(), None);
}

#[test]
fn consent_is_bound_to_everything_that_would_run() {
    let directory = tempfile::tempdir().unwrap();
    let (path, other) = (directory.path(), tempfile::tempdir().unwrap());
    fs::write(path.join("run.py"), "1").unwrap();
    let command = |argv: &str| external(&format!("command = {argv}"), Some(path)).sha256;
    let first = command("['python3', 'run.py']");
    assert_eq!(command("['python3', 'run.py']"), first);
    let other_domain = command("['python3', 'run.py']\n# another file");
    assert_ne!(other_domain, first, "the domain decides which programs the executor is given");
    assert_ne!(command("['python2', 'run.py']"), first);
    assert_ne!(command("['python3', './run.py']"), first);
    assert_ne!(external("command = ['python3', 'run.py']", Some(other.path())).sha256, first);
    fs::write(path.join("run.py"), "2").unwrap();
    assert_ne!(command("['python3', 'run.py']"), first);
    let url = |more: &str| external(&format!("url = 'http://localhost:1/{more}"), None).sha256;
    let all = [url("'"), url("x'"), url("'\ntoken_env = 'A'"), url("'\ntoken_env = 'B'"), first];
    for (at, one) in all.iter().enumerate() {
        assert!(!all[..at].contains(one), "{all:?}");
    }
}

#[test]
fn a_list_remembers_forgets_and_is_never_guessed() {
    let directory = tempfile::tempdir().unwrap();
    let allowed = AllowedExecutors::in_directory(directory.path().join("new/state"));
    let [one, two] = ["one", "two"].map(|name| external(&format!("command = ['{name}']"), None));
    assert!(!allowed.contains(&one).unwrap());
    allowed.remove(&one).unwrap();
    assert!(!allowed.path().exists());
    allowed.add(&one).unwrap();
    allowed.add(&one).unwrap();
    assert!(allowed.contains(&one).unwrap() && !allowed.contains(&two).unwrap());
    allowed.add(&two).unwrap();
    allowed.remove(&one).unwrap();
    assert!(!allowed.contains(&one).unwrap() && allowed.contains(&two).unwrap());
    for damaged in ["", "{", "[]", r#"{"executors": 3}"#] {
        fs::write(allowed.path(), damaged).unwrap();
        let message = allowed.contains(&one).unwrap_err().to_string();
        assert!(message.contains("remove the file"), "{message}");
        assert!(allowed.add(&one).is_err());
    }
}

#[test]
fn many_consents_push_out_the_oldest() {
    let directory = tempfile::tempdir().unwrap();
    let allowed = AllowedExecutors::in_directory(directory.path());
    let old = external("command = ['old']", None);
    allowed.add(&old).unwrap();
    let mut stored = allowed.read().unwrap();
    stored
        .executors
        .extend((0..MAX_EXECUTORS).map(|n| StoredExecutor { sha256: n.to_string(), runs: String::new() }));
    fs::write(allowed.path(), serde_json::to_string(&stored).unwrap()).unwrap();
    let new = external("command = ['new']", None);
    allowed.add(&new).unwrap();
    assert!(!allowed.contains(&old).unwrap() && allowed.contains(&new).unwrap());
    assert_eq!(allowed.read().unwrap().executors.len(), MAX_EXECUTORS);
}

#[test]
fn a_path_upwards_is_not_followed_from_a_model() {
    let model = model("command = ['sh', '../run.sh']", None);
    let parser = Parser::with_policy(model, ExecutorPolicy::Allow).unwrap();
    let reason = parser.executor_refusal().unwrap();
    assert!(reason.contains("names `../run.sh`, which is not part of the model"), "{reason}");
}

#[cfg(unix)]
#[test]
fn an_executor_that_is_not_allowed_never_starts_and_readings_say_why() {
    let directory = tempfile::tempdir().unwrap();
    let mark = directory.path().join("ran");
    let script = format!(": > {}\nread -r line; echo '{{\"denotation\": 7}}'", mark.display());
    fs::write(directory.path().join("run.sh"), script).unwrap();
    let load = |policy| {
        Parser::with_policy(model("command = ['sh', 'run.sh']", Some(directory.path())), policy).unwrap()
    };
    let parser = load(ExecutorPolicy::Off);
    let reading = parser.read(&crate::Question::new("it"));
    assert_eq!(reading.program.as_deref(), Some("x"));
    assert!(reading.answer.is_none());
    let error = reading.error.unwrap();
    assert!(error.starts_with("the model's executor is not allowed: it would run `sh run.sh`"), "{error}");
    assert!(error.contains("allow it with --allow-executor"), "{error}");
    assert_eq!(parser.executor_refusal(), Some(error.as_str()));
    let mut terms = parser.model().domain.new_terms();
    let program = terms.parse("x").unwrap();
    let refused = parser.execute(&terms, program, None).unwrap().unwrap_err();
    assert_eq!(refused, ExecError::NotAllowed(error));
    assert!(!mark.exists(), "nothing may run");
    let parser = load(ExecutorPolicy::Allow);
    assert_eq!(parser.read(&crate::Question::new("it")).denotation.as_deref(), Some("7"));
    assert!(mark.exists() && parser.executor_refusal().is_none());
}
