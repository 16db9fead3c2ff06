#!/usr/bin/env python3
"""Time fine-tuning steps of an encoder in PyTorch.

A training loop written from scratch needs a yardstick on the same machine,
the same weights and the same utterances.  One step is zero_grad, forward in
train mode, a scalar loss over all tokens, backward, gradient clipping and
AdamW; operations run eagerly, as most PyTorch programs do.  Utterances are
grouped by length, so that padding is as rare as in a careful loop.

Frozen lower layers can be computed in every step, or once beforehand with
--cached, where a step starts from their stored output.
"""

import argparse
import json
import os
import random
import statistics
import sys
import time
from pathlib import Path

# Everything is read from local directories; never ask the network.
os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch
    import transformers
    from tokenizers import Tokenizer
    from transformers import AutoModel
except ImportError as error:
    if __name__ == "__main__" and {"-h", "--help"}.isdisjoint(sys.argv):
        print(f"error: {error}; run: pip install -r tools/requirements.txt", file=sys.stderr)
        sys.exit(1)

SEED = 1
WARM_UP = 3
LATENCY_RUNS = 50
LATENCY_WORDS = 10
PHASES = ("forward", "backward", "optimiser", "step")


class BenchError(Exception):
    """A failure the user can act on; its text is the whole message."""


def read_utterances(path: Path) -> list[list[str]]:
    """Words of every utterance; the file is JSON Lines or one JSON array."""
    text = path.read_text(encoding="utf-8")
    try:
        if text.lstrip().startswith("["):
            records = json.loads(text)
        else:
            records = [json.loads(line) for line in text.splitlines() if line.strip()]
        utterances = [record.get("utterance") or record["question"] for record in records]
        words = [utterance.split() for utterance in utterances]
    except (ValueError, KeyError, AttributeError) as error:
        raise BenchError(
            f"{path}: every record must be a JSON object with a text field `utterance` or `question` ({error!r})"
        ) from error
    words = [item for item in words if item]
    if not words:
        raise BenchError(f"{path}: no utterances")
    return words


def ten_words(utterances: list[list[str]]) -> list[str]:
    """An utterance of the latency length, made of others if none has it."""
    for words in utterances:
        if len(words) == LATENCY_WORDS:
            return words
    pool = [word for words in utterances for word in words]
    return (pool * LATENCY_WORDS)[:LATENCY_WORDS]


class Batch:
    """Padded ids, their mask, and fixed weights that are zero on padding."""

    def __init__(self, rows: list[list[int]], pad: int, width: int):
        longest = max(map(len, rows))
        self.ids = torch.tensor([row + [pad] * (longest - len(row)) for row in rows])
        self.mask = torch.tensor([[1] * len(row) + [0] * (longest - len(row)) for row in rows])
        self.tokens = int(self.mask.sum())
        generator = torch.Generator().manual_seed(SEED)
        noise = torch.randn(len(rows), longest, width, generator=generator)
        self.weights = noise * self.mask[:, :, None] / self.tokens
        self.hidden = None

    @property
    def additive_mask(self):
        return (1.0 - self.mask[:, None, None, :].float()) * torch.finfo(torch.float32).min


def make_batches(rows: list[list[int]], size: int, count: int, pad: int, width: int) -> list[Batch]:
    """`count` batches of similar lengths, drawn evenly over the data."""
    rows = sorted(rows, key=len)
    chunks = [rows[start : start + size] for start in range(0, len(rows), size)]
    # A short remainder would make one step look cheap.
    chunks = [chunk for chunk in chunks if len(chunk) == size] or chunks
    random.Random(SEED).shuffle(chunks)
    return [Batch(chunks[index % len(chunks)], pad, width) for index in range(count)]


def freeze(model, layers: int, train_embeddings: bool) -> None:
    model.embeddings.requires_grad_(train_embeddings)
    shared = getattr(model.encoder, "relative_attention_bias", None)
    if shared is not None and layers:
        # MPNet's layers share one bias; the frozen ones must not see it move.
        shared.requires_grad_(False)
    for layer in model.encoder.layer[:layers]:
        layer.requires_grad_(False)


