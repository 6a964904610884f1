"""What a report says at a moment: during a loss, after the cable is back, while a step of a change stops something."""

import io
import json
from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from checks.model.condition import Condition, ConditionKind
from checks.model.exit_codes import ExitCode
from checks.model.explained_stop import ExplainedStop
from checks.model.finding import Finding, Status, keyed
from checks.model.observation import Fate, Observation
from checks.model.report import Report, exit_code
from checks.model.run_record import RunRecord, as_run
from checks.model.situation import Standing
from checks.redact import Pseudonyms, Redactor
from checks.report.age import saved_state
from checks.report.diff import diff, verdict
from checks.report.diff_kind import DiffKind
from checks.report.html.html_page import to_html
from checks.report.json_report import from_json, to_json
from checks.report.junit import to_junit
from checks.report.markdown import to_markdown
from checks.report.openmetrics import to_openmetrics
from checks.report.report_evidence import Evidence
from checks.report.situation_words import event_lines, incident_line, standing_sections
from checks.report.summary import counts, headline, problems, sentences
from checks.run.check_discovery import discover
from checks.saved import SavedError
from checks.saved.reader import report_in
from checks.situation.at_moment import Inputs, situation
from checks.situation.events.known_events import event_readings
from checks.situation.events.watching import EventWatch
from checks.situation.foremost import needs_run
from checks.situation.run_alone import with_situation
from checks.situation.run_history import RunHistory
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tests.unit.events_support import BEGIN, links, lost_at, run
from tui.cli.text_report import text_report
from tui.console.export_state import report_state
from tui.console.run_state import RunState
from tui.screens.report.lines import Room, says_lines
from tui.text.line import plain

RUN = BEGIN + 30
"""The run of the checks: before the loss, and during the fault of the link, which is from second 20 to 90."""
CHECKS = {check.id: check for check in discover().checks}
NO_LINK = Finding(
    code="IC-IFACE-009",
    check="interfaces",
    status=Status.FAIL,
    title="eth2 of rac2 has no link.",
    nodes=("rac2",),
    network="192.168.11.0/24",
    observed=(Observation(fate=Fate.STATE, what="link", nodes=("rac2",), nic="eth2", condition=ConditionKind.LINK),),
)
LOSS = lost_at(1, 2)
"""Blocks are lost on rac1 and rac2 from second 60 on."""
UNPLUGGED = (links("rac2", BEGIN + 20, eth2={"is_up": False}), links("rac2", BEGIN + 90))


def clock(second: float) -> str:
    return f"{datetime.fromtimestamp(BEGIN + second, UTC):%H:%M:%S}"


def report(*findings: Finding, at: float = RUN) -> Report:
    """The report of a run at that time."""
    made, started = report_of(cluster(3)), datetime.fromtimestamp(at, UTC).isoformat(timespec="milliseconds")
    journal = tuple(replace(entry, started_at=started) for entry in made.journal)
    instead = {(one.check, one.network) for one in findings}
    passed = tuple(one for one in made.findings if (one.check, one.network) not in instead)
    return replace(made, started_at=started, journal=journal, findings=(*findings, *passed))


def at_moment(second: float, *runs: Report, change=lambda _, item: item, extra=(), stops=()) -> Report:
    """The report of these runs with the situation of that second."""
    watch, history = EventWatch(cluster(3)), RunHistory()
    for one in runs:
        history = history.after(RunRecord(report=one, ended=as_run(one).ended), CHECKS)
    items = (*run(round(second), change), *(item for item in extra if item.at <= BEGIN + second))
    for item in sorted(items, key=lambda item: item.at):
        watch.see(item)
    now = BEGIN + second
    known = Inputs(
        now=now,
        checks=CHECKS,
        history=history,
        events=watch.known(now),
        sampled=(*watch.readings(now), *event_readings(watch.events, now)),
        stops=stops,
    )
    assert history.report is not None
    return replace(history.report, situation=situation(known))


def formats(of: Report) -> dict[str, str]:
    """The report in each format that is read by people or build servers."""
    return {
        "text": text_report(of, io.StringIO()),
        "full text": text_report(of, io.StringIO(), full=True),
        "markdown": to_markdown(of).decode(),
        "html": to_html(Evidence(of)).decode(),
        "junit": to_junit(of).decode(),
        "screen": plain(list(says_lines(on_screen(of), "", 200, Room.MUCH))),
    }


