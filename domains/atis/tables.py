"""Makes the tables of this domain from the training file of ATIS.

    python3 tables.py atis_funql_train_brackets.jsonl atis_funql_length4_train_brackets.jsonl

The splits share one domain file, so a table has only values that the training files of both have, and facts of the world:
airlines, airports and aircraft of North America in the early nineties with their codes, whether training names them or not.
A value of training has the words that stand for it: its name, and phrases that occur with it at least twice and hardly
without it. Phrases that training has only once, or that need two words of different names, are listed here. Numbers of days
and clock times are written out, because people say them in many ways.
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
        "yx": ["midwest express", "midwest express airlines"],
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

# Facts of the world: what exists beside the values of training.
AIRLINES = {
    "ba": ["british airways"], "jl": ["japan airlines"], "kl": ["klm"], "af": ["air france"], "sr": ["swissair"], "mx": ["mexicana"], "am": ["aeromexico"],
    "pa": ["pan am", "pan american"], "pi": ["piedmont"], "tz": ["american trans air"], "kw": ["carnival"], "nk": ["spirit"], "qq": ["reno air"],
    "ha": ["hawaiian"], "aq": ["aloha"], "mq": ["american eagle", "simmons"], "zw": ["air wisconsin"], "sx": ["trans states"], "oo": ["skywest"],
    "oh": ["comair"], "ev": ["atlantic southeast"], "dh": ["atlantic coast"], "qx": ["horizon"], "xj": ["mesaba"], "yv": ["mesa"], "hq": ["business express"],
}
# Airports with the city that calls one its own, and with their names.
AIRPORTS = {
    "atl": ("atlanta", "hartsfield", "hartfield"), "bna": ("nashville",), "bos": ("boston", "logan"), "bur": ("burbank",), "bwi": ("baltimore",),
    "cle": ("cleveland", "hopkins"), "clt": ("charlotte", "douglas"), "cmh": ("columbus", "port columbus"), "cvg": ("cincinnati",), "dal": ("", "love field"),
    "dca": ("", "national", "washington national"), "den": ("denver",), "det": ("", "detroit city"), "dfw": ("dallas",),
    "dtw": ("detroit", "detroit metropolitan", "detroit wayne county"), "ewr": ("newark",), "hou": ("", "hobby"), "hpn": ("westchester county",),
    "iad": ("", "dulles", "washington dulles"), "iah": ("houston", "intercontinental"), "ind": ("indianapolis",), "jfk": ("", "kennedy", "john f. kennedy"),
    "las": ("las vegas", "mccarran"), "lax": ("los angeles",), "lga": ("new york", "la guardia", "laguardia"), "lgb": ("long beach",), "mci": ("kansas city",), "mco": ("orlando",),
    "mdw": ("", "chicago midway"), "mem": ("memphis",), "mia": ("miami",), "mke": ("milwaukee", "mitchell", "general mitchell", "mitchell field"), "msp": ("minneapolis", "minneapolis st. paul"),
    "oak": ("oakland",), "ont": ("ontario",), "ord": ("chicago", "o'hare", "ohare", "o hare", "chicago o'hare"), "phl": ("philadelphia",),
    "phx": ("phoenix", "sky harbor"), "pie": ("st. petersburg", "clearwater"), "pit": ("pittsburgh",), "san": ("san diego", "lindbergh field"),
    "sea": ("seattle", "sea tac", "seatac"), "sfo": ("san francisco",), "sjc": ("san jose",), "slc": ("salt lake city",), "stl": ("st. louis", "lambert"),
    "tpa": ("tampa",), "ymx": ("", "mirabel"), "yul": ("montreal", "dorval"), "ytz": ("", "toronto island"), "yyz": ("toronto", "pearson"),
}
AIRCRAFT = (
    "100 146 310 320 707 727 733 734 735 737 747 757 763 767 72s 73s 74m ab3 atr at4 at7 atp be1 be9 bec d8s d9s d10 dc8 dc9 dc10 dh7 dh8 "
    "em2 emb f27 f28 f50 j31 l10 l1011 m80 m87 m88 md11 md80 sf3 sh3 sh6 swm"
).split()
FARES = "b bh c cn d f fn h j k kn l m p q qn qo qw qx r s t u v w y yn".split()
MEAL_CODES = "b l d sb lb ld ls b_s d_s l_s s_s sd_d".split()
# Cities of training lie in some of these, and two cities are called like states.
STATES = (
    "alabama alaska arizona arkansas california colorado connecticut delaware florida georgia idaho illinois indiana iowa kansas kentucky "
    "louisiana maine maryland massachusetts michigan minnesota mississippi missouri montana nebraska nevada new_hampshire new_jersey "
    "new_mexico north_carolina north_dakota ohio oklahoma oregon pennsylvania rhode_island south_carolina south_dakota tennessee texas utah "
    "vermont virginia west_virginia wisconsin wyoming quebec"
).split()

# Values that are errors of the annotation.
WITHOUT = {
    "airports": {"dallas"},
    "airlines": {"usair", "delta", "canadian_airlines_international"},
    "periods": {"breakfast", "mealtime", "late_evening", "late_night"},
    "meal_codes": {"b"},
}

# Words that stand for something else, too.
COMMON = set("new first as us air co early late to from in on at the a an of and or is are what now".split())
# Codes that are words, too, so that they are not said.
WORDS = {"am", "oh", "las", "san", "pie", "sea", "d", "s", "a"}

WEEKDAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
MONTHS = "january february march april may june july august september october november december".split()
MEALTIMES = {1400: ["lunch", "lunchtime", "lunch time"], 1700: ["dinnertime", "dinner time"]}
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


# Functions that training has at most a few times, and what their names and their like suggest. Table -> function -> phrases.
FUNCTIONS = {
    "kinds": {
        "_overnight": ["overnight", "red eye"],
        "_turboprop": ["turboprop", "propeller"],
        "_jet": ["jet"],
        "_discounted": ["discount", "discounted"],
        "_has_stops": ["that stop", "with stops", "make stops", "have stops"],
    },
    "best": {
        "argmax_time_elapsed": ["longest", "slowest"],
        "argmax_capacity": ["largest", "biggest", "most seats"],
        "argmax_arrival_time": ["last", "latest", "latest arrival", "latest arriving", "arrives latest", "arrives last", "last arriving"],
        "argmin_stops": ["least amount of stops", "least number of stops", "minimum number of stops", "fewest number of stops", "fewest stops", "least stops"],
        "argmax_stops": ["maximum number of stops", "largest number of stops", "highest number of stops", "maximum stops", "most stops"],
    },
    "asked": {
        "_arrival_time": ["arrival time", "time of arrival", "arrival", "arrive", "get in"],
        "_time_elapsed": ["how long", "elapsed time", "travel time", "flight time", "flying time", "duration", "length", "time"],
        "_stop_1": ["stop", "stopover", "cities"],
        "_stops": ["how many stops", "number of stops"],
        "sum_stops": ["how many stops", "total stops"],
        "_restriction_code": ["restriction", "restriction code"],
        "_airline_name": ["airline", "name of the airline"],
        "_flight_airline": ["the airline", "flights and airlines", "airlines and flights"],
        "_flight_aircraft": ["flights and aircraft", "aircraft and flights", "flights and planes"],
        "_fare_time": ["prices and times", "times and prices", "fares and times", "times and fares"],
        "_stop_arrival_time": ["what time stop", "stop in between"],
    },
    "all": {
        "_fare_basis_code": ["fare codes", "fare basis codes"],
        "_meal_code": ["meals", "meal codes"],
        "_booking_class:_t": ["classes", "booking classes"],
        "_class_of_service": ["flight classes", "classes of service", "service classes"],
        "_city": ["cities"],
    },
    "counted": {
        "_>_stops_2": ["at least", "more than"],
        "_<_stops_2": ["at most", "less than", "fewer than"],
        "_stops_2": ["stop"],
        "_next_days_2": ["next"],
        "_days_from_today_2": ["days from today", "days from now"],
    },
    "on_the_ground": {
        "_taxi": ["taxi", "taxicab", "cab"],
        "_rapid_transit": ["train", "rapid transit", "subway", "bus"],
        "_air_taxi_operation": ["air taxi operation", "air taxi"],
    },
    "anywhere": {
        "_city": ["any city", "any cities", "all cities", "other cities", "another city", "some other city", "various cities"],
        "_airport": ["any airport", "any other airport", "all airports", "other airports", "all other airports", "another airport"],
    },
}
# Both of two kinds of trips, in either order.
EITHER = {("_nonstop", "_connecting"): ["direct", "nonstop", "connecting"], ("_oneway", "_round_trip"): ["one way", "round trip"]}


def owning(phrases):
    """*Delta's flights*: names, and the same with the ending."""
    return [*phrases, *(f"{said}'s" for said in phrases if len(said) > 2 and not said.endswith("s"))]


