"""The direction of a black hole: the counts at the target, and the text when there are none."""

from __future__ import annotations

from collections.abc import Sequence
from types import SimpleNamespace

import pytest

from checks.model.facts import Leg
from checks.sources.nodes.shell import ShellError
from checks.sources.probes import lost_leg
from checks.sources.probes.lost_leg import find_legs


class Target:
    """rac2 as an InEchos counter: each read returns the next of these values, or raises."""

    node = "rac2"

    def __init__(self, *counts: int | str | Exception) -> None:
        self._counts = list(counts)

    async def run(self, *_: object, **__: object) -> SimpleNamespace:
        count = self._counts.pop(0)
        if isinstance(count, Exception):
            raise count
        return SimpleNamespace(text=count if isinstance(count, str) else f"Icmp: InMsgs InEchos\nIcmp: 0 {count}\n")


class Work:
    """A path behind a black hole, whose sender sends ten pings each time."""

    def __init__(self, source: str) -> None:
        self.path = SimpleNamespace(
            source=SimpleNamespace(node=source),
            destination=SimpleNamespace(node="rac2"),
            network=SimpleNamespace(name="192.168.11.0/24"),
        )
        self.lost_leg = Leg.UNKNOWN
        self.notes: list[str] = []

    async def send_to_be_counted(self) -> int:
        return 10

    def note_leg(self, leg: Leg, how: str) -> None:
        self.lost_leg = leg
        self.notes.append(how)


@pytest.fixture(autouse=True)
def waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let no test wait for the pings of others."""
    monkeypatch.setattr(lost_leg, "QUIET_S", 0)
    monkeypatch.setattr(lost_leg, "JITTER_S", (0, 0))


async def found(target: Target | None, *senders: str) -> Sequence[Work]:
    async def shell(node: str) -> Target | None:
        return target

    works = [Work(sender) for sender in senders]
    await find_legs(works, SimpleNamespace(shell=shell))  # type: ignore[arg-type]
    return works


async def test_different_results_of_senders_are_counted_separately():
    one, other = await found(Target(0, 10, 10, 10, 10, 20, 20), "rac1", "rac3")
    assert (one.lost_leg, other.lost_leg) == (Leg.REQUEST, Leg.REPLY)
    assert one.notes[-1] == (
        "10 full-size pings from rac1, rac2 counted 0 echo requests: requests are lost on the way to rac2"
    )


@pytest.mark.parametrize(("arrived", "leg"), [(0, Leg.REQUEST), (20, Leg.REPLY)])
async def test_equal_results_of_senders_are_counted_together(arrived, leg):
    works = await found(Target(5, 5 + arrived, 5 + arrived), "rac1", "rac3")
    assert [work.lost_leg for work in works] == [leg, leg]


@pytest.mark.parametrize(
    ("target", "title"),
    [
        (None, "racwire has no shell on rac2 to count arrivals, so the direction is unknown"),
        (Target(ShellError("rac2 was lost.")), "not found: rac2 was lost."),
        (Target("nothing", "nothing"), "rac2 does not report how many echo requests it received"),
    ],
)
async def test_without_counters_the_lost_direction_is_unknown(target, title):
    (work,) = await found(target, "rac1")
    assert (work.lost_leg, work.notes) == (Leg.UNKNOWN, [title])


@pytest.mark.parametrize("counts", [(0, 33), (0, 10, 40)])
async def test_pings_of_others_are_no_direction_and_the_count_is_repeated(counts):
    (work,) = await found(Target(*counts, 100, 100), "rac1")
    assert work.lost_leg is Leg.REQUEST, "the repetition counts none"


async def test_where_others_ping_all_the_time_the_direction_is_not_clear():
    (work,) = await found(Target(0, 40, 50, 90), "rac1")
    assert work.lost_leg is Leg.UNKNOWN
    assert work.notes[-1].endswith("which may be those of a racwire on another node")
