//! Scenes: the context that CLEVR programs are evaluated in.
//!
//! A scene is read from one of two notations: the compact line of the data sets (objects separated by `***`, each
//! `shape material size color left_rank front_rank`), and the JSON object of CLEVR's own scene files.

use super::set::ObjectSet;
use super::words::{Attribute, AttributeValue, Direction};
use crate::data::message::{did_you_mean, shown};
use crate::exec::ExecError;
use serde_json::{Map, Value};
use std::fmt::Write as _;

/// How far apart two objects must lie along a direction before one is on that side of the other: the
/// threshold of CLEVR's generator, needed only where a scene gives coordinates instead of relationships.
const MARGIN: f64 = 0.2;

const COMPACT_FORM: &str = "`shape material size color left_rank front_rank`, objects separated by `***`";

/// The objects of one picture and their positions.
///
/// ```
/// use spanwise_domains::clevr::Scene;
///
/// let line = "cube rubber large red 1 0***sphere metal small blue 0 1";
/// let scene = Scene::from_compact(line).unwrap();
/// assert_eq!((scene.len(), scene.to_compact().as_deref()), (2, Some(line)));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Scene {
    objects: Vec<[AttributeValue; 4]>,
    relations: Relations,
}

/// Where objects are, as far as it matters: which are on which side of which.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Relations {
    /// Positions along two axes; objects closer than `margin` along an axis are on no side of each other.
    Axes { rightward: Vec<f64>, frontward: Vec<f64>, margin: f64 },
    /// For each direction (in the order of [`Direction::ALL`]) and object, the objects on that side of it.
    Lists([Vec<Vec<u32>>; 4]),
}

impl Scene {
    /// Reads a scene in either notation.
    ///
    /// # Errors
    /// [`ExecError::BadContext`] names the object and the field at fault.
    pub fn from_context(context: &Value) -> Result<Self, ExecError> {
        match context {
            Value::String(text) => Self::from_compact(text),
            Value::Object(scene) => Self::from_json(scene),
            _ => Err(bad("the scene must be a text or a JSON object".to_owned())),
        }
    }

    /// Reads `cube rubber large red 1 0***sphere metal small blue 0 1`.
    ///
    /// # Errors
    /// As [`Scene::from_context`].
    pub fn from_compact(text: &str) -> Result<Self, ExecError> {
        let (names, relations) = read_compact(text)?;
        let objects = names.into_iter().enumerate().map(|(at, names)| attribute_values(at, names));
        Ok(Self { objects: objects.collect::<Result<_, _>>()?, relations })
    }

    /// Reads one scene of a CLEVR scenes file. Where it has no `relationships` they follow from the objects'
    /// `3d_coords` and the scene's `directions`, as in CLEVR's generator.
    ///
    /// # Errors
    /// As [`Scene::from_context`].
    pub fn from_json(scene: &Map<String, Value>) -> Result<Self, ExecError> {
        let listed = scene.get("objects").and_then(Value::as_array);
        let listed = listed.ok_or_else(|| bad("the scene has no list `objects`".to_owned()))?;
        let mut objects = Vec::with_capacity(listed.len());
        for (object_idx, object) in listed.iter().enumerate() {
            let mut names = [""; 4];
            for (name, attribute) in names.iter_mut().zip(Attribute::ALL) {
                *name = object.get(attribute.name()).and_then(Value::as_str).ok_or_else(|| {
                    bad(format!("object {object_idx} of the scene has no text field `{}`", attribute.name()))
                })?;
            }
            objects.push(attribute_values(object_idx, names)?);
        }
        Ok(Self { objects, relations: relations(scene, listed)? })
    }

    /// Number of objects.
    #[must_use]
    pub fn len(&self) -> usize {
        self.objects.len()
    }

