"""Sets of packets obey the laws of sets."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.traffic import MOST, Traffic, among

NODES = ("rac1", "rac2", "rac3")


def _field(*values: str | int) -> st.SearchStrategy[object]:
    return st.none() | st.sets(st.sampled_from(values)).map(lambda chosen: tuple(sorted(chosen)))


def _span(most: int) -> st.SearchStrategy[tuple[int, int]]:
    return st.tuples(st.integers(0, most), st.integers(0, most))


BOXES = st.builds(
    Traffic,
    networks=_field("net1", "net2"),
    senders=_field(*NODES),
    receivers=_field(*NODES),
    addresses=_field("private", "haip"),
    protocols=_field("icmp", "udp"),
    forms=_field("whole", "fragment"),
    ends=_field("kernel", "instance"),
    ports=_field(1, 2, 3),
    sizes=st.just((0, MOST)) | _span(4),
    times=st.none() | _span(3).map(lambda span: (float(span[0]), float(span[1]))),
)
PACKETS = st.builds(
    Traffic,
    networks=st.sampled_from(["net1", "net2"]).map(lambda v: (v,)),
    senders=st.sampled_from(NODES).map(lambda v: (v,)),
    receivers=st.sampled_from(NODES).map(lambda v: (v,)),
    addresses=st.sampled_from(["private", "haip"]).map(lambda v: (v,)),
    protocols=st.sampled_from(["icmp", "udp"]).map(lambda v: (v,)),
    forms=st.sampled_from(["whole", "fragment"]).map(lambda v: (v,)),
    ends=st.sampled_from(["kernel", "instance"]).map(lambda v: (v,)),
    ports=st.sampled_from([1, 2, 3]).map(lambda v: (v,)),
    sizes=st.integers(0, 4).map(lambda v: (v, v)),
    times=st.integers(0, 3).map(lambda v: (float(v), float(v))),
)


@given(BOXES, BOXES, PACKETS)
def test_a_packet_belongs_to_the_intersection_if_it_belongs_to_both(one: Traffic, other: Traffic, packet: Traffic):
    assert (packet <= (one & other)) == (packet <= one and packet <= other)


@given(BOXES, BOXES, BOXES)
def test_intersection_commutes_and_associates(one: Traffic, other: Traffic, third: Traffic):
    assert _same(one & other, other & one)
    assert _same((one & other) & third, one & (other & third))
    assert _same(one & one, one)


@given(BOXES, BOXES)
def test_containment_is_the_intersection_that_changes_nothing(one: Traffic, other: Traffic):
    assert (one & other) <= one
    assert (one <= other) == _same(one & other, one)
    assert one <= Traffic()


@given(BOXES, BOXES, BOXES)
def test_containment_is_an_order(one: Traffic, other: Traffic, third: Traffic):
    assert one <= one
    if one <= other and other <= third:
        assert one <= third


@given(BOXES, BOXES)
def test_two_sets_meet_where_their_intersection_has_a_packet(one: Traffic, other: Traffic):
    assert one.meets(other) == bool(one & other)


@given(BOXES)
def test_a_set_is_the_same_after_json(one: Traffic):
    assert msgspec.json.decode(msgspec.json.encode(one), type=Traffic) == one


@given(BOXES, PACKETS)
def test_an_empty_set_has_no_packet(one: Traffic, packet: Traffic):
    if not one:
        assert not packet <= one
        assert one <= packet


def _same(one: Traffic, other: Traffic) -> bool:
    """Whether two boxes have the same packets; all empty ones have."""
    return one == other or (not one and not other) or (one <= other and other <= one)


@pytest.mark.parametrize(
    ("packets", "text"),
    [
        (Traffic(), "packets"),
        (
            Traffic(networks=("192.168.11.0/24",), senders=("rac2",), receivers=("rac3",), protocols=("udp",)),
            "UDP packets from rac2 to rac3 on 192.168.11.0/24",
        ),
        (Traffic(protocols=("icmp",), sizes=(1501, MOST)), "pings above 1500 bytes"),
        (Traffic(forms=("fragment",), receivers=among(["rac2", "rac1"])), "fragments to rac1 and rac2"),
        (Traffic(addresses=("haip",), sizes=(84, 84)), "packets of 84 bytes between HAIP addresses"),
        (Traffic(protocols=("udp",), ports=(4, 7)), "UDP packets of 2 source ports"),
    ],
)
def test_a_set_has_a_text(packets: Traffic, text: str):
    assert packets.text == text
