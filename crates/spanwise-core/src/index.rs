//! Typed indices, so that an index into one vector cannot be used for another.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

/// An index into an [`IndexVec`].
pub trait Idx: Copy + Eq + Ord + fmt::Debug {
    /// The index of position `raw`.
    ///
    /// # Panics
    /// When `raw` does not fit the integer type.
    fn from_usize(raw: usize) -> Self;
    /// The position.
    fn index(self) -> usize;
}

/// Declares a newtype over an unsigned integer that implements [`Idx`].
#[macro_export]
macro_rules! newtype_index {
    ($(#[$meta:meta])* $vis:vis struct $name:ident($int:ty)) => {
        $(#[$meta])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
        $vis struct $name(pub $int);

        impl $crate::Idx for $name {
            #[inline]
            fn from_usize(raw: usize) -> Self {
                Self(<$int>::try_from(raw).expect(concat!("too many elements for a ", stringify!($name))))
            }
            #[inline]
            fn index(self) -> usize {
                self.0 as usize
            }
        }
    };
}

/// A vector that is indexed by one kind of [`Idx`] only.
///
/// ```
/// use spanwise_core::{IndexVec, newtype_index};
///
/// newtype_index! {
///     pub struct CityId(u16)
/// }
/// let mut cities = IndexVec::new();
/// let austin: CityId = cities.push("austin");
/// assert_eq!(cities[austin], "austin");
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct IndexVec<I, T> {
    raw: Vec<T>,
    _index: PhantomData<fn(I)>,
}

impl<I: Idx, T> IndexVec<I, T> {
    /// An empty vector.
    #[must_use]
    pub const fn new() -> Self {
        Self { raw: Vec::new(), _index: PhantomData }
    }

    /// Appends `value` and returns its index.
    pub fn push(&mut self, value: T) -> I {
        let id = I::from_usize(self.raw.len());
        self.raw.push(value);
        id
    }

    /// Number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.raw.len()
    }

    /// Whether nothing was pushed yet.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.raw.is_empty()
    }

    /// The elements in order.
    pub fn iter(&self) -> std::slice::Iter<'_, T> {
        self.raw.iter()
    }

    /// All indices in order.
    pub fn ids(&self) -> impl DoubleEndedIterator<Item = I> + ExactSizeIterator + use<I, T> {
        (0..self.raw.len()).map(I::from_usize)
    }

    /// Indices with their elements, in order.
    pub fn iter_enumerated(&self) -> impl DoubleEndedIterator<Item = (I, &T)> {
        self.raw.iter().enumerate().map(|(i, value)| (I::from_usize(i), value))
    }

    /// The element at `id`, if there is one.
    pub fn get(&self, id: I) -> Option<&T> {
        self.raw.get(id.index())
    }
}

impl<I: Idx, T> Default for IndexVec<I, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<I: Idx, T> FromIterator<T> for IndexVec<I, T> {
    fn from_iter<A: IntoIterator<Item = T>>(items: A) -> Self {
        Self { raw: items.into_iter().collect(), _index: PhantomData }
    }
}

impl<I: Idx, T> Index<I> for IndexVec<I, T> {
    type Output = T;
    #[inline]
    fn index(&self, id: I) -> &T {
        &self.raw[id.index()]
    }
}

impl<I: Idx, T> IndexMut<I> for IndexVec<I, T> {
    #[inline]
    fn index_mut(&mut self, id: I) -> &mut T {
        &mut self.raw[id.index()]
    }
}

impl<I, T: fmt::Debug> fmt::Debug for IndexVec<I, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(&self.raw).finish()
    }
}
