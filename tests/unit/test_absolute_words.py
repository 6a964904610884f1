"""Absolute words in what racwire says: each sentence with one has the evidence that backs it.

The sentences are those of the catalogue of causes, of the kinds of finding, and of the titles, observations and next
steps of the checks. `REVIEWED` is the list of phrases whose absolute words are backed; a sentence passes where each
absolute word in it belongs to such a phrase. A phrase with `=` before it is a whole sentence.
"""

from __future__ import annotations

import re
from functools import cache

import pytest

from docs.generate.message_catalogue import CHECKS, catalogue
from tests.unit.absolute_words_reviewed import REVIEWED

ABSOLUTE = re.compile(r"(?<![\w-])(only|all|clean|nothing|must be|never|always|none|every)(?![\w-])", re.IGNORECASE)
_OF_PROGRAMS = re.compile(r"`[^`\n]*`")
_HOLE = re.compile(r"\{[^{}|]*\}")
_PLACES = ("checks/plugins", "checks/rules", "checks/diagnosis")


@cache
def sentences() -> tuple[tuple[str, str], ...]:
    """Return the file and each sentence, with `…` for the values."""
    found: list[tuple[str, str]] = []
    for section, groups in catalogue().items():
        for group, texts in groups.items():
            path = group.rpartition(" in ")[2]
            if path.startswith(_PLACES):
                for text in texts:
                    if section is not CHECKS or text.codes:  # the others are docstrings of checks
                        plain = _HOLE.sub("…", _HOLE.sub("…", _OF_PROGRAMS.sub("…", text.text)))
                        found += ((path, part) for part in re.split(r"(?<=[.;!?]) +", plain))
    return tuple(found)


@cache
def _pattern(phrase: str) -> re.Pattern[str]:
    """Return the pattern of a phrase, which begins and ends with whole words."""
    if phrase.startswith("="):
        return re.compile(rf"(?m)^{re.escape(phrase[1:])}$")
    before = r"(?<!\w)" if phrase[0].isalnum() else ""
    return re.compile(before + re.escape(phrase) + (r"(?!\w)" if phrase[-1].isalnum() else ""))


def unbacked(sentence: str) -> list[str]:
    """Return the absolute words of a sentence that no reviewed phrase contains."""
    hits = list(ABSOLUTE.finditer(sentence))
    possible = [phrase for phrase in phrases() if phrase.removeprefix("=") in sentence] if hits else []
    covered = [
        range(found.start(), found.end()) for phrase in possible for found in _pattern(phrase).finditer(sentence)
    ]
    return [hit[0] for hit in hits if not any(hit.start() in span for span in covered)]


@cache
def phrases() -> tuple[str, ...]:
    return tuple(phrase for backed in REVIEWED.values() for phrase in backed)


def test_each_absolute_word_has_its_evidence():
    found = [f"{path}: {', '.join(words)!r} in {text!r}" for path, text in sentences() if (words := unbacked(text))]
    assert not found, (
        "rephrase it, or add the phrase to absolute_words_reviewed.py under the evidence that backs it\n"
        + "\n".join(dict.fromkeys(found))
    )


def test_each_reviewed_phrase_is_still_used():
    said = "\n".join(text for _, text in sentences())
    unused = [p for p in phrases() if p.removeprefix("=") not in said or not _pattern(p).search(said)]
    assert not unused, f"take them off the list: {unused}"


def test_each_reviewed_phrase_has_an_absolute_word_and_is_listed_once():
    assert all(ABSOLUTE.search(phrase) for phrase in phrases())
    assert len(set(phrases())) == len(phrases())


@pytest.mark.parametrize(
    ("sentence", "words"),
    [
        ("The network looks clean.", ["clean"]),
        ("Nothing but the CPU is left.", ["Nothing"]),
        ("It must be the switch.", ["must be"]),
        ("Plan new addresses, with Clusterware down on all nodes.", []),
        ("A balloon, allowed and only-once.", []),
    ],
)
def test_absolute_words_are_found(sentence, words):
    assert unbacked(sentence) == words
