"""Experiments: their plan, their obstacles, their gates and their way back, on facts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
import pytest

from checks.change.board.board_page import page_of
from checks.change.board.change_report import report_of as change_report
from checks.change.gates import GATES
from checks.change.gates.gate import GateContext
from checks.change.kinds.experiment import ExperimentRequest
from checks.change.plan.change_plan import ChangeKind, Plan
from checks.change.plan.obstacles import PlanError
from checks.change.plan.planning import PlanContext, look_of
from checks.change.plan.way_back import make_way_back
from checks.change.progress import decisions
from checks.change.progress.change_events import Attested, Opened, Surprised, Verified
from checks.change.progress.change_text import headline
from checks.change.progress.journal_names import EXPERIMENTS, noun_of
from checks.change.progress.state import Change, ChangeError, fold
from checks.change.session.experiment_facts import changes_seen
from checks.change.session.verifying import conclude
from checks.change.steps.load_tools import LOADS
from checks.model.facts import (
    Changing,
    Cluster,
    JournalSeen,
    NoRecording,
    RecordingsCompared,
    RecoveryArea,
    RestorePoint,
    SeenRecording,
    Unknown,
)
from checks.model.finding import Status
from checks.model.own_command import written
from checks.model.settings import ChangeSettings, Settings
from tests.fixtures.change_plans import PROD, every_interface, to_change
from tests.fixtures.reports import report_of
from tests.unit.change_support import lines

GIB = 2**30
AREA = RecoveryArea(
    log_mode="ARCHIVELOG", location="+RECO", limit_bytes=100 * GIB, used_bytes=40 * GIB, reclaimable_bytes=10 * GIB
)
POINT = RestorePoint(name="RACWIRE_2026_11_20_A", is_guaranteed=True, storage_bytes=GIB)
READ = Changing(restore_points=(), recovery_area=AREA)
AT = "2026-11-20T18:{:02}:00.000+01:00"


def made(now: Cluster | None = None, *, seen: Changing = READ, **request: Any) -> Plan:
    built = msgspec.structs.replace(to_change() if now is None else now, changing=seen)
    asked = {"load": "swingbench", "database": "PROD", "users": 150, "think_time": "0 ms", "target": 9000} | request
    return ExperimentRequest(**asked).plan(
        PlanContext(
            report_of(built), Settings(change=ChangeSettings(record_s=1800)), id="2026-11-20-a",
            made_by="oracle@rac1", made_at=AT.format(0), directory=Path("/changes/experiments"),
        )
    )  # fmt: skip


def at(step: str, plan: Plan | None = None) -> Change:
    """Return the experiment at this step: every step before is done."""
    plan = plan or made()
    look = look_of(to_change(), plan)
    events: list[Any] = [Opened(plan, look)]
    for before in plan.steps[: plan.position(step)]:
        if before.gates:
            events.append(Verified(before.id, passed=True, results=(), look=look))
        if before.attest:
            events.append(Attested(before.id, "Ann Lee", "1364 tps"))
    change = fold(lines(*events))
    assert change.current
    assert change.current.id == step
    return change


def results(
    gate: str, change: Change, seen: Changing | Unknown, now: Cluster | None = None
) -> list[tuple[Status, str]]:
    assert change.current
    declared = next(one for one in GATES if one.id == gate)
    cluster = msgspec.structs.replace(now or to_change(), changing=seen)
    return [(f.status, f.title) for f in declared.made_for(GateContext(change, change.current)).run(cluster)]


def recording(begun: int, mtu: int = 1500, **more: Any) -> SeenRecording:
    facts: dict[str, Any] = {
        "path": "/changes/experiments/a.rec",
        "begun_at": AT.format(begun),
        "seconds": 1800.0,
        "sampled": {"rac1": 1.0, "rac2": 1.0},
        "mtus": {node: {"eth1": (mtu,), "eth2": (mtu,)} for node in ("rac1", "rac2")},
        "private_bytes_per_s": {"rac1": 5e6, "rac2": 5e6},
    }
    return SeenRecording(**{**facts, **more})


def a_change(**more: Any) -> JournalSeen:
    facts: dict[str, Any] = {
        "id": "2026-11-20-a",
        "cluster": made().cluster,
        "opened_at": AT.format(40),
        "closed_at": AT.format(50),
        "outcome": "signed off",
        "headline": "MTU 1500 → 9000",
        "mtu_after": 9000,
    }
    return JournalSeen(**{**facts, **more})


# --- the plan ---------------------------------------------------------------------------------------------------------


def test_the_plan_runs_the_load_twice_before_the_change_and_once_after_it():
    plan = made()
    assert [step.id for step in plan.steps] == [
        *("agree", "space", "load", "restore-point", "run-a", "flash-back-1", "run-a-again", "flash-back-2"),
        *("set-mtu", "run-b", "flash-back-3", "result", "drop-point", "sign-off"),
    ]
    assert (plan.kind, plan.noun, plan.mtu_before, plan.mtu_after) == (ChangeKind.EXPERIMENT, "experiment", 1500, 9000)
    assert headline(plan) == "Swingbench at MTU 1500 and 9000, on prod"
    assert plan.experiment
    assert plan.experiment.restore_point == "RACWIRE_2026_11_20_A"
    files = {plan.baseline_file, plan.after_file, plan.experiment.again_file}
    assert len(files) == 3
    recorded = [line for s in plan.steps for b in s.commands for line in b.lines if line.startswith("racwire record")]
    assert [line.split()[3] for line in recorded] == ["30m", "30m", "30m"]
    assert {line.split()[-1] for line in recorded} == files
    assert all(len(step.title) <= 16 and step.minutes and step.no_return for step in plan.steps)
    assert "is lost" in plan.step("agree").attest
    sql = [line for b in plan.step("drop-point").commands for line in b.lines]
    assert sql[0] == "DROP RESTORE POINT RACWIRE_2026_11_20_A;"


@pytest.mark.parametrize("load", LOADS)
def test_each_load_states_users_and_think_time_in_each_run(load):
    plan = made(load=load)
    for step in ("run-a", "run-a-again", "run-b"):
        assert "150 users and a think time of 0 ms" in plan.step(step).attest
        text = "\n".join(line for block in plan.step(step).commands for line in block.lines)
        assert "150" in text
        assert "{" not in text
    scripts = "\n".join(line for block in plan.step("load").commands for line in block.lines)
    assert "CACHE 3" in scripts
    assert "NOREVERSE" in scripts
    assert "FULL(t)" in scripts


def test_what_cannot_be_read_is_attested():
    plan = made(seen=Changing(restore_points=Unknown("ORA-00942"), recovery_area=AREA))
    for step in ("space", "restore-point", "drop-point"):
        assert plan.step(step).attest
        assert not plan.step(step).gates
    assert any("could not be read (ORA-00942)" in remark for remark in map(written, plan.remarks))
    for step in ("space", "restore-point", "drop-point"):
        assert made().step(step).gates
        assert not made().step(step).attest


@pytest.mark.parametrize("typed", ["crm", "", "prod2", "pro"])
def test_another_name_prevents_the_experiment(typed):
    with pytest.raises(PlanError) as error:
        made(database=typed)
    (obstacle,) = [one for one in error.value.obstacles if one.code == "CH-START-080"]
    assert not obstacle.acceptable
    assert "the running databases are prod" in obstacle.sentence


def test_an_unknown_load_and_the_same_mtu_are_refused():
    with pytest.raises(ChangeError, match="knows no load"):
        made(load="sysbench")
    with pytest.raises(PlanError) as error:
        made(target=1500)
    assert any("MTU 1500 on every node already" in one.sentence for one in error.value.obstacles)


# --- the database -----------------------------------------------------------------------------------------------------


def test_the_name_is_compared_again_at_the_first_step():
    change = at("agree")
    assert results("test-database", change, READ)[0][0] is Status.PASS
    other = msgspec.structs.replace(PROD, name="crm")
    ((status, title),) = results("test-database", change, READ, to_change(databases=[other]))
    assert (status, title) == (Status.FAIL, "Clusterware lists no database prod, only crm.")


@pytest.mark.parametrize(
    ("area", "status", "part"),
    [
        (AREA, Status.PASS, "70.0 GiB of 100.0 GiB"),
        (msgspec.structs.replace(AREA, used_bytes=101 * GIB), Status.FAIL, "Only 9.0 GiB"),
        (msgspec.structs.replace(AREA, used_bytes=105 * GIB), Status.FAIL, "Only 5.0 GiB"),
        (msgspec.structs.replace(AREA, log_mode="NOARCHIVELOG"), Status.FAIL, "NOARCHIVELOG"),
        (msgspec.structs.replace(AREA, location=""), Status.FAIL, "no recovery area"),
        (Unknown("ORA-01031"), Status.UNKNOWN, "ORA-01031"),
    ],
)
def test_the_recovery_area_must_have_room(area, status, part):
    ((found, title),) = results("recovery-area", at("space"), Changing(recovery_area=area))
    assert found is status
    assert part in title


def test_a_restore_point_must_be_there_and_guaranteed_and_at_last_be_gone():
    change = at("restore-point")
    plain = msgspec.structs.replace(POINT, is_guaranteed=False)
    for points, status in (((), Status.FAIL), ((plain,), Status.FAIL), ((POINT,), Status.PASS)):
        assert results("restore-point", change, Changing(restore_points=points))[0][0] is status
    last = at("drop-point")
    other = msgspec.structs.replace(POINT, name="BEFORE_UPGRADE")
    assert results("restore-point-dropped", last, Changing(restore_points=(POINT,)))[0][0] is Status.FAIL
    ((status, title),) = results("restore-point-dropped", last, Changing(restore_points=(other,)))
    assert (status, "BEFORE_UPGRADE" in title) == (Status.PASS, True)
    assert results("restore-point", change, Changing(restore_points=Unknown("no")))[0][0] is Status.UNKNOWN


# --- the runs ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("seen", "status", "part"),
    [
        (recording(2), Status.PASS, "holds 30 min "),
        (recording(2, 9000), Status.FAIL, "had MTU 9000"),
        (recording(2, seconds=600.0), Status.FAIL, "it holds 10 min"),
        (recording(2, sampled={"rac1": 1.0}), Status.FAIL, "rac2 was sampled"),
        (recording(2, cluster="other"), Status.FAIL, "it is of the cluster other"),
        (recording(2, begun_at="2026-11-19T10:00:00+01:00"), Status.FAIL, "must start after"),
        (NoRecording("/a.rec"), Status.FAIL, "no recording"),
        (Unknown("it is no recording"), Status.UNKNOWN, "it is no recording"),
    ],
)
def test_run_a_must_be_recorded_as_planned(seen, status, part):
    found = results("run-a-recording", at("run-a"), Changing(before=seen))
    assert found[0][0] is status
    assert part in found[0][1]


def test_an_idle_run_is_named():
    idle = recording(2, private_bytes_per_s={"rac1": 10.0})
    assert any("nearly idle" in title for _, title in results("run-a-recording", at("run-a"), Changing(before=idle)))


def test_the_second_run_starts_after_the_first_from_the_same_environment():
    change = at("run-a-again")

    def status(**seen: Any) -> list[Status]:
        facts = {"before": recording(2), "again": recording(40), "unlike": (), "changes": ()} | seen
        return [found for found, _ in results("run-again-recording", change, Changing(**facts))]

    assert status() == [Status.PASS, Status.PASS]
    assert status(again=recording(10)) == [Status.FAIL, Status.PASS]  # it starts before run A ends
    assert status(unlike=("rac1 kernel: 5.4 and 5.15",)) == [Status.PASS, Status.FAIL]
    assert status(changes=(a_change(),)) == [Status.PASS, Status.FAIL]
    earlier = a_change(opened_at="2026-11-19T10:00:00+01:00", closed_at="2026-11-19T12:00:00+01:00")
    assert status(changes=(earlier,)) == [Status.PASS, Status.PASS]
    assert status(changes=(a_change(cluster="other"),)) == [Status.PASS, Status.PASS]
    assert status(unlike=Unknown("damaged")) == [Status.PASS, Status.UNKNOWN]


@pytest.mark.parametrize(
    ("changes", "status"),
    [
        ((), Status.FAIL),
        ((a_change(),), Status.PASS),
        ((a_change(outcome="", closed_at=""),), Status.FAIL),
        ((a_change(outcome="rolled back"),), Status.FAIL),
        ((a_change(mtu_after=4000),), Status.FAIL),
        ((a_change(opened_at="2026-11-19T10:00:00+01:00"),), Status.FAIL),
        ((a_change(cluster="other"),), Status.FAIL),
        (Unknown("it may not be read"), Status.UNKNOWN),
    ],
)
def test_the_change_between_the_runs_must_be_signed_off(changes, status):
    assert results("mtu-changed", at("set-mtu"), Changing(changes=changes))[0][0] is status


def test_run_b_is_recorded_after_the_change_at_the_other_mtu():
    change = at("run-b")
    later = recording(51, 9000)
    assert results("run-b-recording", change, Changing(after=later, changes=(a_change(),)))[0][0] is Status.PASS
    assert results("run-b-recording", change, Changing(after=recording(51), changes=(a_change(),)))[0][0] is Status.FAIL
    early = recording(41, 9000)
    assert results("run-b-recording", change, Changing(after=early, changes=(a_change(),)))[0][0] is Status.FAIL


def test_no_gain_is_a_result_and_another_environment_is_none():
    change = at("result")
    no_gain = RecordingsCompared(summary=("No difference.",), worse=("rac1 CPU +3 %",))
    assert [s for s, _ in results("experiment-result", change, Changing(compared=no_gain))] == [
        *(Status.PASS, Status.INFO, Status.INFO),
    ]
    shifted = RecordingsCompared(summary=(), open=("The load is another one.",))
    ((status, title),) = results("experiment-result", change, Changing(compared=shifted))
    assert status is Status.UNKNOWN
    assert "another one" in title
    gone = Changing(compared=NoRecording("/changes/experiments/b.rec"))
    assert results("experiment-result", change, gone)[0][0] is Status.UNKNOWN


# --- the course -------------------------------------------------------------------------------------------------------


def raised(plan: Plan) -> Cluster:
    mtus = {(one.node, one.interface): one.mtu_after for one in plan.layers}
    found = to_change()
    nodes = tuple(
        every_interface(node, lambda i, n=node.name: msgspec.structs.replace(i, mtu=mtus.get((n, i.name), i.mtu)))
        for node in found.read_nodes()
    )
    return msgspec.structs.replace(found, nodes=nodes, changing=Changing(changes=(a_change(),)))


def test_the_mtu_of_the_change_is_no_surprise_at_its_step_and_one_at_another():
    report = report_of(raised(made()))
    for step, expected in (("set-mtu", 0), ("run-a-again", 2)):
        change = at(step)
        assert change.current
        seen = [e for e in conclude(change, change.current, report) if isinstance(e, Surprised)]
        assert len(seen) == expected, step


def test_it_can_be_abandoned_until_the_restore_point_is_there():
    early, late = at("restore-point"), at("run-a")
    assert decisions.abandon(early, "Ann Lee", "no time this week").outcome == "abandoned"
    with pytest.raises(ChangeError, match="Roll back"):
        decisions.abandon(late, "Ann Lee", "no time this week")


def test_the_way_back_flashes_back_only_what_was_written_and_drops_the_restore_point():
    def ids(step: str) -> list[str]:
        back = make_way_back(at(step), made_by="oracle@rac1", made_at=AT.format(59))
        assert back.kind is ChangeKind.ROLLBACK
        return [one.id for one in back.steps]

    assert ids("restore-point") == ["drop-point", "sign-off"]
    assert ids("run-b") == ["flash-back", "drop-point", "sign-off"]


def test_the_report_is_about_an_experiment():
    change = at("run-a")
    report = change_report(change)
    page = page_of(report)
    assert report.noun == "experiment"
    assert page.title.startswith("Experiment 2026-11-20-a of")


def test_journals_of_experiments_are_apart_from_those_of_changes(tmp_path):
    assert (noun_of(tmp_path), noun_of(tmp_path / EXPERIMENTS)) == ("change", "experiment")
    assert changes_seen(tmp_path / "none", ("mtu-changed",)) == ()
    assert not isinstance(changes_seen(tmp_path, ("run-a-recording",)), tuple)
