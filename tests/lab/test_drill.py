"""`racwire drill` on the practice cluster, with real cuts: exact silences, the timer of each, refusals, and the end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import msgspec
import pytest

from checks.model.drill_result import DrillOf, PathSilence
from checks.model.measurement import Measurement
from checks.rules.drill_causes import TimelineKind, Timer
from tests.lab.lab_support import PATIENCE_S, needs_namespaces, needs_nft, ping, run, until
from tests.lab.practice_command import Practice
from tests.support.switch_cuts import Cut, SwitchPort

pytestmark = [pytest.mark.lab, needs_namespaces]
beyond = pytest.mark.beyond_sample

BUSY = ("--although-loaded", "a test")
PRIVATE, HAIP = "192.168.11.0/24", "169.254.128.0/17"
"""The networks of eth2."""
INTERVAL_S, MORE_S = 0.01, 0.005


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("drill") / "lab", 2, 1500, database=True, haip_after_s=2.0)
    yield one
    one.down()


class Running:
    """A drill that probes, until it ends by itself or by a test."""

    def __init__(self, practice: Practice, *words: str) -> None:
        self._practice = practice
        self.process = subprocess.Popen(
            [
                sys.executable,
                "-P",
                "-m",
                "racwire",
                "drill",
                *words,
                "--lab",
                "--go",
                "practice",
                *BUSY,
                "--format",
                "json",
            ],
            env=practice.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            start_new_session=True,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
        )
        self.said = ""
        self.until_it_says(" now")

    def until_it_says(self, words: str) -> None:
        """Read its progress until it says this."""
        assert self.process.stderr is not None
        while words not in self.said:
            line = self.process.stderr.readline()
            assert line, self.said
            self.said += line

    def end(self) -> tuple[int, Measurement]:
        """Wait for its end."""
        out, err = self.process.communicate(timeout=2 * PATIENCE_S)
        self.said += err
        assert out, self.said
        return self.process.returncode, msgspec.json.decode(out.encode(), type=Measurement)


def drilled(measurement: Measurement) -> DrillOf:
    assert isinstance(measurement.result, DrillOf)
    return measurement.result


def on(measurement: Measurement, network: str) -> PathSilence:
    """The silence of the path on a network."""
    (found,) = [one for one in drilled(measurement).silences if measurement.paths[one.path].network == network]
    return found


def is_exact(silence: PathSilence, cut: Cut, more_s: float = MORE_S) -> bool:
    """Whether the silence of a cut is as long as the cut, to an interval."""
    # It starts with the last answer before the cut, and before the next cut.
    near = [seconds for at, seconds in silence.every if cut.before_s - 0.05 <= at < cut.after_s]
    return bool(near) and cut.least_s - INTERVAL_S <= max(near) <= cut.most_s + INTERVAL_S + more_s


@beyond
def test_without_a_name_the_plan_is_printed_and_nothing_is_sent(practice: Practice) -> None:
    planned = practice.racwire("drill", "link", "eth2", "of", "rac2", "--lab")
    assert planned.returncode == 0, planned.stderr
    assert "pull eth2 of rac2 now." in planned.stdout
    assert "Nothing was sent. To send it: racwire drill link eth2 of rac2 --go practice" in planned.stdout
    wrong = practice.racwire("drill", "node", "rac2", "--as", "halt", "--lab", "--go", "prac")
    assert (wrong.returncode, wrong.stdout) == (64, "")
    assert "This cluster is called practice, not prac: nothing was sent." in wrong.stderr


@needs_nft
@beyond
def test_cuts_are_told_to_the_interval(practice: Practice) -> None:
    running = Running(practice, "link", "eth2", "of", "rac2", "--for", "4s")
    port = SwitchPort(practice.cluster, "rac2", "eth2")
    cuts = []
    for seconds in (0.05, 0.3, 1.0):
        cuts.append(port.dropping(seconds))
        until(lambda: not ping(practice.cluster, "rac1", "192.168.11.2"), "it does not answer again")
    _, found = running.end()
    silence = on(found, PRIVATE)
    # What this node itself sent late may be added; it is told.
    own_s = (silence.lateness_max_us or 0.0) / 1e6 * 2
    assert [is_exact(silence, cut, MORE_S + own_s) for cut in cuts] == [True] * 3, f"{cuts} {silence.every} {own_s}"
    assert not on(found, "192.168.10.0/24").every or on(found, "192.168.10.0/24").seconds < own_s + 0.03
    assert silence.cause == "" or "not known" in silence.cause
    assert "Pull eth2 of rac2 now." in running.said


@pytest.mark.beyond_sample
def test_a_pulled_cable_costs_the_instances_the_delay_of_haip(practice: Practice) -> None:
    running = Running(practice, "link", "eth2", "of", "rac2")
    cut = SwitchPort(practice.cluster, "rac2", "eth2").down(6.0)
    code, found = running.end()
    result = drilled(found)
    haip, cable = on(found, HAIP), on(found, PRIVATE)
    assert haip.timer == Timer.HAIP, (haip, result.events)
    assert haip.is_over
    assert 2.0 < haip.seconds < cut.most_s
    assert cable.seconds >= cut.least_s - INTERVAL_S
    assert cable.unsent == 0  # the far end of the cable was pulled, and this node goes on to send
    assert "HAIP" in result.cause
    kinds = [event.kind for event in result.events if (event.node, event.interface) == ("rac2", "eth2")]
    assert TimelineKind.LINK_LOST in kinds
    assert TimelineKind.LINK_BACK in kinds
    assert TimelineKind.ADDRESS_MOVED in [event.kind for event in result.events]
    assert code in (0, 1, 3)
    assert result.misscount_s == 30


@beyond
def test_a_link_that_this_node_itself_loses_counts_although_nothing_could_be_sent(practice: Practice) -> None:
    running = Running(practice, "link", "eth2", "of", "rac1", "--for", "3s", "--far-end", "kernel")
    run(practice.cluster, "rac1", "ip", "link", "set", "eth2", "down")
    running.until_it_says("rac2 on 192.168.11.0/24 (ping) is silent.")
    run(practice.cluster, "rac1", "ip", "link", "set", "eth2", "up")
    _, found = running.end()
    silence = on(found, PRIVATE)
    assert silence.unsent > 0
    assert silence.is_over
    assert silence.seconds >= 0.1
    assert TimelineKind.LINK_LOST in [event.kind for event in drilled(found).events if event.node == "rac1"]


@beyond
def test_a_link_that_is_the_only_one_is_refused(practice: Practice) -> None:
    practice.lab("break", "link-down", "--node", "rac2", "--network", "eth1")
    try:
        only = practice.racwire("drill", "link", "eth2", "of", "rac2", "--lab", "--go", "practice", *BUSY)
        public = practice.racwire("drill", "link", "eth0", "of", "rac2", "--lab")
    finally:
        practice.lab("mend", "link-down")
    assert (only.returncode, only.stdout) == (64, "")
    assert "Without eth2, rac2 has no private path left" in only.stderr
    assert public.returncode == 64
    assert "eth0 of rac2 carries no private network" in public.stderr


@pytest.mark.beyond_sample
@pytest.mark.parametrize("dies", ["the operator", *(pytest.param(one, marks=beyond) for one in ("racwire", "hang-up"))])
def test_it_stops_and_leaves_nothing(practice: Practice, dies: str) -> None:
    running = Running(practice, "link")
    sender = until(lambda: senders(practice), "no sender runs")[0]
    racwire = int(Path(f"/proc/{sender}/status").read_text().partition("PPid:")[2].split()[0])
    ends: dict[str, Callable[[], None]] = {
        "the operator": lambda: os.kill(racwire, signal.SIGINT),
        "racwire": lambda: os.kill(racwire, signal.SIGKILL),
        "hang-up": lambda: os.kill(racwire, signal.SIGHUP),
    }
    ends[dies]()
    if dies != "racwire":
        code, found = running.end()
        assert code == 130
        assert found.stopped == "The operator stopped it."
        assert all(one.sent for one in drilled(found).silences)
    else:
        running.process.communicate(timeout=PATIENCE_S)
    until(lambda: not senders(practice), "the sender is left")
    for node in ("rac1", "rac2"):
        until(lambda node=node: not has_lock(practice, node), f"a part of it is left on {node}")


@beyond
def test_a_node_that_is_stopped_as_planned_is_noticed_and_the_cluster_reconfigured(practice: Practice) -> None:
    running = Running(practice, "node", "rac2", "--as", "planned")
    run(practice.cluster, "rac2", "sh", "-c", '"$GRID_HOME/bin/crsctl" stop crs')
    try:
        code, found = running.end()
    finally:
        run(practice.cluster, "rac2", "sh", "-c", '"$GRID_HOME/bin/crsctl" start crs')
    result = drilled(found)
    assert result.transition == "planned"
    assert result.css_noticed_s is not None
    assert result.reconfigured_s is not None
    assert on(found, PRIVATE).is_over  # the node itself goes on to answer
    assert not on(found, HAIP).is_over
    assert code in (0, 3)
    assert "CSS has reconfigured the cluster." in running.said


def senders(practice: Practice) -> list[int]:
    """The senders of this practice cluster."""
    namespace = run(practice.cluster, "rac1", "readlink", "/proc/self/ns/net").stdout.strip()
    found = []
    for process in Path("/proc").iterdir():
        try:
            is_one = process.name.isdigit() and b"near_end.sender" in (process / "cmdline").read_bytes()
            if is_one and os.readlink(process / "ns/net") == namespace:
                found.append(int(process.name))
        except OSError:
            continue  # it has ended
    return found


def has_lock(practice: Practice, node: str) -> bool:
    """Whether a part of a drill runs on a node."""
    return "@racwire-measure" in run(practice.cluster, node, "cat", "/proc/net/unix").stdout
