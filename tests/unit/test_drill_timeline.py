"""The timeline of a drill: what changed on the nodes, in the words of their logs."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.measure.drill.cluster_events import BlockWatch, alert_events
from checks.measure.drill.node_changes import NodeState, Watched, changes, parse_state, parse_timers
from checks.model.facts import AlertLog, LogKind, LogLine, NodeLogs
from checks.rules.drill_causes import TimelineKind
from checks.traffic.samples import Gap, InstanceSample
from checks.traffic.source_id import DATABASE

# --- the timeline -----------------------------------------------------------------------------------------------------


STATE = """
##racwire links
eth1/carrier:1
eth1/carrier_changes:2
eth2/carrier:{carrier}
eth2/carrier_changes:{changes}
bond0/carrier:1
bond0/bonding/active_slave:{active}

##racwire end 2

##racwire addresses
2: eth1    inet 192.168.10.2/24 brd 192.168.10.255 scope global eth1\\       valid_lft forever preferred_lft forever
3: {haip}    inet 169.254.128.2/17 brd 169.254.255.255 scope global {haip}:1\\   valid_lft forever preferred_lft forever

##racwire end 0

##racwire neighbours
192.168.11.1 dev eth2 {neighbour}
192.168.10.1 dev eth1 lladdr 02:00:00:00:00:01 REACHABLE

