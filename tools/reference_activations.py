#!/usr/bin/env python3
"""Record what the reference implementation of an encoder computes.

An encoder written from scratch is right when it agrees with the library the
weights were trained with.  This script writes that library's answers to small
JSON files, so that the comparison needs neither the library nor the network.

Without --encoder it makes two tiny models with random weights, one BERT and
one MPNet, as ordinary model directories with a `reference.json` each.  Every
parameter is perturbed, LayerNorms and biases included, because a freshly
initialised model hides mistakes: a forgotten bias is zero, a swapped LayerNorm
is the identity.

With --encoder it records a few numbers of a real model directory, few enough
to be kept under version control.

Contents of a reference file:

  inputs    token ids; the last hidden state at the listed positions
  batch     right-padded ids with their mask; the last hidden state of each
            row at its unmasked positions
  layers    for the first input, the hidden state after the embeddings and
            after every layer, at the listed positions
  gradient  (tiny models only) ids, fixed weights, the loss
            sum(last_hidden * weights) and its derivative by some parameters,
            at the listed rows of each (all, where rows is null)
  words     utterances as word lists; their token ids, and for each token the
            index of its word, null for the special tokens
  float32_error  the largest distance of the last hidden states from the same
            model evaluated in float64: a tolerance below it asks for too much

Hidden states of real models are cut to their first components (`dims`).
"""

import argparse
import json
import os
import shutil
import sys
import tempfile
from pathlib import Path

# Everything is read from local directories; never ask the network.
os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch
    import transformers
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import AutoModel, BertConfig, BertModel, MPNetConfig, MPNetModel
except ImportError as error:
    if __name__ == "__main__" and {"-h", "--help"}.isdisjoint(sys.argv):
        print(f"error: {error}; run: pip install -r tools/requirements.txt", file=sys.stderr)
        sys.exit(1)

SEED = 20240229

# Significant digits of what is written: what float32 has, no more.
DIGITS = 7

SIZES = dict(
    hidden_size=32,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=64,
    hidden_act="gelu",
)

SPECIAL_BERT = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
SPECIAL_MPNET = ["<s>", "<pad>", "</s>", "<unk>", "[UNK]"]

# Enough to make whole words, split words and unknown words all occur.
PIECES = [
    *"abcdefghijklmnopqrstuvwxyz0123456789",
    *[f"##{letter}" for letter in "abcdefghijklmnopqrstuvwxyz0123456789"],
    *"?!.,-'()",
    *"what which is the of in state city river border cafe new york san long area to on flight".split(),
    *"##es ##ed ##ing ##er ##est ##ation ##ville ##aul ##ota".split(),
]

# Each line aims at a different way of getting tokenization wrong.
UTTERANCES = [
    ["What", "states", "border", "Texas", "?"],
    ["which", "café", "is", "in", "São-Paulo", "?"],
    ["flights", "to", "St.", "Paul's", "on", "12/05", "(cheapest)"],
    ["a", "\U0001f680", "rocket\U0001f680", "ß", "naïve"],
    ["New York", "", "population", "東京", "tab\there", "zero\u200bwidth"],
    ["x" * 100, "y" * 101, "e\u0301te\u0301", "\ufffd", "…"],
    ["[SEP]", "</s>", "[MASK]ed", "<mask>"],
]

# Crosses every kind of relative-position bucket of MPNet, the last included.
LONG_WORDS = "the longest river of the state which has the largest city in it is not in texas".split() * 9


def significant(value, digits: int = DIGITS):
    """Round floats inside nested lists; shorter text, same test value."""
    if isinstance(value, list):
        return [significant(item, digits) for item in value]
    return float(f"{value:.{digits}g}") if isinstance(value, float) else value


def save_tiny_tokenizer(directory: Path, vocabulary: list[str], special: list[str], start: str, end: str) -> None:
    ids = {piece: index for index, piece in enumerate(vocabulary)}
    if len(ids) != len(vocabulary):
        raise ValueError("the tiny vocabulary repeats a piece")
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=True)
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{start} $A {end}", special_tokens=[(start, ids[start]), (end, ids[end])]
    )
    tokenizer.add_special_tokens(special)
    tokenizer.save(str(directory / "tokenizer.json"), pretty=False)
    (directory / "vocab.txt").write_text("".join(f"{piece}\n" for piece in vocabulary), encoding="utf-8")


def perturb(model, generator) -> None:
    """Move every parameter, so that none of them can be ignored unnoticed."""
    with torch.no_grad():
        for parameter in model.parameters():
            parameter += 0.2 * torch.randn(parameter.shape, generator=generator)


