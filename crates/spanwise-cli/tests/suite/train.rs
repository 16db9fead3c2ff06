//! `spanwise train`: reproducible runs, interrupted runs, and errors.

#![cfg(unix)]

use crate::common::{Sandbox, example, interrupt, lamps, releases, signal, skipped, wait};
use std::path::Path;
use std::process::Child;
use std::time::{Duration, Instant};

/// The files of a run that are the same whenever it is repeated; `model.json` holds the hash of the weights. `out` is in
/// the sandbox, or an absolute path.
fn result(sandbox: &Sandbox, out: &str) -> [Vec<u8>; 2] {
    ["metrics.jsonl", "model.json"].map(|file| sandbox.bytes(&format!("{out}/{file}")))
}

/// The result of the toy run without interruption.
fn undisturbed(sandbox: &Sandbox) -> [Vec<u8>; 2] {
    result(sandbox, lamps())
}

fn start(sandbox: &Sandbox) -> Child {
    sandbox.call(["train", "run.toml", "--out", "run", "--resume"]).spawn()
}

/// Waits for a run to have a checkpoint; `false` when it ended first.
fn reaches_a_checkpoint(sandbox: &Sandbox, child: &mut Child) -> bool {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !sandbox.path("run/checkpoint.safetensors").exists() {
        assert!(Instant::now() < deadline, "no checkpoint after a minute");
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    true
}

#[test]
fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
    let sandbox = Sandbox::with_toy();
    let first = undisturbed(&sandbox);
    sandbox.run(["train", "run.toml", "--out", "again"]).exits(0);
    assert!(first == result(&sandbox, "again"));
    sandbox.run(["train", "run.toml", "--out", "other", "--seed", "2"]).exits(0);
    let other = result(&sandbox, "other");
    assert_ne!(first[0], other[0]);
    assert_ne!(first[1], other[1]);
}

#[test]
fn a_run_learns_its_examples_and_parses_names_it_never_saw() {
    let sandbox = Sandbox::with_toy();
    let report = sandbox.run(["eval", lamps(), "train.jsonl", "--json"]).exits(0).json();
    assert_eq!(report["exact_match"], 100.0);
    assert_eq!(report["no_parse"], 0.0);
    // Neither the name nor its other name is in any training example.
    for (said, name) in [("cellar", "cellar"), ("spare room", "guest room")] {
        assert!(!sandbox.read("train.jsonl").contains(said));
        let reply =
            sandbox.run(["parse", lamps(), "--json", &format!("turn off the {said} lamp")]).exits(0).json();
        assert_eq!(reply["program"], format!("do(off(lamp('{name}')))"));
    }
    // The model is complete without the files it was trained from, which are gone.
    let empty = Sandbox::new();
    empty.run(["parse", lamps(), "turn on the hall lamp"]).exits(0).prints(["do(on(lamp('hall')))"]);
}

#[test]
fn a_run_writes_its_configuration_curves_and_one_line_per_epoch() {
    let sandbox = Sandbox::with_toy();
    let call = ["train", "run.toml", "--out", "m", "--set", "training.epochs=3", "--json"];
    let last = sandbox.run(call).exits(0).json();
    assert!(last["seconds"].as_f64().unwrap() > 0.0);
    let rows = sandbox.json_lines("m/metrics.jsonl");
    assert_eq!(rows.len(), 4);
    for (at, row) in rows[..3].iter().enumerate() {
        assert_eq!(row["epoch"], at + 1);
        assert!(row["loss"].as_f64().unwrap() > 0.0 && row["derivable"] == 100.0);
    }
    assert_eq!(rows[3]["final"], true);
    assert_eq!(rows[3]["dev_exact_match"], last["dev_exact_match"]);
    assert!(sandbox.read("m/curves.svg").starts_with("<svg"));
    assert!(sandbox.read("m/config.toml").contains("epochs = 3"));
}

#[test]
fn a_run_that_is_killed_at_any_moment_continues_to_the_same_bytes() {
    let sandbox = Sandbox::with_toy();
    let whole = undisturbed(&sandbox);
    let mut n_killed = 0;
    // Moments spread over a run, the later ones counted from the first checkpoint on.
    for (from_checkpoint, milliseconds) in
        [(false, 3), (false, 40), (true, 0), (true, 7), (true, 23), (true, 61), (true, 0), (true, 113)]
    {
        let mut child = start(&sandbox);
        if from_checkpoint {
            reaches_a_checkpoint(&sandbox, &mut child);
        }
        std::thread::sleep(Duration::from_millis(milliseconds));
        child.kill().unwrap();
        n_killed += usize::from(child.wait().unwrap().code().is_none());
    }
    assert!(n_killed >= 3, "only {n_killed} runs were still there to be killed");
    sandbox.run(["train", "run.toml", "--out", "run", "--resume"]).exits(0);
    assert!(whole == result(&sandbox, "run"));
}

