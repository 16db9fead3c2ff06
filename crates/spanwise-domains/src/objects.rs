//! The objects of a context, for models that read a scene instead of running a program in it.

use crate::clevr::Attribute;
use crate::clevr::scene::{Relations, read_compact, relations};
use crate::exec::ExecError;
use serde_json::{Map, Value};

/// Most objects of a scene: to rank them takes time with the square of their number.
const MAX_OBJECTS: usize = 1_000;

/// An object of a scene.
///
/// Its order says nothing about the scene; [`objects`] uses it to give the same list for all orders of a scene's objects.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Object {
    /// Its place along each axis of the scene: how many objects come before it.
    pub ranks: Vec<usize>,
    /// The names and values of its attributes, by name.
    pub attributes: Vec<(String, String)>,
}

/// Reads the objects of a context: CLEVR's compact text, or a JSON object with a list `objects`.
///
/// The attributes of an object in JSON are its fields that are texts. Its axes are left-right and front-back where the
/// scene has `relationships`, or `directions` and `3d_coords`, as CLEVR's scenes do; otherwise every field that is a
/// number in all objects is an axis, such as `x` and `y`.
///
/// The result does not depend on the order in which the context lists its objects.
///
/// ```
/// use serde_json::json;
/// use spanwise_domains::objects::objects;
///
/// let scene = json!({"objects": [{"kind": "lamp", "x": 2.5}, {"kind": "bed", "x": 0.5}, {"kind": "lamp", "x": 4}]});
/// let found: Vec<(usize, String)> =
///     objects(&scene)?.into_iter().map(|it| (it.ranks[0], it.attributes[0].1.clone())).collect();
/// assert_eq!(found, [(0, "bed".into()), (1, "lamp".into()), (2, "lamp".into())]);
/// # Ok::<(), spanwise_domains::exec::ExecError>(())
/// ```
///
/// # Errors
/// [`ExecError::BadContext`] for a context without objects or with one that cannot be read, [`ExecError::Limit`] for one
/// with too many.
pub fn objects(context: &Value) -> Result<Vec<Object>, ExecError> {
    let mut objects = match context {
        Value::String(text) => of_compact(text)?,
        Value::Object(scene) => of_json(scene)?,
        _ => return Err(bad("the scene must be a text or a JSON object".to_owned())),
    };
    objects.sort_unstable();
    Ok(objects)
}

fn bad(message: String) -> ExecError {
    ExecError::BadContext(message)
}

fn check_number(n_objects: usize) -> Result<(), ExecError> {
    let limit = ExecError::Limit { what: "objects in the scene", limit: MAX_OBJECTS as u64 };
    if n_objects > MAX_OBJECTS { Err(limit) } else { Ok(()) }
}

fn of_compact(text: &str) -> Result<Vec<Object>, ExecError> {
    let (names, relations) = read_compact(text)?;
    check_number(names.len())?;
    let object = |(at, values): (usize, [&str; 4])| {
        let named = Attribute::ALL.into_iter().zip(values);
        let mut attributes: Vec<(String, String)> =
            named.map(|(attribute, value)| (attribute.name().to_owned(), value.to_owned())).collect();
        attributes.sort_unstable();
        Object { ranks: relations.ranks(at).to_vec(), attributes }
    };
    Ok(names.into_iter().enumerate().map(object).collect())
}

fn of_json(scene: &Map<String, Value>) -> Result<Vec<Object>, ExecError> {
    let listed = scene.get("objects").and_then(Value::as_array);
    let listed = listed.ok_or_else(|| bad("the scene has no list `objects`".to_owned()))?;
    check_number(listed.len())?;
    let fields: Option<Vec<&Map<String, Value>>> = listed.iter().map(Value::as_object).collect();
    let fields = fields.ok_or_else(|| bad("an object of the scene is no JSON object".to_owned()))?;
    let has_sides = scene.contains_key("relationships") || scene.contains_key("directions");
    let ranks = if has_sides {
        let relations: Relations = relations(scene, listed)?;
        (0..listed.len()).map(|at| relations.ranks(at).to_vec()).collect()
    } else {
        ranks_of_numbers(&fields)
    };
    let object = |(fields, ranks): (&Map<String, Value>, Vec<usize>)| {
        let text = |(name, value): (&String, &Value)| Some((name.clone(), value.as_str()?.to_owned()));
        let mut attributes: Vec<(String, String)> = fields.iter().filter_map(text).collect();
        attributes.sort_unstable();
        Object { ranks, attributes }
    };
    Ok(fields.into_iter().zip(ranks).map(object).collect())
}

