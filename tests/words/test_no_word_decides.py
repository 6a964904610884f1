"""No word decides: with every text of the models replaced by a random token, racwire decides the same.

The case book, the events of recordings, and changes from their opening to their end run as they are, and in processes
of their own with masked texts (`__main__.py`): `make test` runs a sample with a token for each time that a text is
made, `make cases` runs all, and once more with one token for equal texts.
"""

from __future__ import annotations

import subprocess
import sys
from functools import cache
from pathlib import Path

import msgspec
import pytest

from tests.words.classified import unclassified

ROOT = Path(__file__).parents[2]
_RUNS = ("lost blocks", "drops", "silent nodes", "an instance that hangs", "an instance that is down",
         "a node with two names", "a node that is not read", "before.rec", "loss.rec", "reboot.rec")  # fmt: skip
ASPECTS = (
    *("cases", "plans: obstacles", "plans: steps", "plans: optional", "plans: piped", "walks: events", "walks: state"),
    *("walks: alarms", "walks: alarms on the screen", "walks: gates on the screen"),
    *(f"events: {name}" for name in _RUNS),
)
TRIALS = ("trial: a title", "trial: a sentence")
Decided = dict[str, dict[str, msgspec.Raw]]


@cache
def as_it_is(*, every: bool) -> Decided:
    from tests.words.decided import decided

    return msgspec.json.decode(decided(every=every), type=Decided)


@cache
def masked(mode: str, *, every: bool) -> Decided:
    command = [sys.executable, "-m", "tests.words", mode, *(["--all"] if every else [])]
    done = subprocess.run(command, capture_output=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stderr.decode()
    return msgspec.json.decode(done.stdout, type=Decided)


def differences(aspect: str, mode: str, *, every: bool) -> list[str]:
    """Return where masked words change what is decided."""
    others = masked(mode, every=every)[aspect]
    return [
        f"{name}: {_first(bytes(value), bytes(others[name]))}"
        for name, value in as_it_is(every=every)[aspect].items()
        if bytes(value) != bytes(others[name])
    ]


def _first(one: bytes, other: bytes) -> str:
    """Return the surroundings of the first difference."""
    at = next(n for n in range(max(len(one), len(other))) if one[n : n + 1] != other[n : n + 1])
    return f"{one[max(at - 200, 0) : at + 60]!r} … {other[max(at - 20, 0) : at + 60]!r}"


@pytest.mark.parametrize("aspect", ASPECTS)
def test_masked_words_change_no_decision_of_the_sample(aspect: str) -> None:
    assert differences(aspect, "each", every=False) == []


@pytest.mark.beyond_sample
@pytest.mark.parametrize("aspect", ASPECTS)
def test_masked_words_change_no_decision(aspect: str) -> None:
    assert [*differences(aspect, "each", every=True), *differences(aspect, "equal", every=True)] == []


@pytest.mark.parametrize("trial", TRIALS)
def test_a_sentence_that_decides_is_found(trial: str) -> None:
    assert differences(trial, "each", every=False)


def test_each_aspect_is_compared() -> None:
    assert {*as_it_is(every=False)} == {*ASPECTS, *TRIALS}


def test_each_text_of_a_model_is_classified() -> None:
    assert unclassified() == []
