"""How the cluster changed during a change, as a verification reports it."""

import asyncio
from contextlib import aclosing
from dataclasses import replace

import msgspec
import pytest

from checks.change.gates import looked_at, watched
from checks.change.plan.change_plan import ChangeKind, Gate, Step
from checks.change.progress.change_events import Booted, Overridden, Reopened, RolledBack, Surprise
from checks.change.progress.change_text import sentence_of
from checks.change.progress.concluding import figures_of
from checks.change.progress.state import Change
from checks.change.session import verifying
from checks.change.session.open_here import node_here
from checks.change.session.verifying import Concluded, Verification, conclude, settings_for
from checks.model.facts import (
    Activity,
    BeforeAfter,
    Changing,
    Cluster,
    CounterChange,
    CounterChanges,
    InstanceActivity,
    InstancePing,
    KernelCounters,
    RecordingsCompared,
    UnreadNode,
)
from checks.model.settings import ClusterSettings, DatabaseSettings, Settings
from checks.run.events import CheckConcluded, GatherProgress, RunFinished
from checks.run.gathering import GATHERERS
from tests.unit.change_support import (
    NODES,
    STEPS,
    SUBNET,
    after,
    cluster,
    down,
    layer,
    plan,
    setup,
    until,
    verification_events,
)
from tests.unit.change_verifying_support import booted, not_held, reopened, sentences_of, surprised, verified

# --- how the cluster changed under it ---------------------------------------------------------------------------------


def test_an_unchanged_cluster_has_no_surprises():
    assert surprised(verification_events(until("survives-boot", down(9000)), down(9000))) == []


def test_a_boot_that_the_step_asks_for_is_no_surprise_and_a_later_one_is():
    of = until("survives-boot", down(9000))
    events = verification_events(of, down(9000, rac2=booted("rac2")))
    sentence = "rac2 was booted at 19:30, as this step requires, and came back with eth1 at MTU 9000."
    assert surprised(events) == []
    assert [event for event in events if isinstance(event, Booted)] == [Booted("rac2", sentence)]
    assert sentence_of(events[0]) == f"As planned: {sentence}"
    assert verified(events).passed
    of = after(of, *events)
    assert not of.surprises
    assert of.current.id == "prove-paths"
    again = verification_events(of, down(9000, rac2=setup("rac2", runs=False, mtu=9000, boot="third")))
    assert surprised(again) == [(Surprise.REBOOTED, "rac2", False)]
    assert "as this step requires" not in sentences_of(again)


@pytest.mark.parametrize("other", [False, True])
def test_a_boot_after_the_proof_is_not_asked_for_while_the_step_waits_for_another_kind(other: bool):
    layers = tuple(layer(node, network_service="another" if node == "rac3" else "one") for node in NODES)
    of = until("survives-boot", down(9000), opened=plan(layers=layers))
    events = verification_events(of, down(9000, rac2=booted("rac2")))
    assert not verified(events).passed  # rac3 has another network service
    now = down(9000, rac2=booted("rac2"), **{"rac3" if other else "rac1": booted("rac3" if other else "rac1")})
    assert bool(surprised(verification_events(after(of, *events), now))) is not other


def test_a_node_that_boots_with_the_old_mtu_reopens_the_step_that_sets_it():
    of = until("prove-paths", down(9000))
    events = verification_events(of, down(9000, rac2=1500, rac2_setup=booted("rac2")))
    assert surprised(events) == [(Surprise.REBOOTED, "rac2", False)]
    assert sentences_of(events) == (
        "rac2 was booted at 19:30 and came back with eth1 at MTU 1500: the boot configuration does not set the "
        "planned MTU."
    )
    assert reopened(events) == ["set-mtu", "survives-boot"]
    again = after(of, *events)
    assert again.current
    assert again.current.id == "set-mtu"


def test_a_missing_boot_configuration_that_was_overridden_is_found_at_the_boot():
    """The override is for the file. The running MTU was verified, and a boot that loses it reverts the change."""
    not_persistent = down(9000, rac2=setup("rac2", runs=False, mtu=None))
    of = until("set-mtu", down())
    of = after(of, *verification_events(of, not_persistent), Overridden("set-mtu", "A. Lee", "The file comes later."))
    lost = down(9000, rac2=1500, rac2_setup=setup("rac2", runs=False, mtu=None, boot="second"))
    events = verification_events(of, lost)
    assert "came back with eth1 at MTU 1500: the boot configuration does not set the planned MTU" in sentences_of(
        events
    )
    assert reopened(events) == ["set-mtu"]