    /// Whether the picture shows nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.objects.is_empty()
    }

    /// The scene as one compact line, or `None` where ranks cannot express its relations: when two objects
    /// are on no side of each other, or sides go round in a circle. Neither occurs in CLEVR's own scenes.
    #[must_use]
    pub fn to_compact(&self) -> Option<String> {
        let n_objects = self.len();
        let mut text = String::new();
        for (object_idx, values) in self.objects.iter().enumerate() {
            let separator = if object_idx == 0 { "" } else { "***" };
            let [shape, material, size, color] = values.map(AttributeValue::name);
            let left_rank = self.related(Direction::Left, object_idx).len();
            let front_rank = self.related(Direction::Front, object_idx).len();
            let _ = write!(text, "{separator}{shape} {material} {size} {color} {left_rank} {front_rank}");
        }
        let read_back = Self::from_compact(&text).ok()?;
        let same = |direction| {
            (0..n_objects)
                .all(|object| self.related(direction, object) == read_back.related(direction, object))
        };
        Direction::ALL.into_iter().all(same).then_some(text)
    }

    pub(super) fn value(&self, object: usize, attribute: Attribute) -> AttributeValue {
        // Attributes are declared in the order of `Attribute::ALL`.
        self.objects[object][attribute as usize]
    }

    /// The objects that lie in that direction, seen from `object`. Cost: linear in the number of objects.
    pub(super) fn related(&self, direction: Direction, object: usize) -> ObjectSet {
        self.relations.related(direction, object)
    }
}

impl Relations {
    /// The objects that lie in that direction, seen from `object`.
    fn related(&self, direction: Direction, object: usize) -> ObjectSet {
        match self {
            Self::Lists(lists) => {
                let lists = &lists[direction as usize];
                ObjectSet::from_list(lists.len(), &lists[object])
            }
            Self::Axes { rightward, frontward, margin } => {
                let (axis, sign) = match direction {
                    Direction::Right => (rightward, 1.0),
                    Direction::Left => (rightward, -1.0),
                    Direction::Front => (frontward, 1.0),
                    Direction::Behind => (frontward, -1.0),
                };
                ObjectSet::from_fn(axis.len(), |other| sign * (axis[other] - axis[object]) > *margin)
            }
        }
    }

    /// How many objects lie to the left of an object, and how many in front of it.
    pub(crate) fn ranks(&self, object: usize) -> [usize; 2] {
        [Direction::Left, Direction::Front].map(|direction| self.related(direction, object).len())
    }
}

/// The words of each object of a compact scene (shape, material, size and color, whatever they are), and where the objects
/// are.
///
/// # Errors
/// [`ExecError::BadContext`] for an object that has not six fields, or ranks that are no numbers.
pub(crate) fn read_compact(text: &str) -> Result<(Vec<[&str; 4]>, Relations), ExecError> {
    if text.trim().is_empty() {
        return Err(bad(format!("the scene is empty; expected {COMPACT_FORM}")));
    }
    let (mut names, mut rightward, mut frontward) = (Vec::new(), Vec::new(), Vec::new());
    for (object_idx, object) in text.split("***").enumerate() {
        let fields: Vec<&str> = object.split_whitespace().collect();
        let [shape, material, size, color, left_rank, front_rank] = fields[..] else {
            let n_fields = fields.len();
            return Err(bad(format!("object {object_idx} has {n_fields} fields; expected {COMPACT_FORM}")));
        };
        names.push([shape, material, size, color]);
        // A rank counts the objects on that side, so few on the left means far to the left.
        rightward.push(rank(object_idx, "left", left_rank)?);
        frontward.push(-rank(object_idx, "front", front_rank)?);
    }
    Ok((names, Relations::Axes { rightward, frontward, margin: 0.0 }))
}

/// Where the objects of a scene of a CLEVR scenes file are.
///
/// # Errors
/// [`ExecError::BadContext`] where it has neither `relationships` nor coordinates with `directions`.
pub(crate) fn relations(scene: &Map<String, Value>, objects: &[Value]) -> Result<Relations, ExecError> {
    match scene.get("relationships") {
        Some(relationships) => relation_lists(relationships, objects.len()),
        None => relation_axes(scene, objects),
    }
}

