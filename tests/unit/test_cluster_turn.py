"""One racwire of the cluster sends at a time: the lock here, and no such lock on any other node."""

from __future__ import annotations

import asyncio
import time
from dataclasses import dataclass, field
from itertools import pairwise
from typing import cast

import pytest

from checks.measure.far_end.programs import LOCK
from checks.measure.locks_and_ends import locked_here
from checks.measure.measure_error import MeasureError
from checks.sources.entries import Program
from checks.sources.nodes.framing import Completed
from checks.sources.nodes.shell import ShellError
from checks.sources.probes import cluster_turn
from checks.sources.probes.cluster_turn import SENDING, ClusterTurn, TurnTakenError
from checks.sources.probes.probe_hosts import ProbeSession


@dataclass
class Nodes:
    """The other nodes as a session sees them: the locks that each lists."""

    locks: dict[str, str]
    local_node: str = "rac1"
    unreachable: set[str] = field(default_factory=set)
    asked: str = ""

    async def shell(self, node: str) -> Nodes:
        if node in self.unreachable:
            raise ShellError(f"{node} does not answer.")
        return Nodes(self.locks, self.local_node, asked=node)

    async def run(self, program: Program) -> Completed:
        return Completed(0, self.locks[self.asked])


def turn(nodes: Nodes) -> ClusterTurn:
    return ClusterTurn(cast("ProbeSession", nodes), ["rac1", *nodes.locks])


@pytest.fixture(autouse=True)
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cluster_turn, "_AGAIN_S", (0.005, 0.02))


def test_it_is_the_lock_of_measurements() -> None:
    assert SENDING == LOCK


async def test_a_measurement_on_this_node_and_a_step_exclude_each_other() -> None:
    own = turn(Nodes({"rac2": "@racwire-probe\n"}))
    await own.take(0)
    await own.take(0)
    with pytest.raises(MeasureError), locked_here():
        pass
    own.release()
    with locked_here(), pytest.raises(TurnTakenError, match="another racwire of rac1 measures or sends"):
        await own.take(0)


async def test_a_racwire_that_sends_elsewhere_is_waited_for_and_the_own_lock_is_not_kept_meanwhile() -> None:
    nodes = Nodes({"rac2": "", "rac3": "@racwire-measure\n"})
    own = turn(nodes)
    with pytest.raises(TurnTakenError, match="another racwire of rac3"):
        await own.take(0)
    with locked_here():
        pass
    waiting = asyncio.create_task(own.take(5))
    await asyncio.sleep(0.05)
    assert not waiting.done()
    nodes.locks["rac3"] = "@racwire-pings\n"
    await waiting
    own.release()


async def test_a_node_that_cannot_be_read_holds_nobody_up() -> None:
    own = turn(Nodes({"rac2": "@racwire-measure\n"}, unreachable={"rac2"}))
    await own.take(0)
    own.release()


async def test_of_eight_on_one_node_one_has_the_turn_at_a_time() -> None:
    spans: list[tuple[float, float]] = []

    async def one() -> None:
        own = turn(Nodes({}))
        await own.take(10)
        began = time.monotonic()
        await asyncio.sleep(0.01)
        spans.append((began, time.monotonic()))
        own.release()

    await asyncio.gather(*(one() for _ in range(8)))
    spans.sort()
    assert len(spans) == 8
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


async def test_a_cancelled_wait_leaves_no_lock() -> None:
    waiting = asyncio.create_task(turn(Nodes({"rac2": "@racwire-measure\n"})).take(60))
    await asyncio.sleep(0.03)
    waiting.cancel()
    await asyncio.gather(waiting, return_exceptions=True)
    with locked_here():
        pass
