"""A session on a cluster whose network loses fragments, under load, with the kernel's own memory for reassembly: every
block lost meanwhile is lost by the network, and none by what the session sends."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

import racwire_lab
from checks.model.investigation import StepSaid
from racwire_lab.cluster.losses import Losses
from tests.lab.lab_support import needs_namespaces, needs_nft, run
from tests.lab.practice_command import Practice
from tests.lab.steps_in_node import answers_of

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces, needs_nft]

LOAD = "90"
"""Blocks a second of all instances. One in nine on the second network is incomplete for 30 s: they fill about an eighth
of the 4 MB that a receiver has for them."""
SESSION = """
from checks.sources.kernel_files import UDP_ARRIVALS
from checks.sources.probes.udp_plan import parse_ends

async def session(investigator, cluster):
    most = []
    async def watch():
        shells = [await investigator._session.shell(f"rac{n}") for n in (1, 2, 3)]
        while True:
            for shell in shells:
                ends = parse_ends((await shell.run(UDP_ARRIVALS)).text)
                most.append(ends.reassembling_bytes)
            await asyncio.sleep(0.2)
    watching = asyncio.create_task(watch())
    for network in (SECOND, FIRST):
        for sender, receiver in (("rac1", "rac2"), ("rac2", "rac1"), ("rac3", "rac2")):
            fragments = udp(sender, receiver, 1500, 40, network, forms=("fragment",))
            say(await investigator.make(step(udp(sender, receiver, 1500, 400, network), fragments)))
    watching.cancel()
    print(max(most), file=sys.stderr)
"""


@pytest.fixture
def practice(tmp_path: Path) -> Iterator[Practice]:
    practice = Practice(tmp_path / "lab", 3, 1500, database=True, fragment_time_s=30)
    yield practice
    practice.down()


def test_no_block_is_lost_by_a_session_where_fragments_are_lost(practice: Practice) -> None:
    practice.until_blocks_flow()
    practice.lab("load", LOAD)
    practice.lab("break", "drop-fragments", "--network", "2")
    time.sleep(35)
    cluster = racwire_lab.find()
    assert cluster is not None
    begun = time.time()
    before = cluster.losses(begun - 20, begun)
    answers = answers_of(practice, SESSION, seconds=120)
    during = cluster.losses(begun, time.time())
    fragments = [answer.lost[1] for answer in answers if len(answer.lost) == 2]
    print(by_rule(before), by_rule(during), during.ended_at - begun, *((a.said, a.reason, a.lost) for a in answers))
    assert len(answers) == 6
    assert sum(sent for _, sent in fragments) > 60, "fragments were sent, too"
    assert set(by_rule(during)) == {"drop-fragments-eth2"}, "a block was lost elsewhere than in the network"
    assert not any(during.no_room.values())
    fails, timeouts = (kernels(during, name) - kernels(before, name) for name in ("Ip.ReasmFails", "Ip.ReasmTimeout"))
    assert fails == timeouts > 0, "a fragment was refused for want of memory"


def test_no_fragment_is_sent_where_those_of_the_database_fill_a_quarter_of_the_memory(practice: Practice) -> None:
    practice.until_blocks_flow()
    practice.lab("load", LOAD)
    for node in practice.cluster.nodes:
        for limit in ("ipfrag_low_thresh=1000000", "ipfrag_high_thresh=1500000"):
            assert not run(practice.cluster, node, "sysctl", "-w", f"net.ipv4.{limit}").returncode
    practice.lab("break", "drop-fragments", "--network", "2")
    time.sleep(35)
    answers = answers_of(practice, SESSION, seconds=120)
    assert {answer.said for answer in answers} == {StepSaid.STOPPED}
    assert {len(answer.lost) for answer in answers} == {1}, "whole datagrams are sent and counted all the same"
    assert all("of the memory for reassembly of rac" in answer.reason for answer in answers)


def by_rule(losses: Losses) -> Counter[str]:
    """Return the lost blocks by the rule that dropped them; an empty name for none."""
    found = Counter[str]()
    for lost in losses.lost:
        found[lost.rule] += lost.blocks
    return found


def kernels(losses: Losses, name: str) -> int:
    """Return a counter of the kernels of all nodes."""
    return sum(one.packets for one in losses.kernels if one.name == name)
