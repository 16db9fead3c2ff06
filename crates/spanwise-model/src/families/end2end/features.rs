//! What the objects of scenes are to the network: numbers of features.

use serde::{Deserialize, Serialize};
use spanwise_domains::objects::Object;
use std::collections::{BTreeMap, BTreeSet};

/// The feature that every object has.
const OBJECT: u32 = 0;
/// The feature of an attribute that an object does not have, or whose value training scenes do not have. All attributes
/// share it.
const UNKNOWN: u32 = 1;
/// The first feature of a value.
const FIRST: u32 = 2;

/// The features of objects: one for each value of each attribute, and one for each rank along each axis.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Features {
    /// The values of each attribute in training scenes.
    attributes: BTreeMap<String, BTreeSet<String>>,
    /// Number of axes.
    n_axes: usize,
    /// Number of ranks along an axis; higher ones count as the last.
    n_ranks: usize,
}

impl Features {
    /// The features of the objects of training scenes.
    pub(super) fn learn<'a>(objects: impl IntoIterator<Item = &'a Object>) -> Self {
        let mut features = Self::default();
        for object in objects {
            for (name, value) in &object.attributes {
                features.attributes.entry(name.clone()).or_default().insert(value.clone());
            }
            features.n_axes = features.n_axes.max(object.ranks.len());
            let highest = object.ranks.iter().max().map_or(0, |rank| rank + 1);
            features.n_ranks = features.n_ranks.max(highest);
        }
        features
    }

    /// Number of features.
    pub(super) fn len(&self) -> usize {
        let n_values: usize = self.attributes.values().map(BTreeSet::len).sum();
        // A model directory may claim any number.
        (FIRST as usize + n_values).saturating_add(self.n_axes.saturating_mul(self.n_ranks))
    }

    /// Number of features that every object has: that it is one, its attributes, and its ranks.
    pub(super) fn per_object(&self) -> usize {
        (1 + self.attributes.len()).saturating_add(self.n_axes)
    }

    /// The features of objects, one after the other.
    pub(super) fn of(&self, objects: &[Object]) -> Vec<u32> {
        objects.iter().flat_map(|object| self.of_one(object)).collect()
    }

    fn of_one(&self, object: &Object) -> Vec<u32> {
        let mut found = vec![OBJECT];
        let mut first = FIRST;
        for (name, values) in &self.attributes {
            let own = object.attributes.iter().find(|(own, _)| own == name);
            let place = own.and_then(|(_, value)| values.iter().position(|other| other == value));
            found.push(place.map_or(UNKNOWN, |place| first + place as u32));
            first += values.len() as u32;
        }
        for axis in 0..self.n_axes {
            let rank = object.ranks.get(axis).filter(|_| self.n_ranks > 0);
            found.push(rank.map_or(UNKNOWN, |&rank| first + rank.min(self.n_ranks - 1) as u32));
            first += self.n_ranks as u32;
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use spanwise_domains::objects::objects;

    fn of(features: &Features, text: &str) -> Vec<u32> {
        features.of(&objects(&json!(text)).unwrap())
    }

    fn features() -> Features {
        let scenes = ["cube rubber large red 0 1***sphere rubber large blue 1 0", "cube metal large red 0 0"];
        let all: Vec<Object> = scenes.iter().flat_map(|scene| objects(&json!(scene)).unwrap()).collect();
        Features::learn(&all)
    }

    #[test]
    fn every_value_of_an_attribute_and_every_rank_has_a_feature() {
        let features = features();
        // The object, unknown; blue red, metal rubber, cube sphere, large; two ranks along two axes.
        assert_eq!((features.len(), features.per_object()), (2 + 7 + 4, 7));
        let cube = [0, 3, 5, 6, 8, 9, 12];
        let sphere = [0, 2, 5, 7, 8, 10, 11];
        let scene = "sphere rubber large blue 1 0***cube rubber large red 0 1";
        assert_eq!(of(&features, scene), [cube, sphere].concat());
    }

    #[test]
    fn what_training_scenes_do_not_have_is_unknown_and_high_ranks_are_the_last() {
        let features = features();
        assert_eq!(of(&features, "cone rubber tiny red 0 0"), [0, 3, 5, UNKNOWN, UNKNOWN, 9, 11]);
        let bare = Object { ranks: vec![7], attributes: vec![("weight".to_owned(), "heavy".to_owned())] };
        assert_eq!(features.of(&[bare]), [0, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, 10, UNKNOWN]);
        let other = Object { ranks: vec![3], attributes: Vec::new() };
        assert_eq!(Features::default().of(&[other]), [0]);
    }
}