def cache_lower_layers(model, layers: int, batches: list[Batch]) -> None:
    """Store the frozen layers' output with each batch, then drop them."""
    model.eval()
    with torch.no_grad():
        for batch in batches:
            output = model(batch.ids, attention_mask=batch.mask, output_hidden_states=True)
            batch.hidden = output.hidden_states[layers].clone()
    model.encoder.layer = model.encoder.layer[layers:]


def forward(model, batch: Batch):
    if batch.hidden is None:
        return model(batch.ids, attention_mask=batch.mask)[0]
    return model.encoder(batch.hidden, attention_mask=batch.additive_mask)[0]


def time_steps(model, optimiser, parameters, batches: list[Batch]) -> dict[str, list[float]]:
    model.train()
    times = {phase: [] for phase in PHASES}
    for number, batch in enumerate(batches):
        start = time.perf_counter()
        optimiser.zero_grad()
        begun = time.perf_counter()
        loss = (forward(model, batch) * batch.weights).sum()
        forwarded = time.perf_counter()
        loss.backward()
        backed = time.perf_counter()
        torch.nn.utils.clip_grad_norm_(parameters, 5.0)
        optimiser.step()
        end = time.perf_counter()
        if number >= WARM_UP:
            spans = (forwarded - begun, backed - forwarded, end - backed, end - start)
            for phase, span in zip(PHASES, spans):
                times[phase].append(span * 1e3)
    return times


def time_latency(model, ids: list[int]) -> list[float]:
    """One utterance on one thread, as an interactive parser would see it."""
    model.eval()
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    row = torch.tensor([ids])
    mask = torch.ones_like(row)
    times = []
    with torch.no_grad():
        for number in range(WARM_UP + LATENCY_RUNS):
            start = time.perf_counter()
            model(row, attention_mask=mask)
            if number >= WARM_UP:
                times.append((time.perf_counter() - start) * 1e3)
    torch.set_num_threads(threads)
    return times


def run(arguments: argparse.Namespace) -> dict:
    torch.set_num_threads(arguments.threads)
    torch.manual_seed(SEED)
    model = AutoModel.from_pretrained(
        arguments.encoder, dtype=torch.float32, local_files_only=True, add_pooling_layer=False
    )
    depth = model.config.num_hidden_layers
    if arguments.frozen_layers >= depth:
        raise BenchError(f"--frozen-layers {arguments.frozen_layers}: the encoder has {depth} layers, one must train")

    tokenizer = Tokenizer.from_file(str(arguments.encoder / "tokenizer.json"))
    # Published tokenizers may pad everything to a fixed length.
    tokenizer.no_padding()
    tokenizer.enable_truncation(model.config.max_position_embeddings - 2)
    utterances = read_utterances(arguments.data)
    rows = [tokenizer.encode(words, is_pretokenized=True).ids for words in utterances]
    batches = make_batches(
        rows, arguments.batch, WARM_UP + arguments.steps, model.config.pad_token_id, model.config.hidden_size
    )

    short = tokenizer.encode(ten_words(utterances), is_pretokenized=True).ids
    latency = time_latency(model, short)
    freeze(model, arguments.frozen_layers, arguments.train_embeddings)
    if arguments.cached:
        cache_lower_layers(model, arguments.frozen_layers, batches)
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    optimiser = torch.optim.AdamW(parameters, lr=arguments.lr, fused=arguments.fused)
    times = time_steps(model, optimiser, parameters, batches)

    result = {f"{phase}_ms": statistics.median(times[phase]) for phase in PHASES}
    result |= {f"{phase}_mean_ms": statistics.fmean(times[phase]) for phase in PHASES}
    result |= {"latency_ms": statistics.median(latency), "latency_mean_ms": statistics.fmean(latency)}
    result = {key: round(value, 3) for key, value in result.items()}
    timed = batches[WARM_UP:]
    return result | {
        "tokens_per_step": round(statistics.fmean(batch.tokens for batch in timed), 1),
        "padded_tokens_per_step": round(statistics.fmean(batch.ids.numel() for batch in timed), 1),
        "latency_tokens": len(short),
        "trained_parameters": sum(parameter.numel() for parameter in parameters),
        "batch": arguments.batch,
        "steps": arguments.steps,
        "threads": arguments.threads,
        "frozen_layers": arguments.frozen_layers,
        "cached": arguments.cached,
        "train_embeddings": arguments.train_embeddings,
        "fused": arguments.fused,
        "encoder": arguments.encoder.resolve().name,
        "torch": torch.__version__,
        "transformers": transformers.__version__,
    }


