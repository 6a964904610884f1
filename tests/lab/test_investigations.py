"""Faults whose first report leaves several causes, driven to the end of a session on the practice cluster.

racwire makes its own steps; a person pastes what the practice switch and the nodes print, and touches the cables. A
fault whose cause is taken out of the catalogue must end with "none of these".
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import pytest

from checks.diagnosis.catalogue import CATALOGUE
from checks.model.investigation import End, Suspect
from tests.lab.investigation_driver import Driven, Driver
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.beyond_sample,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="SESSIONS WERE NOT DRIVEN ON THE PRACTICE CLUSTER: the extra `lab` is not installed",
    ),
]

NETWORK = "192.168.11.0/24"
LEAST_RIGHT = 10


@dataclass(frozen=True)
class Fault:
    """A fault of the practice cluster, and the cause that it is."""

    words: str
    """What follows `racwire lab break`."""
    cause: str
    kinds: tuple[str, ...] = ("",)
    node: str = "rac2"
    """Where it is; empty: on the whole network."""
    least_left: int = 3
    """How many causes its first report leaves at least."""
    database: bool = False
    without: tuple[str, ...] = ()
    """The causes that are taken out of the catalogue for the trial that must end with "none of these"."""

    def is_truth(self, suspect: Suspect) -> bool:
        """Whether a suspect is this fault."""
        at = (suspect.place.to or suspect.place.nodes) if self.node else ()
        is_there = self.node in at if self.node else len(suspect.place.nodes) != 1
        return suspect.cause == self.cause and suspect.kind in self.kinds and is_there


FAULTS = (
    Fault("port-bad --node rac2", "CAUSE-01", ("port",), without=("CAUSE-01",)),
    Fault("loss-out --node rac2 --share 30", "CAUSE-01", ("cable",)),
    # The NIC counts damaged frames: the first report proves the cause, and leaves which of its forms it is.
    Fault("cable-bad --node rac2", "CAUSE-01", ("cable",)),
    Fault("nic-bad --node rac2", "CAUSE-01", ("NIC",)),
    Fault("buffer-full --node rac2", "CAUSE-20", ("port",), without=("CAUSE-20",)),
    Fault("port-policer --node rac2", "CAUSE-21", ("port",)),
    Fault("udp-filtered --node rac2", "CAUSE-08", ("node",), least_left=2, without=("CAUSE-08",)),
    Fault("udp-filtered-port --node rac2", "CAUSE-08", ("switch port",), without=("CAUSE-08",)),
    Fault("icmp-filtered-port --node rac2", "CAUSE-75", ("filter of a switch port",), without=("CAUSE-75",)),
    Fault("private-filtered --node rac2", "CAUSE-08", ("switch port, by address",)),
    Fault("lag-share", "CAUSE-71", ("lossy",), node="", least_left=1, without=("CAUSE-70", "CAUSE-71")),
    Fault("haip-filtered", "CAUSE-69", ("network",), node="", least_left=1, database=True),
    Fault("loss-out --node rac2 --share 0.5", "CAUSE-01", ("cable",), database=True),
)
HELD_OUT = tuple(fault for fault in FAULTS if fault.without)


def verdict(fault: Fault, driven: Driven) -> str:
    """Return `right`, `apart` or `wrong`: of the first ending that the fault can be."""
    for ending in driven.endings:
        if ending.end in (End.PROVED, End.LEFT_OVER):
            return "right" if any(map(fault.is_truth, ending.suspects)) else "wrong"
        if ending.end is End.APART:
            return "apart" if any(map(fault.is_truth, ending.suspects)) else "wrong"
    return "none"


@pytest.fixture(scope="module")
def practices(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[bool, Practice]]:
    found: dict[bool, Practice] = {}
    yield found
    for practice in found.values():
        practice.down()


@pytest.fixture(scope="module")
def ended() -> list[tuple[Fault, str]]:
    return []


def driven(practices: dict[bool, Practice], path: Path, fault: Fault, without: tuple[str, ...] = ()) -> Driven:
    """Break, look, and drive a session to its end."""
    if fault.database not in practices:
        for practice in practices.values():
            practice.down()
        practices.clear()
        practices[fault.database] = Practice(path / "lab", 3, 9000, database=fault.database)
    practice = practices[fault.database]
    practice.lab("break", *fault.words.split())
    try:
        causes = tuple(cause for cause in CATALOGUE if cause.code not in without)
        return Driver(practice, practice.check("--interval", "6"), causes).drive()
    finally:
        practice.lab("mend")


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.words)
def test_a_session_ends_at_the_fault(
    practices: dict[bool, Practice], tmp_path: Path, ended: list[tuple[Fault, str]], fault: Fault
) -> None:
    one = driven(practices, tmp_path, fault)
    said = verdict(fault, one)
    ended.append((fault, said))
    assert one.first_left >= fault.least_left, one.log
    assert said != "wrong", one.log


def test_most_sessions_end_right(ended: list[tuple[Fault, str]]) -> None:
    assert len(ended) == len(FAULTS)
    assert sum(said == "right" for _, said in ended) >= LEAST_RIGHT, ended


@pytest.mark.parametrize("fault", HELD_OUT, ids=lambda fault: fault.words)
def test_a_cause_that_racwire_does_not_know_is_none(
    practices: dict[bool, Practice], tmp_path: Path, fault: Fault
) -> None:
    one = driven(practices, tmp_path, fault, fault.without)
    assert [ending.end for ending in one.endings] == [End.NONE], one.log
