"""What made a silence last: from recorded timelines to the timer, and never more certain than the timeline."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.drill_result import DrillEvent, DrillOf, InterfaceTimers, PathSilence
from checks.model.facts import Unknown
from checks.model.finding import Status
from checks.model.measurement import MeasuredPath
from checks.rules.drill_causes import CauseStanding, SilenceCause, TimelineKind, Timer, cause_of
from checks.rules.drill_verdicts import decisive, drill_status, silence_status

PATH = MeasuredPath(
    "192.168.11.0/24", "rac1", "192.168.11.1", "rac2", "192.168.11.2", "eth2", 9000, target_interface="eth2"
)
HAIP = msgspec.structs.replace(
    PATH, network="169.254.128.0/17", source="169.254.175.99", target="169.254.212.190", is_haip=True
)
BOND = msgspec.structs.replace(PATH, interface="bond0", target_interface="bond0")
T = 1000.0
"""The moment at which the silence begins."""


def silence(seconds: float, *, path: int = 0, is_over: bool = True, **more: object) -> PathSilence:
    fields = {"protocol": "udp", "began_at": T, "interval_s": 0.01, "sent": 500, "answered": 400, **more}
    return PathSilence(path=path, seconds=seconds, is_over=is_over, **fields)  # type: ignore[arg-type]


def event(after: float, kind: TimelineKind, node: str = "rac2", interface: str = "eth2", **more: object) -> DrillEvent:
    """An event that was seen so long after the beginning, by readings 0.2 s apart."""
    fields = {"earliest_at": T + after - 0.2, **more}
    return DrillEvent(T + after, node, kind.value, kind.value, interface, **fields)  # type: ignore[arg-type]


RETRANS = tuple(InterfaceTimers(node, "eth2", retrans_time_ms=1000) for node in ("rac1", "rac2"))


def found(
    seconds: float, *events: DrillEvent, path: MeasuredPath = PATH, timers: tuple[InterfaceTimers, ...] = RETRANS
) -> SilenceCause:
    return cause_of(silence(seconds), path, events, timers)


def asked(after: float, learned: float, address: str = "192.168.11.1") -> tuple[DrillEvent, DrillEvent]:
    return (
        event(after, TimelineKind.NEIGHBOUR_ASKED, address=address),
        event(learned, TimelineKind.NEIGHBOUR_LEARNED, address=address, detail="02:00:00:00:00:01"),
    )


def test_a_blink_of_the_link_costs_a_second_because_arp_retries_only_then() -> None:
    one = found(1.02, event(0.15, TimelineKind.LINK_BLINKED), *asked(0.15, 1.15))
    assert (one.timer, one.standing) == (Timer.ARP_RETRY, CauseStanding.PROVED)
    assert one.sentence == (
        "eth2 of rac2 was without its link for at most 0.15 s. The kernel of rac2 forgot the MAC address of "
        "192.168.11.1 with it, and asks by ARP again after 1.0 s (retrans_time_ms 1000): the first answer came "
        "when it had learned it."
    )


def test_a_link_that_was_lost_while_answers_came_has_an_interval_in_order() -> None:
    lost = event(-0.08, TimelineKind.LINK_LOST)
    back = event(0.55, TimelineKind.LINK_BACK, earliest_at=T + 0.55)
    assert "was without its link for 0.63 s to 0.83 s" in found(0.6, lost, back).sentence


def test_arp_is_only_supported_where_its_timer_was_not_read_or_is_shorter() -> None:
    events = (event(0.15, TimelineKind.LINK_BLINKED), *asked(0.15, 1.15))
    unread = found(1.02, *events, timers=())
    assert (unread.timer, unread.standing) == (Timer.ARP_RETRY, CauseStanding.SUPPORTED)
    assert "retrans_time_ms was not read" in unread.sentence
    shorter = found(1.02, *events, timers=(InterfaceTimers("rac2", "eth2", retrans_time_ms=100),))
    assert shorter.standing is CauseStanding.SUPPORTED


def test_a_neighbour_of_another_address_or_time_proves_nothing() -> None:
    blink = event(0.15, TimelineKind.LINK_BLINKED)
    assert found(1.02, blink, *asked(0.15, 1.15, "192.168.11.3")).standing is CauseStanding.UNKNOWN
    assert found(3.02, blink, *asked(0.15, 1.15)).timer is None


def test_the_first_answer_comes_with_the_link() -> None:
    one = found(2.5, event(0.1, TimelineKind.LINK_LOST), event(2.6, TimelineKind.LINK_BACK))
    assert (one.timer, one.standing) == (Timer.LINK, CauseStanding.PROVED)
    assert "no timer added to that" in one.sentence


def test_an_interruption_that_no_node_saw_has_no_known_cause() -> None:
    one = found(0.3)
    assert (one.timer, one.standing) == (None, CauseStanding.UNKNOWN)
    assert "neither node saw its link go, and no address moved" in one.sentence


def test_what_was_silent_already_has_no_proved_cause() -> None:
    back = (event(0.1, TimelineKind.LINK_LOST), event(2.6, TimelineKind.LINK_BACK))
    for events in ((), back):
        one = cause_of(silence(2.5, is_from_start=True), PATH, events, RETRANS)
        assert (one.timer, one.standing) == (None, CauseStanding.UNKNOWN)
        assert one.sentence.startswith("It was silent already at the start of the drill")


def test_a_link_elsewhere_is_not_the_cause() -> None:
    others = (event(0.1, TimelineKind.LINK_LOST, node="rac3"), event(0.1, TimelineKind.LINK_LOST, interface="eth1"))
    assert found(0.3, *others).timer is None


def test_the_delay_of_haip() -> None:
    lost = event(0.1, TimelineKind.LINK_LOST)
    move = event(6.4, TimelineKind.ADDRESS_MOVED, interface="eth1", address=HAIP.target)
    one = found(6.45, lost, move, path=HAIP)
    assert (one.timer, one.standing) == (Timer.HAIP, CauseStanding.PROVED)
    assert "moved to eth1 6.3 s after eth2 of rac2 lost its link" in one.sentence
    assert found(6.45, move, path=HAIP).standing is CauseStanding.SUPPORTED
    late = found(9.0, lost, move, path=HAIP)
    assert late.timer is None
    assert "2.6 s after that, and why so late is not known" in late.sentence


def test_neighbours_that_keep_the_old_mac_address_of_a_haip() -> None:
    events = (
        event(0.1, TimelineKind.LINK_LOST),
        event(6.4, TimelineKind.ADDRESS_MOVED, interface="eth1", address=HAIP.target),
        event(16.5, TimelineKind.NEIGHBOUR_LEARNED, node="rac1", interface="eth1", address=HAIP.target, detail="02::1"),
    )
    one = found(16.4, *events, path=HAIP)
    assert (one.timer, one.standing) == (Timer.STALE_ARP, CauseStanding.PROVED)
    assert "rac1 learned its new MAC address by ARP 10.0 s later" in one.sentence


def bond(**more: int) -> tuple[InterfaceTimers, ...]:
    return (InterfaceTimers("rac2", "bond0", 1000, ("eth2", "eth3"), is_bond=True, **more),)


def test_a_bond_that_looks_at_its_links() -> None:
    lost = event(0.1, TimelineKind.LINK_LOST)
    change = event(0.4, TimelineKind.ACTIVE_SLAVE, interface="bond0", detail="eth3")
    one = found(0.35, lost, change, path=BOND, timers=bond(miimon_ms=100, downdelay_ms=200))
    assert (one.timer, one.standing) == (Timer.MIIMON, CauseStanding.PROVED)
    assert "bond0 took eth3" in one.sentence
    assert "(miimon 100 ms, downdelay 200 ms)" in one.sentence
    unseen = found(0.35, change, path=BOND, timers=bond(miimon_ms=100))
    assert unseen.standing is CauseStanding.SUPPORTED
    later = found(5.0, lost, change, path=BOND, timers=bond(miimon_ms=100))
    assert later.timer is not Timer.MIIMON


def test_a_bond_that_never_looks_at_its_links() -> None:
    lost, back = event(0.1, TimelineKind.LINK_LOST), event(12.0, TimelineKind.LINK_BACK)
    one = found(12.0, lost, back, path=BOND, timers=bond(miimon_ms=0))
    assert (one.timer, one.standing) == (Timer.MIIMON_OFF, CauseStanding.PROVED)
    assert "miimon is 0" in one.sentence


def test_a_port_that_forwards_only_after_spanning_tree() -> None:
    one = found(32.4, event(0.1, TimelineKind.LINK_LOST), event(2.3, TimelineKind.LINK_BACK))
    assert (one.timer, one.standing) == (Timer.SPANNING_TREE, CauseStanding.SUPPORTED)
    assert "racwire does not read the switch" in one.sentence
    assert found(12.4, event(0.1, TimelineKind.LINK_LOST), event(2.3, TimelineKind.LINK_BACK)).timer is None


def test_a_silence_that_lasts_has_no_cause_yet() -> None:
    one = cause_of(silence(9.0, is_over=False), PATH, [event(0.1, TimelineKind.LINK_LOST)], RETRANS)
    assert one.sentence == "It was not over when the drill ended. eth2 of rac2 had no link."
    assert one.standing is CauseStanding.UNKNOWN


moments = st.floats(-5, 60, allow_nan=False)
some_event = st.builds(
    event,
    moments,
    st.sampled_from(list(TimelineKind)),
    st.sampled_from(["rac1", "rac2", "rac3"]),
    st.sampled_from(["eth1", "eth2", "eth3", "bond0", ""]),
    address=st.sampled_from(["", PATH.source, PATH.target, HAIP.source, HAIP.target]),
    earliest_at=st.one_of(st.none(), moments.map(lambda after: T + after)),
)


@given(
    st.floats(0.01, 50),
    st.booleans(),
    st.lists(some_event, max_size=12),
    st.sampled_from([PATH, HAIP, BOND]),
    st.sampled_from([(), RETRANS, bond(miimon_ms=0), bond()]),
)
def test_any_timeline_has_a_sentence_and_is_as_certain_as_its_timer(
    seconds: float, is_over: bool, events: list[DrillEvent], path: MeasuredPath, timers: tuple[InterfaceTimers, ...]
) -> None:
    one = cause_of(silence(seconds, is_over=is_over), path, events, timers)
    assert one.sentence.endswith(".")
    assert (one.timer is None) == (one.standing is CauseStanding.UNKNOWN)
    if one.standing is CauseStanding.PROVED:
        assert {e.kind for e in events} & {
            TimelineKind.LINK_LOST,
            TimelineKind.LINK_BLINKED,
            TimelineKind.ADDRESS_MOVED,
        }


# --- the share of misscount -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seconds", "is_over", "status"),
    [
        (2.99, True, Status.PASS),
        (3.0, True, Status.WARN),
        (15.0, True, Status.WARN),
        (15.1, True, Status.FAIL),
        (15.1, False, Status.FAIL),
        (2.0, False, Status.UNKNOWN),
    ],
)
def test_a_silence_is_judged_by_its_share_of_misscount(seconds: float, is_over: bool, status: Status) -> None:
    assert silence_status(silence(seconds, is_over=is_over), 30.0) is status
    assert silence_status(silence(seconds, is_over=is_over), Unknown("crsctl did not answer.")) is Status.UNKNOWN


def test_the_time_that_people_left_the_cable_out_does_not_decide_where_another_path_was_silent() -> None:
    cable = silence(20.0, added_s=0.8, timer=Timer.ARP_RETRY.value)
    haip = silence(6.0, path=1, timer=Timer.HAIP.value)
    assert decisive([cable, haip]) is haip
    assert decisive([cable]) is cable
    assert drill_status(DrillOf(misscount_s=30.0, silences=(cable, haip))) is Status.WARN
    assert drill_status(DrillOf(misscount_s=30.0, silences=(cable,))) is Status.FAIL


def test_own_lateness_is_no_silence_and_without_one_nothing_is_judged() -> None:
    late = silence(0.05, late_s=0.04)
    assert decisive([late]) is None
    assert (
        drill_status(DrillOf(misscount_s=30.0, silences=(late, silence(0.0, path=1, began_at=None)))) is Status.UNKNOWN
    )
