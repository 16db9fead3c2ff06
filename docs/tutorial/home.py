"""The executor of the tutorial: programs of the home language in, what they come to out.

One JSON object a line is read, one is printed for each, until the input ends. The house is always as below, so that
a program always means the same: actions say what they would change.
"""

import json
import re
import sys

# Kind, place, and whether it is running (a blind: whether it is open).
HOUSE = [
    ("light", "kitchen", True), ("light", "living room", True), ("light", "bedroom", False), ("light", "hall", True),
    ("light", "bathroom", False), ("light", "office", True), ("light", "nursery", False), ("light", "garage", False),
    ("light", "attic", False), ("light", "cellar", True), ("light", "guest room", False), ("light", "dining room", True),
    ("heater", "kitchen", False), ("heater", "living room", True), ("heater", "bedroom", False),
    ("heater", "bathroom", True), ("heater", "office", True), ("heater", "nursery", True), ("heater", "guest room", False),
    ("fan", "kitchen", True), ("fan", "bedroom", False), ("fan", "bathroom", True), ("fan", "attic", False),
    ("blind", "living room", True), ("blind", "bedroom", False), ("blind", "office", True), ("blind", "nursery", False),
    ("blind", "guest room", True), ("blind", "dining room", True),
]

SHARES = {"half": "50", "quarter": "25"}
WHEN = {"at": "at", "after": "in"}


def read(text):
    """A program as nested lists: `on(light())` is ["on", ["light"]]; names in quotes and numbers stay texts."""
    tokens = re.findall(r"'[^']*'|[\w.-]+|[(),]", text)

    def term(at):
        token = tokens[at]
        if re.match(r"'|-?\d", token):
            return token.strip("'"), at + 1
        if tokens[at + 1 : at + 2] != ["("]:
            return [token], at + 1
        node, at = [token], at + 2  # past the name and its parenthesis
        while tokens[at] != ")":
            at += tokens[at] == ","
            argument, at = term(at)
            node.append(argument)
        return node, at + 1

    return term(0)[0]


def evaluate(node):
    if isinstance(node, str):
        return node
    head, *arguments = node
    values = [evaluate(argument) for argument in arguments]
    if head in ("place", "percent", "degrees", "time", "duration", "date"):
        return values[0]
    if head in SHARES:
        return SHARES[head]
    if head in ("light", "heater", "fan", "blind"):
        return [device for device in HOUSE if device[0] == head and (not values or device[1] == values[0])]
    if head == "running":
        return [device for device in values[0] if device[2]]
    if head == "except":
        return [device for device in values[0] if device[1] != values[1]]
    if head == "count":
        return len(values[0])
    if head == "where":
        return [place for _, place, _ in values[0]]
    if head == "then":
        return values[0] + values[1]
    if head in WHEN:
        return [f"{change} {WHEN[head]} {values[1]}" for change in values[0]]
    to = " ".join([head, *values[1:]])
    return [f"{place} {kind}: {to}" for kind, place, _ in values[0]]


for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request.get("id")}
    try:
        reply["denotation"] = evaluate(read(request["program"]))
    except Exception as error:  # a reply for every request, whatever it holds
        reply["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(reply), flush=True)