/// Checks how a run ends that was asked to stop.
fn stops_and_can_be_continued(mut child: Child) {
    let code = wait(&mut child);
    let mut stderr = String::new();
    std::io::Read::read_to_string(&mut child.stderr.take().unwrap(), &mut stderr).unwrap();
    assert_eq!(code, Some(1), "{stderr}");
    assert!(stderr.contains("of 12 epochs; continue with --resume"), "{stderr}");
}

#[test]
fn an_interrupt_ends_a_run_that_can_be_continued() {
    let sandbox = Sandbox::with_toy();
    let whole = undisturbed(&sandbox);
    let mut child = start(&sandbox);
    if !reaches_a_checkpoint(&sandbox, &mut child) {
        panic!("the run ended before its first checkpoint");
    }
    interrupt(&child);
    stops_and_can_be_continued(child);
    sandbox.run(["train", "run.toml", "--out", "run", "--resume"]).exits(0).says(["continuing after epoch"]);
    assert!(whole == result(&sandbox, "run"));
}

#[test]
fn a_run_in_the_background_of_a_script_obeys_a_request_to_terminate() {
    let sandbox = Sandbox::with_toy();
    // What a shell without job control does for `spanwise train .. &`.
    let background = "trap '' INT; exec \"$SPANWISE\" train run.toml --out run";
    let mut child = sandbox.shell(background).spawn();
    if !reaches_a_checkpoint(&sandbox, &mut child) {
        panic!("the run ended before its first checkpoint");
    }
    signal(&child, "INT");
    signal(&child, "TERM");
    stops_and_can_be_continued(child);
}

