//! Damages texts and bytes at random: what a broken editor, a broken disk or an attacker might make of a file.

use super::random::Random;

/// Pieces that formats give a meaning to.
const TOKENS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "\"",
    "'",
    "\\",
    "\\u0000",
    "\\ud800",
    ":",
    ",",
    "=",
    "#",
    "\n",
    "\r\n",
    "\t",
    "\0",
    "null",
    "true",
    "-",
    "->",
    "?",
    "<",
    "(",
    ")",
    "((((",
    "{name}",
    "{}",
    "{{",
    "..",
    "../../etc/passwd",
    "/dev/zero",
    "|",
    "[[entities]]",
    "utterance",
    "program",
    "\u{feff}",
    "\u{202e}",
    "\u{1b}[31m",
    "\u{9b}2J",
    "\u{7}",
    "é",
    "😀",
    "a\u{301}",
    "NaN",
    "Infinity",
    "1e999",
    "-1",
    "0",
    "18446744073709551616",
    "99999999999999999999999999",
    "0.1e-400",
];

const NUMBERS: &[&str] = &[
    "0",
    "-1",
    "1",
    "255",
    "65536",
    "2147483648",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "1e308",
    "-1e308",
    "1e-320",
    "3.5",
    "1000000",
];

/// Longest result: longer inputs are other cases.
const MOST_BYTES: usize = 4 << 20;

/// The bytes with one to four changes, and their names.
pub(crate) fn mutate(random: &mut Random, bytes: &[u8]) -> (Vec<u8>, String) {
    let mut bytes = bytes.to_vec();
    let mut names = Vec::new();
    for _ in 0..=random.below(4) {
        names.push(change(random, &mut bytes));
        bytes.truncate(MOST_BYTES);
    }
    (bytes, names.join(", "))
}

/// A safetensors file whose header is changed and whose length of the header may fit or not.
pub(crate) fn mutate_tensors(random: &mut Random, bytes: &[u8]) -> (Vec<u8>, String) {
    let length = bytes.get(..8).and_then(|start| start.try_into().ok()).map_or(0, u64::from_le_bytes);
    let end = usize::try_from(length).ok().and_then(|length| length.checked_add(8));
    let Some(end) = end.filter(|&end| end <= bytes.len()) else { return mutate(random, bytes) };
    match random.below(4) {
        0 => {
            let lengths = [0, 1, length + 1, length - 1, u64::MAX, 1 << 40, (bytes.len() as u64) - 8];
            let wrong = *random.pick(&lengths);
            ([&wrong.to_le_bytes(), &bytes[8..]].concat(), format!("header length {wrong}"))
        }
        1 => mutate(random, bytes),
        2 => {
            let cut = random.below(bytes.len());
            (bytes[..cut].to_vec(), format!("cut after {cut} bytes"))
        }
        _ => {
            let (header, name) = mutate(random, &bytes[8..end]);
            let length = (header.len() as u64).to_le_bytes();
            ([&length, header.as_slice(), &bytes[end..]].concat(), format!("header with {name}"))
        }
    }
}

fn change(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let at = random.below(bytes.len() + 1);
    let length = (1 + random.below(40)).min(bytes.len() - at);
    match random.below(13) {
        0 => {
            if let Some(byte) = bytes.get_mut(at) {
                *byte ^= 1 << random.below(8);
            }
            "a flipped bit".to_owned()
        }
        1 => {
            bytes.drain(at..at + length);
            format!("{length} bytes removed")
        }
        2 => {
            let part = bytes[at..at + length].to_vec();
            insert(bytes, at, &part);
            "a part twice".to_owned()
        }
        3 | 4 => {
            let token = *random.pick(TOKENS);
            insert(bytes, at, token.as_bytes());
            format!("{token:?} inserted")
        }
        5 => {
            bytes.truncate(at);
            "cut".to_owned()
        }
        6 | 7 => number(random, bytes),
        8 => {
            let part = bytes[at..at + length].to_vec();
            let n = [10, 1_000, 20_000][random.below(3)];
            insert(bytes, at, &part.repeat(n));
            format!("a part {n} times")
        }
        9 => {
            let open = *random.pick(&["[", "{\"a\":", "(", "f(", "[[a.", "{a="]);
            let n = [50, 200, 50_000][random.below(3)];
            insert(bytes, at, open.repeat(n).as_bytes());
            format!("{open:?} {n} times")
        }
        10 => {
            insert(bytes, at, &[0xff, 0xfe, 0xc3]);
            "bytes that are not UTF-8".to_owned()
        }
        11 => lines(random, bytes),
        _ => {
            let random_bytes: Vec<u8> = (0..random.below(200)).map(|_| random.next() as u8).collect();
            insert(bytes, at, &random_bytes);
            "random bytes".to_owned()
        }
    }
}

fn insert(bytes: &mut Vec<u8>, at: usize, part: &[u8]) {
    bytes.splice(at..at, part.iter().copied());
}

/// Replaces a number by an extreme one.
fn number(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let starts: Vec<usize> = (0..bytes.len())
        .filter(|&at| bytes[at].is_ascii_digit() && (at == 0 || !bytes[at - 1].is_ascii_digit()))
        .take(100_000)
        .collect();
    if starts.is_empty() {
        return "no number".to_owned();
    }
    let start = *random.pick(&starts);
    let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
    let new = *random.pick(NUMBERS);
    bytes.splice(start..start + length, new.bytes());
    format!("number {new}")
}

/// Swaps or repeats lines.
fn lines(random: &mut Random, bytes: &mut Vec<u8>) -> String {
    let mut lines: Vec<Vec<u8>> = bytes.split(|&byte| byte == b'\n').map(<[u8]>::to_vec).collect();
    let (one, other) = (random.below(lines.len()), random.below(lines.len()));
    let name = if random.percent(50) {
        lines.swap(one, other);
        format!("lines {one} and {other} swapped")
    } else {
        let line = lines[one].clone();
        lines.insert(other, line);
        format!("line {one} again before line {other}")
    };
    *bytes = lines.join(&b'\n');
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_bytes_can_be_changed_and_the_same_case_gives_the_same_bytes() {
        let header = br#"{"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}}"#;
        let tensors = [&(header.len() as u64).to_le_bytes(), &header[..], &[0; 8]].concat();
        for bytes in [b"".as_slice(), b"x", b"a = 12\nb = [3]\n", &tensors] {
            for case in 0..500 {
                let draw = || {
                    let mut random = Random::new(7, "mutate", case);
                    (mutate(&mut random, bytes), mutate_tensors(&mut random, bytes))
                };
                assert_eq!(draw(), draw());
            }
        }
    }
}
