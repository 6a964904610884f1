"""`racwire watch --events` on a practice cluster: each fault made meanwhile is one event, until it is mended."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from checks.model.exit_codes import ExitCode
from tests.lab.lab_support import PATIENCE_S, needs_namespaces, needs_nft, run
from tests.lab.practice_command import Practice, record, until_it_holds

pytestmark = [pytest.mark.lab, needs_namespaces, needs_nft]

INTERVAL_S = 1.0
Line = dict[str, Any]


class Watching:
    """A running `racwire watch --lab --events --format json`."""

    def __init__(self, practice: Practice) -> None:
        self.lines: list[Line] = []
        self._news = threading.Condition()
        words = ("watch", "--lab", "--events", "--format", "json")
        self.process = subprocess.Popen(
            [sys.executable, "-P", "-m", "racwire", *words], env=practice.environment,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        self._reading = threading.Thread(target=self._read, daemon=True)
        self._reading.start()

    def _read(self) -> None:
        assert self.process.stdout is not None
        for line in self.process.stdout:
            with self._news:
                self.lines.append(json.loads(line))
                self._news.notify_all()

    def wait(self, state: str, kind: str, since: float = 0.0) -> Line:
        """Wait for a line about an event that started after that time."""

        def found() -> Line | None:
            of_kind = (line for line in self.lines if line["kind"] == kind and line["start"] >= since)
            return next((line for line in of_kind if line["state"] == state), None)

        with self._news:
            line = self._news.wait_for(found, 2 * PATIENCE_S)
        assert line, self.lines
        return line

    def events(self, kind: str) -> set[int]:
        """The numbers of the events of a kind."""
        return {line["number"] for line in self.lines if line["kind"] == kind}

    def end(self) -> int:
        """Interrupt the command, and return its exit code."""
        self.process.send_signal(signal.SIGINT)
        code = self.process.wait(PATIENCE_S)
        self._reading.join(5)
        assert self.process.stdout is not None
        self.process.stdout.close()
        return code


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    pytest.importorskip("duckdb", reason="EVENTS OF INSTANCES WERE NOT TESTED: the extra `lab` is not installed")
    practice = Practice(tmp_path_factory.mktemp("events") / "lab", mtu=1500, database=True)
    yield practice
    practice.down()


@contextmanager
def fault(watching: Watching, kind: str, nodes: set[str]) -> Iterator[None]:
    """Make a fault in the body, and check that the watch sees one event, at its nodes and in its time."""
    before, asked_at = watching.events(kind), time.time()
    yield
    made_at = time.time()
    line = watching.wait("starts", kind, asked_at - 2 * INTERVAL_S)
    assert line["start"] <= made_at + 2 * INTERVAL_S  # by the times of the samples
    assert {place["node"] for place in line["places"]} <= nodes
    assert len(watching.events(kind) - before) == 1


@pytest.mark.beyond_sample
def test_faults_are_one_event_each_and_a_healthy_cluster_under_load_has_none(
    practice: Practice, tmp_path: Path
) -> None:
    watching, path = Watching(practice), tmp_path / "events.rec"
    recording = record(practice, path)
    try:
        until_it_holds(path, "node rac1", "node rac2", "instance prac1", "instance prac2", samples=12)
        assert watching.lines == []  # under load, and healthy

        with fault(watching, "lost-blocks", {"rac1", "rac2"}):
            practice.lab("break", "drop-fragments", "--network", "2")
        practice.lab("mend", "drop-fragments")

        with fault(watching, "link-down", {"rac2"}):
            practice.lab("break", "link-down", "--node", "rac2", "--network", "2")
        practice.lab("mend", "link-down")
        watching.wait("ends", "link-down")

        with fault(watching, "mtu", {"rac2"}):  # made by hand
            assert run(practice.cluster, "rac2", "ip", "link", "set", "eth2", "mtu", "1400").returncode == 0
        assert run(practice.cluster, "rac2", "ip", "link", "set", "eth2", "mtu", "1500").returncode == 0
        changed = watching.wait("ends", "mtu")
        assert (changed["peak"], changed["former"], changed["places"][0]["interface"]) == (1400, 1500, "eth2")

        with fault(watching, "node-silent", {"rac2"}):
            practice.lab("break", "peer-down", "--node", "rac2")
        practice.lab("mend", "peer-down")
        silent = watching.wait("ends", "node-silent")
        assert silent["status"] == "UNKNOWN"

        lost = watching.wait("ends", "lost-blocks")
        assert lost["status"] == "FAIL"
        assert lost["count"] > 0
        for kind in ("link-down", "mtu", "node-silent"):
            assert len(watching.events(kind)) == 1
    finally:
        code = watching.end()
        recording.send_signal(signal.SIGINT)
        recording.communicate(timeout=PATIENCE_S)
    assert code == ExitCode.INTERRUPTED

    printed = practice.racwire("watch", "--events", "--format", "json", "--from", str(path))
    assert printed.returncode == ExitCode.FAILURES, printed.stderr
    recorded = {line["kind"] for line in map(json.loads, printed.stdout.splitlines())}
    assert {"lost-blocks", "link-down", "mtu", "node-silent"} <= recorded