##racwire end 0
"""
WATCHED = Watched("rac2", ("eth1", "eth2", "bond0"), ("192.168.11.1", "192.168.10.1", "169.254.128.2"))
KNOWN = "lladdr 02:00:00:00:00:02 STALE"


def state(
    carrier: str = "1", changes: int = 2, active: str = "eth2", haip: str = "eth2", neighbour: str = KNOWN
) -> NodeState:
    found = parse_state(STATE.format(carrier=carrier, changes=changes, active=active, haip=haip, neighbour=neighbour))
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("after", "kind", "what"),
    [
        (state("0", 3), TimelineKind.LINK_LOST, "eth2 lost its link"),
        (state(changes=4), TimelineKind.LINK_BLINKED, "eth2 lost its link, and has it again"),
        (state(active="eth3"), TimelineKind.ACTIVE_SLAVE, "the active slave of bond0 is now eth3, not eth2"),
        (state(haip="eth1"), TimelineKind.ADDRESS_MOVED, "169.254.128.2 moved from eth2 to eth1"),
        (
            state(neighbour="INCOMPLETE"),
            TimelineKind.NEIGHBOUR_ASKED,
            "asks by ARP for 192.168.11.1 on eth2, without an answer",
        ),
        (
            state(neighbour="lladdr 02:00:00:00:00:09 REACHABLE"),
            TimelineKind.NEIGHBOUR_LEARNED,
            "learned a new MAC address of 192.168.11.1 on eth2",
        ),
    ],
)
def test_what_changed_between_two_readings(after: NodeState, kind: TimelineKind, what: str) -> None:
    (one,) = changes(WATCHED, state(), after, 10.0, 10.2)
    assert (one.kind, one.what, one.earliest_at, one.at, one.node) == (kind, what, 10.0, 10.2, "rac2")
    assert list(changes(WATCHED, after, after, 10.2, 10.4)) == []


def test_a_neighbour_that_is_asked_for_and_learned_again() -> None:
    gone = parse_state(
        STATE.format(carrier="1", changes=2, active="eth2", haip="eth2", neighbour="").replace(
            "192.168.11.1 dev eth2 \n", ""
        )
    )
    assert gone is not None
    (dropped,) = changes(WATCHED, state(), gone, 1.0, 2.0)
    assert dropped.kind == TimelineKind.NEIGHBOUR_DROPPED
    (learned,) = changes(WATCHED, state(neighbour="FAILED"), state(), 1.0, 2.0)
    assert (learned.kind, learned.detail) == (TimelineKind.NEIGHBOUR_LEARNED, "02:00:00:00:00:02")


@given(st.text(max_size=200), st.integers(0, len(STATE)))
def test_any_answer_of_a_node_is_read_or_left_out(noise: str, place: int) -> None:
    text = STATE[:place] + noise + STATE[place:]
    found = parse_state(text)
    assert found is None or list(changes(WATCHED, found, found, 1.0, 2.0)) == []
    timers, _ = parse_timers("rac2", text, {"eth2": ()})
    assert [one.interface for one in timers] == ["eth2"]
    assert parse_state(noise) is None or "##racwire" in noise


def test_the_timers_of_a_node() -> None:
    text = (
        "##racwire clock\n1700000000.250000000\n##racwire end 0\n"
        "##racwire arp\neth2/retrans_time_ms:1000\neth3/retrans_time_ms:250\n##racwire end 0\n"
        "##racwire bonds\nbond0/bonding/miimon:100\nbond0/bonding/updelay:0\n##racwire end 1\n"
    )
    (eth2, bond0), clock = parse_timers("rac2", text, {"eth2": (), "bond0": ("eth4", "eth5")})
    assert (eth2.retrans_time_ms, eth2.is_bond, clock) == (1000, False, "1700000000.250000000")
    assert (bond0.is_bond, bond0.miimon_ms, bond0.updelay_ms, bond0.downdelay_ms) == (True, 100, 0, None)
    assert bond0.members == ("eth4", "eth5")


def test_what_css_wrote_is_on_the_clock_of_this_node() -> None:
    lines = (
        LogLine(
            "2026-11-24T10:00:00.500000+00:00",
            "CRS-1612",
            "[OCSSD(7)]CRS-1612: Network communication with node rac3 (3) has been missing for 50% of the timeout "
            "interval.  If this persists, removal of this node from cluster will occur in 15.000 seconds",
        ),
        LogLine("2026-11-24T10:00:20+00:00", "CRS-1601", "[OCSSD(7)]CRS-1601: CSSD Reconfiguration complete."),
        LogLine(
            "2026-11-24T10:00:21+00:00", "CRS-5018", "[ORAROOTAGENT(9)]CRS-5018: (:CLSN00037:) Removed unused HAIP"
        ),
        LogLine("2026-11-24T11:00:00+00:00", "CRS-1601", "[OCSSD(7)]CRS-1601: much later"),
    )
    log = AlertLog(LogKind.CLUSTERWARE, "/u01/app/grid/diag/crs/rac1/crs/trace/alert.log", "rac1", lines)
    begin = 1_795_514_400.0  # 10:00:00
    found = list(alert_events("rac1", NodeLogs(logs=(log,)), 0.25, begin, begin + 60))
    assert [(event.at - begin, event.kind) for event in found] == [
        (0.25, TimelineKind.CSS_NOTICED),
        (19.75, TimelineKind.RECONFIGURED),
    ]
    missing = "Network communication with node rac3 (3) has been missing for 50% of the timeout interval"
    assert found[0].what == f"CSS: CRS-1612: {missing}"


def test_blocks_that_come_again() -> None:
    watch = BlockWatch()

    def sample(at: float, **statistics: int) -> list[tuple[str, str]]:
        names = {"lost": "gc blocks lost", "cr": "gc cr blocks received", "current": "gc current blocks received"}
        one = InstanceSample("prac1", 1, "rac1", at, 1.0, {names[name]: count for name, count in statistics.items()})
        return [(event.kind, event.what) for event in watch.see(one)]

    assert sample(1.0, cr=0, current=0) == []  # an instance that never received blocks waits for none
    assert sample(2.0, cr=40, current=3) == []
    assert sample(3.0, cr=0, current=0, lost=2) == [
        (TimelineKind.BLOCKS_LOST, "prac1 lost 2 blocks in 1.0 s"),
        (TimelineKind.NO_BLOCK, "prac1 received no block in 1.0 s"),
    ]
    assert sample(4.0, cr=0, current=0) == []
    assert sample(5.0, cr=1, current=0) == [(TimelineKind.FIRST_BLOCK, "prac1 receives blocks again")]
    assert list(watch.see(Gap(DATABASE, 6.0, "it does not answer"))) == []
    assert sample(7.0, cr=9, current=0) == [(TimelineKind.FIRST_BLOCK, "prac1 receives blocks again")]
