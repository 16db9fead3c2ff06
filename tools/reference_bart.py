#!/usr/bin/env python3
"""Record what the reference implementation of BART and Marian computes.

Makes two tiny models with random weights, one BART and one Marian, as ordinary
model directories with tokenizers and a `reference.json` each.  Every parameter
is perturbed, norms and biases included, because a freshly initialised model
hides mistakes: a forgotten bias is zero, a swapped norm is the identity.

Contents of a reference file:

  texts     pairs of ids that are read and ids that are written; the scores of
            the first pieces at every step of teacher forcing (logits), and the
            loss, the sum of negative log-probabilities of what is written
  greedy    for each text, the ids that greedy search writes, up to `steps`
  words     texts with the ids of their pieces, read and written

With --marian DIR, also compares the tokenizers that `fetch_encoders.py marian`
made in DIR with SentencePiece's own, on sentences of a file.
"""

import argparse
import json
import os
import sys
from pathlib import Path

# Everything is read from local directories; never ask the network.
os.environ["HF_HUB_OFFLINE"] = "1"

try:
    import torch
    from tokenizers import Tokenizer, decoders, models, normalizers, pre_tokenizers, processors
    from transformers import BartConfig, BartForConditionalGeneration, MarianConfig, MarianMTModel
except ImportError as error:
    if __name__ == "__main__" and {"-h", "--help"}.isdisjoint(sys.argv):
        print(f"error: {error}; run: pip install -r tools/requirements.txt", file=sys.stderr)
        sys.exit(1)

SEED = 20240301

# Significant digits of what is written: what float32 has, no more.
DIGITS = 8
STEPS = 12
# Scores that are written for each step; the loss depends on all others.
COLUMNS = 32

SIZES = dict(
    d_model=8,
    encoder_layers=2,
    decoder_layers=2,
    encoder_attention_heads=2,
    decoder_attention_heads=4,
    encoder_ffn_dim=12,
    decoder_ffn_dim=10,
    max_position_embeddings=48,
    dropout=0.1,
)

TEXTS = ["what states border texas ?", "rivers in utah", "how big is new york"]
WORDS = [*TEXTS, "  What is 4 % of \u00bd?  ", "answer(capital(state('new york')), 12)", "caf\u00e9"]


def rounded(value):
    if isinstance(value, list):
        return [rounded(each) for each in value]
    return float(f"{value:.{DIGITS}g}")


def bart_tokenizer() -> Tokenizer:
    """Byte-level pairs: the specials, all bytes, and a few merges."""
    vocab = {token: at for at, token in enumerate(["<s>", "<pad>", "</s>", "<unk>"])}
    for symbol in sorted(pre_tokenizers.ByteLevel.alphabet()):
        vocab[symbol] = len(vocab)
    merges = [("s", "t"), ("a", "t"), ("st", "at"), ("e", "s"), ("\u0120", "stat"), ("\u0120stat", "es"), ("o", "r")]
    for left, right in merges:
        vocab[left + right] = len(vocab)
    vocab["<mask>"] = len(vocab)
    tokenizer = Tokenizer(models.BPE(vocab=vocab, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    tokenizer.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    return tokenizer


def marian_tokenizer(scores: dict[str, float], pieces: list[str]) -> Tokenizer:
    """Pieces with scores, as SentencePiece has them; those of the other language are unlikely."""
    low = min(scores.values()) - 100
    tokenizer = Tokenizer(models.Unigram([(piece, scores.get(piece, low)) for piece in pieces], 1, False))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Nmt(), normalizers.NFKC()])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="always")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="always")
    tokenizer.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 0)])
    return tokenizer


def marian_tokenizers() -> tuple[Tokenizer, Tokenizer]:
    characters = [chr(code) for code in range(33, 127) if chr(code) != "|"]
    common = {"\u2581": -3.0, **{character: -8.0 for character in characters}}
    source = {**common, "\u2581what": -4.0, "\u2581states": -5.0, "\u2581in": -4.0, "er": -5.0, "\u2581new": -5.5}
    target = {**common, "\u2581answer": -4.0, "state": -5.0, "('": -4.0, "er": -6.0, "),": -5.0}
    # The end and the unknown piece come first, padding last.
    pieces = ["</s>", "<unk>", *dict.fromkeys([*source, *target]), "<pad>"]
    return marian_tokenizer(source, pieces), marian_tokenizer(target, pieces)


def perturb(model) -> None:
    generator = torch.Generator().manual_seed(SEED)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            # The positions of Marian are not learned.
            if parameter.requires_grad:
                parameter.add_(0.3 * torch.randn(parameter.shape, generator=generator))
        bias = model.final_logits_bias
        bias.add_(0.3 * torch.randn(bias.shape, generator=generator))


