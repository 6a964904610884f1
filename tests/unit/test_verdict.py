"""The table of verdicts, as documentation, and texts that must never occur whatever the counts."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import PingSeries, Port, PrivateNetwork, Verdict
from checks.sources.probes.path import Path
from checks.sources.probes.verdict import Ends, NeighbourSign, hops_from, judge, note_on_one_over

HERE, THERE = Port("rac1", "eth2", "192.168.11.1"), Port("rac2", "eth2", "192.168.11.2")
NETWORK = PrivateNetwork("192.168.11.0/24", "eth2", "192.168.11.0/24", "oifcfg", (HERE, THERE), 9000)
PATH = Path(NETWORK, HERE, THERE, 9000)
NOTHING_KNOWN = Ends()


def small(received: int, sent: int = 20, **more: object) -> PingSeries:
    return msgspec.structs.replace(PingSeries(payload=56, sent=sent, received=received), **more)


def full(received: int, sent: int = 20, **more: object) -> PingSeries:
    return msgspec.structs.replace(PingSeries(payload=8972, sent=sent, received=received), **more)


@pytest.mark.parametrize(
    ("what", "small_series", "full_series", "expected"),
    [
        ("all answered", small(20), full(20), Verdict.PASSES),
        ("small answered, no full-size one, no word", small(20), full(0), Verdict.BLACK_HOLE),
        ("one small lost by chance, no full-size one", small(19), full(0), Verdict.BLACK_HOLE),
        ("3 of 20 and 4 of 20 lost", small(17), full(16), Verdict.LOSS),
        ("one of forty lost", small(20), full(19), Verdict.LOSS),
        ("60 % of both lost", small(8), full(8), Verdict.LOSS),
        ("so much loss that silence proves nothing", small(6), full(0), Verdict.LOSS),
        ("nearly all full-size ones lost, but not all", small(20), full(1), Verdict.LOSS),
        ("the own kernel refuses", small(20), full(0, 2, refused_locally=2, local_mtu=1500), Verdict.LOCAL_MTU),
        ("a router refuses", small(20), full(0, too_big_mtu=1500, too_big_from="192.168.11.254"), Verdict.TOO_BIG),
        (
            "a router refused, and the kernel remembers",
            small(20),
            full(0, refused_locally=19, local_mtu=1500, too_big_mtu=1500, too_big_from="192.168.11.254"),
            Verdict.TOO_BIG,
        ),
        ("too few full-size packets to tell", small(3, 3), full(0, 3), Verdict.UNKNOWN),
        ("full-size packets could not be sent", small(20), full(0, errors=("No buffer space",)), Verdict.UNKNOWN),
        ("nothing could be sent", small(0, 0), None, Verdict.UNKNOWN),
        ("nothing answered, nothing known", small(0), None, Verdict.UNREACHABLE),
        ("only small ones are dropped", small(0), full(20), Verdict.FILTERED),
    ],
)
def test_each_pair_of_series_has_its_verdict(
    what: str, small_series: PingSeries, full_series: PingSeries | None, expected: Verdict
) -> None:
    assert judge(PATH, small_series, full_series, NOTHING_KNOWN).verdict is expected, what


@pytest.mark.parametrize(
    ("what", "series", "ends", "expected", "note"),
    [
        ("own link", small(0), Ends(source_link_up=False, neighbour=NeighbourSign.SILENT), Verdict.UNREACHABLE, "rac1"),
        ("peer's link", small(0), Ends(peer_link_up=False), Verdict.UNREACHABLE, "eth2 on rac2 is down"),
        ("no ARP answer", small(0), Ends(neighbour=NeighbourSign.SILENT), Verdict.UNREACHABLE, "ARP"),
        (
            "no ARP answer although the peer is up: another VLAN",
            small(0),
            Ends(neighbour=NeighbourSign.SILENT, peer_link_up=True),
            Verdict.UNREACHABLE,
            "ARP",
        ),
        (
            "the own kernel says so",
            small(0, unreachable_from="192.168.11.1", errors=("No route to host",)),
            NOTHING_KNOWN,
            Verdict.UNREACHABLE,
            "ARP",
        ),
        (
            "a router says so",
            small(0, unreachable_from="192.168.11.254"),
            NOTHING_KNOWN,
            Verdict.UNREACHABLE,
            "192.168.11.254",
        ),
        ("ARP answered", small(0), Ends(neighbour=NeighbourSign.CONFIRMED), Verdict.FILTERED, "no ping"),
        ("alive by ssh, port up", small(0), Ends(peer_link_up=True), Verdict.FILTERED, "from rac1 comes"),
        ("the peer rejects", small(0, unreachable_from="192.168.11.2"), NOTHING_KNOWN, Verdict.FILTERED, "rac2 itself"),
        ("the other way answers", small(0), Ends(reverse_passes=True), Verdict.FILTERED, "rac2 pings rac1"),
        ("nothing sent, link down", small(0, 0), Ends(source_link_up=False), Verdict.UNREACHABLE, "rac1 is down"),
        ("sendmsg fails", small(0, errors=("Operation not permitted",)), NOTHING_KNOWN, Verdict.UNKNOWN, "permitted"),
    ],
)
def test_each_unanswered_series_has_its_verdict(
    what: str, series: PingSeries, ends: Ends, expected: Verdict, note: str
) -> None:
    judgement = judge(PATH, series, None, ends)
    assert judgement.verdict is expected, what
    assert note in judgement.reason


def test_two_networks_in_one_subnet_are_not_a_filter() -> None:
    shared = Path(NETWORK, HERE, THERE, 9000, subnet_is_shared=True)
    judgement = judge(shared, small(0), None, Ends(neighbour=NeighbourSign.CONFIRMED))
    assert judgement.verdict is Verdict.UNKNOWN
    assert "a different subnet for each network" in judgement.reason


@pytest.mark.parametrize(
    ("reported", "ends", "expected"),
    [
        (1500, Ends(source_mtu=1500), Verdict.LOCAL_MTU),
        (1500, Ends(source_mtu=9000, route_mtu=1500), Verdict.LOCAL_MTU),
        (1500, Ends(source_mtu=9000), Verdict.TOO_BIG),
        (None, Ends(source_mtu=9000), Verdict.LOCAL_MTU),
    ],
)
def test_a_refusal_below_the_interface_mtu_came_from_a_router(
    reported: int | None, ends: Ends, expected: Verdict
) -> None:
    refused = full(0, 20, refused_locally=20, local_mtu=reported)
    assert judge(PATH, small(20), refused, ends).verdict is expected


@given(
    small_sent=st.integers(0, 200),
    full_sent=st.integers(0, 200),
    small_share=st.floats(0, 1),
    full_share=st.floats(0, 1),
    link=st.sampled_from([None, True, False]),
    neighbour=st.sampled_from(NeighbourSign),
)
def test_a_black_hole_is_silence_above_a_size_and_no_other_result(
    small_sent: int, full_sent: int, small_share: float, full_share: float, link: bool | None, neighbour: NeighbourSign
) -> None:
    one = small(round(small_sent * small_share), small_sent)
    other = full(round(full_sent * full_share), full_sent)
    judgement = judge(PATH, one, other, Ends(peer_link_up=link, neighbour=neighbour))
    if judgement.verdict is Verdict.BLACK_HOLE:
        assert one.received * 2 >= one.sent > 0
        assert other.received == 0
        assert other.sent >= 10
    if judgement.verdict is Verdict.PASSES:
        assert (one.received, other.received) == (one.sent, other.sent)
    if judgement.verdict in (Verdict.UNKNOWN, Verdict.FILTERED, Verdict.UNREACHABLE):
        assert judgement.reason


@pytest.mark.parametrize(
    ("ttl", "hops"), [(64, 0), (63, 1), (128, 0), (255, 0), (254, 1), (60, 4), (None, None), (300, None)]
)
def test_hops_are_the_difference_to_a_usual_ttl(ttl: int | None, hops: int | None) -> None:
    assert hops_from(ttl) == hops


def test_an_oversized_packet_is_noted_only_if_it_left_the_node() -> None:
    over = PingSeries(payload=8973, sent=1, received=0)
    assert "9001 bytes" in note_on_one_over(PATH, over)
    assert note_on_one_over(PATH, msgspec.structs.replace(over, refused_locally=1, local_mtu=9000)) == ""
