//! Tests of `weights`.

use super::*;
use proptest::prelude::*;
use std::fs;
use tempfile::TempDir;

/// Writes tensors to a file.
fn write(path: &Path, tensors: &[(&str, &[usize], &[f32])], notes: &BTreeMap<String, String>) {
    write_safetensors(&mut File::create(path).unwrap(), tensors, notes).unwrap();
}

fn raw(header: &str, values: &[u8]) -> Vec<u8> {
    let mut bytes = (header.len() as u64).to_le_bytes().to_vec();
    bytes.extend(header.as_bytes());
    bytes.extend(values);
    bytes
}

/// Opens bytes as a file of weights.
fn open(bytes: &[u8]) -> Result<Weights, WeightsError> {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(FILE_NAME);
    fs::write(&path, bytes).unwrap();
    // The open file outlives its name.
    Weights::open(&path)
}

fn one(dtype: &str, shape: &[usize], values: &[u8]) -> Weights {
    let header =
        format!(r#"{{"x":{{"dtype":"{dtype}","shape":{shape:?},"data_offsets":[0,{}]}}}}"#, values.len());
    open(&raw(&header, values)).unwrap()
}

fn refusal(bytes: &[u8]) -> String {
    let error = open(bytes).unwrap_err();
    assert!(matches!(error, WeightsError::Format { .. }), "{error}");
    let message = error.to_string();
    assert!(message.contains("is not a complete safetensors file: "), "{message}");
    message
}

#[test]
fn tensors_are_found_under_the_prefixes_of_training_code() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w.safetensors");
    let tensors: [(&str, &[usize], &[f32]); 5] = [
        ("a", &[1], &[1.0]),
        ("bert.b", &[1], &[2.0]),
        ("mpnet.c", &[1], &[3.0]),
        ("model.d", &[1], &[4.0]),
        ("bert.e.LayerNorm.gamma", &[1], &[5.0]),
    ];
    write(&path, &tensors, &BTreeMap::new());
    let mut weights = Weights::open(&path).unwrap();
    assert!(weights.contains("b") && !weights.contains("f"));
    assert_eq!(weights.shape("b"), Some(&[1][..]));
    for (name, value) in [("a", 1.0), ("b", 2.0), ("c", 3.0), ("d", 4.0), ("e.LayerNorm.weight", 5.0)] {
        assert_eq!(weights.take(name, &[1]).unwrap(), [value]);
    }
    assert_eq!(weights.remaining().count(), 0);
}

#[test]
fn a_tensor_can_be_taken_once() {
    let mut weights = one("F32", &[1], &1_f32.to_le_bytes());
    weights.take("x", &[1]).unwrap();
    assert!(matches!(weights.take("x", &[1]), Err(WeightsError::Missing { .. })));
}

#[test]
fn half_and_double_precision_become_single() {
    let half: Vec<u8> =
        [0x3c00_u16, 0xc000, 0x0001, 0x8000, 0x7bff].iter().flat_map(|b| b.to_le_bytes()).collect();
    let values = one("F16", &[5], &half).take("x", &[5]).unwrap();
    assert_eq!(values, [1.0, -2.0, 2_f32.powi(-24), -0.0, 65504.0]);
    assert!(values[3].is_sign_negative());
    let brain: Vec<u8> = [0x3f80_u16, 0xc040].iter().flat_map(|b| b.to_le_bytes()).collect();
    assert_eq!(one("BF16", &[2], &brain).take("x", &[2]).unwrap(), [1.0, -3.0]);
    let double: Vec<u8> = [0.1_f64, -7.0].iter().flat_map(|b| b.to_le_bytes()).collect();
    assert_eq!(one("F64", &[1, 2], &double).take("x", &[1, 2]).unwrap(), [0.1, -7.0]);
}

#[test]
fn every_half_has_the_value_that_its_bits_define() {
    let single = |bits: u16| {
        let mut values = Vec::new();
        Float::F16.read(&bits.to_le_bytes(), &mut values);
        values[0]
    };
    for bits in 0..=u16::MAX {
        let (exponent, fraction) = (i32::from(bits >> 10) & 0x1f, f64::from(bits & 0x3ff));
        let magnitude = match exponent {
            0 => fraction * 2_f64.powi(-24),
            0x1f if fraction == 0.0 => f64::INFINITY,
            0x1f => f64::NAN,
            _ => (1.0 + fraction / 1024.0) * 2_f64.powi(exponent - 15),
        };
        let expected = if bits >> 15 == 1 { -magnitude } else { magnitude };
        let found = f64::from(single(bits));
        assert!(found == expected || found.is_nan() && expected.is_nan(), "{bits:#x}: {found} {expected}");
    }
}

