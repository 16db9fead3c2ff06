#!/usr/bin/env python3
"""Makes the tables of this folder from Okapi's training file: `python3 domains/okapi/tables.py OKAPI/train.tsv`.

calendars.tsv and categories.tsv have all values, as they are written in programs. topics.tsv has only those that no request writes in
this way: training learns to read the others from the words. dates.tsv is not made here: it has the days of the week, weekends, weeks,
months and years, each with *last*, *this* and *next*, and days such as *today*.
"""

import re
import sys
from pathlib import Path

TABLES = {"calendar": "calendars", "categories": "categories", "SEARCH": "topics"}
CLAUSE = re.compile(r"(?:FILTER event\.(\w+) \w+|(SEARCH)) (.*?)(?= (?:FILTER|ORDERBY|SEARCH|TOP|COUNT) |$)")


def main():
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    values, as_typed = set(), set()
    for request, program in (line.split("\t") for line in lines):
        for field, keyword, value in CLAUSE.findall(program):
            values.add((field or keyword, value))
            if keyword and value in request:
                as_typed.add((keyword, value))
    for field, name in TABLES.items():
        listed = sorted(value for at, value in values - as_typed if at == field)
        text = "\n".join(["name"] + listed) + "\n"
        (Path(__file__).parent / f"{name}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
