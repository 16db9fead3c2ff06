#!/usr/bin/env python3
"""Makes the tables of this folder from Okapi's training file: `python3 domains/okapi/tables.py OKAPI/train.tsv`.

Each has the values of one property, as they are written in requests. People, places and topics of a single request are left out:
from these, training learns to read names that no table lists. dates.tsv is not made here: it has the days of the week, weekends,
weeks, months and years, each with *last*, *this* and *next*, and days such as *today*.
"""

import re
import sys
from collections import Counter
from pathlib import Path

# For each property its table, and how many requests must have a value.
TABLES = {
    "calendar": ("calendars", 1),
    "categories": ("categories", 1),
    "location": ("places", 2),
    "organizer": ("people", 2),
    "SEARCH": ("topics", 2),
}
CLAUSE = re.compile(r"(?:FILTER event\.(\w+) \w+|(SEARCH)) (.*?)(?= (?:FILTER|ORDERBY|SEARCH|TOP|COUNT) |$)")


def main():
    lines = Path(sys.argv[1]).read_text(encoding="utf-8").splitlines()
    clauses = [clause for line in lines for clause in CLAUSE.findall(line.split("\t")[1])]
    count = Counter((field or keyword, value) for field, keyword, value in clauses)
    for property, (name, least) in TABLES.items():
        values = sorted(value for (at, value), n in count.items() if at == property and n >= least)
        text = "\n".join(["name"] + values) + "\n"
        (Path(__file__).parent / f"{name}.tsv").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
