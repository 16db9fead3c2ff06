//! What is learned from scenes, what does not matter, and what is refused.

use super::*;
use crate::family::{Compact, Objective, Task};
use crate::outcome::{Answered, Predicted, Refused};
use serde_json::json;
use spanwise_core::{Random, Utterance};
use spanwise_lang::Domain;
use spanwise_lang::domain::NoTables;
use spanwise_nn::{AdamW, AdamWConfig, Noise, Rates};
use spanwise_reading::Cause;
use std::path::Path;
use std::sync::Arc;

const KINDS: [&str; 3] = ["bed", "door", "lamp"];
const COLORS: [&str; 2] = ["blue", "red"];
const QUESTIONS: [&str; 4] =
    ["how many lamps are there", "is there a red door", "what is the leftmost thing", "what color is it"];

/// A scene with up to three things from left to right, and the answers to all questions about it. The last one is about the
/// leftmost thing.
fn scene(random: &mut Random) -> (Value, [String; 4]) {
    let n = 1 + random.below(3);
    let things: Vec<(&str, &str)> =
        (0..n).map(|_| (KINDS[random.below(3)], COLORS[random.below(2)])).collect();
    let objects: Vec<Value> =
        (0..n).map(|x| json!({"kind": things[x].0, "color": things[x].1, "x": 10 * x})).collect();
    let n_lamps = things.iter().filter(|thing| thing.0 == "lamp").count();
    let is_there = if things.contains(&("door", "red")) { "yes" } else { "no" };
    let answers = [n_lamps.to_string(), is_there.to_owned(), things[0].0.to_owned(), things[0].1.to_owned()];
    (json!({"objects": objects}), answers)
}

fn pairs(seed: u64, n_scenes: usize) -> Vec<Pair> {
    let mut random = Random::new(seed, &[]);
    let of_scene = |_| {
        let (scene, answers) = scene(&mut random);
        let context = Arc::new(scene);
        let pair = |(text, answer): (&str, String)| Pair {
            utterance: Utterance::new(text),
            gold: Gold::Answer { answer, context: Arc::clone(&context) },
        };
        QUESTIONS.into_iter().zip(answers).map(pair).collect::<Vec<_>>()
    };
    (0..n_scenes).flat_map(of_scene).collect()
}

fn domain() -> Arc<Domain> {
    let source = "name = 'd'\ntypes = ['A']\nroot.types = ['A']\nconstants = { x = 'A' }\n";
    Arc::new(Domain::load(source, "d.toml", None, &NoTables).unwrap())
}

fn build(pairs: &[Pair], encoder: EncoderSource<'_>) -> Result<End2End, BuildError> {
    let domain = domain();
    let terms = domain.new_terms();
    End2End::build(End2EndSettings {}, Blueprint { domain, terms: &terms, pairs, encoder, seed: 1 })
}

fn small(pairs: &[Pair]) -> End2End {
    let shape =
        Compact { hidden: 32, layers: 2, heads: 2, intermediate: 64, ngram_buckets: 16, min_count: 1 };
    build(pairs, EncoderSource::Compact { shape: &shape, dropout: 0.0 }).unwrap()
}

fn bert(pairs: &[Pair], frozen_layers: usize) -> Result<End2End, BuildError> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../spanwise-nn/tests/data/tiny-bert");
    build(pairs, EncoderSource::Pretrained { directory: &directory, frozen_layers })
}

fn answer_in(model: &End2End, text: &str, context: Option<&Value>) -> Result<Answered, Refused> {
    let request = Request { context, ..Request::new(Utterance::new(text)) };
    let parsed = model.parse_batch(vec![request], false).remove(0);
    parsed.predicted.map(|predicted| match predicted {
        Predicted::Answer(answered) => *answered,
        Predicted::Program(_) => panic!("it gives no programs"),
    })
}

fn n_right(model: &End2End, pairs: &[Pair]) -> usize {
    let is_right = |pair: &&Pair| {
        let Gold::Answer { answer, context } = &pair.gold else { return false };
        answer_in(model, pair.utterance.text(), Some(context)).unwrap().answer == *answer
    };
    pairs.iter().filter(is_right).count()
}

fn shard<'a>(terms: &'a spanwise_lang::Terms, tasks: &'a [Task<'a>]) -> Shard<'a> {
    Shard {
        terms,
        tasks,
        objective: Objective::Crf,
        noise: Noise { dropout: 0.0, seed: 0 },
        scale: 1.0 / tasks.len() as f32,
        encoder_only: false,
    }
}

