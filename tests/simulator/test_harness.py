"""The comparison itself: a right diagnosis has no fault, and each kind of wrong one is counted as what it is."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from checks.model.finding import Finding, Status, keyed
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis, Place, Together
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of
from tests.simulator import mended
from tests.simulator.faults import NEWER, Fault
from tests.simulator.losses import losses
from tests.simulator.mended import NAMES, Draw, draws, fits, trial

DEAD, SMALL = Fault("port-dead", 2, "rac3"), Fault("small-receive-buffer", 0, "rac2")
DRAW = Draw((DEAD, SMALL), 9000, 1)


def lost(what: str, network: str, sender: str, receiver: str, number: int, of: int) -> Observation:
    leg = Traffic(
        networks=(network,), senders=(sender,), receivers=(receiver,), addresses=("haip",), sizes=(8356, 8356)
    )
    return Observation(fate=Fate.LOST, what=what, legs=(leg,), number=number, of=of)


def found(code: str, *observed: Observation, status: Status = Status.FAIL) -> Finding:
    return Finding(code=code, check="a-check", status=status, title=code, observed=observed)


PINGS = found("IC-PATH-006", lost("ping", NAMES[1], "rac3", "rac1", 5, 5), lost("ping", NAMES[1], "rac1", "rac3", 5, 5))
OF_BUFFERS = tuple(lost("block", network, "rac1", "rac2", 900, 3000) for network in NAMES)
OF_PORT = lost("block", NAMES[1], "rac1", "rac3", 3000, 3000)
BLOCKS = found("IC-LOST-002", *OF_BUFFERS, OF_PORT)
BUFFERS = found("IC-UDP-002", Observation(fate=Fate.COUNTED, what="Udp.RcvbufErrors", number=900, nodes=("rac2",)))
BOTH = (PINGS, BLOCKS, BUFFERS)
LEFT = {(DEAD,): (PINGS, found("IC-LOST-002", OF_PORT)), (SMALL,): (found("IC-LOST-002", *OF_BUFFERS), BUFFERS)}

LUCKY: dict[tuple[Fault, ...], tuple[Finding, ...]] = {}
"""What is found where nothing is lost by chance, where that differs."""
KEYS = {finding.code: key for key, finding in keyed(BOTH)}


def hypothesis(cause: str, place: Place, entry: int, **more: object) -> Hypothesis:
    return Hypothesis(cause=cause, name=cause, standing=Certainty.SUPPORTED, place=place, entry=entry, **more)  # type: ignore[arg-type]


PORT = hypothesis(
    "CAUSE-85", Place(networks=(NAMES[1],), nodes=("rac3",)), 1,
    shown_by=(KEYS["IC-PATH-006"],), in_part=(KEYS["IC-LOST-002"],),
)  # fmt: skip
BUFFER = hypothesis(
    "CAUSE-02", Place(nodes=("rac2",)), 2,
    shown_by=(KEYS["IC-UDP-002"],), together=(Together(finding=KEYS["IC-LOST-002"], causes=("CAUSE-85",)),),
)  # fmt: skip


@pytest.fixture
def said(monkeypatch):
    """Judge these hypotheses instead of those of the engine; facts are the faults themselves."""
    left = dict(LEFT)

    def judged(*hypotheses: Hypothesis, masked: Fault | None = None):
        for fault in (DEAD, SMALL):
            rest = tuple(f for f in (DEAD, SMALL) if f != fault)
            left[rest] = BOTH if fault == masked else LEFT[rest]
        base = replace(report_of(cluster()), findings=BOTH, diagnosis=Diagnosis(hypotheses=hypotheses))
        monkeypatch.setattr(mended, "_facts", lambda draw, faults, is_lucky=False: (tuple(faults), is_lucky))
        monkeypatch.setattr(mended, "findings_of", lambda made: (LUCKY if made[1] else {}).get(made[0], left[made[0]]))
        monkeypatch.setattr(mended, "report_of", lambda faults: base)
        return trial(DRAW)

    return judged


def test_a_right_diagnosis_has_no_fault(said):
    result = said(PORT, BUFFER)
    assert result.notes == []
    assert (result.count["named"], result.count["missed"], result.count["entries of no fault"]) == (2, 0, 0)
    assert 0 < result.count["ended"] == result.count["said to end"]


def test_hypotheses_of_one_entry_are_alternatives_and_count_once(said):
    wide = replace(PORT, cause="CAUSE-84", entry=1, place=Place(networks=(NAMES[1],)))
    assert said(wide, PORT, BUFFER).notes == []
    apart = said(replace(wide, cause="CAUSE-12", entry=3), PORT, BUFFER)
    assert apart.count["missed"] == apart.count["entries of no fault"] == 1


@pytest.mark.parametrize(
    "place", [Place(networks=(NAMES[0],), nodes=("rac3",)), Place(networks=(NAMES[1],), nodes=("rac1",)), Place()]
)
def test_the_right_cause_at_a_wrong_place_is_missed(said, place):
    result = said(replace(PORT, place=place), BUFFER)
    assert (result.count["named"], result.count["missed"], result.count["entries of no fault"]) == (1, 1, 1)


def test_a_fault_that_others_hide_is_masked_and_not_missed(said):
    result = said(PORT, masked=SMALL)
    assert (result.count["named"], result.count["masked"], result.count["missed"]) == (1, 1, 0)


def test_what_remains_after_the_repair_was_no_part_of_it(said):
    result = said(replace(PORT, explains=(KEYS["IC-LOST-002"],)), BUFFER)
    assert result.count["false explains"] == 1
    assert "port-dead@net2:rac3 does not end" in result.notes[0]


def test_a_few_losses_that_remain_by_chance_are_counted_apart(said, monkeypatch):
    by_chance = found("IC-PATH-005", lost("ping", NAMES[1], "rac1", "rac3", 1, 20))
    monkeypatch.setitem(LEFT, (SMALL,), (by_chance, BUFFERS))
    monkeypatch.setitem(LUCKY, (SMALL,), (BUFFERS,))
    result = said(replace(PORT, explains=(KEYS["IC-PATH-006"],)), BUFFER)
    assert (result.count["false explains"], result.count["false by chance"]) == (0, 1)
    monkeypatch.setitem(LUCKY, (SMALL,), (by_chance,))
    assert said(replace(PORT, explains=(KEYS["IC-PATH-006"],)), BUFFER).count["false explains"] == 1


def test_what_ended_and_was_not_said_is_counted(said):
    result = said(replace(PORT, shown_by=(), in_part=()), BUFFER)
    assert result.count["said to end"] < result.count["ended"]


def test_a_true_cause_that_is_excluded_is_counted_also_on_its_network_alone(said):
    out = [
        Hypothesis(cause=cause, name=cause, standing=Certainty.EXCLUDED)
        for cause in ("CAUSE-84", "CAUSE-85", "CAUSE-02")
    ]
    result = said(*out)
    assert result.count["excluded"] == result.count["missed"] == 2
    elsewhere = Place(networks=(NAMES[0],), nodes=("rac3",))
    alone = [hypothesis(c, elsewhere, 3, excluded_on=(NAMES[1],)) for c in ("CAUSE-84", "CAUSE-85")]
    assert said(*alone).count["excluded"] == 1
    assert said(replace(alone[0], excluded_on=(NAMES[0],)), alone[1]).count["excluded"] == 0


def test_a_fault_of_a_network_has_no_single_node_and_a_half_may_be_one():
    wide, narrow = (Place(networks=(NAMES[0],), nodes=nodes) for nodes in ((), ("rac1",)))
    for kind, cause, place, wanted in (
        ("switch-mtu", "CAUSE-12", wide, True),
        ("switch-mtu", "CAUSE-12", narrow, False),
        ("switch-mtu", "CAUSE-05", wide, False),
        ("split-switch", "CAUSE-85", narrow, True),
    ):
        fault = Fault(kind, 1)
        assert fits(hypothesis(cause, place, 1), fault, Draw((fault,), 9000, 1)) is wanted, (kind, cause, place)


def test_a_part_of_a_network_is_right_where_it_has_all_that_ends_with_the_fault():
    """Beside other faults the packets that would show the rest of the network may be lost anyway."""
    wide = Fault("switch-mtu", 1)
    entry = (hypothesis("CAUSE-12", Place(networks=(NAMES[0],), nodes=("rac1",)), 1),)
    ways = losses([PINGS], ("rac1", "rac2", "rac3"), NAMES)
    assert mended._is_all_of_it(entry, wide, ways, ways)
    assert not mended._is_all_of_it(entry, wide, ways, frozenset())
    assert not mended._is_all_of_it(entry, wide, frozenset(), ways)
    assert not mended._is_all_of_it(entry, Fault("switch-mtu", 2), ways, ways)
    assert not mended._is_all_of_it(entry, Fault("port-mtu", 1, "rac2"), ways, ways)


def test_where_cables_are_crossed_a_fault_shows_on_the_other_network():
    fault, cables = Fault("udp-filtered", 2, "rac1"), Fault("crossed-cables", 0, "rac1")
    there = hypothesis("CAUSE-08", Place(networks=(NAMES[0],), nodes=("rac1",)), 1)
    assert not fits(there, fault, Draw((fault,), 9000, 1))
    assert fits(there, fault, Draw((fault, cables), 9000, 1))


def test_blocks_are_the_same_whatever_network_and_address_they_take():
    names = ("rac1", "rac2", "rac3")
    one = losses([found("IC-LOST-002", OF_PORT)], names, NAMES)
    assert one == losses([found("IC-LOST-002", lost("block", NAMES[0], "rac1", "rac3", 9, 9))], names, NAMES)
    assert len(losses([PINGS], names, NAMES)) == 1


def test_draws_have_different_kinds_and_the_same_place_where_it_is_asked_for():
    for draw in draws(50, 3, 1):
        assert len({f.kind for f in draw.faults}) == 3
    for draw in draws(50, 2, 1, same_place=True):
        assert len({f.network for f in draw.faults if f.network}) <= 1
        one, other = ({f.node, f.peer} - {""} for f in draw.faults)
        assert not one or not other or one & other
    assert draws(5, 2, 3) == draws(5, 2, 3)


def test_kinds_that_came_last_are_drawn_only_where_they_are_asked_for():
    assert not {f.kind for draw in draws(50, 2, 1) for f in draw.faults} & NEWER
    for draw in draws(50, 2, 1, among=NEWER):
        assert {f.kind for f in draw.faults} & NEWER
    assert all(draw.faults[0].kind == "arp-off" for draw in draws(3, 1, 1, among=frozenset({"arp-off"})))
