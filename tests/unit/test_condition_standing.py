"""How a condition stands, rule by rule; `tests/agreement` holds the same rules on generated timelines."""

from dataclasses import dataclass

import pytest
from msgspec.structs import replace

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.condition import Condition, ConditionKind
from checks.model.explained_stop import ExplainedStop
from checks.model.finding import Status
from checks.model.situation import Standing
from checks.situation.condition_readings import ConditionReading, in_order
from checks.situation.condition_standing import statement_of, step_of_moment
from checks.situation.edges import Edges

LINK = Condition(ConditionKind.LINK, "rac2", "eth2")
PATH = Condition(ConditionKind.PATH, "rac1", "192.168.11.0/24", "rac2")
LOSS = Condition(ConditionKind.LOST_BLOCKS, "rac1")
STACK = Condition(ConditionKind.STACK, "rac1")
NODE = Condition(ConditionKind.NODE, "rac2")
NOW = 1_000.0


def event(kind, begin, end=None, *, node="rac2", interface="eth2", network="192.168.11.0/24", noticed=None):
    """An event at one place, noticed two seconds after its begin, and its end at once."""
    noticed = begin + 2 if noticed is None else noticed
    place = EventPlace(begin, node, interface, network, until=end, noticed=noticed, end_noticed=end)
    return ClusterEvent(
        1, kind, Status.FAIL, (place,), begin, end=end, noticed=noticed, end_noticed=end, last_sign=end or noticed
    )


def stand(condition, *readings, events=(), stops=(), now=NOW, others=None):
    """Return the statement about a condition from (since, at, is_bad, is_proof). `others` has the readings of other
    conditions."""
    seen = in_order([ConditionReading(condition, *reading) for reading in readings])
    return statement_of(condition, seen, Edges(events, 0.0, others or {}), stops, now)


def test_the_newest_reading_by_its_own_time_decides_and_not_the_run_that_ended_last():
    said = stand(LINK, (500, 500, True), (400, 400, False))
    assert (said.standing, said.since, said.as_of) == (Standing.HOLDS, 500, 500)


def test_what_a_sample_alone_shows_bad_is_new_since_the_run():
    assert stand(LINK, (400, 400, False), (500, 500, True, False)).standing is Standing.NEW


def test_what_a_sample_shows_over_was_so_and_what_a_run_shows_over_is_verified():
    was = stand(LINK, (400, 400, True), (500, 500, False, False))
    assert (was.standing, was.until, was.proved) == (Standing.WAS, 500, None)
    verified = stand(LINK, (400, 400, True), (500, 500, False, False), (600, 600, False))
    assert (verified.standing, verified.until, verified.proved) == (Standing.VERIFIED, 500, 600)


def test_verified_lapses_with_the_next_event_that_touches_it_and_samples_do_not_renew_it():
    flap = event(EventKind.NODE_SILENT, 700, 720, interface="", network="")
    readings = ((400, 400, True), (600, 600, False), (900, 900, False, False))
    assert stand(LINK, *readings).standing is Standing.VERIFIED
    assert stand(LINK, *readings, events=[flap]).standing is Standing.WAS


def test_a_begin_outdates_what_was_well_and_an_end_what_was_bad():
    down = event(EventKind.LINK_DOWN, 600)
    assert stand(PATH, (500, 500, False), events=[down]).outdated.at == 602
    assert stand(PATH, (500, 500, True), events=[down]).standing is Standing.HOLDS
    back = event(EventKind.LINK_DOWN, 450, 600)
    assert stand(PATH, (500, 500, True), events=[back]).standing is Standing.UNKNOWN
    assert stand(PATH, (500, 500, False), events=[back]).standing is Standing.HOLDS


@pytest.mark.parametrize("is_bad", [True, False])
def test_a_node_that_falls_silent_outdates_both(is_bad):
    silent = event(EventKind.NODE_SILENT, 600, interface="", network="")
    assert stand(PATH, (500, 500, is_bad), events=[silent]).standing is Standing.UNKNOWN


def test_the_first_reading_that_shows_a_node_back_is_its_return_for_all_that_it_touches():
    silent = event(EventKind.NODE_SILENT, 600, 621, interface="", network="")
    seen = [ConditionReading(NODE, 602, 602, True), ConditionReading(NODE, 606, 606, False)]
    back = {NODE: seen}
    assert stand(PATH, (608, 608, False), events=[silent], others=back).standing is Standing.HOLDS
    assert stand(PATH, (604, 604, False), events=[silent], others=back).outdated.at == 606


@pytest.mark.parametrize(
    ("loss", "standing"),
    [
        ((480, 520, True, True), Standing.HOLDS),  # the loss was counted while the path was read
        ((505, 520, True, True, 490), Standing.HOLDS),  # by the run that read the path
        ((505, 520, True, True), Standing.UNKNOWN),  # a later run counted it first
        ((480, 520, True, False), Standing.UNKNOWN),  # no run has
        ((480, 520, False, True), Standing.UNKNOWN),
    ],
)
def test_an_event_that_a_run_had_read_already_starts_for_all_that_it_touches_at_that_reading(loss, standing):
    lost = event(EventKind.LOST_BLOCKS, 590, node="rac1", interface="", network="")
    others = {LOSS: [ConditionReading(LOSS, *loss)]}
    assert stand(PATH, (500, 500, False), events=[lost], others=others).standing is standing