fn train(model: &mut End2End, pairs: &[Pair], epochs: usize, rate: f32) {
    let terms = domain().new_terms();
    let tasks: Vec<Task<'_>> = pairs.iter().map(|pair| Task { pair, lower: None, weight: 1.0 }).collect();
    let mut adam = AdamW::new(AdamWConfig::default(), model.params());
    for _ in 0..epochs {
        for batch in tasks.chunks(32) {
            let found = model.gradients(&shard(&terms, batch));
            assert_eq!(found.n_learned, batch.len());
            let rates = Rates { encoder: rate, head: rate, table: 0.0 };
            adam.step(model.params_mut(), &found.gradients, rates);
        }
    }
}

#[test]
fn answers_that_depend_on_the_scene_are_learned() {
    let pairs = pairs(1, 60);
    let mut model = small(&pairs);
    assert_eq!(model.answers, ["0", "1", "2", "3", "bed", "blue", "door", "lamp", "no", "red", "yes"]);
    train(&mut model, &pairs, 40, 4e-3);
    assert_eq!(n_right(&model, &pairs), pairs.len());
    let other = self::pairs(2, 25);
    assert!(n_right(&model, &other) > 75, "{} of 100", n_right(&model, &other));
    for pair in &pairs[..4] {
        let Gold::Answer { context, .. } = &pair.gold else { panic!("an answer is learned") };
        let posterior = answer_in(&model, pair.utterance.text(), Some(context)).unwrap().posterior;
        assert!(posterior > 0.5 && posterior <= 1.0, "{posterior}");
    }
}

#[test]
fn a_pretrained_encoder_learns_with_and_without_frozen_layers() {
    let pairs = pairs(1, 6);
    for frozen_layers in [0, 1] {
        let mut model = bert(&pairs, frozen_layers).unwrap();
        let before = n_right(&model, &pairs);
        train(&mut model, &pairs, 60, 3e-3);
        assert!(n_right(&model, &pairs) > before.max(20), "{} of 24", n_right(&model, &pairs));
    }
}

#[test]
fn the_order_in_which_a_scene_lists_its_objects_changes_nothing() {
    let pairs = pairs(1, 20);
    for model in [small(&pairs), bert(&pairs, 1).unwrap()] {
        for seed in 0..10 {
            let (scene, _) = scene(&mut Random::new(seed, &[7]));
            let mut turned = scene.clone();
            turned["objects"].as_array_mut().unwrap().reverse();
            for text in QUESTIONS {
                let [a, b] = [&scene, &turned].map(|scene| answer_in(&model, text, Some(scene)).unwrap());
                assert_eq!(a, b);
            }
        }
    }
}

