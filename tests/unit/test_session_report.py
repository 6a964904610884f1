"""A session of guided troubleshooting in reports and saved files: how the cause was found."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.investigate.steps import DECLARED
from checks.model.investigation import NotOffered, SessionRecord, StepSaid
from checks.model.report import Report
from checks.model.signs import Sign, SignAt
from checks.report.how_found import how_found
from checks.report.html.html_page import to_html
from checks.report.json_report import from_json, to_json
from checks.report.markdown import to_markdown
from checks.report.report_evidence import Evidence
from checks.report.session_words import ending_text, outcome_text, why_text
from checks.report.step_words import WORDS, withheld_text
from checks.report.suspect_words import sign_text, suspects_by_place
from checks.saved import open_saved, save
from checks.whole_files import OutputFile
from tests.fixtures.reports import black_hole, report_of
from tests.unit.session_support import BUFFER, CABLE, NETWORK, NIC, PASTED, PORT, lossy, pasted, record, suspect, whole
from tui.cli.text_report import text_report


@pytest.fixture(scope="module")
def report() -> Report:
    return replace(report_of(black_hole()), sessions=(whole(),))


def test_every_format_says_what_was_left_each_step_with_its_result_and_the_end(report: Report) -> None:
    text = " ".join(text_report(report, io.StringIO(), full=True).split())
    html = " ".join(to_html(Evidence(report)).decode().split())
    markdown = " ".join(to_markdown(report).decode().split())
    for shown in (text, html, markdown):
        assert "How the cause was found" in shown
        assert "Send each direction alone, 1,500 bytes" in shown
        assert "90 of 300 lost" in shown
        assert "Excludes full buffers at rac2" in shown
        assert "No step from here can tell these apart" in shown
    assert "core9-sw# show interface" in html
    assert "core9-sw# show interface" in text
    assert "core9-sw" not in markdown, "a ticket has no room for outputs"
    assert "Investigated" in text_report(report, io.StringIO())


def test_a_saved_file_and_json_hold_the_session_as_it_was(report: Report, tmp_path: Path) -> None:
    assert from_json(to_json(report)).sessions == report.sessions
    save(OutputFile(tmp_path / "a.racwire"), report, None)
    with open_saved(tmp_path / "a.racwire") as saved:
        assert saved.report.sessions == (whole(),)


def test_a_session_with_an_impossible_time_is_left_out_of_a_file(report: Report, tmp_path: Path) -> None:
    late = replace(whole(), started_at=1e300)
    save(OutputFile(tmp_path / "a.racwire"), replace(report, sessions=(late, whole())), None)
    with open_saved(tmp_path / "a.racwire") as saved:
        assert saved.report.sessions == (whole(),)


def test_a_session_that_has_not_ended_says_so() -> None:
    found = how_found(record(lossy()))
    assert found.state == "The session has not ended."
    assert found.in_short.endswith("The session has not ended.")


def test_what_a_step_separates_is_named_once_with_its_place() -> None:
    assert why_text(((CABLE,), (PORT,))) == (
        f"Separates a bad cable or transceiver from a bad switch port at rac2, {NETWORK}."
    )
    assert why_text(((CABLE,), (PORT, NIC, BUFFER)), NETWORK) == (
        "Shows whether it is a bad cable or transceiver at rac2."
    )
    other = suspect("cable", node="rac1")
    assert why_text(((CABLE, other), (PORT, NIC)), NETWORK) == "Shows whether it is a bad cable or transceiver."
    assert why_text(((CABLE, PORT), (CABLE, PORT))) == "Shows which packets are lost, and in which direction."
    assert why_text(((PORT,), ())) == f"Shows whether it is a bad switch port at rac2, {NETWORK}."


def test_suspects_are_listed_by_place() -> None:
    assert suspects_by_place((CABLE, PORT, suspect("NIC", node="rac1")), NETWORK) == (
        "at rac2: a bad cable or transceiver, a bad switch port",
        "at rac1: a bad NIC",
    )


@pytest.mark.parametrize("said", [said for said in StepSaid if said is not StepSaid.DONE])
def test_a_step_without_a_result_says_why(said: StepSaid) -> None:
    text = outcome_text(replace(lossy(), said=said, reason="The budget of the session is spent."))
    assert text.endswith(": the budget of the session is spent.")


def test_signs_that_were_seen_and_those_that_were_not_are_told_apart() -> None:
    assert outcome_text(pasted(), NETWORK) == (
        "The switch port of rac2 counts damaged frames; not seen: that the switch port of rac2 drops packets from a "
        "full queue."
    )


def test_each_sign_step_and_reason_has_words() -> None:
    assert all(sign_text(SignAt(sign=sign, network=NETWORK, node="rac2")) for sign in Sign)
    assert all(withheld_text(why) for why in NotOffered)
    made = {one.name for one in DECLARED}
    assert made <= {*WORDS} | {"ethtool"}


def test_an_ending_without_a_suspect_reads_as_a_sentence() -> None:
    session: SessionRecord = whole()
    assert ending_text(session.endings[0]).startswith("No step from here can tell these apart: at rac2")
    assert PASTED in session.answers[1].pasted