def make_tiny_bert(directory: Path) -> None:
    vocabulary = SPECIAL_BERT + PIECES
    torch.manual_seed(SEED)
    config = BertConfig(
        vocab_size=len(vocabulary),
        num_hidden_layers=3,
        type_vocab_size=2,
        layer_norm_eps=1e-12,
        pad_token_id=0,
        **SIZES,
    )
    model = BertModel(config, add_pooling_layer=False)
    perturb(model, torch.Generator().manual_seed(SEED + 1))
    model.save_pretrained(directory)
    save_tiny_tokenizer(directory, vocabulary, SPECIAL_BERT, "[CLS]", "[SEP]")


def make_tiny_mpnet(directory: Path) -> None:
    vocabulary = SPECIAL_MPNET + PIECES + ["<mask>"]
    torch.manual_seed(SEED + 2)
    config = MPNetConfig(
        vocab_size=len(vocabulary),
        # Two are enough to show that the layers share one relative bias.
        num_hidden_layers=2,
        relative_attention_num_buckets=32,
        layer_norm_eps=1e-5,
        bos_token_id=0,
        pad_token_id=1,
        eos_token_id=2,
        **SIZES,
    )
    model = MPNetModel(config, add_pooling_layer=False)
    perturb(model, torch.Generator().manual_seed(SEED + 3))
    model.save_pretrained(directory)
    save_tiny_tokenizer(directory, vocabulary, SPECIAL_MPNET + ["<mask>"], "<s>", "</s>")


class Recorder:
    """One loaded encoder; `dims` limits how much of each hidden state is kept."""

    def __init__(self, directory: Path, dims: int | None):
        self.tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        # Published tokenizers may pad everything to a fixed length.
        self.tokenizer.no_padding()
        self.tokenizer.no_truncation()
        self.model = self.load(directory, torch.float32)
        self.exact = self.load(directory, torch.float64)
        self.dims = dims
        self.error = 0.0

    @staticmethod
    def load(directory: Path, dtype):
        model = AutoModel.from_pretrained(
            directory, dtype=dtype, attn_implementation="eager", local_files_only=True, add_pooling_layer=False
        )
        return model.eval()

    def ids(self, words: list[str]) -> list[int]:
        return self.tokenizer.encode(words, is_pretokenized=True).ids

    def rows(self, hidden, positions: list[int]) -> list:
        return significant(hidden[positions, : self.dims].tolist())

    def hidden(self, ids: list[list[int]], mask: list[list[int]]):
        """All hidden states, embeddings first; notes the float32 error."""
        arguments = dict(input_ids=torch.tensor(ids), attention_mask=torch.tensor(mask), output_hidden_states=True)
        with torch.no_grad():
            states = self.model(**arguments).hidden_states
            exact = self.exact(**arguments).last_hidden_state
        kept = arguments["attention_mask"].bool()
        self.error = max(self.error, (states[-1].double() - exact)[kept].abs().max().item())
        return states

    def one(self, ids: list[int]):
        return [state[0] for state in self.hidden([ids], [[1] * len(ids)])]

    def input(self, ids: list[int], positions: list[int]) -> dict:
        return {"ids": ids, "positions": positions, "last_hidden": self.rows(self.one(ids)[-1], positions)}

    def layers(self, ids: list[int], positions: list[int]) -> dict:
        return {"positions": positions, "hidden": [self.rows(state, positions) for state in self.one(ids)]}

    def batch(self, inputs: list[list[int]]) -> dict:
        width = max(map(len, inputs))
        pad = self.model.config.pad_token_id
        ids = [row + [pad] * (width - len(row)) for row in inputs]
        mask = [[1] * len(row) + [0] * (width - len(row)) for row in inputs]
        last = self.hidden(ids, mask)[-1]
        kept = [self.rows(hidden, list(range(len(row)))) for hidden, row in zip(last, inputs)]
        return {"ids": ids, "mask": mask, "last_hidden": kept}

    def gradient(self, ids: list[int]) -> dict:
        width = self.model.config.hidden_size
        # Quarters are exact in float32 and short in JSON.
        generator = torch.Generator().manual_seed(SEED + 4)
        weights = torch.randint(-6, 7, (len(ids), width), generator=generator) / 4
        self.model.zero_grad()
        last = self.model(torch.tensor([ids]), attention_mask=torch.ones(1, len(ids))).last_hidden_state
        loss = (last[0] * weights).sum()
        loss.backward()

        deepest = self.model.config.num_hidden_layers - 1
        # Every fifth row meets every attention head and keeps the file small.
        spread = list(range(0, width, 5))
        chosen = {"embeddings.word_embeddings.weight": sorted(set(ids)), "embeddings.LayerNorm.bias": None}
        if self.model.config.model_type == "mpnet":
            chosen["encoder.relative_attention_bias.weight"] = None
            chosen["encoder.layer.0.attention.attn.q.weight"] = spread
        else:
            chosen["encoder.layer.0.attention.self.query.weight"] = spread
        chosen[f"encoder.layer.{deepest}.output.LayerNorm.weight"] = None
        parameters = dict(self.model.named_parameters())
        return {
            "ids": ids,
            "weights": weights.tolist(),
            "loss": significant(loss.item()),
            "parameters": [
                {
                    "name": name,
                    "rows": rows,
                    "values": significant((grad if rows is None else grad[rows]).tolist()),
                }
                for name, rows in chosen.items()
                for grad in [parameters[name].grad]
            ],
        }

    def words(self) -> list[dict]:
        encodings = [(words, self.tokenizer.encode(words, is_pretokenized=True)) for words in UTTERANCES]
        return [{"words": words, "ids": code.ids, "word_ids": code.word_ids} for words, code in encodings]