#[test]
fn a_full_disk_leaves_the_checkpoint_before_it() {
    let sandbox = Sandbox::with_toy();
    let whole = undisturbed(&sandbox);
    let mut child = start(&sandbox);
    if !reaches_a_checkpoint(&sandbox, &mut child) {
        panic!("the run ended before its first checkpoint");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    let before = sandbox.bytes("run/checkpoint.safetensors");
    assert!(before.len() > 100_000);
    // As a run leaves it that is killed while it writes.
    sandbox.write("run/.spanwise.1.1.tmp", "half a file");
    // Files end after 16 to 32 KiB: enough for the small ones, too little for a checkpoint.
    let limited = "ulimit -f 32; exec \"$SPANWISE\" train run.toml --out run --resume";
    sandbox.shell(limited).run().exits(1).says(["cannot write run/checkpoint.safetensors", "ulimit -f"]);
    assert!(before == sandbox.bytes("run/checkpoint.safetensors"));
    sandbox.run(["train", "run.toml", "--out", "run", "--resume"]).exits(0);
    assert!(whole == result(&sandbox, "run"));
    // No temporary files stay.
    assert_eq!(sandbox.names("run"), sandbox.names(lamps()));
}

#[test]
fn a_run_is_only_continued_as_it_was_begun() {
    let sandbox = Sandbox::with_toy();
    sandbox.run(["train", "run.toml", "--out", "run", "--set", "training.epochs=2"]).exits(0);
    let before = result(&sandbox, "run");
    let resume =
        || sandbox.call(["train", "run.toml", "--out", "run", "--resume", "--set", "training.epochs=2"]);
    resume().run().exits(0);
    assert!(before == result(&sandbox, "run"));
    resume().arg("--seed=5").run().exits(1).says(["--resume", "(settings);"]);
    resume().arg("--set=training.batch=4").run().exits(1).says(["--resume", "(settings);"]);
    let train = sandbox.read("train.jsonl");
    sandbox.write("train.jsonl", train.clone() + &example("light the desk", "do(on(lamp('desk')))"));
    resume().run().exits(1).says(["--resume", "(data);"]);
    sandbox.write("train.jsonl", train);
    let domain = sandbox.read("lamps.toml");
    sandbox.write("lamps.toml", domain.replace("\"turn off\"", "[\"turn off\", \"kill\"]"));
    resume().run().exits(1).says(["--resume", "(domain);"]);
    sandbox.write("lamps.toml", domain);
    let table = sandbox.read("lamps.tsv");
    sandbox.write("lamps.tsv", format!("{table}porch\t\n"));
    resume().run().exits(1).says(["--resume", "(domain);"]);
    sandbox.write("lamps.tsv", table);
    assert!(before == result(&sandbox, "run"));
    sandbox.write("run/checkpoint.safetensors", "nonsense");
    resume().run().exits(1).says(["checkpoint.safetensors"]);
}

#[test]
fn a_folder_that_holds_a_run_is_not_overwritten() {
    let sandbox = Sandbox::with_toy();
    let call = ["train", "run.toml", "--out", "run", "--set", "training.epochs=1"];
    sandbox.run(call).exits(0);
    let before = result(&sandbox, "run");
    sandbox.run(call).exits(2).says(["run already holds a run", "--resume", "--out"]);
    assert!(before == result(&sandbox, "run"));
}

#[test]
fn an_output_that_cannot_be_written_is_named() {
    let sandbox = Sandbox::with_toy();
    sandbox.write("file", "");
    for out in ["file", "file/run", "/dev/null/run"] {
        sandbox.run(["train", "run.toml", "--out", out]).exits(1).says(["error: cannot write", out]);
    }
}

#[test]
fn help_and_the_error_for_an_unknown_preset_list_the_same_presets() {
    let sandbox = Sandbox::new();
    let error = sandbox.run(["train", "geo-ood", "--out", "m"]).exits(2).stderr;
    let presets: Vec<&str> = error.trim().split("the presets are ").nth(1).unwrap().split(", ").collect();
    assert!(presets.contains(&"geo-iid") && presets.contains(&"clevr-closure"), "{error}");
    let help = sandbox.run(["train", "--help"]).exits(0).stdout;
    for preset in presets {
        assert!(help.contains(preset), "{preset} is not in the help:\n{help}");
    }
}

#[test]
fn a_configuration_that_is_missing_or_invalid_is_named() {
    let sandbox = Sandbox::with_toy();
    sandbox.run(["train", "geo-ood", "--out", "m"]).exits(2).says(["`geo-ood`"]);
    sandbox.run(["train", "nowhere.toml", "--out", "m"]).exits(2).says(["`nowhere.toml`"]);
    sandbox.write("bad.toml", "domain = [\n");
    sandbox.run(["train", "bad.toml", "--out", "m"]).exits(2).says(["bad.toml", "line 1"]);
    sandbox.write("bad.toml", "domain = \"scan\"\nepochs = 3\n");
    sandbox.run(["train", "bad.toml", "--out", "m"]).exits(2).says(["bad.toml", "unknown field `epochs`"]);
    sandbox.write("bad.toml", "");
    sandbox.run(["train", "bad.toml", "--out", "m"]).exits(2).says(["`domain` is missing", "clevr"]);
    sandbox.write("bad.toml", "domain = \"scan\"\n");
    sandbox.run(["train", "bad.toml", "--out", "m"]).exits(2).says(["`data.train` is missing"]);
    assert!(!sandbox.path("m").exists());
}

#[test]
fn settings_that_are_wrong_are_named_with_what_was_expected() {
    let sandbox = Sandbox::with_toy();
    for (setting, text) in [
        ("training.epochs", "expected key=value"),
        ("=3", "expected a key"),
        ("training.epoch=3", "unknown field `epoch`"),
        ("nonsense.epochs=3", "unknown field `nonsense`"),
        ("training.epochs=many", "many"),
        ("training.epochs=-1", "-1"),
        ("training.objective=best", "unknown variant `best`"),
        ("model.search=slow", "unknown variant `slow`"),
        ("domain.name=x", "`domain` is not a section"),
        ("training.epochs=0", "must be at least 1"),
        ("training.rate_head=nan", "`training.rate_head` must be a number"),
        ("training.clip=-1", "`training.clip` must be a number"),
        ("model.hidden=9223372036854775807", "`model.hidden` from 1"),
        ("compact.layers=1000000", "too large"),
        ("training.dropout=1.5", "`training.dropout` must be"),
        ("training.augment_choices=0", "must be from 1 to 1000"),
        ("compact.heads=3", "`compact.heads` must divide"),
        ("training.objective=marginal", "has no objective"),
    ] {
        let outcome = sandbox.run(["train", "run.toml", "--out", "m", "--set", setting]);
        outcome.exits(2).says([text]);
    }
    assert!(!sandbox.path("m").exists());
}

#[test]
fn an_encoder_that_is_not_there_is_named() {
    let sandbox = Sandbox::with_toy();
    sandbox.run(["train", "run.toml", "--out", "m", "--encoder", "./nowhere"]).exits(2).says(["./nowhere"]);
    sandbox.write("empty/readme", "");
    let outcome = sandbox.run(["train", "run.toml", "--out", "m", "--encoder", "./empty"]);
    assert_ne!(outcome.code, Some(0));
    outcome.says(["./empty", "config.json"]);
    // A name on the hub, where nothing listens and nothing was fetched before.
    let hub = sandbox.call(["train", "run.toml", "--out", "m", "--encoder", "someone/some-encoder"]);
    let hub = hub.env("HF_ENDPOINT", "http://127.0.0.1:9").env("HF_HOME", sandbox.path("home"));
    hub.run().exits(2).says(["someone/some-encoder"]);
    assert!(!sandbox.path("m").exists());
}

#[test]
fn data_that_cannot_be_learned_from_is_named() {
    let sandbox = Sandbox::with_toy();
    let check = |content: &str, code: i32, texts: [&str; 2]| {
        sandbox.write("train.jsonl", content);
        sandbox.run(["train", "run.toml", "--out", "m"]).exits(code).says(texts);
    };
    check("", 1, ["train.jsonl", "is empty"]);
    check("\n\n", 1, ["train.jsonl", "is empty"]);
    check("nonsense\n", 1, ["train.jsonl:1", "not valid JSON"]);
    check("{\"utterance\": \"light the hall\"}\n", 1, ["train.jsonl: example 1", "no program"]);
    check(&example("light the hall", "do(on("), 1, ["train.jsonl: example 1", "error: "]);
    // Well-typed, but no word is aligned to `off`.
    check(
        &example("hall", "do(both(on(lamp('hall')), off(lamp('desk'))))"),
        1,
        ["none of the 1", "spanwise check"],
    );
    check(&example("light the hall", "do(explode(lamp('hall')))"), 1, ["none of the 1", "train.jsonl"]);
    std::fs::remove_file(sandbox.path("train.jsonl")).unwrap();
    sandbox.run(["train", "run.toml", "--out", "m"]).exits(2).says(["train.jsonl", "no such file"]);
    std::fs::remove_file(sandbox.path("lamps.toml")).unwrap();
    sandbox.run(["train", "run.toml", "--out", "m"]).exits(2).says(["lamps.toml"]);
    assert!(!sandbox.path("m").exists());
}

#[test]
fn examples_that_cannot_be_derived_are_left_out_and_counted() {
    let sandbox = Sandbox::with_toy();
    let train = sandbox.read("train.jsonl") + &example("light it", "do(on(lamp('hall')))");
    sandbox.write("train.jsonl", train);
    let outcome = sandbox.run(["train", "run.toml", "--out", "m", "--set", "training.epochs=1"]).exits(0);
    outcome.says(["35 training pairs", "left out: 1", "light it"]);
    let row = &sandbox.json_lines("m/metrics.jsonl")[0];
    let share = row["derivable"].as_f64().unwrap();
    assert!((share - 100.0 * 35.0 / 36.0).abs() < 1e-9, "{share}");
}

#[cfg(feature = "geo")]
#[test]
fn every_domain_trains_quickly_on_the_real_data() {
    let Some(data) = releases() else { return };
    let data = Path::new(data).canonicalize().unwrap();
    let sandbox = Sandbox::new();
    for preset in ["geo-iid", "scan-right", "clevr-iid"] {
        let call = ["train", preset, "--quick", "--json", "--out", preset, "--data", data.to_str().unwrap()];
        let metrics = sandbox.run(call).exits(0).json();
        assert!(metrics["dev_exact_match"].is_number(), "{preset}: {metrics}");
    }
}

#[test]
fn a_disk_that_is_really_full_is_an_error() {
    let sandbox = Sandbox::with_toy();
    std::fs::create_dir(sandbox.path("disk")).unwrap();
    // A mount of its own goes away with the shell.
    let script = "exec unshare -m sh -c 'mount -t tmpfs -o size=64k none disk || exit 77; \
        \"$SPANWISE\" train run.toml --out disk/run; code=$?; ls disk/run; exit $code'";
    let outcome = sandbox.shell(script).run();
    if outcome.code == Some(77) || outcome.code == Some(127) || outcome.stderr.contains("unshare") {
        skipped("no small disk can be mounted here");
        return;
    }
    let outcome = outcome.exits(1).says(["error: ", "No space left on device"]);
    assert!(!outcome.stdout.contains("model.json"), "{}", outcome.stdout);
}
