"""Sentences that decide, planted for a trial: the masked runs must find them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from unittest.mock import patch

from checks.change.progress.change_events import GateResult
from checks.diagnosis import diagnose


@contextmanager
def a_title_that_hides_a_cause() -> Iterator[None]:
    """Let the title of a finding decide whether its cause is reported."""
    is_fault = diagnose._Entry.has_fault.fget
    assert is_fault is not None
    hidden = property(lambda entry: is_fault(entry) and "has MTU" not in entry.shown[0].title)
    with patch.object(diagnose._Entry, "has_fault", hidden):
        yield


@contextmanager
def a_sentence_that_shuts_a_gate() -> Iterator[None]:
    """Let the sentence of a result decide whether a gate passes."""
    holds = GateResult.holds.fget
    assert holds is not None
    with patch.object(GateResult, "holds", property(lambda result: holds(result) and "MTU" not in result.sentence)):
        yield