def world():
    """The values that exist, each with its phrases, by kind."""
    airlines = {code: [said for name in names for said in (name, f"{name} airlines")] for code, names in AIRLINES.items()}
    airports = {}
    for code, (town, *names) in AIRPORTS.items():
        airports[code] = [said for name in names for said in (name, f"{name} airport", f"{name} international", f"{name} international airport")]
        airports[code] += [f"{code} airport"] * (code not in WORDS)
        airports[code] += [f"{town} international", f"{town} international airport"] if town else []
    found = {"airlines": airlines, "airports": airports}
    found |= {kind: {code: [] for code in codes} for kind, codes in (("aircraft", AIRCRAFT), ("fares", FARES))}
    for rows in found.values():
        for code in rows.keys() - WORDS:
            rows[code].insert(0, code)
    # A single letter is a fare code, and a meal code where training says so.
    found["meal_codes"] = {code: [code.replace("_", "/"), code.replace("_", " ")] for code in MEAL_CODES if len(code) > 1}
    found["meal_codes"] |= {f"ap_{n}": [f"ap/{n}", f"ap{n}", f"ap {n}"] for n in range(1, 100)} | {"ap": ["ap"]}
    found["periods"] = {"late_evening": ["late evening", "late in the evening"], "late_night": ["late night", "late at night"]}
    found["classes"] = {"standard": ["standard", "standard class"]}
    found["meals"] = {"brunch": ["brunch"]}
    return {kind: {code: said for code, said in rows.items() if said} for kind, rows in found.items()}


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
        rows[f"{day}\t{ordinal}"] = [f"{day}{ending}", cardinal]
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
            phrases += MEALTIMES.get(value, [])
            rows[f"{value}\t{phrases[0]}"] = phrases[1:]
    return rows