#[test]
fn a_batch_gives_what_its_questions_give_one_by_one() {
    let pairs = pairs(1, 20);
    let model = small(&pairs);
    let (scene, _) = scene(&mut Random::new(3, &[]));
    let contexts = [Some(&scene), None, Some(&scene)];
    let texts = [QUESTIONS[0], QUESTIONS[1], QUESTIONS[3]];
    let request = |(text, context)| Request { context, ..Request::new(Utterance::new(text)) };
    let batch = model.parse_batch(texts.into_iter().zip(contexts).map(request).collect(), true);
    for ((parsed, text), context) in batch.iter().zip(texts).zip(contexts) {
        assert_eq!(parsed.utterance.text(), text);
        match (&parsed.predicted, answer_in(&model, text, context)) {
            (Ok(Predicted::Answer(together)), Ok(alone)) => {
                assert_eq!(together.answer, alone.answer);
                assert!((together.posterior - alone.posterior).abs() < 1e-5);
                assert_eq!(parsed.word_vectors.len(), together.utterance.len() * 32);
            }
            (Err(together), Err(alone)) => assert_eq!(*together, alone),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_question_without_words_or_without_a_scene_has_a_reason() {
    let pairs = pairs(1, 4);
    let model = small(&pairs);
    let refused = |text: &str, context: Option<&Value>| {
        let Refused { cause, reason } = answer_in(&model, text, context).unwrap_err();
        let work = model.work(&Request { context, ..Request::new(Utterance::new(text)) });
        assert_eq!(work, 0);
        (cause, reason)
    };
    let (cause, reason) = refused("how many lamps", None);
    assert_eq!(cause, Cause::NoProgram);
    assert!(reason.contains("a scene, and there is none"), "{reason}");
    let (_, reason) = refused("how many lamps", Some(&json!({"things": 3})));
    assert_eq!(reason, "the scene has no list `objects`");
    assert_eq!(refused(" ", Some(&json!({"objects": []}))).1, "the utterance has no words");
    let many = json!({"objects": vec![json!({}); 1_001]});
    assert_eq!(refused("how many lamps", Some(&many)).0, Cause::TooCostly);
    let (cause, reason) = refused(&"many ".repeat(6_000), Some(&json!({"objects": []})));
    assert_eq!(cause, Cause::TooCostly);
    assert!(reason.contains("word-pieces"), "{reason}");
    let (cause, reason) = refused(&"many ".repeat(4_800), Some(&json!({"objects": []})));
    assert_eq!(cause, Cause::TooCostly);
    assert!(reason.contains("the limit on memory"), "{reason}");
}

#[test]
fn values_and_objects_that_training_does_not_have_are_answered_about_all_the_same() {
    let pairs = pairs(1, 10);
    let model = small(&pairs);
    for scene in [
        json!({"objects": [{"kind": "sofa", "color": "green", "x": 1}]}),
        json!({"objects": [{"weight": "heavy"}]}),
        json!({"objects": vec![json!({"kind": "lamp", "color": "red", "x": 1}); 50]}),
        json!({"objects": []}),
        json!("cube rubber large red 0 0"),
    ] {
        let answered = answer_in(&model, QUESTIONS[2], Some(&scene)).unwrap();
        assert!(model.class(&answered.answer).is_some() && answered.posterior > 0.0);
        assert!(model.work(&Request { context: Some(&scene), ..Request::new(Utterance::new("x")) }) > 0);
    }
}

#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f32 = 4e-3;
    let pairs = pairs(1, 3);
    let terms = domain().new_terms();
    let tasks: Vec<Task<'_>> = pairs.iter().map(|pair| Task { pair, lower: None, weight: 1.0 }).collect();
    let mut model = small(&pairs);
    let shard = Shard { scale: 1.0, ..shard(&terms, &tasks) };
    let gradients = model.gradients(&shard).gradients;
    let ids: Vec<_> = model.params().shapes().map(|(id, name, ..)| (id, name.to_owned())).collect();
    for ((id, name), gradient) in ids.into_iter().zip(gradients) {
        let (gradient, values) = (gradient.unwrap(), model.params().values(id));
        // Along the gradient itself.
        let norm = gradient.iter().map(|g| g * g).sum::<f32>().sqrt();
        if norm < 1e-3 {
            continue;
        }
        let mut loss = |step: f32| {
            let moved = values.iter().zip(&gradient).map(|(value, g)| value + step * g / norm).collect();
            model.params_mut().set(id, moved);
            model.gradients(&shard).loss
        };
        let found = ((loss(STEP) - loss(-STEP)) / f64::from(2.0 * STEP)) as f32;
        model.params_mut().set(id, values);
        assert!((found - norm).abs() < 2e-2 * (1.0 + norm), "{name}: {found} {norm}");
    }
}

#[test]
fn examples_that_no_answer_can_be_learned_from_are_refused() {
    let failed = |pairs: &[Pair]| match build(
        pairs,
        EncoderSource::Compact { shape: &Compact::default(), dropout: 0.0 },
    ) {
        Err(BuildError::Examples(reason)) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(failed(&[]), "there is no answer to choose");
    let program = domain().new_terms().parse("x").unwrap();
    let pair = Pair::new(Utterance::new("how many"), program);
    assert_eq!(failed(&[pair]), "`how many` has no answer to learn from");
    let answer = |answer: String, scene: Value| Pair {
        utterance: Utterance::new("how many"),
        gold: Gold::Answer { answer, context: Arc::new(scene) },
    };
    let broken = answer("1".to_owned(), json!("cube"));
    assert!(failed(&[broken]).starts_with("the scene of `how many`: object 0 has 1 fields"));
    let many: Vec<Pair> =
        (0..=MAX_ANSWERS).map(|at| answer(at.to_string(), json!({"objects": []}))).collect();
    assert!(failed(&many).starts_with("there are 10001 different answers"));
    let Err(BuildError::Encoder(reason)) = bert(&pairs(1, 1), 3) else { panic!("no layer reads objects") };
    assert!(reason.contains("`training.frozen_layers`, which is 3"), "{reason}");
}
