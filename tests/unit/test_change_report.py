"""The report for the change board: the result and the outage first; who, and when with zone and seconds."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path

import html5lib
import msgspec
import pytest

from checks.change.board.board_html import to_html
from checks.change.board.board_markdown import to_markdown
from checks.change.board.board_page import page_of
from checks.change.board.change_report import ChangeReport, report_of
from checks.change.plan.change_plan import ChangeKind, Plan, PlannedDatabase
from checks.change.progress.change_events import (
    AnyEvent,
    Attested,
    Closed,
    GateResult,
    JournalLine,
    ObservedState,
    Opened,
    Overridden,
    RolledBack,
    Surprise,
    Surprised,
    Verified,
)
from checks.change.progress.state import Change, fold
from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.report.html.html_page import to_html as to_page
from checks.report.report_evidence import Evidence
from tests.fixtures.change_plans import plan_for, to_change
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of as report_of_cluster
from tests.unit.change_journals import WHO, journal, plan, verification
from tui.cli.change import new
from tui.cli.change.change_report_text import report_lines
from tui.cli.main import main
from tui.text.line import plain

HOSTILE = "\x1b[31m\x07\x9b2J\u202e"
NOTE = "all owners, Sunday 02:00 to 05:00"
UP, DOWN = {"rac1": True, "rac2": True}, {"rac1": False, "rac2": False}
DANGER = "eth1 of rac2 was changed from 9000 to 1500 while Clusterware runs: set it back."


def seen(
    running: dict[str, bool],
    *results: tuple[str, str, Status],
    instances: dict[str, tuple[str, ...]] | None = None,
    carried: tuple[str, ...] = (),
) -> Verified:
    """Return a verification with these results: check, node, status."""
    made = tuple(GateResult(check=check, status=status, text="", node=node) for check, node, status in results)
    return Verified("set-mtu", False, made, ObservedState(running=running, instances=instances or {}, carried=carried))


def changed(*events: tuple[str, AnyEvent], of: Plan | None = None, running: dict[str, bool] = UP) -> Change:
    """Return a change opened at 01:00:00 that has these events at these times of the day."""
    opened = ("01:00:00", Opened(of or plan(), ObservedState(running=running)))
    return fold(
        JournalLine(number=n, at=f"2026-11-22T{at}.113+01:00", who=WHO, racwire="1", after="", event=event)
        for n, (at, event) in enumerate((opened, *events), 1)
    )


def text_of(report: ChangeReport, width: int = 400) -> str:
    return plain(report_lines(report, width))


def row(report: ChangeReport, label: str) -> str:
    """Return the text of a row of the result."""
    return dict(page_of(report).sections[0].blocks[0].rows)[label]


@pytest.fixture
def whole() -> ChangeReport:
    """A signed-off change with an agreement, a DANGER and an override."""
    given = msgspec.structs.replace(
        plan(),
        reason="CHG42",
        switches=("practice",),
        databases=(PlannedDatabase(name="p", instances={}),),
    )
    return report_of(
        changed(
            ("01:10:07", Attested("agree", "Ann Lee", NOTE)),
            ("01:20:00", Attested("switch", "Bob")),
            ("02:00:10", seen(DOWN, ("kept-mtu", "rac2", Status.FAIL))),
            ("02:05:00", Surprised(Surprise.LIVE_CHANGE, "rac2", DANGER, dangerous=True)),
            ("02:30:00", Overridden("set-mtu", "Ann Lee", "rac2 is rebuilt tomorrow anyway.")),
            ("02:50:00", seen(UP, ("instances-up", "rac1", Status.FAIL))),
            ("03:00:15", seen(UP, ("instances-up", "rac1", Status.PASS))),
            ("03:10:00", Attested("sign-off", "Ann Lee")),
            ("03:10:01", Closed("signed off", "Ann Lee")),
            of=given,
        )
    )


# --- the outage -------------------------------------------------------------------------------------------------------


def test_an_outage_lies_between_the_verifications_that_saw_it(whole):
    (outage,) = whole.outages
    assert [at[11:19] for at in (outage.running_until, outage.stopped_at, outage.stopped_until, outage.running_at)] == [
        "01:00:00", "02:00:10", "02:50:00", "03:00:15",
    ]  # fmt: skip
    assert (outage.least_minutes, outage.most_minutes) == (49, 121)
    text = row(whole, "Outage")
    assert "From 2026-11-22 02:00:10 +01:00" in text
    assert "to 2026-11-22 03:00:15 +01:00" in text
    assert text.endswith("It lasted between 49 and 121 minutes.")


@pytest.mark.parametrize(
    ("events", "times"),
    [
        ((), []),
        ((("02:00:00", seen({"rac1": False, "rac2": True})),), []),  # one node still serves
        ((("02:00:00", seen({"rac1": False})),), []),  # the other node was not read
        ((("02:00:00", seen(DOWN)),), [("02:00:00", "")]),
        ((("02:00:00", seen(DOWN)), ("02:10:00", seen(UP, ("stack-up", "rac1", Status.PASS)))), [("02:00:00", "")]),
        (
            (
                ("02:00:00", seen(DOWN)),
                ("02:10:00", seen(UP, ("stack-up", "rac1", Status.PASS), ("stack-up", "rac2", Status.PASS))),
                ("03:00:00", seen(DOWN)),
            ),
            [("02:00:00", "02:10:00"), ("03:00:00", "")],
        ),
    ],
)
def test_an_outage_begins_with_every_node_stopped_and_ends_with_all_of_them_up(
    events: Sequence[tuple[str, AnyEvent]], times: list[tuple[str, str]]
):
    agreed = ("01:10:00", Attested("agree", "Ann Lee")), ("01:20:00", Attested("switch", "Bob"))
    report = report_of(changed(*agreed, *events))
    assert [(o.stopped_at[11:19], o.running_at[11:19]) for o in report.outages] == times
    if not times:
        assert row(report, "Outage") == "No verification saw every node or every database stopped."


ONE_UP = {"rac1": True, "rac2": False}
BOTH, ONE = {"rac1": ("p1",), "rac2": ("p2",)}, {"rac1": ("p1",), "rac2": ()}
NONE: dict[str, tuple[str, ...]] = {"rac1": (), "rac2": ()}
OPEN = ("03:00:00", seen(UP, ("instances-up", "rac1", Status.PASS), instances=BOTH))


@pytest.mark.parametrize(
    ("before", "events", "times", "minutes"),
    [
        pytest.param(
            UP, (("02:00:00", seen(ONE_UP)), ("02:10:00", seen(DOWN)), OPEN),
            ("01:00:00", "02:00:00", "02:10:00", "03:00:00"), (10, 120), id="the first stack",
        ),
        pytest.param(
            UP,
            (
                ("01:50:00", seen(UP, instances=BOTH)), ("02:00:00", seen(UP, instances=ONE)),
                ("02:05:00", seen(UP, instances=NONE)), ("02:10:00", seen(DOWN, instances=NONE)),
                ("02:50:00", seen(UP, instances=NONE)), OPEN,
            ),
            ("01:50:00", "02:00:00", "02:05:00", "03:00:00"), (50, 70), id="the first instance",
        ),
        pytest.param(
            UP, (("01:30:00", seen(ONE_UP)), ("01:40:00", seen(UP)), ("02:00:00", seen(DOWN)), OPEN),
            ("01:40:00", "02:00:00", "02:00:00", "03:00:00"), (0, 80), id="a node that came back meanwhile",
        ),
        pytest.param(
            ONE_UP, (("01:30:00", seen(ONE_UP)), ("02:00:00", seen(DOWN)), OPEN),
            ("01:30:00", "02:00:00", "02:00:00", "03:00:00"), (0, 90), id="a node was down before",
        ),
        pytest.param(
            UP, (("01:30:00", seen(UP, carried=("rac2",))), ("02:00:00", seen(DOWN)), OPEN),
            ("01:00:00", "02:00:00", "02:00:00", "03:00:00"), (0, 120), id="a node that was not read was not seen",
        ),
    ],
)  # fmt: skip
def test_an_outage_is_counted_from_the_first_that_stops(
    before: dict[str, bool],
    events: Sequence[tuple[str, AnyEvent]],
    times: tuple[str, ...],
    minutes: tuple[int, int],
):
    database = PlannedDatabase(name="p", instances={"rac1": "p1", "rac2": "p2"})
    given = msgspec.structs.replace(plan(), databases=(database,))
    agreed = ("01:10:00", Attested("agree", "Ann Lee")), ("01:20:00", Attested("switch", "Bob"))
    report = report_of(changed(*agreed, *events, of=given, running=before))
    (outage,) = report.outages
    found = (outage.running_until, outage.stopped_at, outage.all_stopped_at, outage.running_at)
    assert tuple(at[11:19] for at in found) == times
    assert (outage.least_minutes, outage.most_minutes) == minutes
    is_gradual = times[1] != times[2]
    assert ("the first node or instance was seen stopped" in row(report, "Outage")) is is_gradual
    assert (f"Every database was seen stopped at 2026-11-22 {times[2]}" in row(report, "Outage")) is is_gradual


def test_the_planned_outage_is_beside_the_measured_one():
    report = report_of(changed(of=plan_for(to_change())))
    assert report.planned_outage
    planned = row(report, "Planned outage")
    assert planned.startswith(f"{report.planned_outage.least} to {report.planned_outage.most} minutes, as estimated")
    assert any(f"{report.planned_outage.least} to {report.planned_outage.most} min" in one for one in report.remarks)
    assert "Planned outage" not in dict(page_of(report_of(changed())).sections[0].blocks[0].rows)


def test_a_clock_that_was_set_back_gives_no_minutes():
    agreed = ("01:10:00", Attested("agree", "Ann Lee")), ("01:20:00", Attested("switch", "Bob"))
    (outage,) = report_of(changed(*agreed, ("02:00:00", seen(DOWN)), ("01:30:00", seen(DOWN)))).outages
    assert (outage.least_minutes, outage.most_minutes) == (None, None)


# --- the order, the times, the people ---------------------------------------------------------------------------------


def test_the_result_comes_first_and_internals_last(whole):
    titles = [section.title for section in page_of(whole).sections]
    assert titles == [
        "Result", "Overrides", "DANGERs and other events", "Before and after", "Steps", "Signatures",
        "Remarks of the plan", "Journal", "Log",
    ]  # fmt: skip
    assert row(whole, "Result") == "Signed off by Ann Lee, 2026-11-22 03:10:01 +01:00."
    assert row(whole, "Reason of the change") == "CHG42"
    assert row(whole, "Agreement") == f"Ann Lee ({WHO}), 2026-11-22 01:10:07 +01:00: {NOTE}. All have agreed."
    assert row(whole, "Overrides") == "1, at set-mtu."
    assert row(whole, "DANGERs") == "1 DANGER, listed below."


def test_the_report_of_an_open_change_says_where_it_is():
    assert row(report_of(changed()), "Result") == "Still open, at step 1 of 4 (agree)."
    assert row(report_of(changed()), "Agreement") == "Not attested."
    back = msgspec.structs.replace(plan(), kind=ChangeKind.ROLLBACK, steps=plan().steps[2:])
    report = report_of(changed(("02:00:00", RolledBack(back, "Ann Lee", "The window is over."))))
    assert row(report, "Result") == "Still open, at step 1 of 2 of the rollback (set MTU)."


def test_each_step_has_who_when_and_what_was_seen(whole):
    steps = text_of(whole).partition("## Steps")[2].partition("## ")[0]
    assert f"- attested by Ann Lee ({WHO}), 2026-11-22 01:10:07 +01:00: {NOTE}" in steps
    assert f"- gate overridden by Ann Lee ({WHO}), 2026-11-22 02:30:00 +01:00: rac2 is rebuilt" in steps
    assert f"- gate passed, 2026-11-22 03:00:15 +01:00, by {WHO}, checked 3 times" not in steps
    assert f"- gate not passed, 2026-11-22 03:00:15 +01:00, by {WHO}, checked 3 times" in steps
    assert "✓ instances-up: rac1" in steps


def test_every_time_has_seconds_and_zone(whole):
    for text in (text_of(whole), to_markdown(whole).decode(), to_html(whole).decode()):
        times = re.findall(r"2026-11-22[ T]\d\d:\d\d\S*(?: [+-]\S{5})?", text)
        assert len(times) > 15
        assert [time for time in times if not re.match(r"\S+ \d\d:\d\d:\d\d \+01:00", time)] == []


def test_no_format_has_a_hint_on_the_practice_cluster(whole):
    for text in (text_of(whole), *(form(whole).decode() for form in (to_markdown, to_html, msgspec.json.encode))):
        assert "racwire lab" not in text
        assert "A block of 8 KB goes in 1 packet instead of 6." in text


def test_the_parties_of_the_agreement_sign(whole):
    signatures = text_of(whole).partition("## Signatures")[2].partition("##")[0]
    roles = [line.partition("  ")[0] for line in signatures.splitlines() if "signature ___" in line]
    assert roles == ["Change manager", "DBA", "Owner of the applications", "Network team"]


# --- the formats ------------------------------------------------------------------------------------------------------


def test_the_page_is_valid_loads_nothing_and_keeps_headings_with_their_text(whole):
    source = to_html(whole).decode()
    root = html5lib.HTMLParser(strict=True, namespaceHTMLElements=False).parse(source)
    assert not [
        e.tag for e in root.iter() if e.get("src") or e.get("href") or e.tag in ("script", "link", "img", "nav")
    ]
    assert re.search(r"h1, h2, h3.*\{ break-after: avoid \}", source)
    assert "Contents" not in source
    for section in (e for e in root.iter() if e.tag == "section"):
        heading, *rest = list(section)
        assert (heading.tag, bool(rest)) == ("h2", True)


def test_a_hostile_text_stays_text_in_each_format():
    said = f"<script>alert(1)</script> **bold** {HOSTILE}"
    report = report_of(
        changed(("01:10:00", Attested("agree", said, said)), of=msgspec.structs.replace(plan(), reason=said))
    )
    page, markdown, text = to_html(report).decode(), to_markdown(report).decode(), text_of(report)
    html5lib.HTMLParser(strict=True).parse(page)
    assert "<script" not in page
    assert r"\*\*bold\*\*" in markdown
    assert "<script" not in markdown.replace(r"\<script", "")
    for written in (page, markdown, text):
        assert not set(written) & set("\x1b\x07\x9b\u202e")


@pytest.mark.parametrize(
    ("words", "start"),
    [
        (("-o", "c.html"), "<!DOCTYPE html>"),
        (("-o", "c.md"), "# Change 2026-11-20-a of prodrac: MTU 1500 → 9000\n\n## Result\n\n- **Result:** "),
        (("-o", "c.txt"), "# Change 2026-11-20-a of prodrac: MTU 1500 → 9000\n\n## Result\n\n- Result: "),
        (("-o", "c.json"), '{\n  "schema": "racwire-change-report/1"'),
        (("-o", "c.txt", "--format", "html"), "<!DOCTYPE html>"),
    ],
)
def test_the_name_of_the_file_chooses_the_format(tmp_path, monkeypatch, words: tuple[str, ...], start: str):
    monkeypatch.chdir(tmp_path)
    path = journal(tmp_path, verification(Status.PASS)).path
    assert main(["change", "report", "--file", str(path), *words]) == ExitCode.PASS
    assert Path(words[1]).read_text().lstrip().startswith(start)


def test_a_format_that_a_change_does_not_have_is_refused(tmp_path, capsys):
    path = journal(tmp_path).path
    assert main(["change", "report", "--file", str(path), "-o", str(tmp_path / "c.xml")]) == ExitCode.USAGE
    assert "ends like no format (.txt, .md, .html, .json)" in capsys.readouterr().err


def test_html_is_not_printed_on_a_terminal(tmp_path, capsys, monkeypatch):
    path = journal(tmp_path).path
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    assert main(["change", "report", "--file", str(path), "--format", "html"]) == ExitCode.USAGE
    assert "HTML cannot be printed on a terminal" in capsys.readouterr().err


def test_json_has_the_outage_the_reason_and_who_verified(whole):
    document = json.loads(msgspec.json.encode(whole))
    assert (document["made_for"], document["outages"][0]["most_minutes"]) == ("CHG42", 121)
    assert document["steps"][2]["verified_by"] == WHO


# --- the reason of the change -----------------------------------------------------------------------------------------


def test_new_takes_the_reason_of_the_change_without_an_obstacle():
    given = plan_for(to_change(), reason="CHG42")
    assert given.reason == "CHG42"
    assert row(report_of(changed(of=given)), "Reason of the change") == "CHG42"
    assert new.accepted(Namespace(despite=[], reason="CHG42")) == ()


def test_a_page_without_problems_prints_no_empty_contents():
    page = to_page(Evidence(report_of_cluster(cluster(1)))).decode()
    assert '<nav id="contents" class="links"' in page
    assert re.search(r"@media print \{.*\.links \{ display: none \}", page, re.DOTALL)
