#!/usr/bin/env python3
"""Compare a model's answers about an SQLite database with those of hand-written SQL.

    python3 evaluate.py --spanwise target/release/spanwise --database shop.db RUN shop_test.jsonl

Every line of the questions has `question`, `sql`, and `ordered` where the order of the answer matters. A question is *right* if it is
answered, and the answer is the result of its SQL; *wrong* if it is answered otherwise; *withheld* if there is no answer. *Best right*
counts the questions whose most probable program gives the right result, answered or withheld.

SQL gives one column, the names or values that are asked for, or two for numbers by group. A table that is shown to people has more
columns than that: it is right if one of its columns (two for numbers by group; two neighboring ones that make up a full name) has
exactly the values that SQL gives.
"""

import argparse
import json
import sqlite3
import subprocess
import sys
from collections import Counter
from decimal import Decimal, InvalidOperation


def plain(value):
    """A value that compares equal however a database or a table writes it."""
    if value is None or value == "":
        return None
    if isinstance(value, bool):
        return Decimal(int(value))
    if isinstance(value, (int, float, Decimal)):
        return round(Decimal(str(value)), 4).normalize() + 0
    text = str(value).strip()
    try:
        number = Decimal(text)
        return round(number, 4).normalize() + 0 if number.is_finite() else text.lower()
    except InvalidOperation:
        return text.lower()


def columns(answer):
    """The columns of an answer, each a list of values."""
    if isinstance(answer, dict) and "rows" in answer:
        rows = answer["rows"]
        return [[plain(row[at]) for row in rows] for at in range(len(answer["columns"]))]
    if isinstance(answer, list):
        return [[plain(item) for item in answer]]
    return [[plain(answer)]]


def candidates(answer, width):
    """The results that an answer can be read as: tuples of `width` values, row by row."""
    found = columns(answer)
    if width == 1:
        # A column, or a name that two neighboring columns make up.
        for column in found:
            yield [(value,) for value in column]
        for left, right in zip(found, found[1:]):
            yield [(f"{a} {b}".lower(),) for a, b in zip(left, right)]
        return
    for a, left in enumerate(found):
        for b, right in enumerate(found):
            if a != b:
                yield list(zip(left, right))
    for a in range(len(found) - 1):
        for b, right in enumerate(found):
            if b not in (a, a + 1):
                yield [(f"{x} {y}".lower(), z) for x, y, z in zip(found[a], found[a + 1], right)]


def is_right(answer, gold, ordered):
    if answer is None:
        return False
    gold = [tuple(plain(value) for value in row) for row in gold]
    if not gold or gold == [(None,)]:
        return all(value is None for column in columns(answer) for value in column)
    if ordered:
        return any(found == gold for found in candidates(answer, len(gold[0])))
    return any(Counter(found) == Counter(gold) for found in candidates(answer, len(gold[0])))


def read(arguments, questions):
    """One reading for each question."""
    command = [arguments.spanwise, "parse", arguments.model, *arguments.flag]
    lines = "".join(json.dumps({"utterance": item["question"], **arguments.fields}) + "\n" for item in questions)
    done = subprocess.run(command, input=lines, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)}: {done.stderr.strip()}")
    return [json.loads(line, parse_float=Decimal) for line in done.stdout.splitlines()]


def executed(arguments, program):
    """What a program that was withheld would have answered."""
    command = [arguments.spanwise, "exec", arguments.domain, "--json", program]
    done = subprocess.run(command, capture_output=True, text=True)
    try:
        return json.loads(done.stdout, parse_float=Decimal).get("answer")
    except json.JSONDecodeError:
        return None


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model")
    parser.add_argument("questions")
    parser.add_argument("--database", required=True, help="the SQLite file")
    parser.add_argument("--spanwise", default="spanwise", help="the binary")
    parser.add_argument("--domain", help="the domain file, to run programs that are withheld")
    parser.add_argument("--flag", action="append", default=["--allow-executor"], help="more options of `spanwise parse`")
    parser.add_argument("--now", help="the day that relative dates refer to")
    parser.add_argument("--verbose", action="store_true", help="print every question that is not right")
    arguments = parser.parse_args()
    arguments.fields = {"now": arguments.now} if arguments.now else {}

    with open(arguments.questions, encoding="utf-8") as lines:
        questions = [json.loads(line) for line in lines if line.strip()]
    database = sqlite3.connect(f"file:{arguments.database}?mode=ro", uri=True)
    counts = Counter()
    for item, reading in zip(questions, read(arguments, questions), strict=True):
        gold = database.execute(item["sql"]).fetchall()
        ordered = item.get("ordered", False)
        program = reading.get("program")
        guess = (reading.get("guess") or {}).get("program")
        if program is not None:
            outcome = "right" if is_right(reading.get("answer"), gold, ordered) else "wrong"
            best = outcome == "right"
        else:
            outcome = "withheld"
            best = bool(guess and arguments.domain and is_right(executed(arguments, guess), gold, ordered))
        counts[outcome] += 1
        counts["best right"] += best
        if arguments.verbose and outcome != "right":
            print(f"{outcome}{' (best right)' if best else ''}: {item['question']}\n  {program or guess}\n  {reading.get('reason') or ''}")
    print(json.dumps({"questions": len(questions), **{key: counts[key] for key in ("right", "wrong", "withheld", "best right")}}))


if __name__ == "__main__":
    main()
