"""The executor of the domain `orders`: a program in, its answer out.

One JSON object a line is read, one is printed for each, until the input ends. The table of orders is the file that is
given as argument. A program is read into nested calls; names and values become tests of an order, comparisons and
connectives build tests from tests, and a question is asked of the orders that pass all of its tests.
"""

import csv
import datetime
import json
import re
import sys

CURRENCY = "USD"


class Order:
    """One row of the table. Amounts are in cents, delivery times in seconds, dates are texts such as 2024-05-03."""

    def __init__(self, row):
        self.id = int(row["id"])
        self.date = row["date"]
        self.customer = row["customer"]
        self.city = row["city"]
        self.lines = {name: int(pieces) for pieces, name in (line.split(" ", 1) for line in row["lines"].split("; "))}
        self.cents = cents(row["total"])
        self.seconds = int(row["hours"]) * 3600

    def pieces(self):
        return sum(self.lines.values())


def cents(text):
    return round(float(text) * 100)


# Reading programs


def read(text):
    """A program as nested lists: `count(city('Rome'))` is ["count", ["city", "Rome"]]."""
    tokens = re.findall(r"""'(?:[^']|'')*'|"(?:[^"]|"")*"|[^\s(),'"]+|[(),]""", text)
    node, at = term(tokens, 0)
    if at != len(tokens):
        raise ValueError("text after the program")
    return node


def term(tokens, at):
    token = tokens[at]
    if token[0] in "'\"":
        return token[1:-1].replace(token[0] * 2, token[0]), at + 1
    if at + 1 == len(tokens) or tokens[at + 1] != "(":
        return token, at + 1
    node, at = [token], at + 2
    while tokens[at] != ")":
        at += tokens[at] == ","
        argument, at = term(tokens, at)
        node.append(argument)
    return node, at + 1


# Values: each has a field of an order, and a lowest and a highest value that the field can have, both included


class Range:
    def __init__(self, field, low, high):
        self.field, self.low, self.high = field, low, high

    def __call__(self, order):
        return self.low <= self.field(order) <= self.high


def money(text):
    number, unit = text.split()
    if unit != CURRENCY:
        raise ValueError(f"amounts are in {CURRENCY}, not in {unit}")
    return Range(lambda order: order.cents, cents(number), cents(number))


def duration(text):
    number, unit = text.split()
    seconds = float(number) * {"s": 1, "month": 30 * 86400}[unit]
    return Range(lambda order: order.seconds, seconds, seconds)


def date(text):
    return Range(lambda order: order.date, text, text)


def period(text):
    begin, end = text.split("/")
    last = datetime.date.fromisoformat(end) - datetime.timedelta(days=1)
    return Range(lambda order: order.date, begin, last.isoformat())


def number(text):
    return Range(None, int(text), int(text))


def items(count):
    return Range(Order.pieces, count.low, count.high)


def between(one, other):
    if one.field is None and other.field is not None:  # "between 50 and 100 dollars"
        one = money(f"{one.low} {CURRENCY}")
    return Range(other.field, min(one.low, other.low), max(one.high, other.high))


VALUES = {
    "customer": lambda name: lambda order: order.customer == name,
    "city": lambda name: lambda order: order.city == name,
    "product": lambda name: lambda order: name in order.lines,
    "money": money, "duration": duration, "date": date, "period": period, "number": number, "items": items,
}  # fmt: skip

# A comparison with a period is one with its first or its last day.
COMPARISONS = {
    "over": lambda value: lambda order: value.field(order) > value.high,
    "after": lambda value: lambda order: value.field(order) > value.high,
    "under": lambda value: lambda order: value.field(order) < value.low,
    "before": lambda value: lambda order: value.field(order) < value.low,
    "at_least": lambda value: lambda order: value.field(order) >= value.low,
    "since": lambda value: lambda order: value.field(order) >= value.low,
    "at_most": lambda value: lambda order: value.field(order) <= value.high,
    "until": lambda value: lambda order: value.field(order) <= value.high,
    "between": between,
    "or": lambda one, other: lambda order: one(order) or other(order),
    "and": lambda one, other: lambda order: one(order) and other(order),
    "not": lambda test: lambda order: not test(order),
}

# Questions


def dollars(amount):
    return f"{amount / 100:.2f} {CURRENCY}"


def mean(values):
    return sum(values) / len(values) if values else None


def average(orders):
    return dollars(mean([order.cents for order in orders])) if orders else None


def delivery(orders):
    """The mean delivery time in days and hours."""
    if not orders:
        return None
    hours = round(mean([order.seconds for order in orders]) / 3600)
    return f"{hours // 24} d {hours % 24} h"


def pieces(orders, wanted):
    """How many pieces were ordered: those of the products that the question names, or all."""
    return sum(count for order in orders for name, count in order.lines.items() if not wanted or name in wanted)


def distinct(values):
    return sorted(set(values))


QUESTIONS = {
    "orders": lambda orders: [order.id for order in orders],
    "count": len,
    "total": lambda orders: dollars(sum(order.cents for order in orders)),
    "average": average,
    "customers": lambda orders: distinct(order.customer for order in orders),
    "products": lambda orders: distinct(name for order in orders for name in order.lines),
    "cities": lambda orders: distinct(order.city for order in orders),
    "delivery": delivery,
    "when": lambda orders: [order.date for order in orders],
}

# Orders with the same amount are ranked by their number, those of one day too.
RANKINGS = {
    "largest": lambda order: (-order.cents, order.id),
    "smallest": lambda order: (order.cents, order.id),
    "latest": lambda order: tuple(-int(part) for part in [*order.date.split("-"), order.id]),
    "earliest": lambda order: (order.date, order.id),
}


def named(node):
    """The products that a part of a program names, other than under `not`."""
    if isinstance(node, str) or node[0] == "not":
        return []
    return node[1:] if node[0] == "product" else [name for part in node[1:] for name in named(part)]


def evaluate(node, table):
    """A test for names, values and comparisons; a list of orders for rankings; an answer for questions."""
    if isinstance(node, str):
        return node
    head, *parts = node
    values = [evaluate(part, table) for part in parts]
    if head in VALUES:
        return VALUES[head](*values)
    if head in COMPARISONS:
        return COMPARISONS[head](*values)
    numbers = [value for value in values if isinstance(value, Range) and value.field is None]
    orders = next((value for value in values if isinstance(value, list)), None)
    if orders is None:
        tests = [value for value in values if value not in numbers]
        orders = [order for order in table if all(test(order) for test in tests)]
    if head in RANKINGS:
        return sorted(orders, key=RANKINGS[head])[: numbers[0].low if numbers else 1]
    if head == "pieces":
        return pieces(orders, [] if parts and parts[0][0] in RANKINGS else named(node))
    return QUESTIONS[head](orders)


def answer(program, table):
    value = evaluate(read(program), table)
    if isinstance(value, list) and value and isinstance(value[0], Order):
        return QUESTIONS["orders"](value)
    if callable(value):
        raise ValueError("not a question")
    return value


def main():
    with open(sys.argv[1], encoding="utf-8", newline="") as file:
        table = [Order(row) for row in csv.DictReader(file, delimiter="\t")]
    for line in sys.stdin:
        request = json.loads(line)
        reply = {"id": request.get("id")}
        try:
            reply["denotation"] = answer(request["program"], table)
        except Exception as error:  # a reply for every request, whatever it holds
            reply["error"] = f"{type(error).__name__}: {error}"
        print(json.dumps(reply, ensure_ascii=False), flush=True)


if __name__ == "__main__":
    main()