#[test]
fn values_longer_than_a_block_arrive_whole() {
    let values: Vec<f32> = (0..3 * BLOCK).map(|i| i as f32).collect();
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w");
    write(&path, &[("x", &[3, BLOCK], &values)], &BTreeMap::new());
    assert_eq!(Weights::open(&path).unwrap().take("x", &[3, BLOCK]).unwrap(), values);
}

#[test]
fn a_wrong_shape_names_both_shapes_and_the_remedy() {
    let mut weights = one("F32", &[2, 1], &[0; 8]);
    let message = weights.take("x", &[1, 2]).unwrap_err().to_string();
    assert!(message.contains("tensor `x` has shape [2, 1], expected [1, 2]"), "{message}");
    assert!(message.contains("config.json and the weights do not belong together"), "{message}");
    assert!(weights.take("x", &[2]).is_err());
    assert_eq!(weights.take("x", &[2, 1]).unwrap(), [0.0, 0.0]);
}

#[test]
fn a_missing_tensor_lists_similar_names() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w");
    let names = ["bert.encoder.layer.0.query.weight", "bert.encoder.layer.0.query.bias", "pooler"];
    let tensors: Vec<(&str, &[usize], &[f32])> =
        names.iter().map(|name| (*name, &[0][..], &[][..])).collect();
    write(&path, &tensors, &BTreeMap::new());
    let mut weights = Weights::open(&path).unwrap();
    let message = weights.take("encoder.layer.1.query.weight", &[1]).unwrap_err().to_string();
    assert!(message.contains("has no tensor `encoder.layer.1.query.weight` (similar names: "), "{message}");
    assert!(message.contains(": `bert.encoder.layer.0.query.weight`, `bert."), "{message}");
    assert!(!message.contains("pooler"), "{message}");
}

#[test]
fn values_that_are_not_finite_are_refused() {
    let bytes = |value: f32| [1_f32, value].iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>();
    for value in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY] {
        let message = one("F32", &[2], &bytes(value)).take("x", &[2]).unwrap_err().to_string();
        assert!(message.contains("value 1 of tensor `x` is "), "{message}");
    }
    assert!(one("F64", &[1], &1e300_f64.to_le_bytes()).take("x", &[1]).is_err());
}

#[test]
fn integers_are_refused_only_when_they_are_requested() {
    let ids = r#""ids":{"dtype":"I64","shape":[1],"data_offsets":[0,8]}"#;
    let header = format!(r#"{{{ids},"x":{{"dtype":"F32","shape":[],"data_offsets":[8,12]}}}}"#);
    let mut weights = open(&raw(&header, &[0; 12])).unwrap();
    assert_eq!(weights.take("x", &[]).unwrap(), [0.0]);
    let message = weights.take("ids", &[1]).unwrap_err().to_string();
    assert!(message.contains("tensor `ids` holds values of type I64, expected F32"), "{message}");
}

#[test]
fn a_truncated_file_is_refused_at_every_length() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w");
    write(&path, &[("x", &[2, 2], &[1.0, 2.0, 3.0, 4.0])], &BTreeMap::new());
    let bytes = fs::read(&path).unwrap();
    for length in 0..bytes.len() {
        refusal(&bytes[..length]);
    }
    assert!(refusal(&bytes[..bytes.len() - 1]).contains("cut short?"));
    let longer: Vec<u8> = bytes.iter().copied().chain([0]).collect();
    assert!(refusal(&longer).contains("1 bytes follow its last tensor"));
}