fn bad(message: String) -> ExecError {
    ExecError::BadContext(message)
}

fn attribute_values(object_idx: usize, names: [&str; 4]) -> Result<[AttributeValue; 4], ExecError> {
    let value = |attribute: Attribute, name: &str| {
        let value = AttributeValue::from_name(name).filter(|value| value.attribute() == attribute);
        value.ok_or_else(|| {
            let hint = did_you_mean(name, attribute.values().iter().copied());
            let (kind, name) = (attribute.name(), shown(name));
            bad(format!("object {object_idx} of the scene has an unknown {kind} `{name}`{hint}"))
        })
    };
    let [shape, material, size, color] = names;
    Ok([
        value(Attribute::Shape, shape)?,
        value(Attribute::Material, material)?,
        value(Attribute::Size, size)?,
        value(Attribute::Color, color)?,
    ])
}

fn rank(object_idx: usize, side: &str, text: &str) -> Result<f64, ExecError> {
    let rank = text.parse().ok().filter(|rank: &f64| rank.is_finite());
    rank.ok_or_else(|| {
        bad(format!("the {side} rank of object {object_idx} must be a number, found `{}`", shown(text)))
    })
}

/// `{"left": [[...], ...], "right": ..., "front": ..., "behind": ...}`: a list of object numbers per object.
fn relation_lists(relationships: &Value, n_objects: usize) -> Result<Relations, ExecError> {
    let mut lists = [const { Vec::new() }; 4];
    for (list, direction) in lists.iter_mut().zip(Direction::ALL) {
        let name = direction.name();
        let rows = relationships.get(name).and_then(Value::as_array).filter(|rows| rows.len() == n_objects);
        let rows = rows.ok_or_else(|| {
            bad(format!(
                "`relationships.{name}` of the scene must be a list of {n_objects} lists, one per object"
            ))
        })?;
        for (object_idx, row) in rows.iter().enumerate() {
            list.push(object_numbers(row, n_objects).ok_or_else(|| {
                bad(format!(
                    "`relationships.{name}[{object_idx}]` of the scene must be a list of object numbers \
                     below {n_objects}"
                ))
            })?);
        }
    }
    Ok(Relations::Lists(lists))
}

fn object_numbers(row: &Value, n_objects: usize) -> Option<Vec<u32>> {
    let number = |item: &Value| {
        let number = item.as_u64().filter(|&number| number < n_objects as u64)?;
        u32::try_from(number).ok()
    };
    row.as_array()?.iter().map(number).collect()
}

/// Relations from coordinates: the position of an object along a direction is their scalar product.
fn relation_axes(scene: &Map<String, Value>, objects: &[Value]) -> Result<Relations, ExecError> {
    let missing = "the scene has neither `relationships` nor `directions` with `right` and `front`";
    let direction = |name: &str| scene.get("directions").and_then(|directions| vector(directions.get(name)?));
    let right = direction("right").ok_or_else(|| bad(missing.to_owned()))?;
    let front = direction("front").ok_or_else(|| bad(missing.to_owned()))?;
    let (mut rightward, mut frontward) = (Vec::new(), Vec::new());
    for (object_idx, object) in objects.iter().enumerate() {
        let place = object.get("3d_coords").and_then(vector).ok_or_else(|| {
            bad(format!(
                "object {object_idx} of the scene needs `3d_coords` with three numbers, \
                 or the scene `relationships`"
            ))
        })?;
        let along = |axis: [f64; 3]| axis.iter().zip(place).map(|(a, b)| a * b).sum();
        rightward.push(along(right));
        frontward.push(along(front));
    }
    Ok(Relations::Axes { rightward, frontward, margin: MARGIN })
}

fn vector(value: &Value) -> Option<[f64; 3]> {
    let [x, y, z] = value.as_array()?.as_slice() else { return None };
    Some([x.as_f64()?, y.as_f64()?, z.as_f64()?])
}
