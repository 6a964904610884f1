"""The diagnosis: what each cause explains by the packets that it touches, and what is excluded, where."""

import random

from msgspec.structs import replace

from checks.change.gates import documented
from checks.diagnosis.diagnose import diagnose
from checks.diagnosis.seen import Seen
from checks.model.finding import Finding, Status, Waived
from checks.model.hypothesis import Certainty, Diagnosis, Hypothesis
from checks.model.observation import Fate, Observation
from checks.model.traffic import Traffic
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.run.check_discovery import Checks, discover
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, change, counters, database, losing

NET1, NET2 = "192.168.10.0/24", "192.168.11.0/24"
KINDS = Checks((*discover(), *documented())).kinds()
LARGE, SMALL = 9000, 84


def finding(code: str, *observed: Observation, status: Status = Status.FAIL, network: str = "", at: str = "", **more):
    nodes = tuple(at.split())
    place = f"{network or 'all'} of {at or 'all'} ({len(observed)})"
    return Finding(
        code=code, check=KINDS[code][1].id, status=status, title=f"{code} on {place}.", subject=code, network=network,
        nodes=nodes, observed=observed or (Observation(fate=Fate.STATE, what=code, nodes=nodes, network=network),),
        **more,
    )  # fmt: skip


def passed(code: str, network: str = "") -> Finding:
    return finding(code, status=Status.PASS, network=network)


def leg(way: str, network: str | None = NET1, size: int = LARGE, **more) -> Traffic:
    ends = {name: (node,) for name, node in zip(("senders", "receivers"), way.split(">"), strict=True) if node}
    return Traffic(networks=(network,) if network else None, sizes=(size, size), **ends, **more)


def pings(way: str, lost: int, of: int = 20, network: str = NET1, size: int = LARGE, *, back: bool = True):
    """Pings there and back; without `back`, those of which the leg that was lost is known."""
    ways = (way, ">".join(reversed(way.split(">"))))[: 1 + back]
    legs = tuple(leg(one, network, size, protocols=("icmp",), forms=("whole",), ends=("kernel",)) for one in ways)
    return Observation(fate=Fate.LOST if lost else Fate.PASSED, what="ping", legs=legs, number=lost or of, of=of)


def blocks(way: str, lost: int, of: int, *networks: str) -> Observation:
    legs = tuple(leg(way, name, 8300, protocols=("udp",), ends=("instance",)) for name in networks or (NET1, NET2))
    return Observation(fate=Fate.LOST, what="block", legs=legs, number=lost, of=of)


def small_mtu(at: str, network: str = NET1, **more) -> Finding:
    read = Observation(fate=Fate.STATE, what="mtu", nodes=(at,), network=network, value=1500)
    return finding("IC-MTU-002", read, network=network, at=at, **more)


def nic_down(at: str, network: str = NET1) -> Finding:
    return finding("IC-IFACE-004", network=network, at=at)


def of(*findings: Finding, nodes: int = 3) -> Diagnosis:
    return diagnose(cluster(nodes), findings)


def found(*findings: Finding, nodes: int = 3) -> dict[str, Hypothesis]:
    return {h.cause: h for h in of(*findings, nodes=nodes).hypotheses}


def said(diagnosis: Diagnosis) -> list[tuple[str, str]]:
    return [(h.cause, h.place.text) for h in diagnosis.hypotheses if h.entry]


def codes(keys) -> list[str]:
    return [code for _, code, *_ in keys]


def test_a_proved_cause_explains_the_losses_that_meet_its_footprint_and_no_others():
    here = finding("IC-PATH-003", pings("rac1>rac2", 20, back=False), network=NET1)
    mtu = found(here, small_mtu("rac2"))["CAUSE-05"]
    assert (mtu.standing, mtu.nodes, mtu.networks) == (Certainty.PROVED, ("rac2",), (NET1,))
    assert codes(mtu.explains) == ["IC-PATH-003"]
    for elsewhere in (
        pings("rac1>rac2", 20, network=NET2), pings("rac1>rac2", 20, size=SMALL), pings("rac1>rac3", 20),
        pings("rac2>rac1", 20, back=False),
    ):  # fmt: skip
        other = found(finding("IC-PATH-003", elsewhere), small_mtu("rac2"))["CAUSE-05"]
        assert (other.explains, other.in_part, other.together) == ((), (), ())


