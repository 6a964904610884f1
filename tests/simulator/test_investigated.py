"""Investigations of simulated clusters: what ends with a name is there, and a cause that racwire lacks gets none."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache

import pytest
from msgspec.structs import replace

from checks.investigate.guided_session import GuidedSession
from checks.investigate.steps import offered_for
from checks.investigate.steps.on_switches import ON_SWITCHES
from checks.investigate.steps.switch_commands import COMMANDS, commands_for
from checks.investigate.suspects import SuspectEntry
from checks.model.facts import Cluster, LldpNeighbour
from checks.model.finding import Finding
from checks.model.investigation import By, End, Fared, NotOffered, SessionRecord, StepAnswer, StepSaid, SuspectStanding
from checks.model.signs import Sign, SignAt
from tests.simulator.best_order import compared, mean_ratio
from tests.simulator.facts import gathered
from tests.simulator.faults import Fault
from tests.simulator.investigating import Hands, draws, investigated, trial
from tests.simulator.judging import findings_of
from tests.simulator.mended import Draw
from tests.simulator.world import World
from tui.text.line import Line
from tui.text.question_lines import offers_lines, step_commands

MOST_PRICE = 1.25
"""Times the best order, in the mean."""
SAMPLE = (
    Draw((Fault("strand-in-bad", 1, "rac2"),), 9000, 1),
    Draw((Fault("port-policed", 2, "rac3"),), 9000, 2),
    Draw((Fault("udp-limited-at-node", 2, "rac2"),), 9000, 4),
    Draw((Fault("second-host", 1, "rac1"), Fault("lag-member-mtu", 2)), 9000, 3),
)


def test_what_ends_with_a_name_is_there():
    found = investigated(SAMPLE[1:])
    text = "\n".join([*found.notes(every=True), *found.table("sample")])
    assert found.wrong == found["without an end"] == 0, text
    assert found["faults named"] == 4, text


@pytest.mark.beyond_sample
@pytest.mark.parametrize(("count", "many", "least"), [(200, 1, 195), (100, 2, 160)])
def test_many_investigations_end_with_nothing_wrong(count, many, least):
    found = investigated(draws(count, many, 30 + many))
    text = "\n".join([*found.notes(), *found.table(f"{count} of {many}")])
    assert found.wrong == found["without an end"] == 0, text
    assert found["faults named"] >= least, text


@pytest.mark.beyond_sample
def test_a_cause_that_racwire_does_not_know_is_none_of_these():
    found = investigated(SAMPLE[:2], is_unknown=True)
    assert [[e.end for e in t.endings] for t in found.trials] == [[End.NONE]] * 2, "\n".join(found.notes(every=True))


@pytest.mark.beyond_sample
def test_of_many_causes_that_racwire_does_not_know_none_gets_a_wrong_name():
    found = investigated(draws(60, 1, 35), is_unknown=True)
    assert found.wrong == 0, "\n".join(found.notes(every=True))


@pytest.mark.beyond_sample
def test_the_recommended_steps_cost_little_more_than_the_best_order():
    assert mean_ratio(list(compared(2, 5))) <= MOST_PRICE


@pytest.mark.beyond_sample
def test_of_many_entries_the_recommended_steps_cost_little_more_than_the_best_order():
    found = list(compared(40, 6))
    assert len(found) >= 10
    assert mean_ratio(found) <= MOST_PRICE, found
    assert sum(one.ratio for one in found) / len(found) <= MOST_PRICE


# --- one session ------------------------------------------------------------------------------------------------------

CABLE = Fault("cable-bad", 2, "rac2")
NET1, NET2 = "192.168.10.0/24", "192.168.11.0/24"


@cache
def run(*faults: Fault) -> tuple[Cluster, tuple[Finding, ...]]:
    cluster = gathered(World(faults, mtu=9000, seed=3))
    return cluster, findings_of(cluster)


def begun(*faults: Fault) -> tuple[GuidedSession, Hands]:
    session = GuidedSession(*run(*faults), SessionRecord(started_at=0.0, cluster="", run_at=0.0))
    return session, Hands(World(faults, mtu=9000, seed=4), 4)


def until(session: GuidedSession, hands: Hands, declared: str) -> GuidedSession:
    """Return the session before a step of this name."""
    while (question := session.question()) and question.best.step.declared != declared:
        session = session.answered(hands.make(question.best.step))
    assert session.question(), f"{declared} was not asked"
    return session


def test_a_session_is_a_function_of_its_record():
    session, hands = begun(CABLE)
    for _ in range(4):
        session = session.answered(hands.make(session.question().best.step))
    again = GuidedSession(*run(CABLE), session.record)
    assert again.question().best.step == session.question().best.step
    assert again.question().standing == session.question().standing
    assert again.record == session.record
    before = session.undone()
    assert len(before.record.answers) == 3
    assert before.question().best.step == session.record.answers[-1].step


def test_a_step_that_is_not_possible_here_is_never_asked_again():
    session, _ = begun(CABLE)
    asked = list[str]()
    while question := session.question():
        asked.append(question.best.step.key)
        session = session.answered(StepAnswer(step=question.best.step, said=StepSaid.NOT_POSSIBLE, at=0.0))
    assert len(set(asked)) == len(asked)
    assert [ending.end for ending in session.endings] == [End.APART]
    assert {s.cause for s in session.endings[0].suspects} == {"CAUSE-01", "CAUSE-20", "CAUSE-21", "CAUSE-71"}


def test_hands_are_asked_for_after_the_other_network_was_proved_to_carry_the_nodes_just_now():
    session, hands = begun(CABLE)
    assert not any(offer.step.by is By.HANDS for offer in session.question().others)
    session = until(session, hands, "carries")
    assert session.question().best.opens.by is By.HANDS
    assert "Decides whether a person may move the cable to another switch port: rac2." in text_of(
        offers_lines(session.question(), 200)
    )
    proof = session.question().best.step
    assert proof.by is By.ITSELF
    assert proof.place.networks == (NET1,)
    assert {(p.legs[0].senders, p.legs[0].receivers) for p in proof.probes} >= {
        (("rac2",), ("rac1",)), (("rac1",), ("rac2",)), (("rac2",), ("rac3",)), (("rac3",), ("rac2",)),
    }  # fmt: skip
    carried = session.answered(hands.make(proof))
    assert carried.question().best.step.by is By.HANDS
    made = hands.make(proof)
    lost = session.answered(replace(made, fared=(Fared.SOME_LOST, *made.fared[1:])))
    question = lost.question()
    assert question is None or question.best.step.by is not By.HANDS
    assert {why for _, why in offered_for(_open(session), session.cluster, lost.record.answers).withheld} == {
        NotOffered.OTHER_NETWORK_LOSES
    }


def test_where_the_commands_of_a_switch_are_not_known_the_signs_to_ask_for_are_named():
    question = begun(CABLE)[0].question()
    step = next(o.step for o in (question.best, *question.others) if o.step.declared == "switch-port")
    asked = text_of(step_commands(replace(step, commands=()), 300))
    assert asked.startswith(
        "The commands of this kind of device are not known. Ask the network team whether the switch"
    )
    assert "the switch port of rac2 counts damaged frames" in asked


def text_of(lines: Iterable[Line]) -> str:
    return "\n".join("".join(text for text, _ in line) for line in lines)


def _open(session: GuidedSession) -> SuspectEntry:
    return next(entry for entry in session.entries if entry.is_open)


@pytest.mark.beyond_sample
def test_hands_are_not_offered_where_the_other_network_loses_packets_of_the_node():
    session, _ = begun(CABLE, Fault("loss", 1, "rac2"))
    entries = [e for e in session.entries if e.is_open and NET2 in e.alternatives[0].place.networks]
    withheld = offered_for(entries[0], session.cluster).withheld
    assert withheld
    assert {why for _, why in withheld} == {NotOffered.OTHER_NETWORK_LOSES}
    assert not any(step.by is By.HANDS for step in offered_for(entries[0], session.cluster).steps)


def test_a_sign_proves_nothing_before_both_directions_were_seen_to_fare_as_it_says():
    """A cable that both directions cross loses in both; that it was exchanged with success does not show it."""
    session, hands = begun(CABLE)
    session = until(session, hands, "swap-cable")
    session = session.answered(hands.make(session.question().best.step))
    question = session.question()
    assert question.confirms.kind == "cable"
    assert [one.kind for one, standing in question.standing if standing is SuspectStanding.LEFT] == ["cable"]
    assert not session.endings
    while (question := session.question()) is not None:
        step = question.best.step
        assert step.declared == "each-direction"
        none = tuple(Fared.NONE_LOST for _ in step.probes)
        session = session.answered(StepAnswer(step=step, said=StepSaid.DONE, at=1.0, fared=none))
        if session.endings:
            break
    assert [ending.end for ending in session.endings] == [End.NONE]


def test_a_cause_whose_directions_nobody_may_look_at_is_left_over():
    session, hands = begun(CABLE)
    session = until(session, hands, "swap-cable")
    session = session.answered(hands.make(session.question().best.step))
    while question := session.question():
        session = session.answered(StepAnswer(step=question.best.step, said=StepSaid.SKIPPED, at=1.0))
    assert [(e.end, e.suspects[0].kind) for e in session.endings] == [(End.LEFT_OVER, "cable")]


@pytest.mark.beyond_sample
def test_what_ends_at_another_port_does_not_prove_what_is_set_at_a_port():
    found = trial(Draw((Fault("queue-full", 2, "rac2"),), 9000, 5), refuses=lambda step: step.by is By.COMMAND)
    assert not any(ending.end is End.PROVED for ending in found.endings), found.note
    assert {"CAUSE-20"} <= {s.cause for ending in found.endings for s in ending.suspects}, found.note


def test_a_capture_that_shows_what_a_node_drops_excludes_the_switch():
    session, hands = begun(Fault("udp-filtered-at-port", 2, "rac3"))
    step = next(o.step for o in (session.question().best, *session.question().others) if o.step.declared == "capture")
    answer = hands.make(step)
    assert answer.fared[0] is Fared.ALL_LOST
    left = {
        (one.cause, one.kind)
        for one, is_ in session.answered(answer).question().standing
        if is_ is SuspectStanding.LEFT
    }
    assert ("CAUSE-08", "node") not in left
    assert ("CAUSE-08", "switch port") in left


def test_a_rare_loss_that_only_the_database_knows_is_placed_first_and_then_told_apart():
    session, hands = begun(Fault("strand-in-weak", 2, "rac3"))
    question = session.question()
    assert question.best.step.declared == "place-rare-loss"
    session = session.answered(hands.make(question.best.step))
    assert session.record.answers[0].placing.path[0::2] == (NET2, "rac3")
    assert ("CAUSE-01", "cable") in {(one.cause, one.kind) for one, _ in session.question().standing}
    share = session.question().entry.share
    assert 0 < share < 0.02
    probes = [p for o in (session.question().best, *session.question().others) for p in o.step.probes]
    assert all(p.sent >= 1000 for p in probes if p.ports == 1)


def test_the_signs_of_a_port_name_the_direction_that_damages_frames():
    session, _ = begun(CABLE)
    cable = [s for entry in session.entries for s in entry.alternatives if s.kind == "cable"]
    both = [s for s in cable if len(s.footprint) == 2]
    assert {sign.sign for sign in both[0].signs} == {Sign.PORT_CRC, Sign.NIC_CRC, Sign.WITH_CABLE}


def test_what_an_output_shows_of_another_place_excludes_nothing():
    session, hands = begun(CABLE)
    step = next(o.step for o in session.question().others if o.step.declared == "switch-port")
    answer = hands.make(step)
    other = SignAt(sign=Sign.PORT_DISCARDS, network=NET2, node="rac3")
    left, more = (
        {one.kind for one, is_ in session.answered(a).question().standing if is_ is SuspectStanding.LEFT}
        for a in (answer, replace(answer, seen=(*answer.seen, other), looked=(*answer.looked, other)))
    )
    assert "cable" in left
    assert more == left


def test_a_capture_that_was_not_understood_excludes_nothing():
    session, _ = begun(Fault("udp-filtered-at-port", 2, "rac3"))
    step = next(o.step for o in (session.question().best, *session.question().others) if o.step.declared == "capture")
    answered = session.answered(StepAnswer(step=step, said=StepSaid.DONE, at=1.0))
    assert answered.question().standing == session.question().standing


@pytest.mark.parametrize(
    ("description", "shown"),
    [
        ("", "show interface PORT"),
        ("Cisco Nexus 9372", "show interface PORT"),
        ("Arista Networks EOS version 4.27", "show interfaces PORT"),
        ("Juniper Networks, Inc. ex4300", "show interfaces PORT extensive"),
        ("Cumulus Linux version 5.3.0 running on Mellanox Technologies Ltd. MSN2700", "nv show interface PORT"),
        ("SONiC Software Version: SONiC.202311.1 - HwSku: Arista-7050-QX32", "show interfaces status PORT"),
        ("Huawei Versatile Routing Platform", None),
    ],
)
def test_the_commands_of_a_switch_are_those_of_its_system(description, shown):
    neighbour = LldpNeighbour("eth2", "sw1", description) if description else None
    first = next((command.format(port="PORT") for command in commands_for("switch-port", neighbour)), None)
    assert first == shown


def test_each_step_at_a_switch_has_commands_on_each_system():
    names = {look.name for look in ON_SWITCHES}
    for system, commands in COMMANDS.items():
        assert set(commands) == names, system