#[test]
fn headers_that_lie_are_refused_without_reserving_what_they_claim() {
    assert!(refusal(&u64::MAX.to_le_bytes()).contains("claims 18446744073709551615 bytes"));
    assert!(refusal(&99_000_000_u64.to_le_bytes()).contains("but the whole file has 8"));
    for header in ["", "garbage", "[]", "{\"x\":1}", "{\"x\":{}}", "{\u{1}}", "{\"x\":{\"dtype\":\"F32\"}}"] {
        refusal(&raw(header, b""));
    }
    let entry = |shape: &str, offsets: &str| {
        raw(&format!(r#"{{"x":{{"dtype":"F32","shape":{shape},"data_offsets":{offsets}}}}}"#), &[0; 8])
    };
    for (shape, offsets) in [
        ("[2]", "[0,9]"),
        ("[2]", "[0,18446744073709551615]"),
        ("[2]", "[0,1e3]"),
        ("[2]", "[8,0]"),
        ("[2]", "[-1,8]"),
        ("[2]", "[0]"),
        ("[2]", "[0,4,8]"),
        ("[2]", "{}"),
        ("[3]", "[0,8]"),
        ("[-2]", "[0,8]"),
        ("[18446744073709551615, 18446744073709551615]", "[0,8]"),
        ("[4611686018427387904]", "[0,8]"),
        ("[0.5]", "[0,8]"),
        ("null", "[0,8]"),
    ] {
        assert!(refusal(&entry(shape, offsets)).contains("its tensor `x` "));
    }
    refusal(&raw(&"[".repeat(100_000), b""));
    assert!(open(&entry("[2]", "[0,8]")).is_ok());
}

#[test]
fn what_is_no_file_is_refused() {
    let directory = TempDir::new().unwrap();
    let error = Weights::open(directory.path()).unwrap_err().to_string();
    assert!(error.starts_with("cannot read ") && error.contains("model.safetensors: "), "{error}");
    fs::create_dir(directory.path().join(FILE_NAME)).unwrap();
    let error = Weights::open(directory.path()).unwrap_err().to_string();
    assert!(error.contains("not a regular file"), "{error}");
    if cfg!(target_os = "linux") {
        assert!(Weights::open(Path::new("/dev/zero")).is_err());
    }
}

#[test]
fn a_directory_with_only_pytorch_weights_says_how_to_convert_them() {
    let directory = TempDir::new().unwrap();
    fs::write(directory.path().join(PYTORCH_NAME), b"PK").unwrap();
    for path in [directory.path().to_owned(), directory.path().join(FILE_NAME)] {
        let error = Weights::open(&path).unwrap_err();
        assert!(matches!(error, WeightsError::Pytorch { .. }), "{error}");
        assert!(error.to_string().contains("convert it"), "{error}");
    }
}

#[test]
fn the_tiny_encoders_can_be_read() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data");
    for (name, rows) in [("tiny-bert", 113), ("tiny-mpnet", 114)] {
        let mut weights = Weights::open(&data.join(name)).unwrap();
        let values = weights.take("embeddings.word_embeddings.weight", &[rows, 32]).unwrap();
        assert_eq!(values.len(), rows * 32);
    }
}

#[test]
fn the_same_content_gives_the_same_bytes_in_any_order() {
    let directory = TempDir::new().unwrap();
    let notes =
        BTreeMap::from([("format".to_owned(), "pt".to_owned()), ("a\"b".to_owned(), "\n".to_owned())]);
    let mut tensors: Vec<(&str, &[usize], &[f32])> = vec![("b", &[1], &[1.0]), ("a", &[0, 3], &[])];
    let (first, second) = (directory.path().join("1"), directory.path().join("2"));
    write(&first, &tensors, &notes);
    tensors.reverse();
    write(&second, &tensors, &notes);
    let bytes = fs::read(&first).unwrap();
    assert_eq!(bytes, fs::read(&second).unwrap());
    let header = u64::from_le_bytes(bytes[..8].try_into().unwrap());
    assert!(header.is_multiple_of(8));
    assert_eq!(Weights::open(&first).unwrap().metadata(), &notes);
}

#[test]
fn the_bytes_are_those_of_the_format() {
    let directory = TempDir::new().unwrap();
    let path = directory.path().join("w");
    write(&path, &[("x", &[1], &[1.0])], &BTreeMap::new());
    let header = r#"{"x":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}"#;
    let padded = format!("{header:<width$}", width = header.len().next_multiple_of(8));
    assert_eq!(fs::read(&path).unwrap(), raw(&padded, &1_f32.to_le_bytes()));
}

#[test]
fn the_reference_implementation_reads_what_is_written_and_writes_what_is_read() {
    use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
    let directory = TempDir::new().unwrap();
    let path = directory.path().join(FILE_NAME);
    let tensors: [(&str, &[usize], &[f32]); 3] =
        [("b.\"ü\"", &[2, 1], &[1.0, -2.5]), ("a", &[], &[0.1]), ("empty", &[3, 0], &[])];
    let notes = BTreeMap::from([("format".to_owned(), "pt".to_owned())]);
    write(&path, &tensors, &notes);
    let bytes = fs::read(&path).unwrap();
    let read = SafeTensors::deserialize(&bytes).unwrap();
    assert_eq!(read.len(), tensors.len());
    for (name, shape, values) in tensors {
        let view = read.tensor(name).unwrap();
        assert_eq!((view.dtype(), view.shape()), (Dtype::F32, shape));
        assert_eq!(view.data(), values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>());
    }
    let view = TensorView::new(Dtype::BF16, vec![1, 2], &[0x80, 0x3f, 0, 0xc0]).unwrap();
    let mut weights = open(&serialize([("x", view)], None).unwrap()).unwrap();
    assert_eq!(weights.take("x", &[1, 2]).unwrap(), [1.0, -2.0]);
}

#[test]
fn tensors_that_contradict_themselves_are_not_written() {
    let twice: [(&str, &[usize], &[f32]); 2] = [("x", &[1], &[1.0]), ("x", &[1], &[2.0])];
    let overflow: [(&str, &[usize], &[f32]); 1] = [("x", &[usize::MAX, 2], &[])];
    for tensors in [&[("x", &[2][..], &[1.0][..])][..], &[(METADATA, &[1], &[1.0])], &twice, &overflow] {
        let mut written = Vec::new();
        let error = write_safetensors(&mut written, tensors, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::InvalidInput);
        assert!(written.is_empty());
    }
}

#[test]
fn a_sink_that_is_full_is_an_error() {
    let values = vec![1.0; 100_000];
    for (count, space) in [(1, 7), (1, 66), (values.len(), 200_000)] {
        let mut sink = vec![0; space];
        let tensors = [("x", &[count][..], &values[..count])];
        let error = write_safetensors(&mut sink.as_mut_slice(), &tensors, &BTreeMap::new()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::WriteZero);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn what_is_written_is_read_back(
        tensors in prop::collection::btree_map(
            "[^_]\\PC{0,12}",
            prop::collection::vec(0_usize..4, 0..4).prop_flat_map(|shape| {
                let count = shape.iter().product::<usize>();
                (Just(shape), prop::collection::vec(prop::num::f32::NORMAL | prop::num::f32::ZERO, count))
            }),
            0..6,
        ),
        notes in prop::collection::btree_map("\\PC{0,8}", "\\PC{0,8}", 0..3),
    ) {
        let directory = TempDir::new().unwrap();
        let path = directory.path().join(FILE_NAME);
        let list: Vec<(&str, &[usize], &[f32])> =
            tensors.iter().map(|(name, (shape, values))| (&name[..], &shape[..], &values[..])).collect();
        write(&path, &list, &notes);
        let mut weights = Weights::open(directory.path()).unwrap();
        prop_assert_eq!(weights.metadata(), &notes);
        for (name, (shape, values)) in &tensors {
            let found = weights.take(name, shape).unwrap();
            prop_assert_eq!(found.len(), values.len());
            prop_assert!(found.iter().zip(values).all(|(a, b)| a.to_bits() == b.to_bits()));
        }
        prop_assert_eq!(weights.remaining().count(), 0);
    }

    #[test]
    fn no_bytes_make_opening_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..200),
        claimed in 0_u64..300,
    ) {
        let _ = open(&bytes);
        let mut framed = claimed.to_le_bytes().to_vec();
        framed.extend(&bytes);
        let _ = open(&framed);
    }
}

#[test]
fn tensors_that_share_bytes_or_leave_gaps_are_refused() {
    let entry = |name: &str, at: usize, end: usize| {
        format!(r#""{name}":{{"dtype":"F32","shape":[{}],"data_offsets":[{at},{end}]}}"#, (end - at) / 4)
    };
    let file = |entries: &[String]| raw(&format!("{{{}}}", entries.join(",")), &[0; 16]);
    // A thousand tensors that all claim the whole of a short file would take a thousand times its size.
    let same: Vec<String> = (0..1000).map(|at| entry(&format!("x{at}"), 0, 16)).collect();
    assert!(refusal(&file(&same)).contains("overlaps another"));
    assert!(refusal(&file(&[entry("a", 0, 8), entry("b", 4, 16)])).contains("overlaps another"));
    assert!(refusal(&file(&[entry("a", 0, 4), entry("b", 8, 16)])).contains("follows a gap"));
    assert!(open(&file(&[entry("b", 8, 16), entry("a", 0, 8), entry("c", 8, 8)])).is_ok());
}
