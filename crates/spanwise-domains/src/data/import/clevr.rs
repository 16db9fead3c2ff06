//! Converts CLEVR's question and scene files to examples.
//!
//! Questions are joined with their scenes by the number of the picture, and their functional programs become programs
//! of our language. Questions are parsed one at a time, because the question file is large.

use super::ImportError;
use super::clevr_program::program;
use super::elements::elements;
use crate::clevr::Scene;
use crate::data::example::Example;
use crate::data::message::{json_reason, shown};
use hashbrown::HashMap;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// The examples of a question file, in its order, each with the scene it is about.
///
/// The scene is written compactly where that loses nothing, and otherwise left as it is. Without `scenes`
/// (CLEVR publishes none for its test questions) the examples have no context; questions without a program
/// have none afterwards. Other fields of a question are kept.
///
/// # Errors
/// Names the question or scene that is not as expected.
pub fn clevr(questions: &str, scenes: Option<&str>) -> Result<Vec<Example>, ImportError> {
    clevr_stream(questions, scenes)?.collect()
}

/// The same, one example at a time: CLEVR has 700,000 train questions.
///
/// # Errors
/// As [`clevr`]. Scenes are parsed at once, questions when the iterator reaches them.
pub fn clevr_stream<'a>(
    questions: &'a str,
    scenes: Option<&str>,
) -> Result<impl Iterator<Item = Result<Example, ImportError>> + use<'a>, ImportError> {
    let scenes = scenes.map(Scenes::read).transpose()?;
    let file_error = |reason| ImportError::ClevrFile { file: "questions", reason };
    let questions = elements(questions, "questions").map_err(file_error)?;
    if questions.is_empty() {
        return Err(ImportError::Nothing { expected: "a non-empty list `questions`" });
    }
    Ok(questions.into_iter().enumerate().map(move |(index, question)| {
        let entry = |reason| ImportError::ClevrEntry { entry: "question", index, reason };
        value(question).and_then(|question| example(question, scenes.as_ref())).map_err(entry)
    }))
}

fn value(element: &RawValue) -> Result<Value, String> {
    serde_json::from_str(element.get()).map_err(|error| format!("not valid JSON: {}", json_reason(&error)))
}

fn example(question: Value, scenes: Option<&Scenes>) -> Result<Example, String> {
    let Value::Object(mut fields) = question else { return Err("expected a JSON object".to_owned()) };
    let context = scenes.map(|scenes| scenes.of(&fields).cloned()).transpose()?;
    let program = match fields.shift_remove("program") {
        None | Some(Value::Null) => None,
        Some(Value::Array(steps)) => Some(program(&steps)?),
        Some(_) => return Err("`program` must be a list of steps".to_owned()),
    };
    let answer = match fields.shift_remove("answer") {
        None | Some(Value::Null) => None,
        Some(Value::String(answer)) => Some(answer),
        Some(Value::Number(answer)) => Some(answer.to_string()),
        Some(Value::Bool(answer)) => Some(if answer { "yes" } else { "no" }.to_owned()),
        Some(_) => return Err("`answer` must be a text, a number or a truth value".to_owned()),
    };
    let utterance = match fields.shift_remove("question") {
        Some(Value::String(utterance)) if !utterance.trim().is_empty() => utterance,
        _ => return Err("expected a text in the field `question`".to_owned()),
    };
    Ok(Example { utterance, program, answer, context, extra: fields, ..Example::default() })
}

/// Scenes by the number of their picture.
struct Scenes {
    /// Each scene, with the file name of its picture.
    by_image: HashMap<u64, (Value, Option<String>)>,
}

impl Scenes {
    fn read(text: &str) -> Result<Self, ImportError> {
        let file_error = |reason| ImportError::ClevrFile { file: "scenes", reason };
        let mut by_image = HashMap::new();
        for (index, scene) in elements(text, "scenes").map_err(file_error)?.into_iter().enumerate() {
            let fail = |reason| ImportError::ClevrEntry { entry: "scene", index, reason };
            let scene = value(scene).map_err(fail)?;
            let parsed = Scene::from_context(&scene).map_err(|error| fail(error.to_string()))?;
            let image = scene.get("image_index").and_then(Value::as_u64).unwrap_or(index as u64);
            let image_name = scene.get("image_filename").and_then(Value::as_str).map(ToOwned::to_owned);
            let context = parsed.to_compact().map_or(scene, Value::String);
            if by_image.insert(image, (context, image_name)).is_some() {
                return Err(fail(format!("there is another scene with `image_index` {image}")));
            }
        }
        Ok(Self { by_image })
    }

