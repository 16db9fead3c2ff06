"""Makes the tables of this domain from the training file of ATIS.

    python3 tables.py atis_funql_train_brackets.jsonl atis_funql_length4_train_brackets.jsonl

The splits share one domain file, so a table has only values that the training files of both have.
A table has the values of one kind that occur in programs of training, each with the words that stand for it: its name, and
phrases that occur with it at least twice and hardly without it. Phrases that training has only once, or that need two words
of different names, are listed here. Numbers of days and clock times are written out, because people say them in many ways.
"""

import collections
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).parent

# File -> the function that values of the kind have in programs.
KINDS = {
    "cities": "city_name",
    "airports": "airport_code",
    "airlines": "airline_code",
    "fares": "fare_basis_code",
    "aircraft": "aircraft_code",
    "meals": "meal_description",
    "meal_codes": "meal_code",
    "periods": "day_period",
    "classes": "class_description",
}

MORE = {
    "cities": {
        "washington": ["dc", "d c"],
        "los_angeles": ["la"],
        "new_york": ["new york city", "nyc"],
        "san_francisco": ["bay area"],
        "philadelphia": ["philly"],
        "dallas": ["dallas fort worth", "dallas / fort worth"],
        "westchester_county": ["westchester"],
        "st_petersburg": ["saint petersburg"],
        "st_louis": ["saint louis"],
        "st_paul": ["saint paul"],
    },
    "airports": {
        "mke": ["general mitchell", "general mitchell international", "milwaukee airport"],
        "dal": ["love field", "dallas love field"],
        "bos": ["logan", "logan airport", "logan international", "boston airport", "boston logan", "boston 's airport"],
        "bwi": ["baltimore airport", "baltimore washington international", "baltimore washington airport"],
        "dfw": ["dallas fort worth airport", "dallas fort worth international airport", "dallas airport"],
        "mco": ["orlando airport", "orlando international", "orlando international airport"],
        "sfo": ["san francisco airport", "san francisco international", "san francisco international airport"],
        "lga": ["la guardia", "la guardia airport", "new york 's la guardia"],
        "pit": ["pittsburgh airport", "pittsburgh international"],
        "atl": ["atlanta airport", "atlanta international", "atlanta's airport"],
        "ewr": ["newark airport", "newark international"],
        "den": ["denver airport", "denver international"],
        "phl": ["philadelphia airport", "philadelphia international", "philadelphia international airport"],
        "oak": ["oakland airport", "oakland international"],
        "jfk": ["kennedy", "john f kennedy"],
        "yyz": ["lester pearson", "lester pearson airport", "toronto international", "toronto international airport"],
        "slc": ["salt lake city airport"],
        "ord": ["o'hare"],
        "lax": ["los angeles international", "los angeles international airport"],
        "iah": ["houston intercontinental"],
        "iad": ["dulles"],
        "ont": ["ontario international"],
        "stapelton": ["stapleton", "stapleton airport"],
        "bna": ["nashville airport"],
        "hou": ["houston hobby"],
    },
    "airlines": {
        "aa": ["american airlines", "american airline", "american"],
        "ua": ["united airlines", "united airline"],
        "dl": ["delta airlines", "delta airline"],
        "co": ["continental airlines", "continental airline"],
        "us": ["us air", "usa air", "usair", "us airlines"],
        "tw": ["trans world airline", "trans world airlines"],
        "nw": ["northwest airlines", "northwest airline"],
        "ea": ["eastern airlines", "eastern airline"],
        "hp": ["america west", "america west airlines"],
        "cp": ["canadian airlines", "canadian airlines international", "canadian"],
        "as": ["alaska", "alaska airlines"],
        "ff": ["tower air"],
        "ac": ["air canada"],
        "lh": ["lufthansa airlines"],
        "wn": ["southwest", "southwest air", "southwest airlines"],
        "ml": ["midway airlines"],
    },
    "meals": {"dinner": ["supper"], "snack": ["snacks"]},
    "meal_codes": {
        "ap_57": ["ap 57"], "ap_80": ["ap/80", "ap80"], "ap_68": ["ap68", "ap/68"], "ap_55": ["ap/55", "ap55"],
        "d_s": ["d/s"], "sd_d": ["sd/d"],
    },
    "periods": {
        "morning": ["am", "mornings"],
        "late": ["night", "nights", "nighttime"],
        "afternoon": ["afternoons"],
        "daytime": ["day time"],
    },
    "classes": {"first": ["first class"], "coach": ["coach class"], "business": ["business class"], "thrift": ["thrift class"]},
}

# Values that are errors of the annotation.
WITHOUT = {
    "airports": {"dallas"},
    "airlines": {"usair", "delta", "canadian_airlines_international"},
    "periods": {"breakfast", "mealtime"},
    "meal_codes": {"b"},
}

# Words that stand for something else, too.
COMMON = set("new first as us air co early late to from in on at the a an of and or is are what now".split())

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = "january february march april may june july august september october november december".split()
UNITS = "one two three four five six seven eight nine ten eleven twelve".split()
TEENS = "thirteen fourteen fifteen sixteen seventeen eighteen nineteen twenty".split()
ORDINALS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
).split()


def written(value):
    return re.sub(r"^st ", "st. ", value.replace("_", " "))


def read(path):
    lines = pathlib.Path(path).read_text(encoding="utf-8").splitlines()
    return [(line["utterance"], line["program"]) for line in map(json.loads, lines)]