def test_a_reverted_mtu_is_detected_and_every_path_must_be_proved_again():
    of = until("first-node", down(9000))
    events = verification_events(of, down(9000, rac2=1500))
    assert surprised(events) == [(Surprise.MTU_LOST, "rac2", False)]
    assert sentences_of(events) == "eth1 of rac2 was changed from MTU 9000 to 1500; the plan is MTU 9000."
    assert reopened(events) == ["set-mtu", "prove-paths"]


def test_a_surprise_is_reported_once():
    of = until("first-node", down(9000))
    lost = down(9000, rac2=1500)
    of = after(of, *verification_events(of, lost))
    assert surprised(verification_events(of, lost)) == []


@pytest.mark.parametrize("step", ["baseline", "stack-down"])
def test_a_live_change_is_dangerous_at_any_step(step):
    events = verification_events(until(step, cluster()), with_nothing_more(cluster(1500, rac2=9000)))
    assert surprised(events) == [(Surprise.LIVE_CHANGE, "rac2", True)]
    assert "changed from MTU 1500 to 9000 while Clusterware runs on rac1, rac2 and rac3" in sentences_of(events)
    assert ("mtu-untouched", "rac2") in not_held(events)
    assert not verified(events).passed


def with_nothing_more(now: Cluster) -> Cluster:
    return msgspec.structs.replace(now, changing=Changing())


def test_a_reverted_live_change_is_reported_without_an_alarm():
    of = until("baseline", cluster())
    of = after(of, *verification_events(of, with_nothing_more(cluster(1500, rac2=9000))))
    events = verification_events(of, with_nothing_more(cluster()))
    assert surprised(events) == [(Surprise.OTHER, "rac2", False)]
    assert sentences_of(events).endswith("the MTU is right again.")


def test_on_a_rollback_without_mtu_steps_the_earlier_mtu_is_expected():
    untouched = Step(id="untouched", title="", what="", why="", gates=(Gate("running-mtu"), Gate("kept-mtu")))
    back = plan(
        kind=ChangeKind.ROLLBACK,
        steps=(untouched, STEPS[-1]),
        layers=tuple(layer(node, mtu_before=9000, mtu_after=1500) for node in NODES),
    )
    of = after(until("baseline", cluster(1500, rac2=9000)), RolledBack(back, "A. Lee", "Somebody began without us."))
    events = verification_events(of, with_nothing_more(cluster(1500, rac2=9000)))
    wrong = next(result for result in verified(events).results if result.check == "running-mtu" and not result.holds)
    lines = [line for step in wrong.next for line in step.commands]
    assert "ip link set dev eth1 mtu 1500" in lines
    assert not any("stop crs" in line for line in lines)
    assert surprised(verification_events(of, with_nothing_more(cluster(1500)))) == [(Surprise.OTHER, "rac2", False)]


def test_an_mtu_lost_while_nodes_start_does_not_require_stopping_all_nodes():
    up = cluster(9000, boot_mtu=9000)
    of = until("other-nodes", up)
    of = after(of, *verification_events(of, with_nothing_more(cluster(9000, boot_mtu=9000, rac3=1500))))
    assert of.current
    assert of.current.id == "set-mtu"
    assert reopened(verification_events(of, with_nothing_more(up))) == []
    assert verified(verification_events(of, with_nothing_more(up))).passed


def test_setting_mtus_while_nothing_runs_is_expected_at_its_step():
    assert surprised(verification_events(until("set-mtu", down()), down(9000, rac2=1500))) == []


def test_a_stack_started_too_early_must_be_stopped_again():
    of = until("prove-paths", down(9000))
    events = verification_events(of, down(9000, rac2=setup("rac2", mtu=9000, autostart=False)))
    assert surprised(events) == [(Surprise.STACK_STARTED, "rac2", False)]
    assert reopened(events) == ["stack-down"]


def test_a_stack_started_while_mtus_differ_is_dangerous():
    of = after(until("set-mtu", down()), *verification_events(until("set-mtu", down()), down(9000, rac2=1500)))
    events = verification_events(of, down(9000, rac2=1500, rac3=setup("rac3", mtu=9000, autostart=False)))
    assert (Surprise.STACK_STARTED, "rac3", True) in surprised(events)
    assert "Stop Clusterware at once" in sentences_of(events)