def record(model, read: Tokenizer, write: Tokenizer) -> dict:
    start = model.config.decoder_start_token_id
    targets = ["answer(x)", "state('utah')", "or"]
    texts, greedy = [], []
    for text, target in zip(TEXTS, targets, strict=True):
        ids, labels = read.encode(text).ids, write.encode(target).ids
        with torch.no_grad():
            logits = model(
                input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([[start, *labels[:-1]]])
            ).logits[0]
            written = [start]
            for _ in range(STEPS):
                scores = model(input_ids=torch.tensor([ids]), decoder_input_ids=torch.tensor([written])).logits[0, -1]
                written.append(int(scores.argmax()))
        loss = torch.nn.functional.cross_entropy(logits, torch.tensor(labels), reduction="sum")
        texts.append(
            {"read": ids, "written": labels, "logits": rounded(logits[:, :COLUMNS].tolist()), "loss": rounded(float(loss))}
        )
        greedy.append(written[1:])
    words = [{"text": text, "read": read.encode(" ".join(text.split())).ids,
              "written": write.encode(" ".join(text.split())).ids} for text in WORDS]
    return {"texts": texts, "steps": STEPS, "greedy": greedy, "words": words}


def write_model(model, out: Path, read: Tokenizer, write: Tokenizer) -> None:
    out.mkdir(parents=True, exist_ok=True)
    model.eval()
    perturb(model)
    model.save_pretrained(out, safe_serialization=True)
    (out / "model.safetensors").chmod(0o644)
    (out / "generation_config.json").unlink(missing_ok=True)
    read.save(str(out / "tokenizer.json"), pretty=False)
    if write is not read:
        write.save(str(out / "target_tokenizer.json"), pretty=False)
    reference = record(model, read, write)
    (out / "reference.json").write_text(json.dumps(reference, separators=(",", ":")) + "\n", encoding="utf-8")


def make(out: Path) -> None:
    torch.manual_seed(SEED)
    both = bart_tokenizer()
    config = BartConfig(vocab_size=both.get_vocab_size(), activation_function="gelu", bos_token_id=0, pad_token_id=1,
                        eos_token_id=2, decoder_start_token_id=2, forced_eos_token_id=2, **SIZES)
    write_model(BartForConditionalGeneration(config), out / "tiny-bart", both, both)
    read, write = marian_tokenizers()
    n = read.get_vocab_size()
    config = MarianConfig(vocab_size=n, activation_function="swish", scale_embedding=True, eos_token_id=0,
                          bos_token_id=0, pad_token_id=n - 1, decoder_start_token_id=n - 1, **SIZES)
    write_model(MarianMTModel(config), out / "tiny-marian", read, write)


def compare(directory: Path, original: Path, sentences: Path) -> int:
    """Count the sentences that both tokenizers take apart differently."""
    from sentencepiece import SentencePieceProcessor

    vocab = json.loads((original / "vocab.json").read_text(encoding="utf-8"))
    lines = [line.strip() for line in sentences.read_text(encoding="utf-8").splitlines() if line.strip()]
    n_wrong = 0
    for ours, theirs in [("tokenizer.json", "source.spm"), ("target_tokenizer.json", "target.spm")]:
        mine = Tokenizer.from_file(str(directory / ours))
        other = SentencePieceProcessor(str(original / theirs))
        for line in lines:
            expected = [vocab.get(piece, vocab["<unk>"]) for piece in other.encode(line, out_type=str)]
            # Spanwise takes texts apart word by word, so that spaces between words do not matter.
            found = mine.encode(" ".join(line.split()), add_special_tokens=False).ids
            if found != expected:
                n_wrong += 1
                print(f"{ours}: {line}\n  {found}\n  {expected}", file=sys.stderr)
    print(f"{len(lines)} sentences, {n_wrong} differences")
    return n_wrong


def main() -> int:
    parser = argparse.ArgumentParser(
        description="Record what BART and Marian compute in Transformers.",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="Exit codes: 0 ok, 1 failed, 2 wrong call.",
    )
    parser.add_argument("--out", type=Path, metavar="DIR", help="directory that receives tiny-bart and tiny-marian")
    parser.add_argument("--marian", type=Path, metavar="DIR", help="a directory of fetch_encoders.py marian to check")
    parser.add_argument("--original", type=Path, metavar="DIR", help="the original source.spm, target.spm, vocab.json")
    parser.add_argument("--sentences", type=Path, metavar="FILE", help="sentences to compare, one on each line")
    arguments = parser.parse_args()
    if arguments.out is None and arguments.marian is None:
        parser.error("give --out or --marian")
    if arguments.marian is not None and None in (arguments.original, arguments.sentences):
        parser.error("--marian needs --original and --sentences")
    if arguments.out is not None:
        make(arguments.out)
    if arguments.marian is not None:
        return int(compare(arguments.marian, arguments.original, arguments.sentences) > 0)
    return 0


if __name__ == "__main__":
    sys.exit(main())
