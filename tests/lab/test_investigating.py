"""What steps of guided troubleshooting send on the practice cluster, and what they find; nothing is left behind."""

from __future__ import annotations

import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import pytest

from checks.model.investigation import Fared, StepSaid
from checks.model.signs import Sign
from racwire_lab import LabError
from tests.lab.lab_support import needs_namespaces, needs_nft, processes_of, run, until
from tests.lab.practice_command import Practice
from tests.lab.steps_in_node import answers_of

pytestmark = [pytest.mark.lab, needs_namespaces]

ALL_KINDS = """
async def session(investigator, cluster):
    for probes in (
        (udp("rac1", "rac2", 9000), udp("rac2", "rac1", 9000)),
        (udp("rac2", "rac3", 84, 256, SECOND, ports=16),),
        (udp("rac3", "rac2", 8996, 8, forms=("fragment",)),),
        (udp("rac1", "rac3", 9000, protocols=("icmp",)),),
        (udp("rac3", "rac1", 84, addresses=("haip",)),),
        (udp("rac2", "rac3", 9001),),
    ):
        say(await investigator.make(step(*probes)))
    nic = SignAt(sign=Sign.NIC_CRC, network=FIRST, node="rac2")
    price = Price(risk=Risk.PROBE, seconds=1, packets=80)
    place = Place(networks=(FIRST,), nodes=("rac2",))
    say(await investigator.make(step(reads=(nic,), is_twice=True, price=price, place=place)))
    say(await investigator.make(step(udp("rac2", "rac3", 9000), reads=(nic,), is_twice=True, place=place)))
"""


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    try:
        practice = Practice(tmp_path_factory.mktemp("steps") / "lab", 3, database=True)
    except LabError as error:
        pytest.skip(f"no practice cluster here: {error}")
    practice.lab("load", "off")  # the instances are here for HAIP: their blocks are half of what the cluster costs
    yield practice
    practice.down()


@pytest.fixture(autouse=True)
def healthy_afterwards(practice: Practice) -> Iterator[None]:
    yield
    practice.cluster = practice.cluster.mend()


def test_each_kind_of_packet_is_sent_and_none_is_lost_on_a_healthy_cluster(practice: Practice) -> None:
    answers = answers_of(practice, ALL_KINDS)
    *passed, too_large, counters, around = answers
    assert [answer.said for answer in passed] == [StepSaid.DONE] * len(passed), passed
    assert {how for answer in passed for how in answer.fared} == {Fared.NONE_LOST}
    assert [answer.packets for answer in passed] == [80, 800, 8, 40, 40]
    assert (too_large.said, too_large.packets) == (StepSaid.NOT_POSSIBLE, 0)
    assert "9001" in too_large.reason
    assert (counters.said, counters.packets, counters.seen) == (StepSaid.DONE, 80, ())
    assert [sign.sign for sign in counters.looked] == [sign.sign for sign in around.looked] == [Sign.NIC_CRC]
    assert (around.packets, around.fared) == (40, (Fared.NONE_LOST,))


@needs_nft
def test_a_loss_of_two_percent_in_one_direction_is_placed(practice: Practice) -> None:
    practice.lab("break", "loss-in", "--node", "rac2", "--network", "2", "--share", "2")
    (answer,) = answers_of(practice, PLACE, seconds=120)
    assert answer.placing is not None
    assert answer.placing.path is not None, answer
    assert (answer.placing.path[0], answer.placing.path[2]) == ("192.168.11.0/24", "rac2")
    assert answer.fared.count(Fared.SOME_LOST) == 1


PLACE = """
async def session(investigator, cluster):
    say(await investigator.make(placing_step(cluster, datagrams=20_000, seconds=60)))
"""


def test_a_cancelled_step_ends_at_once_and_leaves_nothing_running(practice: Practice) -> None:
    """The sender is a process on a peer: it ends by itself within the second."""
    (answer,) = answers_of(
        practice,
        """
async def session(investigator, cluster):
    task = asyncio.create_task(investigator.make(step(udp("rac2", "rac3", 9000, 5000))))
    await asyncio.sleep(1)
    began = time.monotonic()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)
    assert time.monotonic() - began < 0.2, time.monotonic() - began
    before = await arrived(investigator)
    await asyncio.sleep(0.8)
    middle = await arrived(investigator)
    await asyncio.sleep(0.5)
    assert await arrived(investigator) == middle, (before, middle)
    say(await investigator.make(step(udp("rac2", "rac3", 84, 40))))

async def arrived(investigator):
    from checks.sources.kernel_files import UDP_ARRIVALS
    from checks.sources.probes.udp_plan import parse_ends
    shell = await investigator._session.shell("rac3")
    return parse_ends((await shell.run(UDP_ARRIVALS)).text).no_ports
""",
    )
    assert answer.fared == (Fared.NONE_LOST,)
    until(lambda: not any("udp" in line and "-E" in line for line in processes_of(practice.cluster.directory)))


def test_of_two_sessions_one_sends_at_a_time(practice: Practice) -> None:
    """They are on two nodes: one waits for the other, no two rows overlap, and both count right."""
    session = """
async def session(investigator, cluster):
    rows, spans = investigator._rows, []
    send = rows._send
    async def timed(*of):
        began = time.time()
        try:
            return await send(*of)
        finally:
            spans.append(f"{began} {time.time()}")
    rows._send = timed
    for _ in range(3):
        answer = await investigator.make(step(udp("rac1", "rac3", 9000, 100), udp("rac2", "rac3", 9000, 100)))
        say(msgspec.structs.replace(answer, pasted=tuple(spans)))
        spans.clear()
"""
    with ThreadPoolExecutor() as pool:
        found = list(pool.map(lambda node: answers_of(practice, session, node), ("rac1", "rac2")))
    answers = [answer for own in found for answer in own]
    assert [answer.fared for answer in answers] == [(Fared.NONE_LOST, Fared.NONE_LOST)] * 6
    assert all(answer.said is StepSaid.DONE for answer in answers)
    spans = sorted(tuple(map(float, span.split())) for answer in answers for span in answer.pasted)
    assert len(spans) >= 12
    assert all(end <= begin for (_, end), (begin, _) in pairwise(spans))


def test_fragments_that_do_not_arrive_are_no_more_than_may_be_missing(practice: Practice) -> None:
    """With one fragment of each missing, no more are sent than fill a twentieth of the memory: the kernel agrees."""
    run(
        practice.cluster, "rac2", "nft",
        "add table netdev t; add chain netdev t c { type filter hook ingress device eth1 priority 0; }; "
        "add rule netdev t c ip saddr 192.168.10.3 ip frag-off & 0x1fff != 0 drop",
    )  # fmt: skip
    began = time.monotonic()
    try:
        (answer,) = answers_of(
            practice,
            """
async def session(investigator, cluster):
    say(await investigator.make(step(udp("rac3", "rac2", 8996, 60, forms=("fragment",)))))
    shell = await investigator._session.shell("rac2")
    ends = parse_ends((await shell.run(UDP_ENDS)).text)
    assert 0 < ends.reassembling_bytes < ends.reassembly_bytes / 20, ends

from checks.sources.kernel_files import UDP_ENDS
from checks.sources.probes.udp_plan import parse_ends
""",
        )
    finally:
        run(practice.cluster, "rac2", "nft", "delete table netdev t")
    assert time.monotonic() - began < 60
    assert answer.fared == (Fared.ALL_LOST,)
    lost, sent = answer.lost[0]
    assert lost == sent == 10, "of 20 KB each, in a twentieth of 4 MB"
