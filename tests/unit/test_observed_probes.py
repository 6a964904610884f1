"""What findings about pings, datagrams, blocks in fragments and HAIP pings observed, as data."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import (
    Address,
    Cluster,
    HaipPath,
    HaipPaths,
    Leg,
    NodeRoutes,
    PathProbe,
    PingSeries,
    PrivateNetwork,
    Route,
    RouteInUse,
    Unknown,
    Verdict,
)
from checks.model.finding import Status
from checks.model.observation import Fate, Observation
from checks.plugins.df_ping import df_ping
from checks.plugins.haip_path import haip_path
from checks.rules.observed.packets import legs
from tests.fixtures.clusters import cluster, node, path, with_interface, with_paths
from tests.unit.observed_support import contradictions, told, way

NET = "192.168.11.0/24"
ROUTER = "192.168.11.254"


def eth2(facts: Cluster | None = None) -> PrivateNetwork:
    networks = (facts or cluster()).networks
    assert isinstance(networks, tuple)
    return next(n for n in networks if n.interface == "eth2")


SMALL_BOTH = ("passed", 20, 20, ["rac1>rac2 whole 84", "rac2>rac1 whole 84"])
FULL_BOTH = ["rac1>rac2 whole 9000", "rac2>rac1 whole 9000"]


def pinged(*series: PingSeries, verdict: Verdict = Verdict.BLACK_HOLE, **more: object) -> list[Observation]:
    """The observations of df-ping where only the path from rac1 to rac2 of the second network was probed."""
    probe = path(eth2(), "rac1", "rac2", verdict, series=series, **more)
    judged = msgspec.structs.replace(cluster(), paths=(probe,))
    return [one for finding in df_ping.run(judged) for one in finding.observed]


# --- pings ------------------------------------------------------------------------------------------------------------


def test_answered_pings_passed_there_and_back():
    (finding,) = [f for f in df_ping.run(cluster()) if f.network == NET]
    assert told(finding.observed) == [
        SMALL_BOTH,
        ("passed", 20, 20, FULL_BOTH),
        ("passed", 20, 20, ["rac2>rac1 whole 84", "rac1>rac2 whole 84"]),
        ("passed", 20, 20, FULL_BOTH[::-1]),
    ]
    for leg in (leg for one in finding.observed for leg in one.legs):
        assert (leg.networks, leg.addresses, leg.protocols, leg.ends) == ((NET,), ("private",), ("icmp",), ("kernel",))
        assert (leg.ports, leg.times) == (None, None)


SMALL = PingSeries(56, 20, 20)
HOLE = PingSeries(8972, 20, 0)


def test_a_black_hole_loses_on_either_leg_and_the_search_has_both_sides_of_the_limit():
    search = (PingSeries(1472, 6, 6), PingSeries(1473, 6, 0))
    assert told(pinged(SMALL, HOLE, *search, path_mtu=1500)) == [
        SMALL_BOTH,
        ("lost", 20, 20, FULL_BOTH),
        ("passed", 6, 6, ["rac1>rac2 whole 1500", "rac2>rac1 whole 1500"]),
        ("lost", 6, 6, ["rac1>rac2 whole 1501", "rac2>rac1 whole 1501"]),
    ]


def test_a_path_mtu_without_its_series_is_one_ping_on_each_side():
    assert told(pinged(SMALL, HOLE, path_mtu=1500))[2:] == [
        ("passed", 1, 1, ["rac1>rac2 whole 1500", "rac2>rac1 whole 1500"]),
        ("lost", 1, 1, ["rac1>rac2 whole 1501", "rac2>rac1 whole 1501"]),
    ]


@pytest.mark.parametrize("leg", [Leg.REQUEST, Leg.BOTH])
def test_requests_that_the_target_did_not_count_were_lost_on_the_way_there(leg):
    full = told(pinged(SMALL, HOLE, path_mtu=None, lost_leg=leg))[1]
    assert full == ("lost", 20, 20, ["rac1>rac2 whole 9000"])


def test_requests_that_the_target_counted_passed_and_their_answers_were_lost():
    assert told(pinged(SMALL, HOLE, path_mtu=None, lost_leg=Leg.REPLY))[1:] == [
        ("passed", 1, 1, ["rac1>rac2 whole 9000"]),
        ("lost", 20, 20, ["rac2>rac1 whole 9000"]),
    ]


def test_pings_that_are_lost_in_part():
    seen = told(pinged(PingSeries(56, 20, 18), PingSeries(8972, 20, 20), verdict=Verdict.LOSS))
    assert seen == [
        ("lost", 2, 20, ["rac1>rac2 whole 84", "rac2>rac1 whole 84"]),
        ("passed", 20, 20, FULL_BOTH),
    ]


def test_pings_that_the_own_kernel_refuses_were_never_sent():
    refused = PingSeries(8972, 20, 0, refused_locally=20, local_mtu=1500)
    seen = pinged(SMALL, refused, PingSeries(1472, 6, 6), PingSeries(1473, 6, 0), verdict=Verdict.LOCAL_MTU)
    assert told(seen)[1:] == [
        ("refused", 20, 20, ["rac1>rac2 whole 9000"]),
        ("passed", 6, 6, ["rac1>rac2 whole 1500", "rac2>rac1 whole 1500"]),
        ("refused", 6, 6, ["rac1>rac2 whole 1501"]),  # the search counts refused ones among those without an answer
    ]
    assert [one.nodes for one in seen[1:]] == [("rac1",), (), ("rac1",)]


def test_pings_that_a_router_refuses():
    too_big = PingSeries(8972, 20, 0, refused_locally=19, local_mtu=1500, too_big_mtu=1500, too_big_from=ROUTER)
    _, seen = pinged(SMALL, too_big, verdict=Verdict.TOO_BIG)
    assert told([seen]) == [("refused", 20, 20, ["rac1>rac2 whole 9000"])]
    assert (seen.nodes, seen.value) == ((), ROUTER)


@pytest.mark.parametrize(
    ("by", "fate", "nodes"),
    [
        (ROUTER, Fate.REFUSED, ()),
        ("192.168.11.2", Fate.REFUSED, ("rac2",)),
        ("192.168.11.1", Fate.LOST, ()),  # its own kernel: nobody answered ARP
    ],
)
def test_pings_to_an_address_that_is_unreachable(by, fate, nodes):
    (seen,) = pinged(PingSeries(56, 20, 0, unreachable_from=by, errors=("unreachable",)), verdict=Verdict.UNREACHABLE)[
        :1
    ]
    assert told([seen]) == [(str(fate), 20, 20, ["rac1>rac2 whole 84"])]
    assert (seen.what, seen.nodes) == ("ping", nodes)


def test_pings_with_another_error_and_no_answer_are_no_loss_on_the_way():
    (seen,) = pinged(PingSeries(56, 20, 0, errors=("not sent: Operation not permitted",)), verdict=Verdict.UNKNOWN)
    assert seen.fate is Fate.REFUSED


def test_pings_larger_than_the_network_and_pings_that_were_not_sent_show_nothing():
    seen = pinged(SMALL, PingSeries(8972, 0, 0), PingSeries(8973, 1, 0), verdict=Verdict.UNKNOWN)
    assert told(seen) == [SMALL_BOTH]


# --- the answers ------------------------------------------------------------------------------------------------------

CUT_BACK = ["rac1>rac2 whole 9000", "rac2>rac1 fragment 1500", "rac2>rac1 fragment 120"]


def first_full(facts: Cluster) -> list[str]:
    found = [f for f in df_ping.run(facts) if f.network == NET]
    return next(way(one) for f in found for one in f.observed if way(one)[0] == "rac1>rac2 whole 9000")


def test_the_answer_of_a_node_with_a_smaller_mtu_is_cut_there():
    small = with_interface(node(2), "eth2", mtu=1500)
    facts = cluster([node(1), small, node(3), node(4)])
    assert first_full(facts) == CUT_BACK


def test_the_answer_is_cut_by_the_route_in_use_of_the_node_that_answers():
    route = RouteInUse(NET, "192.168.11.2", "rac1", "192.168.11.1", "eth2", mtu=1500, expires_s=300)
    learned = msgspec.structs.replace(cluster(), effective_routes=(NodeRoutes("rac2", (route,)),))
    assert first_full(learned) == CUT_BACK
    unread = msgspec.structs.replace(cluster(), effective_routes=(NodeRoutes("rac2", Unknown("silent")),))
    assert first_full(unread) == FULL_BOTH
    over_eth1 = msgspec.structs.replace(route, mtu=None, interface="eth1")
    other = [node(1), with_interface(node(2), "eth1", mtu=1500), node(3), node(4)]
    astray = msgspec.structs.replace(cluster(other), effective_routes=(NodeRoutes("rac2", (over_eth1,)),))
    assert first_full(astray) == CUT_BACK


def test_the_answer_is_cut_by_the_main_table_where_the_route_in_use_is_not_known():
    routes = (Route(NET, "eth2", mtu=1500), *node(2).routes)
    assert first_full(cluster([node(1), msgspec.structs.replace(node(2), routes=routes)])) == CUT_BACK


# --- packets ----------------------------------------------------------------------------------------------------------


def sizes(facts: Cluster, network: str, wire_bytes: int, **same: object) -> list[tuple[object, tuple[int, int]]]:
    return [(t.forms, t.sizes) for t in legs(facts, "rac1", "rac2", network, wire_bytes, df=False, **same)]  # type: ignore[arg-type]


def ipv6(mtu: int) -> Cluster:
    nodes = [
        with_interface(node(n), "eth2", mtu=mtu, addresses=(Address(f"fd00::{n}", 64),), kind="ethernet")
        for n in (1, 2)
    ]
    facts = cluster(nodes)
    assert isinstance(facts.networks, tuple)
    ports = tuple(msgspec.structs.replace(p, ip=f"fd00::{p.node[-1]}") for p in facts.networks[0].ports)
    six = msgspec.structs.replace(
        facts.networks[0], name="fd00::/64", subnet="fd00::/64", interface="eth2", mtu=mtu,
        ports=tuple(msgspec.structs.replace(p, interface="eth2") for p in ports),
    )  # fmt: skip
    return msgspec.structs.replace(facts, networks=(six,))


def test_a_block_is_whole_at_9000_and_in_fragments_at_1500():
    assert sizes(cluster(), NET, 8356) == [(("whole",), (8356, 8356))]
    at_1500 = cluster([node(1, 1500), node(2, 1500)])
    # 5 x 1480 and 936 of 8,336 bytes.
    assert sizes(at_1500, NET, 8356) == [(("fragment",), (1500, 1500)), (("fragment",), (956, 956))]


def test_fragments_of_ipv6_have_a_header_more():
    # 8,376 - 40 = 8,336 bytes: 5 x 1448 in fragments of 1,496 bytes, and 1,096.
    assert sizes(ipv6(1500), "fd00::/64", 8376) == [(("fragment",), (1496, 1496)), (("fragment",), (1144, 1144))]


def test_pings_of_ipv6_have_larger_headers():
    facts = ipv6(9000)
    series = (PingSeries(56, 20, 20), PingSeries(8952, 20, 20))
    probe = path(eth2(facts), "rac1", "rac2", series=series)
    (finding,) = df_ping.run(msgspec.structs.replace(facts, paths=(probe,)))
    assert [way(one) for one in finding.observed] == [["rac1>rac2 whole 104", "rac2>rac1 whole 104"], FULL_BOTH]


def test_without_the_mtu_of_the_sender_the_form_is_not_known():
    assert sizes(Cluster("rac1", "2026-11-20"), NET, 8356) == [(None, (0, 8356))]
    assert sizes(Cluster("rac1", "2026-11-20"), NET, 84) == [(("whole",), (84, 84))]


def test_haip_has_routes_of_its_own():
    route = RouteInUse(NET, "169.254.1.1", "rac2", "169.254.1.2", "eth2", mtu=1500)
    facts = msgspec.structs.replace(cluster(), effective_routes=(NodeRoutes("rac1", (route,)),))
    assert sizes(facts, NET, 8356, addresses=("haip",))[0] == (("fragment",), (1500, 1500))
    assert sizes(facts, NET, 8356, addresses=("private",)) == [(("whole",), (8356, 8356))]


def test_networks_of_one_subnet_share_their_packets():
    facts = cluster()
    assert isinstance(facts.networks, tuple)
    same = tuple(msgspec.structs.replace(n, subnet=NET) for n in facts.networks)
    (leg,) = legs(msgspec.structs.replace(facts, networks=same), "rac1", "rac2", NET, 84, df=True)
    assert leg.networks == ("192.168.10.0/24", NET)


@given(st.integers(577, 65_535), st.integers(68, 9_216), st.sampled_from([4, 6]))
def test_fragments_fit_the_mtu_and_carry_the_whole_datagram(wire_bytes, mtu, version):
    if version == 6:
        mtu = max(mtu, 1280)
    facts = cluster([node(1, mtu), node(2, mtu)]) if version == 4 else ipv6(mtu)
    found = sizes(facts, NET if version == 4 else "fd00::/64", wire_bytes)
    assert all(size <= mtu and (form == ("whole",)) == (wire_bytes <= mtu) for form, (size, _) in found)
    if wire_bytes > mtu:
        header, own = (20, 20) if version == 4 else (40, 48)
        full = found[0][1][0] - own
        rest = found[1][1][0] - own if len(found) > 1 else 0
        assert full % 8 == 0 or len(found) == 1
        assert (wire_bytes - header - rest) % full == 0
        assert rest < full


# --- paths that pass beside others ------------------------------------------------------------------------------------


def test_paths_that_pass_beside_a_fault_have_a_finding_with_their_packets():
    facts = cluster(3)
    found = df_ping.run(with_paths(facts, path(eth2(facts), "rac1", "rac2", Verdict.BLACK_HOLE)))
    (beside,) = [f for f in found if f.code == "IC-PATH-001" and f.network == NET]
    assert beside.title == f"Full-size packets pass on the other 5 paths of {NET}."
    assert beside.status is Status.PASS
    assert len(beside.observed) == 10
    assert {one.fate for one in beside.observed} == {Fate.PASSED}
    hole = next(f for f in found if f.code == "IC-PATH-003")
    assert told(hole.observed)[0] == SMALL_BOTH


def test_no_path_passes_beside_one_of_two_that_both_fail():
    facts = cluster()
    broken = [path(eth2(facts), a, b, Verdict.BLACK_HOLE) for a, b in (("rac1", "rac2"), ("rac2", "rac1"))]
    found = df_ping.run(with_paths(facts, *broken))
    assert not [f for f in found if f.code == "IC-PATH-001" and f.network == NET]


def test_a_path_over_a_router_has_its_packets_and_the_routers():
    (finding,) = [
        f for f in df_ping.run(with_paths(cluster(), path(eth2(), "rac1", "rac2", hops=1))) if f.code == "IC-PATH-009"
    ]
    state, *rest = finding.observed
    assert (state.fate, state.what, state.value, state.nodes) == (Fate.STATE, "routers", 1, ("rac1", "rac2"))
    assert told(rest) == [SMALL_BOTH, ("passed", 20, 20, FULL_BOTH)]


# --- HAIP -------------------------------------------------------------------------------------------------------------


def haip(facts: Cluster, *paths: HaipPath):
    return {f.code: f for f in haip_path.run(msgspec.structs.replace(facts, haip_paths=HaipPaths(paths)))}


def haip_of(to: str, small: int, full: int) -> HaipPath:
    return HaipPath(
        NET, "rac1", to, "169.254.1.1", f"169.254.1.{to[-1]}", 9000,
        small_sent=1, small_answered=small, full_sent=3, full_answered=full,
    )  # fmt: skip


def test_haip_pings_are_pings_between_haip_addresses():
    found = haip(cluster(3), haip_of("rac2", 1, 1), haip_of("rac3", 1, 3))
    assert told(found["IC-HAIP-002"].observed) == [
        ("passed", 1, 1, ["rac1>rac2 whole 84", "rac2>rac1 whole 84"]),
        ("lost", 2, 3, FULL_BOTH),
    ]
    assert all(leg.addresses == ("haip",) for one in found["IC-HAIP-002"].observed for leg in one.legs)
    beside = found["IC-HAIP-001"]
    assert beside.title == f"Packets of 9000 bytes pass between HAIP addresses on the other path of {NET}."
    assert told(beside.observed)[1] == ("passed", 3, 3, ["rac1>rac3 whole 9000", "rac3>rac1 whole 9000"])


def test_full_size_haip_pings_that_the_own_kernel_cannot_send_are_refused():
    small = cluster([with_interface(node(1), "eth2", mtu=1500), node(2), node(3)])
    seen = haip(small, haip_of("rac2", 1, 0))["IC-HAIP-002"].observed[1]
    assert told([seen]) == [("refused", 3, 3, ["rac1>rac2 whole 9000"])]
    assert seen.nodes == ("rac1",)


# --- no observation contradicts another of its path -------------------------------------------------------------------


@st.composite
def series_of(draw: st.DrawFn, payload: int) -> PingSeries:
    sent = draw(st.integers(0, 20))
    refused = draw(st.sampled_from([0, 0, 0, sent]))
    return PingSeries(
        payload, sent, draw(st.integers(0, sent - refused)), refused_locally=refused,
        local_mtu=draw(st.sampled_from([None, 1500])) if refused else None,
        too_big_mtu=draw(st.sampled_from([None, None, 1500])), too_big_from=draw(st.sampled_from(["", ROUTER])),
        unreachable_from=draw(st.sampled_from(["", "", "192.168.11.1", "192.168.11.2", ROUTER])),
        errors=draw(st.sampled_from([(), (), ("an error",)])),
    )  # fmt: skip


@st.composite
def pinged_paths(draw: st.DrawFn) -> PathProbe:
    payloads = [56, *draw(st.sets(st.sampled_from([1472, 1473, 4000, 8972, 8973])))]
    return path(
        eth2(), "rac1", "rac2", draw(st.sampled_from(Verdict)), draw(st.sampled_from(Leg)),
        series=tuple(draw(series_of(payload)) for payload in payloads),
        path_mtu=draw(st.sampled_from([None, 84, 1500, 8999, 9000, Unknown("not found")])),
    )  # fmt: skip


@given(pinged_paths(), st.sampled_from([1500, 9000]))
def test_no_ping_is_said_to_pass_and_to_be_lost(probe, answering_mtu):
    facts = cluster([node(1), with_interface(node(2), "eth2", mtu=answering_mtu), node(3), node(4)])
    own = [f for f in df_ping.run(msgspec.structs.replace(facts, paths=(probe,))) if f.network == NET]
    observed = [one for f in own for one in f.observed]
    assert contradictions(observed) == []
    assert all(0 < one.number <= (one.of or 0) and one.legs for one in observed if one.fate is not Fate.STATE)
