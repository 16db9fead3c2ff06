"""Makes the tables of this domain from the training file of Overnight.

    python3 tables.py calendar_train.jsonl

A table has the things of one kind that occur in programs of training. Names are the words for meetings, persons and locations;
times, days and lengths are written out as people say them.
"""

import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent
ALIASES = {"weekly_standup": ["weekly startup", "weekly stand up", "week startup", "weekly roundup", "standup"], "greenberg_cafe": ["greenberg"]}
NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
ORDINALS = "th st nd rd th th th th th th".split()


def main(path):
    text = "\n".join(json.loads(line)["program"] for line in pathlib.Path(path).read_text(encoding="utf-8").splitlines())
    for kind in ("meeting", "person", "location"):
        things = sorted(set(re.findall(rf"en\.{kind}\.(\w+)", text)))
        write(f"{kind}s", "id", {f"en.{kind}.{name}": [name.replace("_", " "), *ALIASES.get(name, [])] for name in things})
    write("times", "hour", {hour: clock(int(hour)) for hour in numbers(r"time\((\d+), 0\)", text)})
    write("days", "day", {day: dates(int(day)) for day in numbers(r"date\(2015, 1, (\d+)\)", text)})
    write("lengths", "hours", {length: spans(int(length)) for length in numbers(r"number\((\d+), en.hour\)", text)})


def numbers(pattern, text):
    return sorted(set(re.findall(pattern, text)), key=int)


def clock(hour):
    half, hour = ("am" if hour < 12 else "pm"), hour % 12 or 12
    return [f"{hour}{half}", f"{hour} {half}", f"{hour}00 {half}", f"{hour}00{half}", f"{hour}"]


def dates(day):
    said = [f"{day}", f"{day}{ORDINALS[day % 10]}", ["", "first", "second", "third"][day] if day < 4 else f"{day}th"]
    return [f"{month} {one}" for one in said for month in ("jan", "january")] + [f"jan{day}", f"january{day}"] + said[1:]


def spans(hours):
    said = [NUMBERS[hours], str(hours)] + (["an"] if hours == 1 else [])
    return [f"{one} {unit}" for one in said for unit in ("hours", "hour")] + said[:2]


def write(name, column, rows):
    lines = [f"{value}\t{said[0]}\t{'|'.join(said[1:])}\n" for value, said in rows.items()]
    (HERE / f"{name}.tsv").write_text(f"# Made by tables.py.\n{column}\tname\taliases\n" + "".join(lines), encoding="utf-8")


main(sys.argv[1])