def on_screen(of: Report):
    board = RunState()
    board.take(RunHistory(report=of))
    assert of.situation is not None
    return report_state(board, of.situation)


# --- during an incident -----------------------------------------------------------------------------------------------


def test_23_s_into_a_loss_every_format_says_so_first_and_none_says_that_no_problem_was_found():
    now = at_moment(84, report(), change=LOSS)
    line = f"During an incident: 960 blocks lost on rac1 and rac2 since {clock(60)}, as of {clock(82)}."
    assert incident_line(now) == line
    made = formats(now)
    for name, text in made.items():
        assert line in text, name
        assert "o problem was found" not in text, name
    for name in ("text", "full text", "screen"):
        assert made[name].strip().startswith(line), name
    assert made["markdown"].startswith(f"**{line}**\n")
    assert made["junit"].splitlines()[1] == f"<!-- {line} -->"
    assert list(json.loads(to_json(now)))[:2] == ["schema", "incident"]
    assert b"racwire_incident_events 1\n" in to_openmetrics(now)
    assert headline(now) == "New since the run: 960 blocks lost on rac1 and rac2."
    assert exit_code(now) is ExitCode.FAILURES


def test_what_passed_before_the_loss_is_not_known_and_stands_apart():
    now = at_moment(84, report(), change=LOSS)
    (lost,) = standing_sections(now)
    assert lost.title == "Not known any longer"
    assert {line.finding.code for line in lost.lines} >= {"IC-PATH-001"}
    assert len(lost.lines) == len(now.not_known)
    assert f"PASS at {clock(30)}, not known since rac1 lost blocks {clock(61)}" in lost.lines[0].how
    assert dict(counts(now))[Status.PASS] + len(lost.lines) == report().count(Status.PASS)
    assert f"{len(lost.lines)} results are not known any longer." in sentences(now)
    state = on_screen(now)
    assert state.completeness == (
        f"Every check has concluded; {len(lost.lines)} results are not known any longer; 1 event is new since."
    )
    assert "Every check has concluded.\n" not in formats(now)["screen"]
    assert "<b>?</b>" in formats(now)["html"]
    assert "<b>P</b>" not in formats(now)["html"], "no path passes, as far as known"


def test_an_event_is_listed_with_start_end_peak_and_how_it_stands():
    lasts = event_lines(at_moment(84, report(), change=LOSS))[0]
    assert (lasts.start, lasts.end, lasts.peak, lasts.how) == (
        clock(60),
        "lasts",
        "40.0/s",
        f"lasts, as of {clock(82)}",
    )
    over = at_moment(95, report(NO_LINK), extra=UNPLUGGED)
    (event,) = event_lines(over)
    assert (event.start, event.end, event.how) == (clock(20), clock(90), f"until {clock(90)}")
    for name, text in formats(over).items():
        if name not in ("junit", "screen"):
            assert "eth2 of rac2 had no link" in text, name


# --- over -------------------------------------------------------------------------------------------------------------


def test_during_the_fault_it_is_the_headline_as_of_the_newest_sample():
    now = at_moment(60, report(NO_LINK), extra=UNPLUGGED)
    assert headline(now) == NO_LINK.title
    assert exit_code(now) is ExitCode.FAILURES
    assert not now.not_known, "what passed was read while the link was down already"
    for name, text in formats(now).items():
        assert f"since {clock(20)}, as of {clock(59)}" in text, name


def test_with_the_cable_back_the_fault_was_so_until_then_and_is_no_failure_of_now():
    now = at_moment(95, report(NO_LINK), extra=UNPLUGGED)
    assert problems(now) == ()
    assert headline(now).startswith("No other problem was found: ")
    assert exit_code(now) is ExitCode.PASS
    assert incident_line(now) == ""
    assert "1 problem is over, not verified." in sentences(now)
    for name, text in formats(now).items():
        if name not in ("screen", "junit"):
            assert f"was so until {clock(90)}, not verified" in text, name
    assert 'failures="1"' not in formats(now)["junit"]


