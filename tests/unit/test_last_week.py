"""`racwire compare --last-week`: which hours it takes, what is worse, and when it cannot tell."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.model.facts import Cluster
from checks.traffic.hour import last_whole_hour, weeks_before
from checks.traffic.recorder import Recorder
from checks.traffic.samples import Event, Gap, GapCause, Links
from checks.traffic.source_id import SourceId
from tests.unit.compare_support import BEGIN, recording
from tui.cli.main import main

HOUR = "2026-11-29T13"
LAST, BEFORE_LAST = "2026-11-22T13", "2026-11-15T13"
Hours = dict[str, dict[str, Any]]


@pytest.fixture(autouse=True)
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The clock of this node is that of Berlin: summer time ends on 2026-10-25 at 03:00."""
    monkeypatch.setenv("TZ", "Europe/Berlin")
    time.tzset()
    yield
    monkeypatch.undo()
    time.tzset()


def at(text: str) -> float:
    return datetime.fromisoformat(text).timestamp()


def hour(begin: str, *, seed: int = 0, first: int = 0, last: int = 120, without: str = "-", **load: Any) -> list[Event]:
    """The events of an hour with a sample each half minute, from the first to the last; none of the node `without`."""
    events: list[Event] = []
    for event in recording(seed or int(at(begin)), seconds=120, **load).events():
        place, host = event.at - BEGIN, getattr(event, "node", getattr(event, "host", ""))
        if (isinstance(event, Links) or first < place <= last) and host != without:
            new = msgspec.structs.replace(event, at=at(begin) + 30 * place)
            events.append(new if isinstance(event, Links) else msgspec.structs.replace(new, seconds=30 * event.seconds))
    return events


def write(path: Path, events: list[Event], **layout: int) -> Path:
    header = recording(1, seconds=1).header
    cluster = Cluster(local_node="rac1", taken_at=header.cluster.taken_at)
    recorder = Recorder.create(path, msgspec.structs.replace(header, interval_s=30, cluster=cluster), **layout)
    recorder.write(events)
    recorder.close()
    return path


def compared(directory: Path, hours: Hours, capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str]:
    """The exit code and the line of the hours, each in a recording of its own."""
    for name, how in hours.items():
        write(directory / f"{name}.rec", hour(name, **how))
    code = main(["compare", "--last-week", str(directory), "--hour", HOUR, "--format", "nagios", *words])
    return code, capsys.readouterr().out


LOSING: dict[str, Any] = {"lost_per_s": 0.5}
SAME: Hours = {HOUR: {}, LAST: {}, BEFORE_LAST: {}}


