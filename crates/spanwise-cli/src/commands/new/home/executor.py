"""Evaluates programs: reads one JSON object a line, writes one a line, until the input ends.

A request is {"id": 1, "program": "on(lamp(place('hall')))"}, a reply {"id": 1, "denotation": ...} or
{"id": 1, "error": "why not"}. What is printed besides replies would be taken for one.
"""

import json
import re
import sys

HOUSE = [("lamp", "kitchen"), ("lamp", "kitchen"), ("lamp", "hall"), ("lamp", "bedroom"), ("lamp", "living room"),
         ("fan", "hall"), ("fan", "bedroom")]


def read(text):
    """A program as nested lists: `on(lamp())` is ["on", ["lamp"]]. Names in quotes and numbers stay texts."""
    tokens = re.findall(r"'[^']*'|[\w.-]+|[(),]", text)

    def term(at):
        if re.match(r"'|-?\d", tokens[at]):
            return tokens[at].strip("'"), at + 1
        node, at = [tokens[at]], at + 1
        if at < len(tokens) and tokens[at] == "(":
            at += 1
            while tokens[at] != ")":
                if tokens[at] == ",":
                    at += 1
                argument, at = term(at)
                node.append(argument)
            at += 1
        return node, at

    return term(0)[0]


def evaluate(node):
    head, *arguments = node
    values = [argument if isinstance(argument, str) else evaluate(argument) for argument in arguments]
    if head in ("place", "percent"):
        return values[0]
    if head in ("lamp", "fan"):
        return [device for device in HOUSE if device[0] == head and (not values or device[1] == values[0])]
    if head == "count":
        return len(values[0])
    if head == "both":
        return values[0] + values[1]
    # What is left are actions on devices.
    to = " ".join([head, *values[1:]])
    return [f"{place} {kind}: {to}" for kind, place in values[0]]


for line in sys.stdin:
    request = json.loads(line)
    reply = {"id": request.get("id")}
    try:
        reply["denotation"] = evaluate(read(request["program"]))
    except Exception as error:  # a reply for every request, whatever it holds
        reply["error"] = f"{type(error).__name__}: {error}"
    print(json.dumps(reply), flush=True)
