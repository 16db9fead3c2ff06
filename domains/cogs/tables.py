#!/usr/bin/env python3
"""Makes the tables of this folder from COGS's training file: `python3 domains/cogs/tables.py COGS/train.tsv`.

A logical form has the position of every noun and verb, so their words follow from it. Each column of verbs.tsv is for one
construction, and a cell has the verb's word in it, or nothing where training gives no reason to expect the verb there.
"""

import re
import sys
from collections import defaultdict
from pathlib import Path

VERB = re.compile(r"(\S+) \. (agent|theme|recipient|ccomp|xcomp) \( (?:x _ (\d+)|e) , (\S+)")
NOUN = re.compile(r"(\S+) \( (?:x _ (\d+)|a) \)")
# What stands before a verb tells its form.
FORMS = {"was": "participle", "to": "infinitive"}


def read(path):
    """Nouns with their words, names, and for each verb its forms and the sets of roles that they were seen with."""
    nouns, names, verbs = {}, set(), defaultdict(lambda: defaultdict(set))
    words_of = defaultdict(dict)
    for line in Path(path).read_text(encoding="utf-8").splitlines():
        sentence, logical_form, _ = line.split("\t")
        words = sentence.split()
        if len(words) == 1 and words[0] == logical_form:
            names.add(words[0])
        for noun, at in NOUN.findall(logical_form):
            nouns[noun] = words[int(at or 0)].lower()
        roles = defaultdict(set)
        for lemma, role, at, value in VERB.findall(logical_form):
            roles[lemma, int(at or 0)].add(role)
            if value[0].isupper():
                names.add(value)
        for (lemma, at), found in roles.items():
            form = "alone" if len(words) == 1 else FORMS.get(words[at - 1] if at else "", "past")
            words_of[lemma][form] = words[at]
            verbs[lemma][form].add(frozenset(found))
    return nouns, names, {lemma: row(lemma, words_of[lemma], verbs[lemma]) for lemma in verbs}


def row(lemma, words, seen):
    """The cells of a verb."""
    # A form in -ed is past tense and participle alike.
    regular = [word for form in ("past", "participle") for word in [words.get(form, "")] if word.endswith("ed")]
    past, participle = (words.get(form) or (regular or [""])[0] for form in ("past", "participle"))
    roles = set().union(*(found for frames in seen.values() for found in frames))
    with_past = {role for found in seen["past"] for role in found}
    has_alone = lambda *roles: frozenset(roles) in seen["alone"]
    takes_object = "recipient" not in roles and ("theme" in roles or not roles & {"ccomp", "xcomp"})
    cells = {
        "transitive": past if takes_object else "",
        "acting": past if frozenset(["agent"]) in seen["past"] else "",
        "changing": past if frozenset(["theme"]) in seen["past"] else "",
        "giving": past if "recipient" in roles else "",
        "with_clause": past if with_past & {"ccomp", "xcomp"} else "",
        "passive": participle if "theme" in roles else "",
        "given": participle if "recipient" in roles else "",
        # Training has infinitives of verbs that also stand alone with an agent.
        "infinitive": lemma if "infinitive" in words or has_alone("agent") else "",
        "entry_agent": lemma if has_alone("agent") else "",
        "entry_theme": lemma if has_alone("theme") else "",
        "entry_both": lemma if has_alone("agent", "theme") else "",
    }
    return {"lemma": lemma, **cells}


def write(name, columns, rows):
    lines = ["\t".join(columns)] + ["\t".join(row[column] for column in columns) for row in rows]
    (Path(__file__).parent / name).write_text("\n".join(lines) + "\n", encoding="utf-8")


def main():
    nouns, names, verbs = read(sys.argv[1])
    rows = [verbs[lemma] for lemma in sorted(verbs)]
    write("verbs.tsv", list(rows[0]), rows)
    write("nouns.tsv", ["name", "word"], [{"name": noun, "word": nouns[noun]} for noun in sorted(nouns)])
    write("names.tsv", ["name"], [{"name": name} for name in sorted(names)])


if __name__ == "__main__":
    main()