def test_other_gates_that_no_longer_hold_are_reported_with_their_own_sentence():
    of = until("prove-paths", down(9000))
    events = verification_events(of, down(9000, rac2=setup("rac2", runs=False, mtu=9000, autostart=True)))
    assert surprised(events) == [(Surprise.OTHER, "rac2", False)]
    assert sentences_of(events) == "Clusterware would start when rac2 boots: its autostart is enabled."
    assert reopened(events) == ["stack-down"]


def test_an_unknown_result_revokes_no_proof_and_passes_no_gate():
    unread = UnreadNode("rac2", "rac2 could not be read: it is being booted.")
    of = until("prove-paths", down(9000))
    events = verification_events(of, down(9000, rac2=unread, rac2_setup=unread))
    assert surprised(events) == []
    assert reopened(events) == []
    assert not verified(events).passed
    look = verified(events).look
    assert look == msgspec.structs.replace(of.look, carried=("rac2",))  # what is not known now stands as it was


def test_a_running_cluster_with_a_restored_mtu_need_not_be_stopped():
    up = cluster(9000, boot_mtu=9000)
    of = until("sign-off", up)
    of = after(of, *verification_events(of, cluster(9000, boot_mtu=9000, rac2=1500)))
    assert of.current
    assert of.current.id == "set-mtu"
    assert [gate.check for gate in looked_at(of, of.current)] == ["running-mtu", "kept-mtu"]
    assert verified(verification_events(of, up)).passed


def test_an_mtu_lost_before_the_sign_off_is_found_by_the_last_verification():
    last = msgspec.structs.replace(STEPS[-1], gates=(Gate("running-mtu"),))
    of = until("sign-off", cluster(9000, boot_mtu=9000), plan(steps=(*STEPS[:-1], last)))
    lost = verification_events(of, cluster(9000, boot_mtu=9000, rac2=1500))
    assert not verified(lost).passed
    assert reopened(lost)[0] == "set-mtu"
    assert verified(verification_events(of, cluster(9000, boot_mtu=9000))).passed


def test_on_a_rollback_a_boot_is_reported_and_an_mtu_in_progress_is_no_surprise():
    layers = tuple(layer(node, mtu_before=9000, mtu_after=1500) for node in NODES)
    back = plan(kind=ChangeKind.ROLLBACK, layers=layers, steps=(*STEPS[2:4], STEPS[-1]))
    of = after(until("survives-boot", down(9000)), RolledBack(back, "A. Lee", "a good reason"))
    assert verified(verification_events(of, down(9000))).passed
    of = after(of, *verification_events(of, down(9000)))
    assert surprised(verification_events(of, down(9000, rac1=1500))) == []
    assert surprised(verification_events(of, down(1500, rac1=booted("rac1")))) == [(Surprise.REBOOTED, "rac1", False)]


def test_a_live_change_is_watched_for_only_until_everything_is_stopped():
    assert [gate.check for gate in watched(*_at("agree"))] == [
        "only-journal",
        "mtu-untouched",
        "members-unchanged",
    ]
    assert [gate.check for gate in watched(*_at("stack-down"))] == ["only-journal"]  # there it is a gate of its own
    assert [gate.check for gate in watched(*_at("set-mtu"))] == ["only-journal"]


def _at(step: str) -> tuple[Change, object]:
    of = until(step) if step != "agree" else after(until("baseline"), Reopened("baseline", ""))
    return of, of.plan.step(step)


# --- figures ----------------------------------------------------------------------------------------------------------


PACKETS = BeforeAfter(before="6.02", after="1.00")


def test_measurements_during_the_change_are_recorded_for_the_report():
    activity = Activity(
        "", "", 30.0,
        (InstanceActivity(1, 30.0, {"gc blocks lost": 3, "gc cr blocks received": 9000}),),
        pings=(InstancePing(1, 2, 10, 2000, 10, 4000), InstancePing(1, 1, 10, 1, 10, 1)),
    )  # fmt: skip
    counters = CounterChange("rac1", 5.0, KernelCounters({"Ip": {"ReasmFails": 2, "ReasmReqds": 600}}))
    compared = RecordingsCompared(summary=(), figures={"packets per block received": PACKETS})
    now = msgspec.structs.replace(
        cluster(),
        activity=activity,
        counters=CounterChanges("", "", 5.0, (counters,), {}),
        changing=Changing(compared=compared),
    )
    assert figures_of(now) == {
        "reassemblies failed rac1": "2 of 600 fragments",
        "gc blocks lost instance 1": "3 of 9,000 blocks in 30 s",
        "IC ping 500 B instance 1 -> instance 2": "0.20 ms",
        "IC ping 8 KB instance 1 -> instance 2": "0.40 ms",
        "packets per block received": PACKETS,
    }
    assert figures_of(cluster()) == {}


