"""Sentences that decide are found, and those that are shown are not."""

from __future__ import annotations

import ast

import pytest

from tests.support.text_read_back import read_back


@pytest.mark.parametrize(
    "decides",
    [
        'if gap.reason.startswith("rac2"): pass',
        'if " is down: " in gap.reason: pass',
        'if "DANGER" not in alarm.sentence.upper(): pass',
        'why = gap.reason\n    node = why.partition(" ")[0]',
        "for line in finding.seen:\n        _PATH.match(line)",
        'found = [line for line in finding.because if "rac2" in line]',
        'node, _, name = place.where.partition(" on ")',
        "return title in shown",
        'return reason.rpartition(": ")',
    ],
)
def test_a_sentence_that_decides_is_found(decides: str) -> None:
    assert [name for name, _ in read_back(ast.parse(f"def planted(gap, title, reason):\n    {decides}"))] == ["planted"]


@pytest.mark.parametrize(
    "shows",
    [
        'return gap.reason.rstrip(".") + "."',
        'return finding.title.removesuffix(".")',
        "return finding.title.split()",
        'return finding.title in (headline, "other")',
        "return loss.what in PROBES",
        'return name.startswith("eth")',
        "return gap.cause in causes",
    ],
)
def test_a_sentence_that_is_shown_is_not(shows: str) -> None:
    assert not [*read_back(ast.parse(f"def planted(gap, finding, name):\n    {shows}"))]
