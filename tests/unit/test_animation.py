"""The animated picture of the README: the screens of a recording, when each is shown, and a picture that is XML."""

from __future__ import annotations

import json
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

PICTURES = Path(__file__).resolve().parents[2] / "screenshots"
sys.path.append(str(PICTURES))

from animation import LAST_S, LONGEST_PAUSE_S, MOST_BYTES, SPEED, animate, frames_of  # noqa: E402
from recorded_screen import Look, Screen, screens_of  # noqa: E402

OUTPUT = (
    "\x1b[?1049h\x1b]22;default\x07\x1b[1;1H\x1b[1;38;2;207;212;219mrac1\x1b[0m ok\r\n\x1b[3Cfar \x1b[2;1Hab"
    "\x1b[1;1H\x1b[P\x1b[6;31Hx\x1b[2;6H漢"
)


def text_of(screen: Screen) -> list[str]:
    return ["".join(sign for sign, _ in row) for row in screen.rows]


@given(st.lists(st.integers(0, len(OUTPUT)), max_size=4))
def test_a_screen_is_the_same_wherever_the_output_is_divided(cuts: list[int]) -> None:
    whole, parts = Screen(10, 6), Screen(10, 6)
    whole.feed(OUTPUT)
    for begin, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(OUTPUT)], strict=True):
        parts.feed(OUTPUT[begin:end])
    assert parts.rows == whole.rows
    assert text_of(whole)[0] == "ac1 ok    "
    assert text_of(whole)[1].startswith("ab fa漢")
    assert whole.rows[0][0] == ("a", Look(colour="#cfd4db", is_bold=True))


def test_a_sequence_that_is_not_known_is_an_error() -> None:
    with pytest.raises(ValueError, match="not known"):
        Screen(10, 2).feed("\x1b[5S")


def test_frames_are_the_changes_that_can_be_seen_with_their_notes(tmp_path: Path) -> None:
    cast = tmp_path / "some.cast"
    events = [
        (0.0, "m", "calm"), (0.1, "o", "one"), (0.2, "o", "\rtwo"), (1.2, "o", "\rtwo"), (2.0, "m", "<alarm>"),
        (30.0, "o", "\rend"),
    ]  # fmt: skip
    head = {"version": 2, "width": 5, "height": 2}
    cast.write_text("\n".join(map(json.dumps, [head, *events])))
    frames = frames_of([shown for shown in screens_of(cast) if shown.rows[0][0][0] != " "])
    shown = [("".join(sign for sign, _ in frame.shown.rows[0]).strip(), frame.shown.note) for frame in frames]
    assert shown == [("two", "calm"), ("two", "<alarm>"), ("end", "<alarm>")]
    assert [frame.seconds for frame in frames] == pytest.approx([1.9 / SPEED, LONGEST_PAUSE_S, LAST_S])
    picture = tmp_path / "some.svg"
    animate(cast, picture)
    texts = [element.text for element in ET.parse(picture).iter("{http://www.w3.org/2000/svg}text")]
    assert {"two", "end", "calm", "<alarm>"} <= {*texts}


def test_the_picture_of_the_incident_is_small_enough_and_follows_its_recording(tmp_path: Path) -> None:
    animate(PICTURES / "incident.cast", tmp_path / "incident.svg")
    assert (tmp_path / "incident.svg").read_text() == (PICTURES / "incident.svg").read_text()
    assert (PICTURES / "incident.svg").stat().st_size <= MOST_BYTES
