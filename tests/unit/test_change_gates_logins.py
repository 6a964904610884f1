"""The gates about logins and configuration, and the built-in checks as gates."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.change.gates import GATES, documented, gate_checks
from checks.change.gates.built_in_checks import CHECKS, TO_BE_PROVED, WARNINGS_THAT_HOLD, weighed
from checks.change.gates.gate import GateContext
from checks.change.plan.change_plan import Accepted, Gate, KnownWarning
from checks.change.progress.change_events import Verified
from checks.change.progress.state import Change
from checks.change.session.verifying import results_of
from checks.model.facts import (
    Changing,
    Cluster,
    ClusterMember,
    ConfiguredInterface,
    JournalCopy,
    LldpNeighbour,
    Managed,
    NoRecording,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Finding, Status
from checks.run.check_discovery import discover
from tests.fixtures.clusters import clusterware
from tests.fixtures.databases import activity, asked, database, own_activity, pings
from tests.unit.change_gate_support import found, gate_results
from tests.unit.change_support import NODES, cluster, layer, nic, plan, setup, until, verification_events

# --- logins -----------------------------------------------------------------------------------------------------------


def test_no_user_may_be_logged_in_over_a_network_that_is_about_to_be_changed():
    now = cluster(
        rac2=setup("rac2", clients_by=("10.0.0.2", "192.168.10.2")), rac1=setup("rac1", clients_by=("10.0.0.1",))
    )
    now = msgspec.structs.replace(now, changing=Changing(addresses={"rac3": ("192.168.10.3",), "rac1": ("10.0.0.1",)}))
    assert gate_results("ssh-apart", now) == {
        "rac1": "PASS apart",
        "rac2": "FAIL ssh on 192.168.10.2",
        "rac3": "FAIL is 192.168.10.3",
    }


def copied(of: Change, **more: object) -> dict[str, str]:
    line = of.lines[0]
    facts: dict[str, object] = {
        "node": "rac2",
        "path": "/changes/prodrac-2026-11-20-a.change",
        "begins": f'{{"number":1,"at":"{line.at}","who":"{line.who}","event":{{"plan":{{"id":"2026-11-20-a"',
        "lines": 2,
    }
    copy = JournalCopy(**{**facts, **more})  # type: ignore[arg-type]
    now = msgspec.structs.replace(cluster(), changing=Changing(copies={"rac2": (copy,), "rac3": ()}))
    return gate_results("only-journal", now, of)


def test_a_journal_on_another_node_must_be_a_copy_that_is_not_longer():
    of = until("set-mtu")
    assert copied(of) == {"": "PASS only journal"}
    assert copied(of, lines=40) == {"rac2": "FAIL 40 lines there"}
    assert copied(of, begins="{another") == {"rac2": "FAIL another change"}
    assert copied(of, begins="{another", outcome="signed off") == {"": "PASS only journal"}
    assert copied(of, lines=Unknown("torn")) == {"": "PASS only journal"}


# --- configuration ----------------------------------------------------------------------------------------------------


def test_oifcfg_has_the_same_networks_afterwards():
    facts = clusterware(3)
    of = until("sign-off", opened=plan(interconnects=(
        "eth0  10.20.0.0  global  public",
        "eth1  192.168.10.0  global  cluster_interconnect",
        "eth2 192.168.11.0 global cluster_interconnect",
    )))  # fmt: skip
    assert gate_results("oifcfg-unchanged", msgspec.structs.replace(cluster(), clusterware=facts), of) == {
        "": "PASS unchanged"
    }
    assert not isinstance(facts.configuration, Unknown)
    moved = ConfiguredInterface("eth9", "192.168.10.0", "global", ("cluster_interconnect",))
    configuration = msgspec.structs.replace(
        facts.configuration, interfaces=(*facts.configuration.interfaces[:1], moved)
    )
    other = msgspec.structs.replace(facts, configuration=configuration)
    finding = found("oifcfg-unchanged", msgspec.structs.replace(cluster(), clusterware=other), of)[0]
    assert finding.status is Status.FAIL
    assert "`eth1  192.168.10.0" not in finding.title
    assert "`eth1 192.168.10.0 global cluster_interconnect` was removed" in finding.title
    assert gate_results(
        "oifcfg-unchanged", msgspec.structs.replace(cluster(), clusterware=Unknown("It is down.")), of
    ) == {"": "UNKNOWN not known"}
    unasked = until("sign-off", opened=plan(interconnects=()))
    known = msgspec.structs.replace(cluster(), clusterware=facts)
    assert gate_results("oifcfg-unchanged", known, unasked) == {"": "INFO not compared"}


@pytest.mark.parametrize(
    ("members", "text"),
    [
        (("rac1", "RAC2.example.com", "rac3"), "PASS the same nodes"),
        (("rac1", "rac2", "rac3", "rac4"), "FAIL other nodes"),
        (("rac1", "rac2"), "FAIL other nodes"),
    ],
)
def test_a_node_added_or_removed_since_the_plan_is_detected(members, text):
    facts = msgspec.structs.replace(clusterware(3), members=tuple(map(ClusterMember, members)))
    now = msgspec.structs.replace(
        cluster(), clusterware=facts, changing=Changing(before=NoRecording("/changes/before.rec"))
    )
    of = until("baseline")
    assert gate_results("members-unchanged", now, of) == {"": text}
    results = [r for event in verification_events(of, now) if isinstance(event, Verified) for r in event.results]
    seen = [r.status.value for r in results if r.check == "members-unchanged"]
    assert seen == ([] if text.startswith("PASS") else ["FAIL"])  # watched until Clusterware is stopped
    asleep = msgspec.structs.replace(now, clusterware=Unknown("It is down."))
    assert gate_results("members-unchanged", asleep, of) == {"": "UNKNOWN not known"}


@pytest.mark.parametrize(
    ("frame", "vlan", "text"),
    [
        (9216, False, "PASS 9216 announced"),
        (9018, False, "PASS 9018 announced"),
        (9018, True, "FAIL 9018 announced"),
        (1518, False, "FAIL 1518 announced"),
        (Unknown("not reported"), False, "INFO not announced"),
    ],
)
def test_a_switch_must_announce_large_enough_frames(frame, vlan, text):
    layers = (layer("rac1"), *((layer("rac1", "eth1.5", level=1, kind="vlan"),) if vlan else ()))
    of = until("set-mtu", opened=plan(layers=layers, nodes=("rac1",)))
    neighbour = LldpNeighbour("eth1", "sw1", port="Eth1/1", max_frame_bytes=frame)
    now = cluster(rac1=setup("rac1", lldp=(neighbour, LldpNeighbour("eth0", "sw1", max_frame_bytes=1518))))
    assert gate_results("switch-frames", now, of) == {"rac1": text}


# --- built-in checks as gates -----------------------------------------------------------------------------------------


def as_gate(
    code: str, status: Status, step: str = "prove-paths", *, check: str = "any", subject: str = "", **more: object
) -> Status:
    finding = Finding(code=code, check=check, status=status, title="", subject=subject)
    of = until(step, opened=plan(**more))
    assert of.current
    return weighed(GateContext(of, of.current), finding)


def test_a_skipped_check_does_not_pass_a_gate():
    assert as_gate("RW-ENGINE-005", Status.SKIPPED) is Status.UNKNOWN


def test_only_warnings_unrelated_to_the_change_pass_a_gate():
    assert as_gate("IC-PATH-005", Status.WARN) is Status.WARN
    assert as_gate("IC-LOST-002", Status.WARN) is Status.WARN
    assert {as_gate(code, Status.WARN) for code in WARNINGS_THAT_HOLD} == {Status.INFO}


def test_the_baseline_allows_warnings_and_accepted_failures_only():
    accepted = {"accepted": (Accepted("IC-LOST-002", "", "That is why we do it."),)}
    assert as_gate("IC-LOST-002", Status.WARN, "baseline") is Status.INFO
    assert as_gate("IC-LOST-002", Status.FAIL, "baseline") is Status.FAIL
    assert as_gate("IC-LOST-002", Status.FAIL, "baseline", **accepted) is Status.INFO
    assert as_gate("IC-LOST-002", Status.FAIL, "prove-paths", **accepted) is Status.FAIL
    by_parameter = {"accepted": (Accepted("IC-USE-004", "", "The vendor's document asks for it."),)}
    assert as_gate("IC-USE-004", Status.FAIL, "first-node", **by_parameter) is Status.INFO


def test_a_warning_known_since_the_start_passes_and_a_worse_one_does_not():
    stood = {"subject": "prod1: 1 of 2", "known": (KnownWarning("IC-USE-005", "prod1: 1 of 2"),)}
    assert as_gate("IC-USE-005", Status.WARN, **stood) is Status.INFO
    assert as_gate("IC-USE-005", Status.FAIL, **stood) is Status.FAIL
    assert as_gate("IC-USE-005", Status.WARN, **{**stood, "subject": "prod2: 1 of 2"}) is Status.WARN
    assert as_gate("IC-USE-006", Status.WARN, **stood) is Status.WARN


@pytest.mark.parametrize("check", TO_BE_PROVED)
def test_warnings_that_the_change_must_cure_do_not_pass_even_if_known_before(check):
    stood = {"subject": "rac2: 3 failed", "known": (KnownWarning("IC-REASM-002", "rac2: 3 failed"),)}
    assert as_gate("IC-REASM-002", Status.WARN, check=check, **stood) is Status.WARN


def of_the_database(check: str, step: str, now: Cluster) -> list[tuple[Status, str]]:
    """Return the result of a built-in check of the database as a gate of that step: status and sentence."""
    of = until(step)
    assert of.current
    made = gate_checks(of, msgspec.structs.replace(of.current, gates=(Gate(check),)), discover)[check]
    return [(r.status, r.sentence) for r in results_of(Gate(check), made.run(now), of.current, of)]


def idle(instances: int) -> Cluster:
    """A database whose instances received nothing from each other, and did not ping."""
    none = dict.fromkeys(("gc blocks lost", "gc cr blocks received", "gc current blocks received"), 0)
    activities = [own_activity(number, none) for number in range(1, instances + 1)]
    pairs = tuple(msgspec.structs.replace(p, count_500b=0, count_8k=0) for p in pings(instances))
    return asked(2, activity=activity(instances, *activities, pings=pairs, transfers=()), database=database(instances))


@pytest.mark.parametrize(
    ("check", "nothing"),
    [
        ("instance-ping", "Nothing was measured: no ping was answered between prod1 and prod2 in 30 s."),
        ("gc-blocks-lost", "Nothing was measured: no block passed between prod1 and prod2 in 30 s."),
    ],
)
def test_an_idle_database_is_noted_in_the_baseline_and_unknown_at_later_gates(check, nothing):
    assert of_the_database(check, "baseline", idle(2)) == [(Status.INFO, nothing)]
    assert of_the_database(check, "prove-paths", idle(2)) == [(Status.UNKNOWN, nothing)]


def test_an_interval_without_a_ping_that_is_too_short_for_one_prevents_nothing():
    short = msgspec.structs.replace(idle(2).activity, seconds=10.0)
    now = msgspec.structs.replace(idle(2), activity=short)
    assert [status for status, _ in of_the_database("instance-ping", "prove-paths", now)] == [Status.INFO]


def test_a_single_open_instance_has_no_peer_to_receive_blocks_from():
    ((status, title),) = of_the_database("gc-blocks-lost", "prove-paths", idle(1))
    assert status is Status.INFO
    assert "Nothing was measured" not in title


def test_a_result_says_that_the_warning_was_known_before():
    of = until("prove-paths", opened=plan(known=(KnownWarning("IC-USE-005", "prod1: 1 of 2"),)))
    finding = Finding(
        code="IC-USE-005",
        check="interconnect-in-use",
        status=Status.WARN,
        title="prod1 uses eth1 alone.",
        subject="prod1: 1 of 2",
    )
    (result,) = results_of(Gate("interconnect-in-use"), [finding], of.current, of)
    assert result.holds
    assert result.text == "prod1: 1 of 2, as before the change"
    assert result.sentence == "prod1 uses eth1 alone. The same warning existed before the change."


def test_different_mtus_pass_where_the_plan_keeps_them():
    (network,) = plan().networks
    other = msgspec.structs.replace(network, name="192.168.11.0/24", mtu_after=1500)
    assert as_gate("IC-MTU-007", Status.WARN) is Status.WARN
    assert as_gate("IC-MTU-007", Status.WARN, networks=(network, other)) is Status.INFO


# --- all of them ------------------------------------------------------------------------------------------------------


def test_every_gate_is_documented_and_every_code_belongs_to_one_kind():
    kinds = [kind for check in documented() for kind in check.kinds]
    titles = {kind.code: kind.title for kind in kinds}
    assert len({(kind.code, kind.title) for kind in kinds}) == len(titles)
    assert all(code.startswith("CH-") for code in titles)
    assert all(check.page.endswith(".") and check.page != check.question for check in documented())
    ids = [check.id for check in documented()]
    assert len({*ids, *CHECKS}) == len(ids) + len(CHECKS)


def test_the_built_in_checks_that_can_be_gates_exist():
    built_in = discover()
    assert all(built_in.get(check) for check in CHECKS)
    codes = built_in.kinds()
    assert all(code in codes for code in WARNINGS_THAT_HOLD)


OF_EXPERIMENTS = (
    *("test-database", "recovery-area", "restore-point", "restore-point-dropped"),
    *("run-a-recording", "run-again-recording", "run-b-recording", "mtu-changed", "experiment-result"),
)
"""Gates that only the plan of an experiment has."""
_FACTS = st.builds(
    cluster,
    st.sampled_from([1500, 9000]),
    runs=st.booleans(),
    boot_mtu=st.sampled_from([None, 1500, 9000]),
    rac2=st.sampled_from([UnreadNode("rac2", "Gone."), 1500, nic("rac2", 576)]),
    rac3_setup=st.sampled_from(
        [UnreadNode("rac3", "Gone."), setup("rac3", autostart=Unknown("x"), kept=Unknown("x"), lldp=())]
    ),
)


@settings(max_examples=25)
@given(_FACTS, st.sampled_from(["baseline", "stack-down", "set-mtu", "survives-boot", "sign-off"]))
def test_each_gate_reports_every_node_in_whole_sentences_for_any_facts(now, step):
    of = until(step)
    now = msgspec.structs.replace(now, changing=Changing(), managed=Managed((), None))
    for declared in GATES:
        if declared.id in ("quiet-counters", "oifcfg-unchanged") or declared.id in OF_EXPERIMENTS:
            continue  # of facts that are not made up here
        findings = found(declared.id, now, of)
        about = {node for finding in findings for node in finding.nodes}
        assert about in (set(), set(NODES))
        for finding in findings:
            assert finding.title.endswith((".", ")"))
            assert results_of(msgspec.structs.replace(of.plan.steps[2].gates[0], check=declared.id), findings)
