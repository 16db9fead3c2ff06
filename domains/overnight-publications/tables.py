"""Makes the tables of this domain from the training file of Overnight.

    python3 tables.py publications_train.jsonl

A table has the things of one kind that occur in programs of training; the words for them are their names.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent


def main(path):
    text = "\n".join(json.loads(line)["program"] for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines())
    for kind in ("article", "person", "venue"):
        rows = [f"{thing}\t{thing.split('.')[2].replace('_', ' ')}\n" for thing in sorted(set(re.findall(rf"en\.{kind}\.\w+", text)))]
        write(f"{kind}s", "id\tname\n", rows)
    write("years", "name\n", [f"{year}\n" for year in sorted(set(re.findall(r"date\((\d+), -1, -1\)", text)))])


def write(name, columns, rows):
    (HERE / f"{name}.tsv").write_text("# Made by tables.py.\n" + columns + "".join(rows), encoding="utf-8")


main(sys.argv[1])
