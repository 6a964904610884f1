"""What findings about counters and states carry as observations, and the findings of the case book."""

import msgspec
import pytest

from checks.model.facts import (
    NotAsked,
    Route,
    Unknown,
)
from checks.model.finding import FAULTS, Finding, Status
from checks.model.observation import Fate
from checks.model.traffic import Traffic
from checks.plugins.mtu_consistency import mtu_consistency
from checks.plugins.nic_counters import nic_counters
from checks.plugins.packet_filter import packet_filter
from checks.plugins.private_routes import private_routes
from checks.plugins.reassembly import reassembly
from checks.plugins.rp_filter import rp_filter
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.run.check_discovery import discover
from tests.cases.loading import DIRECTORY, Case, fact_cases, load
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.databases import (
    asked,
    change,
    counters,
    system,
)
from tests.unit.test_observed_counters import FIRST, SECOND, found, with_fate

# --- counters ---------------------------------------------------------------------------------------------------------

SOCKETS = ("clusterware", "instance")


@pytest.mark.parametrize(
    ("check", "code", "counted", "what", "leg"),
    [
        (
            udp_receive_buffers,
            "IC-UDP-002",
            {"Udp_RcvbufErrors": 9, "Udp_InErrors": 9},
            "Udp.RcvbufErrors",
            Traffic(receivers=("rac2",), protocols=("udp",), ends=SOCKETS),
        ),
        (
            udp_receive_buffers,
            "IC-UDP-003",
            {"Udp_InCsumErrors": 9, "Udp_InErrors": 9},
            "Udp.InCsumErrors",
            Traffic(receivers=("rac2",), protocols=("udp",)),
        ),
        (udp_receive_buffers, "IC-UDP-004", {"Softnet_Dropped": 9}, "softnet dropped", Traffic(receivers=("rac2",))),
        (
            udp_receive_buffers,
            "IC-UDP-005",
            {"Udp_InErrors": 9},
            "Udp.InErrors",
            Traffic(receivers=("rac2",), protocols=("udp",)),
        ),
        (
            reassembly,
            "IC-REASM-005",
            {"Ip_ReasmFails": 9, "Ip_ReasmReqds": 900},
            "Ip.ReasmFails",
            Traffic(receivers=("rac2",), forms=("fragment",)),
        ),
        (
            rp_filter,
            "IC-RPF-002",
            {"TcpExt_IPReversePathFilter": 9},
            "TcpExt.IPReversePathFilter",
            Traffic(receivers=("rac2",)),
        ),
    ],
)
def test_a_counter_is_at_its_node_and_names_the_packets_that_it_counts(check, code, counted, what, leg) -> None:
    facts = asked(3, counters=counters(3, change("rac2", **counted)))
    (one,) = with_fate(found(check, facts, code), Fate.COUNTED)
    assert (one.what, one.number, one.nodes, one.legs) == (what, 9, ("rac2",), (leg,))


def test_timeouts_are_lost_fragments_and_other_failures_are_counted() -> None:
    facts = asked(3, counters=counters(3, change("rac2", Ip_ReasmFails=9, Ip_ReasmTimeout=7, Ip_ReasmReqds=900)))
    finding = found(reassembly, facts, "IC-REASM-002")
    (lost,) = with_fate(finding, Fate.LOST)
    assert (lost.what, lost.number, lost.of) == ("fragments", 7, None)
    assert lost.legs == (Traffic(receivers=("rac2",), forms=("fragment",)),)
    assert [(o.what, o.number) for o in with_fate(finding, Fate.COUNTED)] == [("Ip.ReasmFails", 2)]


def test_packets_that_vanished_arrived_at_the_node() -> None:
    facts = asked(3, counters=counters(3, change("rac2", Ip_InReceives=90_000, Ip_InDelivers=80_000)))
    (one,) = found(packet_filter, facts, "IC-FILTER-002").observed
    assert (one.fate, one.what, one.nodes, one.legs[0].receivers) == (Fate.COUNTED, "vanished", ("rac2",), ("rac2",))
    (fine,) = found(packet_filter, facts, "IC-FILTER-001").observed
    assert fine.nodes == ("rac1", "rac3")


@pytest.mark.parametrize(
    ("code", "counted", "senders", "receivers"),
    [
        ("IC-NIC-002", {"rx_crc_errors": 40}, [None], [("rac2",)]),
        ("IC-NIC-002", {"tx_carrier_errors": 40}, [("rac2",)], [None]),
        ("IC-NIC-003", {"rx_missed_errors": 40}, [None], [("rac2",)]),
        ("IC-NIC-005", {"qdisc_drops": 900}, [("rac2",)], [None]),
        ("IC-NIC-006", {"carrier_changes": 2}, [None, ("rac2",)], [("rac2",), None]),
    ],
)
def test_a_counter_of_a_nic_is_of_what_it_received_or_sent(code, counted, senders, receivers) -> None:
    machine = system({"eth2": counted})
    changed = msgspec.structs.replace(change("rac2"), machine=machine)
    finding = found(nic_counters, asked(3, counters=counters(3, changed)), code)
    (one,) = finding.observed
    assert (one.fate, one.what, one.nodes, one.network, one.nic) == (
        Fate.COUNTED, next(iter(counted)), ("rac2",), SECOND, "eth2",
    )  # fmt: skip
    assert [leg.senders for leg in one.legs] == senders
    assert [leg.receivers for leg in one.legs] == receivers
    assert {leg.networks for leg in one.legs} == {(SECOND,)}