def learned(examples, function):
    """The values of a function, each with its phrases."""
    found = collections.defaultdict(set)
    grams = collections.defaultdict(set)
    for at, (utterance, program) in enumerate(examples):
        for value in re.findall(rf"\b{function}\(([^()]+)\)", program):
            found[value].add(at)
        words = utterance.split()
        for length in (1, 2, 3):
            for start in range(len(words) - length + 1):
                grams[" ".join(words[start : start + length])].add(at)
    table = {}
    for value, where in sorted(found.items()):
        phrases = [written(value)]
        left = where - grams.get(phrases[0], set())
        while left:
            sure = (
                (len(here & left), phrase)
                for phrase, here in grams.items()
                if " " not in phrase
                and phrase not in COMMON
                and len(here & where) >= 2
                and len(here & where) >= 0.9 * len(here)
                and here & left
            )
            _, best = max(sure, default=(0, None))
            if best is None:
                break
            phrases.append(best)
            left -= grams[best]
        table[value] = phrases
    return table


def pairs(examples, cities, airports):
    """Airports with their cities, as programs on the ground name them together."""
    found = set()
    for _, program in examples:
        codes = re.findall(r"(?:_from_airport_2|_miles_distant)\(airport_code\((\w+)\)", program)
        towns = re.findall(r"(?:_to_city_2\(|airport_code\(\w+\), )city_name\((\w+)\)", program)
        if len(codes) == 1 and len(towns) == 1 and codes[0] in airports and towns[0] in cities:
            found.add((codes[0], towns[0]))
    return sorted(found)


def days():
    rows = {}
    for day in range(1, 32):
        tens, ones = divmod(day, 10)
        if day <= 20:
            cardinal, ordinal = (UNITS + TEENS)[day - 1], ORDINALS[day - 1]
        elif ones:
            cardinal = f"{['twenty', 'thirty'][tens - 2]} {UNITS[ones - 1]}"
            ordinal = f"{['twenty', 'thirty'][tens - 2]} {ORDINALS[ones - 1]}"
        else:
            cardinal, ordinal = "thirty", "thirtieth"
        ending = {1: "st", 2: "nd", 3: "rd"}.get(ones if tens != 1 else 0, "th")
        # "one stop", "two days from today": the smallest numbers are said for other things.
        rows[f"{day}\t{ordinal}"] = [f"{day}{ending}"] + ([cardinal] if day > 3 else [])
    return rows


def clock(half):
    """Times of one half of the day, as programs write them: 5, 30 and 1730 without a colon."""
    rows = {}
    for hour in range(12):
        for minute in range(60):
            value = (hour + (12 if half == "pm" else 0)) * 100 + minute
            spoken = hour or 12
            said = f"{spoken}{minute:02}" if minute else str(spoken)
            # How a time is spoken depends on nothing but its half of the day.
            parts = ["in the morning"] if half == "am" else ["in the afternoon", "in the evening", "at night"]
            phrases = [f"{said}{half}", f"{said} {half}", said] + ([f"{value:04}"] if half == "am" else [])
            if minute % 5 == 0:
                phrases += [f"{said} {part}" for part in parts]
            if minute:
                phrases += [f"{spoken} {minute:02} {half}"] if minute % 5 == 0 else []
            else:
                phrases += [f"{said} o'clock", f"{said} o'clock {half}"]
                phrases += [f"{name} {part}" for part in parts for name in (f"{said} o'clock", UNITS[spoken - 1])]
            if half == "pm":
                phrases.append(str(value))
            if value == 1200:
                phrases += ["noon", "12 noon", "12 o'clock noon", "noontime"]
            if value == 0:
                phrases += ["midnight", "12 midnight"]
            rows[f"{value}\t{phrases[0]}"] = phrases[1:]
    return rows


def write_places(examples, cities, airports):
    write("cities", "code\tsaid", {f"{city}\t{said[0]}": said[1:] for city, said in cities.items()})
    known = pairs(examples, cities, airports)
    write("airport_pairs", "code\tcity", {f"{code}\t{city}": cities[city] for code, city in known})
    town = {code: cities[city][0] for code, city in reversed(known)}
    rows = {f"{code}\t{said[0]}\t{town.get(code, '')}": said[1:] for code, said in airports.items()}
    write("airports", "code\tsaid\tcity", rows)


def write(name, column, rows):
    lines = [f"# Made by tables.py.\n{column}\taliases\n"]
    for value, phrases in rows.items():
        known = list(dict.fromkeys(phrases))
        lines.append(f"{value}\t{'|'.join(known)}\n")
    (HERE / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


def main(*paths):
    examples, *others = (read(path) for path in paths)
    tables = {}
    for name, function in KINDS.items():
        known = [set(learned(other, function)) for other in others]
        rows = learned(examples, function)
        rows = {value: rows[value] for value in rows if all(value in values for values in known)}
        for value in WITHOUT.get(name, ()):
            rows.pop(value, None)
        for value, phrases in rows.items():
            phrases.extend(MORE.get(name, {}).get(value, ()))
        tables[name] = rows
    write_places(examples, tables.pop("cities"), tables.pop("airports"))
    for name, rows in tables.items():
        write(name, "code", rows)
    write("days", "code\tsaid", days())
    write("weekdays", "code", {day: [day, f"{day}s", f"{day}'s"] for day in WEEKDAYS})
    write("months", "code", {month: [month] for month in MONTHS})
    write("clock_am", "code\tsaid", clock("am"))
    write("clock_pm", "code\tsaid", clock("pm"))


main(*sys.argv[1:])
