//! The model families, one folder each, and the list of them.
//!
//! To add a family: write a folder with its hyper-parameters ([`FamilySettings`]) and its model ([`Family`]), declare the
//! module, and add a line to the list in `families!` below. Nothing else changes: training, parsing, saving and the command
//! line go through the two traits.
//!
//! [`Family`]: crate::Family

pub mod bart;
pub mod chart;
pub mod end2end;
pub mod paper;
pub mod seq2seq;

use crate::family::FamilySettings;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// Declares [`Settings`] with one variant per family: its name in configurations, and its hyper-parameters.
macro_rules! families {
    ($(#[$about:meta])* enum { $($(#[$doc:meta])* $variant:ident: $name:literal => $settings:ty,)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Debug)]
        pub enum Settings {
            $($(#[$doc])* $variant($settings),)*
        }

        impl Settings {
            /// The names of all families.
            pub const FAMILIES: &'static [&'static str] = &[$($name),*];

            /// The settings of the family with this name, all at their defaults. `exact` is an older name of `chart`.
            #[must_use]
            pub fn default_of(family: &str) -> Option<Self> {
                match if family == "exact" { "chart" } else { family } {
                    $($name => Some(Self::$variant(<$settings>::default())),)*
                    _ => None,
                }
            }

            /// What the settings can do: check themselves, build and load a model.
            #[must_use]
            pub fn family(&self) -> &dyn FamilySettings {
                match self {
                    $(Self::$variant(settings) => settings,)*
                }
            }

            fn write<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                match self {
                    $(Self::$variant(settings) => Written { family: $name, settings }.serialize(serializer),)*
                }
            }

            fn read(&mut self, fields: Value) -> Result<(), serde_json::Error> {
                match self {
                    $(Self::$variant(settings) => *settings = serde_json::from_value(fields)?,)*
                }
                Ok(())
            }
        }
    };
}

families! {
    /// The hyper-parameters of a model: of which family it is, and that family's own settings.
    ///
    /// In configurations and in `model.json` it is one table with the key `family`. Settings of other families in it are
    /// ignored, so that one flag (`--set model.family=paper`) is enough to compare families.
    ///
    /// ```
    /// use spanwise_model::Settings;
    ///
    /// let settings: Settings = serde_json::from_str(r#"{"family": "paper", "beam": 10, "joins": "span"}"#)?;
    /// let Settings::Paper(paper) = &settings else { panic!("another family") };
    /// assert_eq!(paper.beam, 10);
    /// assert_eq!(settings.family().name(), "paper");
    /// assert!(serde_json::from_str::<Settings>(r#"{"beams": 10}"#).is_err());
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    enum {
        /// The chart parser: exact search over typed programs.
        Chart: "chart" => chart::ChartSettings,
        /// The paper's parser: beam search over span categories.
        Paper: "paper" => paper::PaperSettings,
        /// The paper's baselines: an attentive decoder that writes programs token by token.
        Seq2Seq: "seq2seq" => seq2seq::Seq2SeqSettings,
        /// The paper's pretrained baseline: an encoder-decoder that writes programs as text.
        Bart: "bart" => bart::BartSettings,
        /// The paper's baseline without programs: an encoder that chooses an answer.
        End2End: "end2end" => end2end::End2EndSettings,
    }
}

impl Default for Settings {
    fn default() -> Self {
        Self::Chart(chart::ChartSettings::default())
    }
}

/// Settings as they are written: one table. Not by way of a JSON value, whose numbers only JSON can write.
#[derive(Serialize)]
struct Written<'a, T> {
    family: &'static str,
    #[serde(flatten)]
    settings: &'a T,
}

impl Serialize for Settings {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.write(serializer)
    }
}

impl<'de> Deserialize<'de> for Settings {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Map::<String, Value>::deserialize(deserializer)?;
        // `search` is how older configurations and models name the family.
        let family = match (fields.remove("family"), fields.remove("search")) {
            (Some(_), Some(_)) => {
                return Err(D::Error::custom("`search` is an older name of `family`; give one"));
            }
            (family, older) => family.or(older).unwrap_or_else(|| "chart".into()),
        };
        let unknown = || D::Error::unknown_variant(family.as_str().unwrap_or("?"), Self::FAMILIES);
        let mut settings = family.as_str().and_then(Self::default_of).ok_or_else(unknown)?;
        let own = settings.family().fields();
        let others: Vec<Self> = Self::FAMILIES.iter().filter_map(|name| Self::default_of(name)).collect();
        let mut kept = Map::new();
        for (key, value) in fields {
            let other = others.iter().find(|other| other.family().fields().contains_key(&key));
            match other.filter(|_| !own.contains_key(&key)) {
                // Ignored, but not if it could never be right.
                Some(other) => other.clone().read(Value::Object(Map::from_iter([(key, value)]))),
                None => {
                    kept.insert(key, value);
                    Ok(())
                }
            }
            .map_err(D::Error::custom)?;
        }
        settings.read(Value::Object(kept)).map_err(D::Error::custom)?;
        Ok(settings)
    }
}

/// How far apart the parts of a constituent may be, as settings write it.
pub(crate) mod discontinuity {
    use serde::{Deserialize, Deserializer, Serialize, Serializer};
    use spanwise_chart::grammar::Discontinuity;

    #[derive(Serialize, Deserialize)]
    #[serde(rename_all = "kebab-case")]
    enum Written {
        None,
        Ternary,
        Open,
    }

    pub(crate) fn serialize<S: Serializer>(value: &Discontinuity, to: S) -> Result<S::Ok, S::Error> {
        match value {
            Discontinuity::None => Written::None,
            Discontinuity::Ternary => Written::Ternary,
            Discontinuity::Open => Written::Open,
        }
        .serialize(to)
    }

    pub(crate) fn deserialize<'a, D: Deserializer<'a>>(from: D) -> Result<Discontinuity, D::Error> {
        Ok(match Written::deserialize(from)? {
            Written::None => Discontinuity::None,
            Written::Ternary => Discontinuity::Ternary,
            Written::Open => Discontinuity::Open,
        })
    }
}

#[cfg(all(test, feature = "geo"))]
mod gradient_tests;
#[cfg(test)]
mod tests;