def test_verified_is_said_with_its_time_and_an_event_later_makes_it_unknown():
    runs = report(NO_LINK), report(at=BEGIN + 100)
    proved = at_moment(110, *runs, extra=UNPLUGGED)
    assert "1 problem is over, verified." in sentences(proved)
    (over,) = standing_sections(proved)
    assert over.lines[0].how == f"was so until {clock(90)}, verified {clock(100)}"
    assert exit_code(proved) is ExitCode.PASS
    again = (*UNPLUGGED, links("rac2", BEGIN + 120, eth2={"is_up": False}))
    later = at_moment(130, *runs, extra=again)
    assert exit_code(later) is ExitCode.FAILURES
    assert headline(later).startswith("New since the run: eth2 of rac2 has no link")
    assert "verified 0" not in " ".join(line.how for part in standing_sections(later) for line in part.lines)


def test_a_fault_that_was_over_never_reads_as_failed_then_and_each_run_that_looks_proves_it_again():
    lost = Finding(
        code="IC-PATH-006",
        check="df-ping",
        status=Status.FAIL,
        title="No packet passes on 192.168.11.0/24 between rac2 and every other node.",
        nodes=("rac2",),
        network="192.168.11.0/24",
    )
    runs = report(lost), report(at=BEGIN + 50)
    (touched,) = [line for part in standing_sections(at_moment(70, *runs, change=LOSS)) for line in part.lines
                  if line.finding.code == lost.code]  # fmt: skip
    assert touched.how.startswith(f"over at {clock(50)}, not known since ")
    proved = at_moment(95, *runs, report(at=BEGIN + 90), change=LOSS)
    (again,) = [line.how for part in standing_sections(proved) for line in part.lines if line.finding.code == lost.code]
    assert again == f"over, verified {clock(90)}"


def test_one_run_proves_all_events_at_a_place_over():
    twice = (*UNPLUGGED, links("rac2", BEGIN + 120, eth2={"is_up": False}), links("rac2", BEGIN + 150))
    before, after = (at_moment(170, *runs, extra=twice) for runs in ((report(),), (report(), report(at=BEGIN + 160))))
    assert [needs_run(episode) for episode in before.situation.episodes] == [True, True]
    assert [(episode.until, episode.proved) for episode in after.situation.episodes] == [
        (BEGIN + 90, BEGIN + 160),
        (BEGIN + 150, BEGIN + 160),
    ]


# --- planned ----------------------------------------------------------------------------------------------------------


def test_what_a_step_stopped_is_said_and_no_problem():
    stop = ExplainedStop(
        step="stack down",
        nodes=frozenset({"rac2"}),
        kinds=frozenset({ConditionKind.LINK, ConditionKind.MTU}),
        begin=BEGIN + 15,
        most_s=600,
        was_well=frozenset({Condition(ConditionKind.LINK, "rac2", "eth2")}),
    )
    now = at_moment(60, report(NO_LINK), extra=UNPLUGGED, stops=(stop,))
    assert incident_line(now) == ""
    assert problems(now) == ()
    assert exit_code(now) is not ExitCode.FAILURES
    (planned,) = [part for part in standing_sections(now) if part.title == "Planned"]
    assert NO_LINK in [line.finding for line in planned.lines]
    for name, text in formats(now).items():
        if name != "screen":
            assert f"planned by the step stack down, as of {clock(59)}" in text, name


# --- statuses by standing ---------------------------------------------------------------------------------------------

STANDINGS = [
    (Status.FAIL, Standing.HOLDS, ExitCode.FAILURES),
    (Status.FAIL, Standing.UNKNOWN, ExitCode.COULD_NOT_TELL),
    (Status.PASS, Standing.UNKNOWN, ExitCode.COULD_NOT_TELL),
    (Status.FAIL, Standing.PLANNED, ExitCode.PASS),
    (Status.FAIL, Standing.WAS, ExitCode.PASS),
    (Status.WARN, Standing.VERIFIED, ExitCode.PASS),
    (Status.SKIPPED, Standing.UNKNOWN, ExitCode.PASS),
]


@pytest.mark.parametrize(("status", "standing", "code"), STANDINGS)
def test_the_exit_code_is_of_what_is_so_at_the_moment(status, standing, code):
    alone = with_situation(replace(report(), findings=(replace(NO_LINK, status=status),)), CHECKS.values(), RUN)
    assert alone.situation is not None
    (one,) = alone.situation.findings
    said = replace(one.said, standing=standing, is_bad=status is not Status.PASS, until=RUN, proved=RUN, step="down")
    now = replace(alone, situation=replace(alone.situation, findings=(replace(one, said=said),)))
    assert exit_code(now) is code
    if standing is Standing.UNKNOWN and status is not Status.SKIPPED:
        assert "o problem was found" not in headline(now)
        assert "known any longer" in headline(now)


