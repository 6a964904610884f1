"""The worst of the old vocabulary stays out of the texts for people and out of docstrings.

`OLD_WORDS` is the list. `CEILINGS` has how often each area may still use it: exactly as often as it does, so that the
numbers only fall. Areas that are not named use none of it.
"""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

import pytest

from docs.generate.message_catalogue import CHECKS, HELP, ROOT, catalogue
from docs.generate.source_texts import source_tree

OLD_WORDS = {
    r"told|tells": "reported, says, shows, prints; `racwire` or the program as the subject",
    r"said|heard": "reported, stated; received",
    r"(can|could|cannot|to) be had": "is available, can be obtained",
    r"what there is of": "the available part, or its name",
    r"of it": "repeat the noun",
    r"of whom|that which": "name the thing",
    r"it alone": "only, and the name",
    r"(is|are|was|were|be) not asked|not asked( for)?|(was|were|is|are|be) asked(?! for)": "queried, requested",
    r"looked at|(a|each|every) look|the look(?= at)": "checked, examined; a check, a verification",
    r"(go|goes|going|gone|went) past": "override(n)",
    r"(attest\w*|signs?|says?|said)[^.]{0,40}(?<!--)\bby name": "signed by, attested by, and the name",
    r"a attests": "press a to attest",
    r"begun|begins|(?<!racwire change )(?<!racwire experiment )begin|began": "started, start; the command stays "
    "`racwire change begin`",
    r"anew": "reset, restart, re-read, or again",
    r"(is|are|be|was|were|all|again|everything) in order(?! (to|of|that)\b)|(and|all is) well": "passed, correct",
    r"besides?": "next to, in addition to",
    r"nobody|somebody|anybody|whoever": "no user, another operator, the person who ...",
    r"(?<!--)keepers?": "network service",
    r"at hand": "available",
    r"mend(ed|ing|s)": "fixed, fix; the command stays `racwire lab mend`",
    r"seat(s|ed|ing)?": "move, place",
    r"(is|are|was|were|be) (not )?so(?= before|[.,;:)]|$)": "holds, does not hold",
    r"reach(es)? for": "connects to",
    r"stands? (in|on|there|here|at|before|beside)|where [^.]{0,20}stands": "is, is written, prevents",
    r"(?<!on )the way back": "the rollback",
    r"(must|has to|have to) be paid for": "is licensed separately",
    r"without a word": "silently",
    r"in words": "as text",
    r"live[sd]? with": "accepted, waived",
    r"(back|on|forward) in time": "earlier, later",
    r"end(s|ed)? well": "succeeds, passes",
    r"lets? in": "accepts logins",
}
"""Whole words, of any case, outside of backticks and of the holes of a text; and what to say in their place."""

_ANY = re.compile("|".join(rf"(?<![\w-])({old})(?![\w-])" for old in OLD_WORDS), re.IGNORECASE)
_HEADINGS = re.compile(r"Well|Begun|In order|Anew")
_OF_PROGRAMS = re.compile(r"`[^`\n]*`|\{[^{}|]*\}")
_AROUND = 60
"""Characters before and after a hit that a message repeats."""
_FAULTS, _HELPS = "lab/racwire_lab", "tui/cli"

CEILINGS: dict[str, int] = {
    "checks/plugins": 1,
}


class Hit(NamedTuple):
    """A use of an old word."""

    where: str
    old: str
    text: str


def hits_in(text: str, where: str = "") -> Iterator[Hit]:
    """The old words of a text, with the text around each."""
    plain = " ".join(_OF_PROGRAMS.sub("…", text).split())
    if _HEADINGS.fullmatch(plain):
        yield Hit(where, plain, plain)
        return
    for hit in _ANY.finditer(plain):
        yield Hit(where, hit[0], plain[max(0, hit.start() - _AROUND) : hit.end() + _AROUND])


def docstrings(tree: ast.Module) -> Iterator[ast.Constant]:
    """The strings that stand alone: of modules, classes, functions and attributes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield node.value


@cache
def hits() -> dict[str, list[Hit]]:
    """All uses of old words by area: the first two folders of a file."""
    found: dict[str, list[Hit]] = defaultdict(list)
    for section, groups in catalogue().items():
        for group, lines in groups.items():
            path = group.rpartition(" in ")[2]
            area = area_of(path) if "/" in path else _FAULTS if group == "Faults" else _HELPS
            if section is CHECKS:  # but for the question and the kinds, they are docstrings
                lines = [line for line in lines if line is lines[0] or line.codes]
            texts = [line.text for line in lines]
            for text in [" ".join(line.lstrip("# ") for line in texts)] if section is HELP else texts:
                found[area] += hits_in(text, group)
    for top in ("checks", "tui", "lab/racwire_lab"):
        for file in sorted((ROOT / top).rglob("*.py")):
            path = file.relative_to(ROOT).as_posix()
            for node in docstrings(source_tree(file)):
                found[area_of(path)] += hits_in(str(node.value), f"{path}:{node.lineno}")
    return found


def area_of(path: str) -> str:
    folders = Path(path).parts[:-1] or Path(path).parts
    return "/".join(folders[:2])


@pytest.mark.parametrize("area", CEILINGS)
def test_the_old_vocabulary_is_reduced_to_the_ceiling(area: str) -> None:
    uses, ceiling = len(hits()[area]), CEILINGS[area]
    assert uses <= ceiling, f"{uses} old words of at most {ceiling}; see OLD_WORDS\n{listed(hits()[area])}"
    assert uses == ceiling, f"lower the ceiling of {area} to {uses}"
    assert ceiling, f"take {area} off the list"


def test_the_old_vocabulary_is_not_used_elsewhere() -> None:
    found = listed(hit for area, uses in hits().items() if area not in CEILINGS for hit in uses)
    assert not found, f"see OLD_WORDS\n{found}"


def listed(found: Iterable[Hit]) -> str:
    return "\n".join(f"{hit.where}: {hit.old!r} in {hit.text!r}" for hit in found)


@pytest.mark.parametrize(
    "text",
    [
        "The gate can be gone past only by name.",
        "What is told by the kernel",
        "Show what there is of it.",
        "Plan it anew for these nodes.",
        "rac2 was looked at by nobody.",
        "ss lists beside UDP whoever listens",
        "the gate passed; a attests it by name",
        "Is it so?\nIt is not so.",
        "AWR must be paid for.",
        "In order",
        "Well",
        "The recording was begun\nat 9:00.",
        "Every path is in order.",
        "The driver tells no MTU.",
        "{told} of what {node} said",
    ],
)
def test_old_words_are_found(text: str) -> None:
    assert list(hits_in(text))


@pytest.mark.parametrize(
    "text",
    [
        "Networks are sorted by name.",
        "The `told` set, and `looked_at`.",
        "Run the checks in order to compare them, in order of severity.",
        "Packets are lost on the way back.",
        "Run racwire lab mend switch-mtu --keeper networkd.",
        "The MTU is so large that a block is one packet.",
        "The beginning of the file",
        "racwire is well known.",
        "{name} stands for a value.",
        "The password is asked for.",
        "Look at the switch port.",
        "{told} since {most.begin}",
        "racwire change attest --by NAME",
        "All networks with their images, in order.",
    ],
)
def test_plain_words_are_not_found(text: str) -> None:
    assert not list(hits_in(text))