def record(directory: Path, name: str, small: bool) -> dict:
    """The reference of one model directory; `small` is for real encoders."""
    recorder = Recorder(directory, dims=8 if small else None)
    first = recorder.ids(["which", "river", "?"])
    second = recorder.ids(["the", "longest", "state"])
    empty = recorder.ids([])
    longest = min(recorder.model.config.max_position_embeddings - 2, 150)
    long = recorder.ids(LONG_WORDS)
    long = long[: longest - 1] + long[-1:]
    everywhere = list(range(len(first)))
    ends = [0, 1, len(long) // 2, len(long) - 1]

    result = {
        "encoder": name,
        "made_with": {"torch": torch.__version__.split("+")[0], "transformers": transformers.__version__},
        "dims": recorder.dims or recorder.model.config.hidden_size,
        "inputs": [recorder.input(first, everywhere), recorder.input(long, ends)],
        "batch": recorder.batch([first, empty, second[:4]]),
        "layers": recorder.layers(first, [0, 1] if small else everywhere),
    }
    if not small:
        result["inputs"].append(recorder.input(empty, [0, 1]))
        result["gradient"] = recorder.gradient(first)
    result["words"] = recorder.words()
    result["float32_error"] = significant(recorder.error, 2)
    return result


def write_json(path: Path, value: dict) -> None:
    """One top-level key per line: compact, yet a diff stays readable."""
    lines = ",\n".join(f"{json.dumps(key)}:{json.dumps(item, separators=(',', ':'))}" for key, item in value.items())
    path.write_text("{\n" + lines + "\n}\n", encoding="utf-8")
    print(f"{value['encoder']}: {path.stat().st_size} bytes, float32 error {value['float32_error']}", flush=True)


def write_tiny(out: Path) -> None:
    for name, make in {"tiny-bert": make_tiny_bert, "tiny-mpnet": make_tiny_mpnet}.items():
        with tempfile.TemporaryDirectory(prefix=f".{name}-", dir=out) as scratch:
            fresh = Path(scratch) / name
            fresh.mkdir()
            make(fresh)
            write_json(fresh / "reference.json", record(fresh, name, small=False))
            if (out / name).exists():
                shutil.rmtree(out / name)
            fresh.rename(out / name)
        print(f"{out / name}: written", flush=True)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Record hidden states, gradients and token ids of a reference encoder as JSON.",
        epilog=(
            "examples:\n"
            "  python tools/reference_activations.py --out DIR\n"
            "      writes DIR/tiny-bert and DIR/tiny-mpnet, replacing them\n"
            "  python tools/reference_activations.py --out DIR --encoder encoders/all-MiniLM-L6-v2 \\\n"
            "      --name all-MiniLM-L6-v2\n"
            "      writes DIR/all-MiniLM-L6-v2.reference.json\n\n"
            "Exit codes: 0 ok, 1 failed, 2 wrong call."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="directory for the results")
    parser.add_argument("--encoder", type=Path, metavar="PATH", help="a BERT or MPNet model directory to record")
    parser.add_argument("--name", metavar="NAME", help="name of the file written for --encoder")
    arguments = parser.parse_args()
    if (arguments.encoder is None) != (arguments.name is None):
        parser.error("--encoder and --name go together")
    if arguments.encoder is not None:
        for file in ("config.json", "model.safetensors", "tokenizer.json"):
            if not (arguments.encoder / file).is_file():
                parser.error(f"{arguments.encoder} is no model directory: {file} is missing")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        arguments.out.mkdir(parents=True, exist_ok=True)
        if arguments.encoder is None:
            write_tiny(arguments.out)
        else:
            path = arguments.out / f"{arguments.name}.reference.json"
            write_json(path, record(arguments.encoder, arguments.name, small=True))
    except (OSError, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