def report(result: dict) -> None:
    frozen = f"{result['frozen_layers']} layers frozen" if result["frozen_layers"] else "all layers trained"
    frozen += ", cached" if result["cached"] else ""
    print(f"{result['encoder']}, {frozen}, {result['trained_parameters'] / 1e6:.1f} M parameters trained")
    print(
        f"{result['steps']} steps of {result['batch']} utterances, {result['tokens_per_step']:.0f} tokens "
        f"({result['padded_tokens_per_step']:.0f} with padding), {result['threads']} threads, torch {result['torch']}"
    )
    print(f"{'':12}{'median ms':>12}{'mean ms':>12}")
    for phase in (*PHASES, "latency"):
        print(f"{phase:12}{result[f'{phase}_ms']:12.2f}{result[f'{phase}_mean_ms']:12.2f}")


def positive(text: str) -> int:
    value = int(text)
    if value < 1:
        raise argparse.ArgumentTypeError("must be at least 1")
    return value


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Time training steps and single-utterance latency of an encoder in eager PyTorch.",
        epilog=(
            "example:\n"
            "  python tools/bench_torch.py --encoder encoders/all-MiniLM-L6-v2 --data train.jsonl \\\n"
            "      --frozen-layers 3 --cached\n\n"
            "`optimiser` includes gradient clipping; `step` is everything from zero_grad on; `latency`\n"
            f"is one forward of {LATENCY_WORDS} words on one thread without gradients, tokenization excluded.\n"
            f"The first {WARM_UP} runs of everything are not counted.\n"
            "Exit codes: 0 ok, 1 failed, 2 wrong call."
        ),
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("--encoder", type=Path, required=True, metavar="DIR", help="a BERT or MPNet model directory")
    add("--data", type=Path, required=True, metavar="FILE", help="JSON Lines with `utterance` or `question` fields")
    add("--batch", type=positive, default=16, help="utterances per step (default: %(default)s)")
    add("--steps", type=positive, default=30, help="timed steps (default: %(default)s)")
    add("--threads", type=positive, default=2, help="threads for the steps (default: %(default)s)")
    add("--frozen-layers", type=int, default=0, metavar="N", help="freeze the embeddings and the lower N layers")
    add("--cached", action="store_true", help="compute the frozen layers once, before the steps")
    add(
        "--train-embeddings",
        action=argparse.BooleanOptionalAction,
        default=None,
        help="train the embeddings (default: only when no layer is frozen)",
    )
    add("--lr", type=float, default=5e-5, help="learning rate (default: %(default)s)")
    add("--fused", action="store_true", help="use PyTorch's fused AdamW kernel")
    add("--json", action="store_true", help="print one JSON object instead of a table")
    arguments = parser.parse_args()
    if arguments.train_embeddings is None:
        arguments.train_embeddings = arguments.frozen_layers == 0
    if arguments.frozen_layers < 0:
        parser.error("--frozen-layers must not be negative")
    if arguments.cached and arguments.frozen_layers == 0:
        parser.error("--cached needs --frozen-layers of at least 1")
    if arguments.cached and arguments.train_embeddings:
        parser.error("--cached and --train-embeddings exclude each other: cached embeddings cannot train")
    for file in ("config.json", "model.safetensors", "tokenizer.json"):
        if not (arguments.encoder / file).is_file():
            parser.error(f"{arguments.encoder} is no model directory: {file} is missing")
    if not arguments.data.is_file():
        parser.error(f"{arguments.data} is no file")
    return arguments


def main() -> int:
    arguments = parse_arguments()
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    try:
        result = run(arguments)
    except (BenchError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    if arguments.json:
        print(json.dumps(result))
    else:
        report(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
