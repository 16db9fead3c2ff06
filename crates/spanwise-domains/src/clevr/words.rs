//! The words of the CLEVR language: four attributes with their values, and four directions.

/// A property that every object has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Attribute {
    /// What it looks like from outside: a cube, a sphere or a cylinder.
    Shape,
    /// What it is made of.
    Material,
    /// How large it is.
    Size,
    /// Its color.
    Color,
}

impl Attribute {
    /// All attributes, in the order in which a compact scene writes their values.
    pub const ALL: [Self; 4] = [Self::Shape, Self::Material, Self::Size, Self::Color];

    /// The attribute as programs and scenes write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shape => "shape",
            Self::Material => "material",
            Self::Size => "size",
            Self::Color => "color",
        }
    }

    /// The values that an object can have.
    #[must_use]
    pub const fn values(self) -> &'static [&'static str] {
        match self {
            Self::Shape => &["cube", "sphere", "cylinder"],
            Self::Material => &["rubber", "metal"],
            Self::Size => &["small", "large"],
            Self::Color => &["gray", "red", "blue", "green", "brown", "purple", "cyan", "yellow"],
        }
    }

    /// The attribute of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|attribute| attribute.name() == name)
    }
}

/// A value of an attribute: `red`, `cube`. No two attributes share a value, so the name alone identifies it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct AttributeValue {
    attribute: Attribute,
    index: u8,
}

impl AttributeValue {
    /// The value of that name, whatever its attribute.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Attribute::ALL.into_iter().find_map(|attribute| {
            let index = attribute.values().iter().position(|&value| value == name)?;
            Some(Self { attribute, index: u8::try_from(index).ok()? })
        })
    }

    /// Every value of every attribute.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Attribute::ALL.into_iter().flat_map(|attribute| attribute.values().iter().copied())
    }

    /// The attribute that it is a value of.
    #[must_use]
    pub const fn attribute(self) -> Attribute {
        self.attribute
    }

    /// The value as programs and scenes write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        self.attribute.values()[self.index as usize]
    }
}

/// A direction, as the camera sees the scene.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Direction {
    /// To the left.
    Left,
    /// To the right.
    Right,
    /// Towards the camera.
    Front,
    /// Away from the camera.
    Behind,
}

impl Direction {
    /// All directions.
    pub const ALL: [Self; 4] = [Self::Left, Self::Right, Self::Front, Self::Behind];

    /// The direction as programs and scenes write it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
            Self::Front => "front",
            Self::Behind => "behind",
        }
    }

    /// The direction of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|direction| direction.name() == name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_leads_back_to_its_word() {
        for name in AttributeValue::names() {
            let value = AttributeValue::from_name(name).unwrap();
            assert_eq!(value.name(), name);
            assert!(value.attribute().values().contains(&name));
        }
        assert_eq!(AttributeValue::names().count(), 15);
        for attribute in Attribute::ALL {
            assert_eq!(Attribute::from_name(attribute.name()), Some(attribute));
        }
        for direction in Direction::ALL {
            assert_eq!(Direction::from_name(direction.name()), Some(direction));
        }
        assert_eq!(AttributeValue::from_name("left"), None);
    }
}
