"""Hostile saved files for tests."""

from pathlib import Path

import pytest

from checks.report.json_report import to_json
from checks.saved import SavedError, open_saved
from tests.fixtures.reports import black_hole, report_of

REPORT = to_json(report_of(black_hole()))
FIRST = Path(__file__).parents[1] / "fixtures" / "saved" / "first.racwire"
WHOLE = FIRST.read_bytes()
HOSTILE = "\x1b]0;owned\x07"


def refused(path: Path) -> str:
    """The sentence that it is refused with."""
    with pytest.raises(SavedError) as error:
        open_saved(path).close()
    sentence = str(error.value)
    assert str(path) in sentence
    assert sentence.endswith((".", "it.", "shows it."))
    assert "\n" not in sentence
    return sentence