@pytest.mark.parametrize(
    ("hours", "code", "text"),
    [
        (SAME, 0, "OK - 2026-11-29 13:00 to 14:00 is not worse than this hour of 2026-11-22 and 2026-11-15."),
        (SAME | {HOUR: LOSING}, 1, "is worse than this hour of 2026-11-22 and 2026-11-15: blocks lost from 0 to "),
        (SAME | {LAST: LOSING, BEFORE_LAST: LOSING}, 0, "is not worse than"),
        (dict.fromkeys(SAME, LOSING), 0, "is not worse than"),
        (SAME | {HOUR: LOSING, LAST: LOSING}, 0, "is not worse than"),
        (SAME | {HOUR: {"small_ping_us": 900.0}}, 1, "ping 500 B +3"),
        (SAME | {HOUR: {"cpu_per_block": 4e-4}}, 0, "is not worse than"),
        (SAME | {HOUR: {"lost_per_s": 0.01, "seed": 3}}, 0, "is not worse than"),
        (SAME | {HOUR: {"blocks": 2000}}, 3, "Not compared with 2026-11-22: blocks received went from "),
        (SAME | {HOUR: {"blocks": 2000}}, 3, " the load was not the same. Not compared with 2026-11-15: "),
        (SAME | {HOUR: {"blocks": 2000, **LOSING}}, 3, "Check these whatever the load, since they were 0 then: "),
        (SAME | {LAST: {"blocks": 300}, HOUR: LOSING}, 1, "is worse than this hour of 2026-11-15: blocks lost"),
        (SAME | {HOUR: {"blocks": 500}}, 3, "the load was not the same."),
        (SAME | {HOUR: {"blocks": 500, **LOSING}}, 1, "is worse than this hour of 2026-11-22 and 2026-11-15: blocks"),
        (SAME | {HOUR: {"mtu": 9000}}, 3, "rac1 eth1 MTU 1500 then, 9000 now, rac2 eth1 MTU 1500 then, 9000 now."),
        (SAME | {HOUR: {"last": 50}}, 3, "in the weeks before: less than half of the hour was sampled."),
        (SAME | {HOUR: {"without": "rac2"}}, 3, "prod2 and rac2 not sampled now."),
        (SAME | {LAST: {"without": "rac2"}, HOUR: LOSING}, 1, "Not compared with 2026-11-22: prod2 and rac2 not"),
        ({HOUR: {}}, 3, "Not compared with 2026-11-22, 2026-11-15, 2026-11-08 and 2026-11-01: no samples."),
        ({"2026-01-01T13": {}}, 3, "in the weeks before: no samples. | worse=0;;;0"),
        ({LAST: {}}, 3, "UNKNOWN - It is not known whether 2026-11-29 13:00 to 14:00 is worse than "),
    ],
    ids=["none", "now", "then", "both", "the weeks disagree", "slow small pings", "busier CPUs", "one stray loss",
         "twice the load", "in each week", "twice the load and losses", "a holiday last week", "a holiday now",
         "less load and losses", "another MTU", "too short", "a node less now", "a node less then", "no week before",
         "no hour at all", "no hour"],
)  # fmt: skip
def test_only_worse_than_each_week_of_the_same_load_is_an_alarm(
    hours: Hours, code: int, text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    ended, line = compared(tmp_path, hours, capsys)
    assert text in line
    assert (ended, line.count("\n")) == (code, 1)
    assert ("worse=0;;;0" in line) is (code != 1)


def test_too_few_stretches_are_no_verdict(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, line = compared(tmp_path, SAME | {HOUR: LOSING}, capsys, "--stretch", "20m")
    assert (code, "too few values for a verdict" in line) == (3, True)


def test_a_recording_of_weeks_and_pieces_of_an_hour_are_the_same(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of a service and an instance that restarted within the hour, of 0.2.0, and beside a file that is no recording."""
    weeks = [*hour("2026-11-22T12"), *hour(LAST), *hour("2026-11-22T14", lost_per_s=1)]
    write(tmp_path / "weeks.rec", weeks, schema=2)
    restart = Gap(SourceId.instance("prod2"), at(HOUR) + 700, "x", cause=GapCause.RESTARTED)
    write(tmp_path / "one.rec", [*hour(HOUR, last=60, **LOSING), restart])
    write(tmp_path / "two.rec", hour(HOUR, first=70, **LOSING))
    (tmp_path / "broken.rec").write_text("no recording")
    assert main(["compare", "--last-week", str(tmp_path), "--hour", HOUR, "--format", "json"]) == 1
    said = capsys.readouterr()
    assert said.err.startswith(f"racwire: {tmp_path}/broken.rec is no recording of racwire;")
    found = json.loads(said.out)
    (pair,) = found["pairs"]
    assert (pair["before"]["name"], pair["after"]["name"]) == ("weeks.rec", "one.rec, two.rec")
    assert any(text.startswith("AFTER: 1 of 12 stretches is disturbed: prod2 was") for text in pair["warnings"])
    (lost,) = (metric for metric in pair["metrics"] if metric["name"] == "blocks lost")
    assert (len(lost["before"]["values"]), lost["before"]["centre"], lost["verdict"]) == (12, 0, "worse")
    assert [(week["begun_at"], week["left_out"]) for week in found["weeks"]][:2] == [
        ("2026-11-22T13:00:00+01:00", ""), ("2026-11-15T13:00:00+01:00", "no samples"),
    ]  # fmt: skip


def test_the_text_has_the_verdict_last(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    compared(tmp_path, SAME, capsys)
    assert main(["compare", "--last-week", str(tmp_path / f"{HOUR}.rec"), "--hour", HOUR]) == 3
    assert capsys.readouterr().out.startswith("It is not known whether 2026-11-29 13:00 to 14:00 is worse than ")
    assert main(["compare", "--last-week", str(tmp_path), "--hour", HOUR]) == 0
    first, *_, last = capsys.readouterr().out.splitlines()
    assert first == f"BEFORE   {LAST}.rec, recording, 2026-11-22 13:00:00, 3,600 s"
    assert last == "Not compared with 2026-11-08 and 2026-11-01: no samples."


@pytest.mark.parametrize(
    ("begin", "weeks"),
    [
        ("2026-11-08T13:00", ("2026-11-01T13:00+01:00", "2026-10-25T13:00+01:00", "2026-10-18T13:00+02:00")),
        ("2026-11-01T02:00", ("2026-10-25T02:00+02:00", "2026-10-18T02:00+02:00", "2026-10-11T02:00+02:00")),
        ("2026-10-25T02:00+01:00", ("2026-10-18T02:00+02:00", "2026-10-11T02:00+02:00", "2026-10-04T02:00+02:00")),
        ("2026-04-05T02:00", ("2026-03-22T02:00+01:00", "2026-03-15T02:00+01:00", "2026-03-08T02:00+01:00")),
        ("2026-03-29T03:00", ("2026-03-22T03:00+01:00", "2026-03-15T03:00+01:00", "2026-03-08T03:00+01:00")),
    ],
    ids=["summer time ended", "the hour was repeated", "of the second one", "the hour was skipped", "it begins late"],
)
def test_a_week_before_is_the_same_time_of_day(begin: str, weeks: tuple[str, ...]) -> None:
    assert weeks_before(at(begin))[:3] == [at(week) for week in weeks]


@pytest.mark.parametrize(
    ("now", "begin"),
    [
        ("2026-11-29T13:59", "2026-11-29T12:00"),
        ("2026-11-29T00:00", "2026-11-28T23:00"),
        ("2026-10-25T02:30+01:00", "2026-10-25T02:00+02:00"),
        ("2026-03-29T03:05", "2026-03-29T01:00"),
    ],
)
def test_the_last_whole_hour_is_over(now: str, begin: str) -> None:
    assert last_whole_hour(at(now)) == at(begin)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["before.rec"], "name two runs, BEFORE and AFTER, or --last-week PLACE."),
        (["--hour", HOUR], "--hour is the hour of --last-week PLACE"),
        (["--last-week", ".", "before.rec"], "--last-week finds its hours itself: leave BEFORE"),
        (["--last-week", ".", "--hour", "noon"], "--hour: 'noon' is not a time; use one such as 2026-11-29T13."),
        (["--last-week", "."], ". has no recordings (*.rec): name the directory"),
        (["--last-week", "none.rec"], "none.rec could not be read: No such file or directory."),
    ],
)
def test_a_wrong_call_is_one_sentence(
    words: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["compare", *words]) == 64
    assert capsys.readouterr().err.startswith(f"racwire: {message}")
    assert main(["compare", *words, "--format", "nagios"]) == 3
    assert capsys.readouterr().out.startswith(f"UNKNOWN - {message.replace(';', ',')}")