def test_a_cause_without_packets_explains_nothing_and_is_explained_by_nothing():
    public = finding("IC-USE-002", status=Status.WARN, at="rac2")
    lost = finding("IC-PATH-006", pings("rac1>rac2", 20), network=NET1)
    causes = found(nic_down("rac2"), public, lost)
    assert causes["CAUSE-36"].standing is Certainty.PROVED
    assert causes["CAUSE-36"].costs_nothing
    assert (causes["CAUSE-36"].explains, causes["CAUSE-36"].in_part) == ((), ())
    assert codes(causes["CAUSE-37"].explains) == ["IC-PATH-006"]


def test_what_loses_a_share_explains_no_total_loss_and_what_stops_all_explains_no_share():
    slow = finding("IC-SPEED-002", network=NET1, at="rac2")
    some = finding("IC-PATH-005", pings("rac1>rac2", 4), network=NET1)
    total = finding("IC-PATH-006", pings("rac3>rac2", 20, size=SMALL), network=NET1)
    speed = found(slow, some, total, passed("IC-PATH-001", NET2))["CAUSE-13"]
    assert codes((*speed.explains, *speed.in_part)) == ["IC-PATH-005"]
    private = tuple(replace(one, addresses=("private",)) for one in some.observed[0].legs)
    some = replace(some, observed=(replace(some.observed[0], legs=private),))
    down = found(nic_down("rac2"), some)["CAUSE-37"]
    assert (down.explains, down.in_part, down.together) == ((), (), ())


def test_a_share_is_no_candidate_where_like_packets_passed_too_often():
    some = pings("rac1>rac2", 100, 200)
    others = [pings(way, 0, 200) for way in ("rac1>rac3", "rac2>rac3")]
    known = said(of(finding("IC-PATH-005", some, *others, network=NET1)))
    assert "CAUSE-01" in dict(known)
    assert not [place for _, place in known if place.startswith(("at the port", "on "))]


def test_what_is_stopped_is_no_candidate_where_such_a_packet_passed():
    lost = pings("rac1>rac2", 20, size=SMALL), pings("rac1>rac3", 20, size=SMALL)
    silent = finding("IC-PATH-006", *lost, network=NET1)
    assert ("CAUSE-85", f"at the port of rac1 on {NET1}") in said(of(silent))
    other = finding("IC-PATH-001", pings("rac2>rac1", 0, size=SMALL), network=NET1, status=Status.PASS)
    assert ("CAUSE-85", f"at the port of rac1 on {NET1}") not in said(of(silent, other))


def test_causes_that_lose_the_same_are_alternatives_and_say_what_tells_them_apart():
    some = finding("IC-PATH-005", pings("rac1>rac2", 4), pings("rac2>rac3", 3), pings("rac1>rac3", 0), network=NET1)
    entry = [h for h in of(some).hypotheses if h.entry == 1]
    assert {h.standing for h in entry} == {Certainty.SUPPORTED}
    assert {"CAUSE-01", "CAUSE-20", "CAUSE-21"} <= {h.cause for h in entry}
    assert "damaged frames that the switch port counts" in entry[0].tells_apart
    assert "drops in the queues of the switch port (CAUSE-20)" in entry[0].tells_apart


def test_what_two_causes_lose_ends_when_both_are_mended():
    lost = finding("IC-LOST-002", blocks("rac1>rac2", 40, 40), at="rac2")
    own = finding("IC-PATH-003", pings("rac1>rac2", 20, back=False), network=NET1)
    causes = found(lost, own, small_mtu("rac2"), nic_down("rac2", NET2))
    for code, other in (("CAUSE-05", "CAUSE-37"), ("CAUSE-37", "CAUSE-05")):
        assert [(codes([t.finding]), t.causes) for t in causes[code].together] == [(["IC-LOST-002"], (other,))]
    assert codes(causes["CAUSE-05"].explains) == ["IC-PATH-003"]


def test_a_cause_costs_nothing_only_where_packets_that_it_touches_were_sent():
    assert not found(small_mtu("rac2"))["CAUSE-05"].costs_nothing
    beside = finding("IC-PATH-001", pings("rac1>rac2", 0), network=NET1, status=Status.PASS)
    assert found(small_mtu("rac2"), beside)["CAUSE-05"].costs_nothing


def test_a_finding_of_which_some_losses_end_is_explained_in_part():
    both = finding("IC-PATH-003", *(pings(way, 20, back=False) for way in ("rac1>rac2", "rac3>rac4")), network=NET1)
    mtu = found(both, small_mtu("rac2"), nodes=4)["CAUSE-05"]
    assert (mtu.explains, codes(mtu.in_part)) == ((), ["IC-PATH-003"])


