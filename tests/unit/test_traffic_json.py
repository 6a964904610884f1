"""JSON of samples and comparisons: valid, and without effect on a terminal, whatever names it contains."""

import json

from hypothesis import given
from hypothesis import strategies as st

from checks.traffic.compare.comparison import Comparison, Shift, to_json
from checks.traffic.json_text import to_json_text
from checks.traffic.samples import Gap
from checks.traffic.source_id import SourceId
from tui.text.sanitize import sanitize_lines


@given(st.text(st.characters(exclude_categories=[])))
def test_any_text_round_trips_without_control_characters(text):
    written = to_json_text(Gap(SourceId.node("rac1"), 1.0, text)).decode()
    assert json.loads(written)["reason"] == text
    assert sanitize_lines(written) == written


def test_printable_text_stays_readable():
    assert '"Größe → 8 KB"'.encode() in to_json_text(Gap(SourceId.node("rac1"), 1.0, "Größe → 8 KB"))


def test_a_comparison_with_an_undecodable_name_is_json_too():
    comparison = Comparison(pairs=(), shifts=(Shift("rac\udcff\x9b[2J", is_load=True),), summary=())
    written = to_json(comparison).decode()
    assert json.loads(written)["shifted"] == ["rac\udcff\x9b[2J: the load was not the same."]
    assert sanitize_lines(written) == written
