#!/usr/bin/env python3
"""Makes the tables of this folder from Okapi's training file: `python3 domains/okapi/tables.py OKAPI/train.tsv`.

Each has the values of one property, as they are written in requests. dates.tsv is not made here: it has the days of the week, weeks,
months and years with *last*, *this* and *next*, and the days by name.
"""

import re
import sys
from pathlib import Path

TABLES = {"calendar": "calendars", "categories": "categories", "location": "locations", "organizer": "people", "SEARCH": "topics"}
CLAUSE = re.compile(r"(?:FILTER event\.(\w+) \w+|(SEARCH)) (.*?)(?= (?:FILTER|ORDERBY|SEARCH|TOP|COUNT) |$)")


def main():
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    found = {clause for line in lines for clause in CLAUSE.findall(line.split("\t")[1])}
    for field, name in TABLES.items():
        values = sorted(value for clause in found for value in clause[2:] if field in clause[:2])
        text = "\n".join(["name"] + values) + "\n"
        (Path(__file__).parent / f"{name}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