def test_the_present_does_not_explain_the_past():
    past = replace(pings("rac1>rac2", 20), legs=(leg("rac1>rac2", times=(1.0, 2.0)),))
    down = found(nic_down("rac2"), finding("IC-LOG-002", past, at="rac2"))["CAUSE-37"]
    assert (down.explains, down.in_part) == ((), ())


def test_a_state_that_a_cause_implies_is_explained_at_its_place_alone():
    here, there = (finding("IC-USE-006", status=Status.WARN, at=node) for node in ("rac2", "rac3"))
    down = found(nic_down("rac2"), here, there)["CAUSE-37"]
    assert [nodes for *_, nodes, _ in down.explains] == [("rac2",)]


def test_losses_that_no_cause_explains_are_named():
    lost = finding("IC-LOST-002", blocks("rac1>rac2", 31, 12_431), at="rac2")
    assert codes(of(lost).unexplained) == ["IC-LOST-002"]


def test_a_symptom_is_said_only_for_what_no_other_cause_covers():
    missing = Observation(fate=Fate.LOST, what="fragments", legs=(leg(">rac2", None, forms=("fragment",)),), number=40)
    symptom = finding("IC-REASM-002", missing, at="rac2")
    assert found(symptom)["CAUSE-03"].entry
    hole = Observation(fate=Fate.LOST, what="fragments", legs=(leg("rac1>rac2", forms=("fragment",)),), number=9, of=9)
    causes = found(symptom, finding("IC-FRAG-002", hole, network=NET1))
    assert (causes["CAUSE-03"].entry, bool(causes["CAUSE-72"].entry)) == (0, True)


def test_what_racwire_may_have_done_itself_supports_a_cause_and_proves_none():
    counted = Observation(
        fate=Fate.COUNTED, what="Udp.RcvbufErrors", legs=(leg(">rac2", None),), number=9, nodes=("rac2",)
    )
    standings = [
        found(finding("IC-UDP-002", counted, at="rac2", data={"may_be_own_footprint": own}))["CAUSE-02"].standing
        for own in (False, True)
    ]
    assert standings == [Certainty.PROVED, Certainty.SUPPORTED]


def test_a_cause_is_waived_where_all_that_it_shows_and_explains_is_waived():
    waived = Waived("known", "dba", "2026-12-31")
    lost = finding("IC-PATH-003", pings("rac1>rac2", 20, back=False), network=NET1)
    assert not found(lost, small_mtu("rac2", waived=waived))["CAUSE-05"].is_waived
    assert found(replace(lost, waived=waived), small_mtu("rac2", waived=waived))["CAUSE-05"].is_waived


def test_the_order_of_the_findings_has_no_influence():
    findings = [
        finding("IC-PATH-003", pings("rac1>rac2", 20), pings("rac1>rac3", 20), network=NET1), small_mtu("rac2"),
        finding("IC-PATH-005", pings("rac1>rac3", 4, network=NET2), network=NET2), nic_down("rac1", NET2),
        finding("IC-LOST-002", blocks("rac1>rac2", 40, 400), at="rac2"), passed("IC-FRAG-001"),
    ]  # fmt: skip
    expected = of(*findings)
    assert len({cause for cause, _ in said(expected)}) > 3
    for seed in range(20):
        random.Random(seed).shuffle(findings)
        assert of(*findings) == expected


def test_a_cause_is_excluded_on_the_networks_that_were_examined():
    one = found(passed("IC-FLOW-001", NET1))["CAUSE-70"]
    assert (one.standing, one.excluded_on) == (Certainty.NOT_EXAMINED, (NET1,))
    assert found(passed("IC-FLOW-001", NET1), passed("IC-FLOW-001", NET2))["CAUSE-70"].standing is Certainty.EXCLUDED


def test_a_finding_in_doubt_leaves_a_cause_possible():
    every = [passed("IC-MTU-001"), passed("IC-PATH-001")]
    assert found(*every)["CAUSE-05"].standing is Certainty.EXCLUDED
    doubt = finding("IC-PATH-008", status=Status.UNKNOWN, at="rac2")
    assert found(*every, doubt)["CAUSE-05"].standing is Certainty.POSSIBLE


def test_behind_what_stops_every_packet_nothing_is_excluded():
    causes = found(nic_down("rac2"), passed("IC-PATH-001", NET1), passed("IC-PATH-001", NET2))
    assert (causes["CAUSE-12"].standing, causes["CAUSE-12"].excluded_on) == (Certainty.NOT_EXAMINED, (NET2,))
    assert "CAUSE-12" in causes["CAUSE-37"].hides
    assert causes["CAUSE-12"].because[0].endswith("(CAUSE-37) hides it.")