    /// The scene that a question is about.
    fn of(&self, question: &Map<String, Value>) -> Result<&Value, String> {
        let image = question.get("image_index").and_then(Value::as_u64);
        let image = image.ok_or("expected a number in the field `image_index`")?;
        let (scene, scene_name) = self
            .by_image
            .get(&image)
            .ok_or_else(|| format!("there is no scene with `image_index` {image}"))?;
        match (question.get("image_filename").and_then(Value::as_str), scene_name) {
            (Some(name), Some(scene_name)) if name != scene_name => Err(format!(
                "it is about `{}` but the scene with `image_index` {image} is of `{}` \
                 (hint: take questions and scenes of the same part of CLEVR)",
                shown(name),
                shown(scene_name)
            )),
            _ => Ok(scene),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn scene(image: u64, name: &str) -> Value {
        let object = json!({"shape": "cube", "material": "metal", "size": "small", "color": "red"});
        let other = json!({"shape": "sphere", "material": "rubber", "size": "large", "color": "blue"});
        let relationships =
            json!({"left": [[], [0]], "right": [[1], []], "front": [[1], []], "behind": [[], [0]]});
        let objects = [object, other];
        json!({"image_index": image, "image_filename": name, "objects": objects,
            "relationships": relationships})
    }

    fn import(question: &Value, scenes: &[Value]) -> Result<Vec<Example>, String> {
        let questions = json!({"info": {}, "questions": [question]}).to_string();
        let scenes = json!({"scenes": scenes}).to_string();
        clevr(&questions, Some(&scenes)).map_err(|error| error.to_string())
    }

    #[test]
    fn a_question_gets_its_program_answer_and_scene() {
        let program = json!([
            {"function": "scene", "inputs": [], "value_inputs": []},
            {"type": "count", "inputs": [0], "side_inputs": []},
        ]);
        let question = json!({"image_index": 7, "image_filename": "x.png",
            "question": "How many?", "answer": 2, "program": program});
        let examples = import(&question, &[scene(3, "w.png"), scene(7, "x.png")]).unwrap();
        let line = [
            r#"{"utterance":"How many?","program":"count ( scene ( ) )","answer":"2","#,
            r#""context":"cube metal small red 0 1***sphere rubber large blue 1 0","#,
            r#""image_index":7,"image_filename":"x.png"}"#,
        ]
        .concat();
        assert_eq!(examples[0].to_json().to_string(), line);
    }

    #[test]
    fn test_questions_need_neither_program_nor_scene() {
        let examples =
            clevr(r#"{"questions": [{"question": "How many?", "image_index": 0}]}"#, None).unwrap();
        assert_eq!((&examples[0].program, &examples[0].context), (&None, &None));
    }

    #[test]
    fn a_scene_that_ranks_cannot_express_stays_as_it_is() {
        let mut abreast = scene(0, "x.png");
        abreast["relationships"]["left"] = json!([[], []]);
        abreast["relationships"]["right"] = json!([[], [0]]);
        let examples = import(&json!({"question": "q", "image_index": 0}), &[abreast.clone()]).unwrap();
        assert_eq!(examples[0].context, Some(abreast));
    }

    #[test]
    fn what_is_wrong_is_named_with_its_place() {
        let check = |question: Value, message: &str| {
            assert_eq!(import(&question, &[scene(0, "x.png")]).unwrap_err(), message);
        };
        check(json!(3), "question 0: expected a JSON object");
        check(json!({"question": "q"}), "question 0: expected a number in the field `image_index`");
        check(
            json!({"question": "q", "image_index": 5}),
            "question 0: there is no scene with `image_index` 5",
        );
        check(json!({"image_index": 0}), "question 0: expected a text in the field `question`");
        check(json!({"image_index": 0, "program": 1}), "question 0: `program` must be a list of steps");
        check(
            json!({"image_index": 0, "image_filename": "y.png", "question": "q"}),
            "question 0: it is about `y.png` but the scene with `image_index` 0 is of `x.png` \
             (hint: take questions and scenes of the same part of CLEVR)",
        );
        let question = json!({"question": "q", "image_index": 0});
        assert_eq!(
            import(&question, &[scene(0, "x"), scene(0, "x")]).unwrap_err(),
            "scene 1: there is another scene with `image_index` 0"
        );
        assert_eq!(import(&question, &[json!({})]).unwrap_err(), "scene 0: the scene has no list `objects`");
        let error = |questions| clevr(questions, None).unwrap_err().to_string();
        assert_eq!(error("{\"a\": 1}"), "the questions file: there is no list `questions`");
        assert_eq!(error("{\"questions\": [{}]}"), "question 0: expected a text in the field `question`");
        assert_eq!(error("{\"questions\": []}"), "no example found; expected a non-empty list `questions`");
        let broken = "{\"questions\": [\n{\"question\": \"q\"},\n{]}";
        assert_eq!(error(broken), "the questions file: not valid JSON at line 3: key must be a string");
    }
}