def test_nics_that_are_quiet_cover_the_networks_and_nodes_that_were_counted() -> None:
    (gone,) = [c for c in counters(3).nodes if c.node == "rac3"]
    nics = tuple(nic for nic in gone.machine.nics if nic.name != "eth2")
    left = msgspec.structs.replace(gone, machine=msgspec.structs.replace(gone.machine, nics=nics))
    finding = found(nic_counters, asked(3, counters=counters(3, left)), "IC-NIC-001")
    assert {o.network: o.nodes for o in finding.observed} == {
        FIRST: ("rac1", "rac2", "rac3"),
        SECOND: ("rac1", "rac2"),
    }


# --- states -----------------------------------------------------------------------------------------------------------


def places(finding: Finding) -> list[tuple[tuple[str, ...], str, str, object]]:
    return [(o.nodes, o.network, o.nic, o.value) for o in finding.observed]


def test_each_node_with_another_mtu_is_a_state_of_its_own() -> None:
    odd = [with_interface(node(n), "eth2", mtu=1500) for n in (1, 2)]
    facts = cluster([*odd, *(node(n) for n in (3, 4, 5))])
    finding = found(mtu_consistency, facts, "IC-MTU-002")
    assert places(finding) == [(("rac1",), SECOND, "eth2", 1500), (("rac2",), SECOND, "eth2", 1500)]
    assert {o.what for o in finding.observed} == {"mtu"}
    fine = found(mtu_consistency, facts, "IC-MTU-001")
    assert places(fine) == [(("rac1", "rac2", "rac3", "rac4", "rac5"), FIRST, "", 9000)]


def test_a_route_astray_names_the_peer_and_the_packets_to_it() -> None:
    built = node(1)
    stray = msgspec.structs.replace(built, routes=(*built.routes, Route("192.168.11.2/32", "eth1")))
    finding = found(private_routes, cluster([stray, node(2), node(3)]), "IC-ROUTE-005")
    (one,) = finding.observed
    assert places(finding) == [(("rac1",), SECOND, "eth1", "rac2")]
    assert one.legs == (Traffic(networks=(SECOND,), senders=("rac1",), receivers=("rac2",), addresses=("private",)),)


@pytest.mark.parametrize(
    ("case", "code", "what", "has_peer"),
    [
        ("route-in-use-with-a-learned-mtu", "IC-EROUTE-002", "mtu", False),
        ("route-in-use-over-another-nic", "IC-EROUTE-003", "IC-EROUTE-003", True),
        ("layer2-wrong-neighbour", "IC-NEIGH-006", "IC-NEIGH-006", True),
        ("layer2-crossed-cables", "IC-NEIGH-002", "IC-NEIGH-002", True),
    ],
)
def test_a_state_about_packets_to_one_peer_says_which(case, code, what, has_peer) -> None:
    states = [one for f in findings_of(load(DIRECTORY / f"{case}.toml")) if f.code == code for one in f.observed]
    assert states
    for one in states:
        (leg,) = one.legs
        assert (one.fate, one.what, one.nodes, (one.network,)) == (Fate.STATE, what, leg.senders, leg.networks)
        assert leg.addresses in (("private",), ("haip",))
        (peer,) = leg.receivers or ()
        assert one.nic
        assert one.value == peer if has_peer else isinstance(one.value, int)


# --- all findings -----------------------------------------------------------------------------------------------------


OF_PROBES = ("df-ping", "haip-path", "udp-path", "fragments")
"""What racwire sends by itself: test_observed_probes has their observations."""


def findings_of(case: Case) -> list[Finding]:
    """Return the findings of every check whose facts are known, as the engine would ask them."""
    facts = case.make.cluster()
    known = {group for group in facts.gathered_groups() if not isinstance(getattr(facts, group), Unknown | NotAsked)}
    return [f for check in discover().checks if known.issuperset(check.needs) for f in check.run(facts)]


@pytest.fixture(scope="module")
def of_the_case_book() -> list[tuple[str, Finding]]:
    return [(case.name, f) for case in fact_cases() for f in findings_of(case) if f.check not in OF_PROBES]


def test_no_finding_of_the_case_book_that_judges_is_without_an_observation(of_the_case_book) -> None:
    judging = (*FAULTS, Status.PASS)
    bare = {(name, f.code) for name, f in of_the_case_book if f.status in judging and not f.observed}
    assert len(of_the_case_book) > 5000
    assert bare == set()


OF_THE_CLUSTER = {
    "IC-MTU-007": "it compares networks as a whole",
    "IC-OWNER-005": "it is about two networks as a whole",
    "IC-IFACE-007": "it is a line of oifcfg, which is the same for all nodes",
    "IC-IFACE-008": "it is a line of oifcfg, which is the same for all nodes",
}


def test_every_state_of_the_case_book_has_a_place(of_the_case_book) -> None:
    states = [
        (name, f.code, one)
        for name, f in of_the_case_book
        for one in f.observed
        if f.status in (*FAULTS, Status.PASS) and one.fate is Fate.STATE
    ]
    assert {code for _, code, one in states if not one.nodes} == set(OF_THE_CLUSTER)


def test_what_passed_and_what_was_lost_is_a_set_of_packets(of_the_case_book) -> None:
    for name, finding in of_the_case_book:
        for one in finding.observed:
            if one.fate in (Fate.PASSED, Fate.LOST, Fate.DELAYED, Fate.COUNTED) and finding.code != "IC-LOST-006":
                assert one.legs, (name, finding.code)
                assert all(one.legs), (name, finding.code)
            if one.of is not None:
                assert 0 < one.number <= one.of, (name, finding.code)
            for leg in one.legs:
                fields = (leg.networks, leg.senders, leg.receivers)
                assert all(value is None or list(value) == sorted(set(value)) for value in fields), (name, finding.code)
