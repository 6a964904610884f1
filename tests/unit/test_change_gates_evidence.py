"""Gates of the paths, the backups, the recordings and the configuration, and built-in checks as gates."""

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.change.change_events import Verified
from checks.change.change_plan import Accepted, Gate, KnownWarning
from checks.change.gates import GATES, documented, gate_checks
from checks.change.gates.built_in_checks import CHECKS, TO_BE_PROVED, WARNINGS_THAT_HOLD, weighed
from checks.change.gates.gate import GateContext
from checks.change.state import Change
from checks.change.verifying import results_of
from checks.model.facts import (
    Changing,
    Cluster,
    ClusterMember,
    ConfiguredInterface,
    CounterChange,
    CounterChanges,
    FileSeen,
    JournalCopy,
    KernelCounters,
    LldpNeighbour,
    Managed,
    NoRecording,
    OcrBackup,
    PingSeries,
    RecordingsCompared,
    SeenRecording,
    Unknown,
    UnreadNode,
)
from checks.model.finding import Finding, Status
from checks.run.check_discovery import discover
from tests.fixtures.clusters import clusterware
from tests.fixtures.databases import activity, asked, database, own_activity, pings
from tests.unit.change_gate_support import found, gate_results, sentence
from tests.unit.change_support import NODES, cluster, down, layer, nic, plan, setup, until, verification_events

# --- the paths --------------------------------------------------------------------------------------------------------


def with_series(now: Cluster, *series: PingSeries) -> Cluster:
    """The path from rac1 to rac2 with these pings."""
    assert isinstance(now.paths, tuple)
    first, *rest = now.paths
    return msgspec.structs.replace(now, paths=(msgspec.structs.replace(first, series=series), *rest))


@pytest.mark.parametrize(
    ("series", "text"),
    [
        ((PingSeries(8973, 1, 0, refused_locally=1, local_mtu=9000),), "PASS 9001 refused"),
        ((PingSeries(8973, 1, 0, refused_locally=1),), "PASS 9001 refused"),
        ((PingSeries(8973, 1, 0, refused_locally=1, local_mtu=1500),), "FAIL 9001 not refused"),
        ((PingSeries(8973, 1, 1),), "FAIL 9001 not refused"),
        ((PingSeries(8973, 1, 0),), "FAIL 9001 not refused"),
        ((PingSeries(1473, 1, 0, refused_locally=1, local_mtu=1500),), "UNKNOWN 1 path not tested"),
        ((), "UNKNOWN 1 path not tested"),
    ],
)
def test_a_packet_one_byte_too_large_must_be_refused_by_the_kernel_of_the_sender(series, text):
    gate = gate_results("one-byte-more", with_series(down(9000), *series), until("prove-paths"))
    assert gate == {"rac1": text, "rac2": "PASS 9001 refused", "rac3": "PASS 9001 refused"}


def test_every_ordered_pair_on_every_network_must_be_probed():
    now = down(9000)
    assert isinstance(now.paths, tuple)
    one_way = tuple(p for p in now.paths if (p.from_node, p.to_node) != ("rac3", "rac1"))
    now = msgspec.structs.replace(now, paths=one_way)
    gate = gate_results("one-byte-more", now, until("prove-paths"))
    assert gate == {"rac1": "PASS 9001 refused", "rac2": "PASS 9001 refused", "rac3": "UNKNOWN 1 path not tested"}


def counters(**counts: int) -> Cluster:
    groups = {"Ip": {name: counts.get(name, 0) for name in ("ReasmFails", "ReasmReqds")}, "Softnet": {"Dropped": 0}}
    change = CounterChange("rac1", 5.0, KernelCounters(groups))
    unread = {"rac2": Unknown("rac2 was booted meanwhile.")}
    changes = CounterChanges("", "", 5.0, (change, CounterChange("rac3", 5.0, KernelCounters({}))), unread)
    return msgspec.structs.replace(down(9000), counters=changes)


def test_a_node_that_drops_packets_during_the_probe_does_not_pass():
    assert gate_results("quiet-counters", counters())["rac1"] == "PASS nothing lost"
    loud = counters(ReasmFails=7)
    assert gate_results("quiet-counters", loud)["rac1"] == "FAIL 7 lost"
    assert sentence("quiet-counters", loud, "rac1") == "In 5 s rac1 counted 7 failed reassemblies."
    assert gate_results("quiet-counters", loud)["rac2"] == "UNKNOWN not known"


# --- backups and recordings -------------------------------------------------------------------------------------------


def saved(**more: object) -> Cluster:
    paths = [f"/var/tmp/racwire-2026-11-20-a/{name}" for name in ("network.tar.gz", "ip-address.txt", "ip-route.txt")]
    files = dict.fromkeys(paths, FileSeen(100, 1_800_000_000.0))
    facts = {"backups": dict.fromkeys(NODES, files), "registries": {}, **more}
    backup = OcrBackup("rac1", "2026-11-20T18:10:00", "+DATA:/prodrac/backup.ocr")
    return msgspec.structs.replace(cluster(), changing=Changing(**facts), managed=Managed((), backup))


BACKUP_MISSING: dict[str, FileSeen | Unknown] = {
    "/b/network.tar.gz": Unknown("not there"),
    "/b/ip.txt": FileSeen(0, 2e9),
}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "PASS saved"),
        ({"backups": {"rac2": BACKUP_MISSING}}, "FAIL 0 of 2 saved"),
        ({"backups": {"rac2": {"/b/network.tar.gz": FileSeen(10, 1_000.0)}}}, "FAIL older than the plan"),
        ({"backups": {}, "unasked": {"rac2": Unknown("rac2 did not answer.")}}, "UNKNOWN not known"),
        ({"registries": {"rac2": None}}, "FAIL OLR not saved"),
        ({"registries": {"rac2": OcrBackup("rac2", "2026-11-19T10:00:00", "x.olr")}}, "FAIL OLR not saved"),
        ({"registries": {"rac2": Unknown("as root only")}}, "PASS saved"),
    ],
)
def test_every_node_must_have_its_own_backup_newer_than_the_plan(more, text):
    assert gate_results("backups-made", saved(**more))["rac2"] == text


