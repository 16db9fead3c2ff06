//! Models that were damaged or made to do harm: each is refused, in words and in no time.

use super::*;

/// Files of a model with everything that one can have: confidence, and an executor of its own.
fn complete() -> Saved {
    let (home, domain) = with_executor();
    let Model { family, confidence, training, .. } = calibrated();
    let mut model = Model::new(domain, family, Some(home.path()));
    (model.confidence, model.training) = (confidence, training);
    let directory = tempfile::tempdir().unwrap();
    model.save(directory.path()).unwrap();
    Saved { directory }
}

#[test]
fn a_flipped_bit_anywhere_in_a_model_is_a_clear_error() {
    let saved = complete();
    let place = saved.path().to_str().unwrap();
    let mut paths: Vec<PathBuf> = fs::read_dir(place).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    assert_eq!(paths.len(), 4, "model.json, weights, tokenizer and the executor's file");
    let mut n_flips = 0;
    for path in paths {
        let whole = fs::read(&path).unwrap();
        // Every byte of the manifest and of small files, and many of the others.
        let step = if path.ends_with("model.json") { 1 } else { (whole.len() / 200).max(1) };
        for at in (0..whole.len()).step_by(step) {
            let mut bytes = whole.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, bytes).unwrap();
            let error = Model::load(saved.path()).err().map(|error| error.to_string());
            let error = error.unwrap_or_else(|| panic!("{}: bit {} of byte {at}", path.display(), at % 8));
            let is_clear = ["damaged", "changed after it was saved", "update spanwise"];
            assert!(error.contains(place) && is_clear.iter().any(|text| error.contains(text)), "{error}");
            n_flips += 1;
        }
        fs::write(&path, whole).unwrap();
    }
    assert!(n_flips > 2_000 && Model::load(saved.path()).is_ok());
}

#[test]
fn a_manifest_that_was_edited_by_hand_is_refused_with_advice() {
    let saved = Saved::new();
    let text = fs::read_to_string(saved.file("model.json")).unwrap();
    for changed in [
        text.replace("\"note\": \"random\"", "\"note\": \"edited\""),
        text.replace("porch", "").replace("hall", "loft"),
        format!("{text}\n"),
        text.lines().filter(|line| !line.contains("\"digest\"")).collect::<Vec<_>>().join("\n"),
    ] {
        assert_ne!(changed, text);
        fs::write(saved.file("model.json"), changed).unwrap();
        let error = saved.error();
        for part in ["model.json was changed after it was saved", "train again", "digest"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

#[test]
fn models_without_digests_load_with_a_warning_until_they_are_saved_again() {
    for version in ["v1", "v2", "v3"] {
        let saved = fixture(version);
        let model = Model::load(saved.path()).unwrap();
        let [warning] = model.warnings() else { panic!("{version}: {:?}", model.warnings()) };
        assert!(warning.contains("without a digest") && warning.contains("model.json"), "{warning}");
        assert!(warning.contains(&format!("version {}", &version[1..])), "{warning}");
        model.save(saved.path()).unwrap();
        assert!(Model::load(saved.path()).unwrap().warnings().is_empty());
    }
    assert!(Model::load(fixture("v4").path()).unwrap().warnings().is_empty());
    // A digest that is there counts, whatever the version.
    let saved = Saved::new();
    let text = fs::read_to_string(saved.file("model.json")).unwrap();
    fs::write(saved.file("model.json"), text.replace("\"version\": 4", "\"version\": 3")).unwrap();
    assert!(saved.error().contains("was changed"));
}

#[test]
fn special_and_oversized_files_are_refused_at_once() {
    for role in ["model.json", "tokenizer", "weights"] {
        let refused = |make: &dyn Fn(&Path), text: &str| {
            let saved = Saved::new();
            let path = saved.file(role);
            fs::remove_file(&path).unwrap();
            make(&path);
            let (sender, receiver) = std::sync::mpsc::channel();
            thread::spawn(move || sender.send(saved.error()));
            let error = receiver.recv_timeout(std::time::Duration::from_secs(20));
            let error = error.unwrap_or_else(|_| panic!("loading a {role} that is {text} hangs"));
            assert!(error.contains(text), "{error}");
        };
        refused(&|path| fs::create_dir(path).unwrap(), "not a regular file");
        let long = |path: &Path| fs::File::create(path).unwrap().set_len(9 << 30).unwrap();
        refused(&long, "larger than");
        #[cfg(unix)]
        {
            let pipe = |path: &Path| {
                assert!(std::process::Command::new("mkfifo").arg(path).status().unwrap().success());
            };
            refused(&pipe, "not a regular file");
            let endless = |path: &Path| std::os::unix::fs::symlink("/dev/zero", path).unwrap();
            refused(&endless, "not a regular file");
        }
    }
}

#[test]
fn nesting_without_end_is_an_error_and_no_overflow_of_the_stack() {
    let deep = format!("{}{}", "[".repeat(200_000), "]".repeat(200_000));
    let saved = Saved::new();
    let whole = fs::read_to_string(saved.file("model.json")).unwrap();
    let nested = whole.replace("\"note\": \"random\"", &format!("\"note\": {deep}"));
    assert_ne!(nested, whole);
    fs::write(saved.file("model.json"), nested).unwrap();
    assert!(saved.error().contains("recursion"));
    for source in [format!("types = {deep}"), format!("a{} = 1", ".a".repeat(200_000))] {
        let saved = Saved::new();
        saved.edit(|model| model["domain"]["source"] = json!(source));
        assert!(saved.error().contains("does not load"));
    }
}