def write_places(examples, cities, airports):
    write("cities", "code\tsaid", {f"{city}\t{said[0]}": said[1:] for city, said in cities.items()})
    known = pairs(examples, cities, airports)
    write("airport_pairs", "code\tcity", {f"{code}\t{city}": cities[city] for code, city in known})
    rows = {f"{code}\t{said[0]}\t{AIRPORTS.get(code, [''])[0]}": said[1:] for code, said in airports.items()}
    write("airports", "code\tsaid\tcity", rows)
    said = {phrases[0]: (city, phrases) for city, phrases in cities.items()}
    rows = {f"{code}\t{said[town][0]}": said[town][1] for code, (town, *_) in AIRPORTS.items() if town in said}
    write("distances", "code\tcity", {f"{code}\t{city}": cities[city] for code, city in known} | rows)


def write(name, column, rows):
    lines = [f"# Made by tables.py.\n{column}\taliases\n"]
    for value, phrases in rows.items():
        known = list(dict.fromkeys(phrases))
        lines.append(f"{value}\t{'|'.join(known)}\n")
    (HERE / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")


def either(kinds):
    *these, last = kinds
    return [f"{one} {word} {two}" for kind in these for word in ("and", "or") for one, two in ((kind, last), (last, kind))]


def write_phrases(name, columns, functions):
    """A table of predicates, which have no column `aliases`: a line for each phrase."""
    lines = [f"{function}\t{said}\n" for function, phrases in functions.items() for said in phrases]
    (HERE / f"{name}.tsv").write_text(f"# Made by tables.py.\n{columns}\tsaid\n" + "".join(lines), encoding="utf-8")


def main(*paths):
    examples, *others = (read(path) for path in paths)
    tables, facts = {}, world()
    for name, function in KINDS.items():
        known = [set(learned(other, function)) for other in others]
        rows = learned(examples, function)
        rows = {value: rows[value] for value in rows if all(value in values for values in known)}
        for value in WITHOUT.get(name, ()):
            rows.pop(value, None)
        for value, phrases in rows.items():
            phrases.extend(MORE.get(name, {}).get(value, ()))
        for value, phrases in facts.get(name, {}).items():
            rows.setdefault(value, []).extend(phrases)
        tables[name] = {value: owning(rows[value]) for value in rows} if name in ("cities", "airlines") else rows
    write_places(examples, tables.pop("cities"), tables.pop("airports"))
    for name, rows in tables.items():
        write(name, "code", rows)
    write("days", "code\tsaid", days())
    write("weekdays", "code", {day: [day, f"{day}s", f"{day}'s"] for day in WEEKDAYS})
    write("months", "code", {month: [month] for month in MONTHS})
    write("states", "code\tsaid", {f"{state}\t{written(state)}": [] for state in STATES})
    for name, functions in FUNCTIONS.items():
        write_phrases(name, "name", functions)
    write_phrases("either", "one\ttwo", {"\t".join(pair): either(said) for pair, said in EITHER.items()})
    full = {said.replace(" ", "_"): said for said in (phrase for phrases in tables["airlines"].values() for phrase in phrases) if len(said) > 3}
    write("airline_names", "code\tsaid", {f"{code}\t{said}": ["us air"] * (code == "usair") for code, said in full.items() if re.fullmatch(r"\w+", code) and not code.endswith("'s")})
    write("clock_am", "code\tsaid", clock("am"))
    write("clock_pm", "code\tsaid", clock("pm"))


main(*sys.argv[1:])