@pytest.mark.parametrize(
    ("backup", "text"),
    [
        (OcrBackup("rac1", "2026-11-20T18:10:00", "x"), "PASS OCR saved"),
        (OcrBackup("rac1", "2026-11-20T17:00:00", "x"), "FAIL OCR not saved"),
        (None, "FAIL OCR not saved"),
        (Unknown("PROC-5: it needs root."), "INFO OCR not known"),
    ],
)
def test_the_registry_must_have_a_backup_that_ocrconfig_lists(backup, text):
    now = msgspec.structs.replace(saved(), managed=Managed((), backup))
    assert gate_results("backups-made", now)[""] == text


AT_1500 = {node: {"eth1": (1500,)} for node in NODES}


def recording(**more: object) -> SeenRecording:
    facts: dict[str, object] = {
        "path": "/changes/before.rec",
        "begun_at": "2026-11-20T18:10:00.000+01:00",
        "seconds": 599.0,
        "sampled": dict.fromkeys(NODES, 1.0),
        "mtus": AT_1500,
        "private_bytes_per_s": dict.fromkeys(NODES, 1e7),
    }
    return SeenRecording(**{**facts, **more})  # type: ignore[arg-type]


def recorded(gate: str, **changing: object) -> list[str]:
    now = msgspec.structs.replace(cluster(), changing=Changing(**changing))
    return [f"{f.status} {f.subject}" for f in found(gate, now, until("sign-off"))]


@pytest.mark.parametrize(
    ("recording", "texts"),
    [
        (recording(), ["PASS 9 min 59 s"]),
        (recording(begun_at="2026-11-14T18:10:00+01:00"), ["PASS 9 min 59 s"]),
        (recording(begun_at="2026-11-13T17:59:00+01:00"), ["FAIL too old"]),
        (recording(seconds=300.0), ["FAIL 5 min"]),
        (recording(sampled={"rac1": 1.0, "rac2": 0.5, "rac3": 1.0}), ["FAIL rac2 missing"]),
        (
            recording(mtus={**AT_1500, "rac3": {"eth1": (1500, 9000)}}),
            ["FAIL rac3 at 9000"],
        ),
        (recording(mtus={}), ["FAIL MTU missing"]),
        (recording(private_bytes_per_s={"rac1": 900.0}), ["PASS 9 min 59 s", "INFO idle"]),
        (NoRecording("/changes/before.rec"), ["FAIL not recorded"]),
        (Unknown("it is damaged."), ["UNKNOWN not readable"]),
    ],
)
def test_the_baseline_must_cover_all_nodes_be_long_enough_recent_and_at_the_old_mtu(recording, texts):
    assert recorded("baseline-recording", before=recording) == texts


def test_a_node_with_a_different_mtu_may_have_it_in_the_baseline():
    layers = tuple(layer(node, mtu_before=9000 if node == "rac3" else 1500) for node in NODES)
    now = msgspec.structs.replace(
        cluster(), changing=Changing(before=recording(mtus={**AT_1500, "rac3": {"eth1": (9000,)}}))
    )
    of = until("baseline", opened=plan(layers=layers))
    assert [f"{f.status} {f.subject}" for f in found("baseline-recording", now, of)] == ["PASS 9 min 59 s"]


def test_the_second_recording_must_be_from_after_the_change_at_the_new_mtu():
    new = recording(mtus={node: {"eth1": (9000,)} for node in NODES}, begun_at="2026-11-20T18:20:00+01:00")
    assert recorded("after-recording", after=new) == ["PASS 9 min 59 s"]
    assert recorded("after-recording", after=recording(begun_at=new.begun_at)) == ["FAIL rac1 at 1500"]
    early = msgspec.structs.replace(new, begun_at="2026-11-20T18:01:00+01:00")
    assert recorded("after-recording", after=early) == ["FAIL too old"]


@pytest.mark.parametrize(
    ("compared", "texts"),
    [
        (RecordingsCompared(summary=("A block came in 1.0 packets.",)), ["PASS no harm", "INFO compared"]),
        (RecordingsCompared(summary=(), worse=("CPU busy +12 %",)), ["PASS no harm", "INFO compared"]),
        (
            RecordingsCompared(summary=(), harm=("blocks lost from 0 to 3.20 1/s",)),
            ["FAIL blocks lost from 0 to 3.20 1/s"],
        ),
        (RecordingsCompared(summary=(), open=("The load was not the same.",)), ["UNKNOWN not comparable"]),
        (RecordingsCompared(summary=(), harm=("x",), open=("y",)), ["FAIL x"]),
        (NoRecording("/changes/after.rec"), ["UNKNOWN not compared"]),
    ],
)
def test_a_worse_critical_metric_stops_the_change_and_other_metrics_are_reported(compared, texts):
    assert recorded("comparison", compared=compared) == texts


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
        if declared.id in ("quiet-counters", "oifcfg-unchanged"):
            continue  # of facts that are not made up here
        findings = found(declared.id, now, of)
        about = {node for finding in findings for node in finding.nodes}
        assert about in (set(), set(NODES))
        for finding in findings:
            assert finding.title.endswith((".", ")"))
            assert results_of(msgspec.structs.replace(of.plan.steps[2].gates[0], check=declared.id), findings)
