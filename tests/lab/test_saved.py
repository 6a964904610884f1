"""`racwire save` on a practice cluster, and the saved file opened without a cluster."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from msgspec.structs import replace

from checks.model.exit_codes import ExitCode
from checks.model.finding import Status
from checks.report.json_report import from_json
from checks.saved import open_saved
from checks.traffic.recording import Recording, RecordingError
from checks.traffic.samples import Gap, InstanceSample, NodeSample
from checks.traffic.source_id import SourceId
from tests.lab.lab_support import needs_namespaces
from tests.lab.practice_command import Practice
from tests.unit.saved_support import members_of
from tui.cli.report_formats import FORMATS

pytestmark = [pytest.mark.lab, needs_namespaces]


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    pytest.importorskip("duckdb", reason="SAVING WAS NOT TESTED: the extra `lab` is not installed")
    practice = Practice(tmp_path_factory.mktemp("saved") / "lab", database=True)
    practice.lab("break", "switch-mtu")
    yield practice
    practice.down()


@pytest.fixture(scope="module")
def night(practice: Practice, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("night") / "night.racwire"
    ran = practice.racwire("save", "--lab", "--interval", "2", "--record", "4s", str(path))
    assert ran.returncode == ExitCode.FAILURES, ran.stderr
    assert ran.stdout == ""
    assert re.search(f"{path} contains [1-9][0-9]* checks of rac1 and rac2, and ", ran.stderr), ran.stderr
    return path


def elsewhere(*words: str) -> subprocess.CompletedProcess[str]:
    """Run racwire without a cluster, a Grid home and a database."""
    return subprocess.run(
        [sys.executable, "-P", "-m", "racwire", *words], capture_output=True, text=True, timeout=60, check=False,
        stdin=subprocess.DEVNULL, env={"PATH": "/nonexistent", "HOME": "/nonexistent"},
    )  # fmt: skip


@pytest.mark.beyond_sample
def test_the_saved_file_gives_the_findings_of_the_live_run(night: Path) -> None:
    live = from_json(members_of(night)["report"])
    ran = elsewhere("check", "--from", str(night), "--format", "json")
    assert ran.returncode == ExitCode.FAILURES
    again = from_json(ran.stdout.encode())
    assert again.saved_at
    assert replace(again, saved_at="") == live
    worst = again.findings[0]
    assert (worst.code, worst.status) == ("IC-PATH-003", Status.FAIL)
    assert again.evidence(worst)


@pytest.mark.beyond_sample
def test_the_recording_has_samples_of_every_node_and_instance_from_the_time_of_the_checks(night: Path) -> None:
    with open_saved(night) as opened:
        assert opened.recording is not None
        events = list(opened.recording.events())
        assert opened.recording.header.cluster == opened.report.cluster
    assert {e.node for e in events if isinstance(e, NodeSample)} == {"rac1", "rac2"}
    assert {e.instance for e in events if isinstance(e, InstanceSample)} == {"prac1", "prac2"}
    assert [e for e in events if isinstance(e, Gap)] == []


@pytest.mark.beyond_sample
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_can_be_made_from_the_file_on_any_machine(night: Path, form: str) -> None:
    ran = elsewhere("report", "--from", str(night), "--format", form)
    assert ran.returncode == ExitCode.FAILURES, ran.stderr
    assert "Traceback" not in ran.stderr
    assert "IC-PATH-003" in ran.stdout


@pytest.mark.beyond_sample
def test_a_report_of_the_live_cluster_shows_its_traffic(practice: Practice, tmp_path: Path) -> None:
    page = tmp_path / "now.html"
    ran = practice.racwire("report", "--lab", "--interval", "2", "--record", "3s", "-o", str(page))
    assert ran.returncode == ExitCode.FAILURES, ran.stderr
    assert "<svg" in page.read_text()


def sources_of(file: Path) -> tuple[str, ...]:
    """Return the sources of a recording that is being written; none when it has just started."""
    with contextlib.suppress(RecordingError), contextlib.closing(Recording.open(file)) as opened:
        return tuple(map(str, opened.sources()))
    return ()


@pytest.mark.beyond_sample
def test_a_run_ended_early_is_saved_with_its_results(
    practice: Practice, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path / "early.racwire"
    temporary = tmp_path_factory.mktemp("temporary")
    running = subprocess.Popen(
        [sys.executable, "-P", "-m", "racwire", "save", "--lab", "--interval", "60", str(path)],
        env={**practice.environment, "TMPDIR": str(temporary)}, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, start_new_session=True,
    )  # fmt: skip
    while not any("node rac2" in sources_of(file) for file in temporary.glob("racwire-*/*.rec")):
        assert running.poll() is None
        time.sleep(0.05)
    os.killpg(running.pid, signal.SIGINT)
    printed, stderr = running.communicate(timeout=20)
    assert (running.returncode, printed) == (ExitCode.INTERRUPTED, ""), stderr
    assert "Interrupted: the file contains the findings up to then" in stderr
    with open_saved(path) as opened:
        assert opened.report.interrupted
        assert {f.code for f in opened.report.findings if f.check == "gc-blocks-lost"} == {"RW-ENGINE-004"}
        assert opened.recording is not None
        assert SourceId.node("rac2") in opened.recording.sources()
    again = json.loads(elsewhere("check", "--from", str(path), "--format", "json").stdout)
    assert {**again, "saved_at": ""} == json.loads(members_of(path)["report"])
    assert os.listdir(tmp_path) == [path.name]