def test_an_event_on_another_network_touches_no_path():
    other = event(EventKind.LINK_DOWN, 600, interface="eth1", network="192.168.10.0/24")
    assert stand(PATH, (500, 500, False), events=[other]).standing is Standing.HOLDS


def test_what_could_not_be_read_again_is_not_known():
    said = stand(PATH, (500, 500, True), (600, 600, None))
    assert (said.standing, said.outdated.at, said.outdated.what) == (Standing.UNKNOWN, 600, None)
    assert stand(PATH, (500, 500, True), (600, 600, None), (700, 700, True)).standing is Standing.HOLDS


def test_a_count_is_dated_by_its_begin_while_it_grows_and_by_its_end_when_it_does_not():
    assert stand(LOSS, (500, 530, True)).as_of == 500
    assert stand(LOSS, (500, 530, False)).as_of == 530


def test_a_short_count_of_nothing_within_a_longer_count_of_something_ends_nothing():
    assert stand(LOSS, (500, 560, True), (510, 540, False)).standing is Standing.HOLDS


@dataclass
class _Stop:
    begin: float = 500
    most_s: float = 300
    over: float | None = None
    was_well: frozenset = frozenset({STACK})

    def made(self):
        return ExplainedStop(
            step="stack down", nodes=frozenset({"rac1"}), kinds=frozenset({ConditionKind.STACK}), begin=self.begin,
            most_s=self.most_s, over=self.over, was_well=self.was_well,
        )  # fmt: skip


DOWN = (520, 520, True)


@pytest.mark.parametrize(
    ("stop", "readings", "now", "standing"),
    [
        (_Stop(), [DOWN], 600, Standing.PLANNED),
        (_Stop(), [DOWN], 801, Standing.HOLDS),  # longer than planned
        (_Stop(over=580), [DOWN], 600, Standing.HOLDS),  # the gate that ends it has passed
        (_Stop(was_well=frozenset()), [DOWN], 600, Standing.HOLDS),  # nobody saw it well
        (_Stop(was_well=frozenset()), [(495, 495, False), DOWN], 600, Standing.PLANNED),
        (_Stop(), [(480, 480, True), DOWN], 600, Standing.HOLDS),  # it fell before the step
        (_Stop(), [DOWN, (540, 540, False), (560, 560, True)], 600, Standing.HOLDS),  # a second stop
    ],
)
def test_a_started_step_explains_its_first_stop_of_what_was_well(stop, readings, now, standing):
    assert stand(STACK, *readings, stops=[stop.made()], now=now).standing is standing


@pytest.mark.parametrize("before", [(), (DOWN,), ((495, 495, False),)])
def test_what_cannot_be_read_while_a_step_has_it_stopped_is_planned_and_not_known_afterwards(before):
    tried = (540, 540, None)
    assert stand(STACK, *before, tried, stops=[_Stop().made()], now=600).standing is Standing.PLANNED
    assert stand(STACK, *before, tried, stops=[_Stop().made()], now=801).standing is Standing.UNKNOWN
    assert stand(STACK, (450, 450, None), stops=[_Stop().made()], now=600).standing is Standing.UNKNOWN


def test_a_node_that_falls_silent_in_a_planned_stop_is_not_hidden_by_the_plan():
    silent = event(EventKind.NODE_SILENT, 530, node="rac1", interface="", network="")
    said = stand(STACK, (495, 495, False), DOWN, (560, 560, None), events=[silent], stops=[_Stop().made()], now=600)
    assert said.standing is Standing.UNKNOWN


def test_a_step_explains_neither_another_node_nor_another_kind():
    stops = [_Stop(was_well=frozenset({Condition(ConditionKind.STACK, "rac2"), LOSS})).made()]
    assert stand(Condition(ConditionKind.STACK, "rac2"), DOWN, stops=stops, now=600).standing is Standing.HOLDS
    assert stand(LOSS, (510, 530, True), stops=stops, now=600).standing is Standing.HOLDS


# --- what was over when it was noticed --------------------------------------------------------------------------------


def restart(at, number=1, kind=EventKind.NODE_RESTART, node="rac2"):
    return replace(event(kind, at - 1, at, node=node, interface="", network=""), number=number)


BOOT = ExplainedStop(
    step="survive a boot", nodes=frozenset({"rac2"}), kinds=frozenset({ConditionKind.NODE, ConditionKind.INSTANCE}),
    begin=500, most_s=300, was_well=frozenset({NODE}),
)  # fmt: skip


@pytest.mark.parametrize(
    ("moment", "step"),
    [
        (restart(600), "survive a boot"),
        (restart(450), ""),
        (restart(850), ""),
        (restart(600, node="rac1"), ""),
        (restart(600, kind=EventKind.RECONFIGURATION), "survive a boot"),
        (restart(600, kind=EventKind.LINK_FLAP), ""),
    ],
)
def test_a_restart_within_the_time_of_a_step_that_stops_the_node_is_planned(moment, step):
    assert step_of_moment(moment, [moment], [BOOT]) == step


def test_a_second_restart_within_the_step_is_an_alarm_and_the_silence_before_the_first_is_none():
    silence = replace(event(EventKind.NODE_SILENT, 550, 600, interface="", network=""), number=1)
    first, second = restart(600, 2), restart(640, 3)
    steps = [step_of_moment(one, [silence, first, second], [BOOT]) for one in (first, second)]
    assert steps == ["survive a boot", ""]
    assert step_of_moment(first, [first], [replace(BOOT, was_well=frozenset())]) == "", "it was not well before"
