//! Many short strings in one piece of memory, numbered from zero.

/// A hash of characters that is the same on every machine.
pub(crate) fn hash(chars: impl IntoIterator<Item = char>) -> u64 {
    let mixed = chars.into_iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, ch| {
        (hash ^ u64::from(u32::from(ch))).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(23)
    });
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

/// The upper half of [`hash`].
pub(crate) fn hash32(chars: impl IntoIterator<Item = char>) -> u32 {
    (hash(chars) >> 32) as u32
}

/// Strings one after the other, with their ends.
#[derive(Clone, Debug, Default)]
pub(crate) struct Texts {
    text: String,
    ends: Vec<u32>,
}

impl Texts {
    pub(crate) fn push(&mut self, text: &str) {
        self.text.push_str(text);
        self.ends.push(u32::try_from(self.text.len()).expect("fewer than 2^32 bytes of text"));
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn get(&self, id: u32) -> &str {
        let at = id as usize;
        let start = if at == 0 { 0 } else { self.ends[at - 1] as usize };
        &self.text[start..self.ends[at] as usize]
    }

    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + self.ends.capacity() * size_of::<u32>()
    }
}