def test_lost_blocks_are_divided_among_the_causes_and_the_rest_is_named():
    full = change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24)
    built = asked(2, database=database(2), activity=losing(2, 31, {1: 31}), counters=counters(2, full))
    diagnosis = diagnose(built, [*gc_blocks_lost.run(built), *udp_receive_buffers.run(built)])
    assert [account.text for account in diagnosis.accounts] == [
        "31 lost at prod2 = 24 in its receive buffers + 7 not explained."
    ]
    assert (diagnosis.hypotheses[0].cause, diagnosis.hypotheses[0].lost_blocks) == ("CAUSE-02", 24)


def test_blocks_that_two_causes_can_have_lost_are_said_of_both():
    built = asked(2, database=database(2), activity=losing(2, 31, {1: 31}), counters=counters(2))
    drops = [finding("IC-NIC-003", network=NET1, at="rac2"), finding("IC-NIC-002", network=NET1, at="rac2")]
    (account,) = diagnose(built, [*gc_blocks_lost.run(built), *drops]).accounts
    assert (account.explained, account.unexplained) == ({"CAUSE-01 or CAUSE-16": 31}, 0)
    assert account.text == "31 lost at prod2 = 31 on the way from rac1 (CAUSE-01 or CAUSE-16)."


def test_blocks_without_a_known_sender_are_those_of_the_senders_that_are_known():
    some = Traffic(networks=(NET1,), senders=("rac1", "rac2"), receivers=("rac3",), protocols=("udp",))
    unknown = Observation(fate=Fate.LOST, what="block", legs=(some,), number=4, of=None)
    seen = Seen(cluster(3), [finding("IC-LOST-002", blocks("rac2>rac3", 3, 99, NET1), unknown, at="rac3")])
    of = {loss.observation: seen.senders_of(loss) for loss in seen.losses}
    assert of[unknown] == {"rac2"}
    alone = Seen(cluster(3), [finding("IC-LOST-002", unknown, at="rac3")])
    assert alone.senders_of(alone.losses[0]) == frozenset()


def test_pings_that_a_sender_refused_for_a_while_place_no_loss_of_the_others():
    refused = Observation(fate=Fate.REFUSED, what="ping", legs=(leg("rac2>rac3"),), number=19, of=19, nodes=("rac2",))
    lost = [pings(way, 2, 20, size=SMALL) for way in ("rac1>rac2", "rac1>rac3", "rac2>rac3")]
    entries = said(of(finding("IC-PATH-005", *lost, refused, network=NET1)))
    assert entries, "the loss of the others has a cause"
    assert not {"CAUSE-08"} & {code for code, _ in entries}


def test_a_value_that_changed_during_the_run_explains_what_was_found_at_its_moments():
    changed = Observation(fate=Fate.STATE, what="mtu", nodes=("rac2",), network=NET1, value=1500)
    first = finding("IC-RUN-001", changed, network=NET1, at="rac2", status=Status.WARN)
    read = small_mtu("rac2", data={"value_changed_during_run": True})
    some = finding("IC-PATH-005", pings("rac1>rac2", 9), network=NET1)
    cause = found(first, read, some)["CAUSE-05"]
    assert (cause.standing, cause.headline) == (Certainty.SUPPORTED, first.title)
    assert [key[1] for key in cause.explains] == ["IC-PATH-005"]
    flaps = found(finding("IC-RUN-002", network=NET1, at="rac2"), nic_down("rac2"))
    assert (flaps["CAUSE-40"].standing, flaps["CAUSE-37"].entry) == (Certainty.PROVED, 0)


def test_a_haip_is_lost_in_part_until_it_moves_from_a_nic_that_is_down():
    moved = replace(pings("rac1>rac3", 2, 4), legs=(leg("rac1>rac3", addresses=("haip",), protocols=("icmp",)),))
    entries = said(of(nic_down("rac3"), finding("IC-HAIP-002", moved, network=NET1, status=Status.WARN)))
    assert [code for code, _ in entries] == ["CAUSE-37"]


def test_what_proves_a_cause_is_no_effect_of_another_one():
    refused = Observation(fate=Fate.REFUSED, what="ping", legs=(leg("rac2>rac1"),), number=9, of=9, nodes=("rac2",))
    cannot = finding("IC-PATH-002", refused, pings("rac2>rac1", 3, 11), network=NET1, at="rac2")
    causes = found(finding("IC-NIC-006", network=NET1, at="rac2"), small_mtu("rac2"), cannot)
    assert "IC-PATH-002" not in codes((*causes["CAUSE-40"].explains, *causes["CAUSE-40"].in_part))