/// The ranks of each object along the fields that are numbers in all objects, by their names.
fn ranks_of_numbers(objects: &[&Map<String, Value>]) -> Vec<Vec<usize>> {
    let mut names: Vec<&String> = objects.first().into_iter().flat_map(|first| first.keys()).collect();
    names.sort_unstable();
    let mut ranks = vec![Vec::new(); objects.len()];
    for name in names {
        let values: Option<Vec<f64>> = objects.iter().map(|object| object.get(name)?.as_f64()).collect();
        let Some(values) = values else { continue };
        for (ranks, value) in ranks.iter_mut().zip(&values) {
            ranks.push(values.iter().filter(|other| *other < value).count());
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    const COMPACT: &str =
        "cube rubber large red 2 0***sphere metal small blue 0 1***cube metal small red 1 2";

    fn message(context: &Value) -> String {
        objects(context).unwrap_err().to_string()
    }

    #[test]
    fn the_notations_of_a_scene_give_the_same_objects_in_whatever_order_they_are_listed() {
        let object = |shape: &str, material: &str, size: &str, color: &str, x: f64, y: f64| {
            json!({
                "shape": shape, "material": material, "size": size, "color": color, "3d_coords": [x, y, 0.3],
                "pixel_coords": [1, 2, 3.5], "rotation": x
            })
        };
        let listed = [
            object("cube", "rubber", "large", "red", 3.0, 2.0),
            object("sphere", "metal", "small", "blue", -3.0, 0.0),
            object("cube", "metal", "small", "red", 0.5, -2.0),
        ];
        let directions = json!({"right": [1, 0, 0], "front": [0, 1, 0]});
        let relationships = json!({
            "left": [[1, 2], [], [1]], "right": [[], [0, 2], [0]],
            "front": [[], [0], [0, 1]], "behind": [[1, 2], [2], []]
        });
        let expected = objects(&json!(COMPACT)).unwrap();
        assert_eq!(expected[0].ranks, [0, 1]);
        let sphere = [("color", "blue"), ("material", "metal"), ("shape", "sphere"), ("size", "small")];
        assert_eq!(expected[0].attributes, sphere.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let related = json!({"objects": listed, "relationships": relationships});
        assert_eq!(objects(&related).unwrap(), expected);
        for order in [[0, 1, 2], [2, 0, 1], [1, 2, 0]] {
            let shuffled = order.map(|at| listed[at].clone());
            let scene = json!({"objects": shuffled, "directions": directions});
            assert_eq!(objects(&scene).unwrap(), expected);
            let parts: Vec<&str> = COMPACT.split("***").collect();
            assert_eq!(objects(&json!(order.map(|at| parts[at]).join("***"))).unwrap(), expected);
        }
    }

    #[test]
    fn values_that_no_domain_has_are_read_as_they_are() {
        let found = objects(&json!("cone glass tiny pink 0 0")).unwrap();
        assert!(found[0].attributes.contains(&("shape".to_owned(), "cone".to_owned())));
    }

    #[test]
    fn numbers_that_all_objects_have_are_axes() {
        let scene =
            json!({"objects": [{"y": 1, "x": 5.5, "age": 3, "kind": "a"}, {"x": 5, "kind": "b", "y": 1}]});
        let found: Vec<Vec<usize>> = objects(&scene).unwrap().into_iter().map(|it| it.ranks).collect();
        // First x, then y; two objects at one place have the same rank.
        assert_eq!(found, [[0, 0], [1, 0]]);
        assert_eq!(objects(&json!({"objects": []})).unwrap(), []);
    }

    #[test]
    fn a_context_without_objects_has_a_reason() {
        assert_eq!(message(&json!(7)), "the scene must be a text or a JSON object");
        assert_eq!(message(&json!({"things": []})), "the scene has no list `objects`");
        assert_eq!(message(&json!({"objects": [3]})), "an object of the scene is no JSON object");
        assert!(message(&json!("cube red 1 2")).starts_with("object 0 has 4 fields; expected"));
        let many = vec!["cube rubber large red 0 0"; MAX_OBJECTS + 1].join("***");
        assert_eq!(message(&json!(many)), "evaluation stopped: more than 1000 objects in the scene");
    }
}