# --- with the engine --------------------------------------------------------------------------------------------------


@pytest.fixture
def engine(monkeypatch):
    """Return every group of facts from a cluster of facts, and record which groups were requested."""
    gathered: list[str] = []

    def answers(now: Cluster) -> list[str]:
        def gatherer(group: str):
            async def gather(session, known):
                gathered.append(group)
                session.progress(group, f"read {group}", 1, 1)
                return getattr(now, group)

            return gather

        fakes = tuple(replace(g, gather=gatherer(g.group)) for g in GATHERERS)
        monkeypatch.setattr(verifying, "GATHERERS", fakes)
        monkeypatch.setattr(
            verifying, "gate_facts_gatherer", lambda *_: replace(verifying_planned(), gather=gatherer("changing"))
        )
        return gathered

    return answers


def verifying_planned():
    from checks.run.gathering import CHANGING

    return CHANGING


async def every(verification: Verification) -> list[object]:
    async with aclosing(verification.events()) as events:
        return [event async for event in events]


async def test_a_verification_reports_its_progress_and_concludes_last(engine):
    engine(down(9000))
    of = until("set-mtu", down())
    events = await every(Verification(of, Settings(), node="rac1"))
    assert any(isinstance(event, GatherProgress) for event in events)
    assert {e.check for e in events if isinstance(e, CheckConcluded)} >= {"running-mtu", "kept-mtu", "stack-down"}
    assert isinstance(events[-2], RunFinished)
    assert isinstance(events[-1], Concluded)
    assert events[-1].events == conclude(of, of.plan.step("set-mtu"), events[-1].report)
    assert verified(events[-1].events).passed


async def test_with_the_stack_down_neither_clusterware_nor_the_database_is_queried(engine):
    gathered = engine(down(9000))
    settings = msgspec.structs.replace(Settings(), database=DatabaseSettings(connect="rac-scan/prod"))
    await every(Verification(until("set-mtu", down()), settings, node="rac1"))
    assert sorted(gathered) == ["changing", "nodes", "setups"]


async def test_a_step_without_a_gate_still_detects_boots(engine):
    engine(msgspec.structs.replace(cluster(9000, rac2=setup("rac2", mtu=9000, boot="second"), boot_mtu=9000)))
    of = until("sign-off", cluster(9000, boot_mtu=9000))
    concluded = (await every(Verification(of, Settings(), node="rac1")))[-1]
    assert isinstance(concluded, Concluded)
    assert surprised(concluded.events) == [(Surprise.REBOOTED, "rac2", False)]


async def test_a_cancelled_verification_ends_at_once(engine, monkeypatch):
    engine(down(9000))

    async def hang(session, known):
        await asyncio.Event().wait()

    monkeypatch.setattr(
        verifying, "GATHERERS", tuple(replace(g, gather=hang) if g.group == "nodes" else g for g in verifying.GATHERERS)
    )
    async with (
        asyncio.timeout(30),
        aclosing(Verification(until("set-mtu"), Settings(), node="rac1").events()) as events,
    ):
        async for event in events:
            if isinstance(event, GatherProgress):
                break


def test_the_settings_of_the_engine_come_from_the_plan():
    operator = msgspec.structs.replace(
        Settings(), cluster=ClusterSettings(peers=("other",)), database=DatabaseSettings(connect="rac-scan/prod")
    )
    settings = settings_for(operator, plan(), "rac2", with_database=False)
    assert settings.cluster.peers == ("rac1", "rac3")
    assert settings.cluster.networks == (SUBNET,)
    assert settings.cluster.grid_home == "/u01/app/19.0.0/grid"
    assert not settings.database.is_set
    assert settings_for(operator, plan(), "rac2", with_database=True).database.is_set


def test_this_node_is_identified_by_its_name_in_the_plan():
    assert node_here(plan(), "RAC2.example.com") == "rac2"
    assert node_here(plan(), "jump-host") == "jump-host"