def test_a_run_alone_has_as_of_beside_each_problem_and_once_for_what_passed():
    alone = with_situation(report(NO_LINK), CHECKS.values(), RUN + 10)
    text = text_report(alone, io.StringIO())
    assert f"interfaces (IC-IFACE-009), as of {clock(30)}" in text
    assert f"checks, as of {clock(30)}: " in text
    assert exit_code(alone) == exit_code(report(NO_LINK))
    assert counts(alone) == counts(report(NO_LINK))
    assert "new since" not in text


# --- files ------------------------------------------------------------------------------------------------------------


def test_a_file_has_the_moment_and_the_same_words_when_it_is_read_again():
    now = at_moment(84, report(), change=LOSS)
    opened = report_in(to_json(now), "a.json")
    assert opened == now
    assert formats(opened) == formats(now)
    saved = replace(opened, saved_at=opened.started_at)
    state = saved_state(saved, datetime.fromtimestamp(BEGIN + 384, UTC), for_file=False)
    assert state == f"of {moment(84)}, 5 min ago, checked {moment(30)}"


def moment(second: float) -> str:
    return f"{datetime.fromtimestamp(BEGIN + second, UTC):%Y-%m-%d %H:%M:%S} +00:00"


@pytest.mark.parametrize("at", [1e300, -1e15])
def test_a_situation_with_a_time_that_is_none_is_left_out(at):
    document = json.loads(to_json(at_moment(84, report(), change=LOSS)))
    document["situation"]["at"] = at
    read = report_in(json.dumps(document).encode(), "a.json")
    assert read.situation is None
    assert "No problem was found" in text_report(read, io.StringIO())


def test_a_situation_with_more_events_than_racwire_writes_is_refused():
    now = at_moment(84, report(), change=LOSS)
    assert now.situation is not None
    many = replace(now.situation, episodes=now.situation.episodes * 20_001)
    with pytest.raises(SavedError, match="20,001 events"):
        report_in(to_json(replace(now, situation=many)), "a.json")


def test_redaction_replaces_the_names_of_events_and_keeps_how_each_finding_stands():
    now = at_moment(95, report(NO_LINK), change=LOSS, extra=UNPLUGGED)
    made = Redactor(Pseudonyms()).report(now)
    assert made.situation is not None
    assert [one.key for one in made.situation.findings] == [key for key, _ in keyed(made.findings)]
    assert [said and said.standing for _, said in made.stated()] == [said and said.standing for _, said in now.stated()]
    for name, text in formats(made).items():
        assert "rac1" not in text, name
        assert "rac2" not in text, name
        assert "192.168.11." not in text, name
    assert exit_code(made) is exit_code(now)


def test_a_comparison_is_of_what_held_and_names_the_incident():
    fault, back = (at_moment(second, report(NO_LINK), extra=UNPLUGGED) for second in (60, 95))
    changed = diff(fault, back)
    assert [c.before for c in changed.findings if c.change is DiffKind.GONE] == [NO_LINK]
    assert verdict(changed.findings).startswith("Better: 1 failure is gone")
    assert [c for c in changed.cautions if "During an incident: eth2 of rac2 has no link" in c]
    loss = diff(at_moment(50, report()), at_moment(84, report(), change=LOSS))
    lost = [c.finding.code for c in loss.findings if c.change is DiffKind.BECAME_UNKNOWN]
    assert "IC-PATH-001" in lost


def test_files_of_reports_without_a_situation_say_nothing_about_a_moment():
    plain_report = report(NO_LINK)
    assert plain_report.situation is None
    for name, text in formats_of_old(plain_report).items():
        assert "as of" not in text.lower(), name
    assert from_json(to_json(plain_report)) == plain_report


def formats_of_old(of: Report) -> dict[str, str]:
    return {
        "text": text_report(of, io.StringIO(), full=True),
        "markdown": to_markdown(of).decode(),
        "html": to_html(Evidence(of)).decode(),
        "junit": to_junit(of).decode(),
    }
