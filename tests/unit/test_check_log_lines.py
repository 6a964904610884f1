"""The check log-lines: what the lines of alert logs report, how often, when, and what they do not prove."""

import msgspec
import pytest

from checks.diagnosis.diagnose import diagnose
from checks.model.facts import AlertLog, Cluster, LogKind, LogLine, MissingRight, NodeLogs, Unknown
from checks.model.finding import Status
from checks.model.hypothesis import Certainty
from checks.plugins.log_messages import log_lines_check
from checks.redact import Pseudonyms, Redactor
from checks.report.json_report import to_json
from checks.sources.nodes.alert_log_text import parse_logs
from checks.sources.nodes.sections import OutputSection
from tests.fixtures.clusters import cluster
from tests.fixtures.reports import report_of

READ_AT = "2026-11-23T04:00:00+01:00"
CRS_PATH = "/u01/app/grid/diag/crs/{}/crs/trace/alert.log"
DATABASE_PATH = "/u01/app/oracle/diag/rdbms/prod/{0}/trace/alert_{0}.log"


def at(clock: str) -> str:
    return f"2026-11-23T{clock}+01:00"


def crs(node: str, *lines: tuple[str, str]) -> AlertLog:
    own = tuple(LogLine(at(clock), text[:8].rstrip(":"), f"[OCSSD(7)]{text}") for clock, text in lines)
    return AlertLog(LogKind.CLUSTERWARE, CRS_PATH.format(node), node, own)


def database(instance: str, *lines: tuple[str, str, str], ipc: str = "") -> AlertLog:
    own = tuple(LogLine(at(clock), code, text) for clock, code, text in lines)
    return AlertLog(LogKind.DATABASE, DATABASE_PATH.format(instance), instance, own, ipc, "prod")


def with_logs(*logs: tuple[AlertLog, ...] | NodeLogs | Unknown, base: Cluster | None = None) -> Cluster:
    base = base or cluster(max(2, len(logs)))
    setups = []
    for i, setup in enumerate(base.setups):
        found = logs[i] if i < len(logs) else ()
        if isinstance(found, tuple):
            asm = AlertLog(
                LogKind.ASM, f"/u01/app/grid/diag/asm/+asm/+ASM{i + 1}/trace/alert_+ASM{i + 1}.log", f"+ASM{i + 1}"
            )
            own = (crs(setup.name),) if not any(log.kind is LogKind.CLUSTERWARE for log in found) else ()
            found = NodeLogs((*own, asm, *found), ("/u01/app/grid", "/u01/app/oracle"), read_at=READ_AT)
        setups.append(msgspec.structs.replace(setup, logs=found))
    return msgspec.structs.replace(base, setups=tuple(setups))


def found(facts: Cluster):
    return {finding.code: finding for finding in log_lines_check.run(facts)}


def missing(percent: int, peer: int = 2) -> str:
    code = {50: "CRS-1612", 75: "CRS-1611", 90: "CRS-1610"}[percent]
    return f"{code}: Network communication with node rac{peer} ({peer}) has been missing for {percent}% of the timeout"


def test_quiet_logs_pass():
    codes = found(with_logs((), ()))
    assert {code: f.status for code, f in codes.items()} == {"IC-LOG-001": Status.PASS}
    title = "In 4 alert logs of rac1 and rac2, racwire found none of the messages on its list in the last 24 h."
    assert codes["IC-LOG-001"].title == title


def test_facts_without_logs_are_skipped():
    base = cluster(2)
    setups = tuple(msgspec.structs.replace(s, logs=None) for s in base.setups)
    codes = found(msgspec.structs.replace(base, setups=setups))
    assert {f.status for f in codes.values()} == {Status.SKIPPED}


@pytest.mark.parametrize(("clock", "code", "standing"), [
    ("03:57:00", "IC-LOG-002", Certainty.SUPPORTED), ("01:57:00", "IC-LOG-003", Certainty.POSSIBLE),
])  # fmt: skip
def test_a_missing_heartbeat_supports_a_cause_only_in_the_last_minutes(clock, code, standing):
    facts = with_logs((crs("rac1", ("01:00:00", missing(50)), (clock, missing(50)), (clock, missing(75))),))
    finding = found(facts)[code]
    assert finding.status is Status.WARN
    ago = "3 min" if code == "IC-LOG-002" else "2 h 3 min"
    assert finding.title == (
        "Clusterware on rac1 missed the network heartbeat of rac2 for 75 % of misscount, 2 times in the last 24 h, the "
        f"last time at 2026-11-23 {clock} ({ago} ago)."
    )
    diagnosis = diagnose(facts, [finding])
    assert {h.cause: h.standing for h in diagnosis.hypotheses}["CAUSE-61"] is standing
    assert diagnosis.with_standing(Certainty.PROVED) == ()


EVICTION = (
    ("03:00:10", missing(50)),
    ("03:00:18", missing(75)),
    ("03:00:23", missing(90)),
    ("03:00:26", "CRS-1607: Node rac2 is being evicted in cluster incarnation 148255196; details at (:CSSNM00007:)"),
    ("03:00:29", "CRS-1632: Node rac2 is being removed from the cluster in cluster incarnation 148255196"),
)


def test_an_eviction_is_one_warning_with_the_heartbeats_before_it():
    own = crs(
        "rac2", ("03:00:25", "CRS-1609: This node is unable to communicate with other nodes in the cluster and is")
    )
    codes = found(with_logs((crs("rac1", *EVICTION),), (own,)))
    assert set(codes) == {"IC-LOG-004"}
    finding = codes["IC-LOG-004"]
    assert finding.status is Status.WARN
    assert finding.title == (
        "rac2 was evicted from the cluster, at 2026-11-23 03:00:29 (59 min 31 s ago); it is an active member of the "
        "cluster now."
    )
    assert (finding.nodes, finding.data["percent_of_misscount"]) == (("rac2", "rac1"), 90)
    assert "CRS-1610" in "\n".join(finding.seen)


def test_an_evicted_node_that_is_still_out_is_a_failure_and_a_proved_cause():
    base = cluster(2)
    members = tuple(
        msgspec.structs.replace(m, status="Inactive" if m.name == "rac2" else "Active")
        for m in base.clusterware.members
    )
    base = msgspec.structs.replace(base, clusterware=msgspec.structs.replace(base.clusterware, members=members))
    finding = found(facts := with_logs((crs("rac1", *EVICTION),), base=base))["IC-LOG-005"]
    assert finding.status is Status.FAIL
    assert finding.title.startswith("rac2 was evicted from the cluster, at ")
    assert finding.title.endswith("; it is not an active member of the cluster now.")
    assert "olsnodes -s -t" in finding.next[-1].commands
    assert {h.cause for h in diagnose(facts, [finding]).with_standing(Certainty.PROVED)} == {"CAUSE-60"}


def test_an_evicted_node_that_is_back_needs_no_search_and_the_kernels_log_is_that_of_its_minutes():
    finding = found(with_logs((crs("rac1", *EVICTION),)))["IC-LOG-004"]
    assert finding.title.endswith("; it is an active member of the cluster now.")
    commands = [command for step in finding.next for command in step.commands]
    assert "olsnodes -s -t" not in commands
    assert "journalctl -k --since '2026-11-23 02:55:29' --until '2026-11-23 03:05:29'" in commands


def test_a_node_that_was_shut_down_was_not_evicted():
    lines = (
        ("03:00:00", "CRS-1625: Node rac2, number 2, was shut down"),
        ("03:00:01", "CRS-1632: Node rac2 is being removed from the cluster in cluster incarnation 7"),
    )
    assert set(found(with_logs((crs("rac1", *lines),)))) <= {"IC-LOG-001"}


def test_send_timeouts_name_sender_and_receiver():
    lines = (
        ("03:10:00", "IPC Send timeout", "IPC Send timeout detected. Sender: ospid 4812 [oracle@rac1 (LMS0)]"),
        ("03:10:00", "Receiver", "Receiver: inst 2 binc 430 ospid 2345"),
        ("03:10:01", "IPC Send timeout", "IPC Send timeout to 1.7 inc 120 for msg type 65516 from opid 13"),
        ("03:10:02", "Communications reconfiguration", "Communications reconfiguration: instance_number 2"),
        ("03:15:00", "ORA-29740", "ORA-29740: evicted by instance number 2, group incarnation 12"),
    )
    codes = found(with_logs((database("prod1", *lines),)))
    assert codes["IC-LOG-007"].title == (
        "Messages from prod1 to instance 2 timed out (IPC send timeout), at 2026-11-23 03:10:02 (49 min 58 s ago)."
    )
    assert codes["IC-LOG-006"].title.startswith("prod1 was evicted by instance 2, at ")
    assert {f.status for f in codes.values()} == {Status.WARN}


def test_status_105_supports_the_loopback_cause_and_another_status_does_not():
    lines = (
        ("03:10:00", "ORA-27300", "ORA-27300: OS system dependent operation:sendmsg failed with status: 105"),
        ("03:10:00", "ORA-27301", "ORA-27301: OS failure message: No buffer space available"),
        ("03:10:00", "ORA-27302", "ORA-27302: failure occurred at: sskgxpsnd2"),
    )
    facts = with_logs((database("prod1", *lines),))
    finding = found(facts)["IC-LOG-010"]
    assert finding.title == (
        "The kernel had no buffer space for messages of prod1 (ORA-27300, status 105), at 2026-11-23 03:10:00 "
        "(50 min ago)."
    )
    diagnosis = diagnose(facts, [finding])
    assert {h.cause for h in diagnosis.with_standing(Certainty.SUPPORTED)} == {"CAUSE-31"}
    assert not diagnosis.with_standing(Certainty.PROVED)
    other = ("03:10:00", "ORA-27300", "ORA-27300: OS system dependent operation:sendmsg failed with status: 1")
    disk = ("03:10:00", "ORA-27300", "ORA-27300: OS system dependent operation:semop failed with status: 28")
    assert set(found(with_logs((database("prod1", other, disk),)))) == {"IC-LOG-011"}


@pytest.mark.parametrize(("hour", "status"), [("01", Status.INFO), ("03", Status.WARN)])
def test_a_removed_route_in_the_range_of_haip_is_information_unless_it_is_recent(hour, status):
    text = "CRS-5018: (:CLSN00037:) Removed unused HAIP route:  169.254.95.0 / 255.255.255.0 / 0.0.0.0 / usb0"
    finding = found(with_logs((crs("rac1", (f"{hour}:58:00", text)),)))["IC-LOG-009"]
    assert finding.status is status
    assert "the route 169.254.95.0 on usb0 from the range of HAIP" in finding.title


def test_different_transports_are_a_warning_and_equal_ones_exclude_the_cause():
    base = cluster(2)
    setups = tuple(msgspec.structs.replace(s, instances=(f"+ASM{n}", f"prod{n}")) for n, s in enumerate(base.setups, 1))
    base = msgspec.structs.replace(base, setups=setups)
    udp, rds = "Oracle UDP/IP (generic)", "Oracle RDS/IP (generic)"
    finding = found(with_logs((database("prod1", ipc=udp),), (database("prod2", ipc=rds),), base=base))["IC-LOG-014"]
    assert finding.status is Status.WARN
    assert finding.title == f"prod1 and prod2 chose different transports at their start: {rds} and {udp}."
    same = found(with_logs((database("prod1", ipc=udp),), (database("prod2", ipc=udp),), base=base))
    assert {code: f.status for code, f in same.items()} == {"IC-LOG-001": Status.PASS, "IC-LOG-015": Status.PASS}
    facts = with_logs((database("prod1", ipc=udp),), (database("prod2", ipc=udp),), base=base)
    assert {h.cause: h.standing for h in diagnose(facts, []).hypotheses}["CAUSE-10"] is Certainty.EXCLUDED


def test_logs_that_may_not_be_read_are_unknown_and_logs_that_are_nowhere_are_skipped():
    refused = Unknown("this user may not read /u01/x.log", MissingRight("read /u01/x.log, as the Grid owner"))
    closed = AlertLog(LogKind.CLUSTERWARE, "/u01/x.log", "rac1", refused)
    finding = found(with_logs((closed,)))["IC-LOG-016"]
    assert (finding.status, finding.lacks) == (Status.UNKNOWN, (refused,))
    nowhere = found(with_logs(NodeLogs((), ("/u01/app/grid",), read_at=READ_AT)))["IC-LOG-017"]
    assert nowhere.status is Status.SKIPPED
    assert nowhere.title == "racwire found no alert log of Clusterware and +ASM1 on rac1; it searched /u01/app/grid."
    cut = found(with_logs(NodeLogs((), ("/u01",), cut="they took over 6 s", read_at=READ_AT)))["IC-LOG-016"]
    assert cut.title == "Alert logs of rac1 could not be read: they took over 6 s."
    assert found(with_logs(Unknown("no timeout")))["IC-LOG-017"].status is Status.SKIPPED


def test_a_log_on_a_shared_file_system_counts_once():
    log = database("prod1", ("03:10:00", "ORA-29770", "ORA-29770: global enqueue process LMS0 (OSID 7) is hung"))
    assert found(with_logs((log,), (log,)))["IC-LOG-012"].data["times"] == 1


def test_names_and_addresses_in_the_lines_are_redacted():
    text = (
        "now 1795402800 +0100\n##racwire-file /u01/app/oracle/diag/rdbms/payroll/payroll7/trace/alert_payroll7.log\n"
        " 2026-11-23T03:30:00.000000+01:00\n IPC Send timeout detected. Sender: [oracle@rac1.bank.example (LMS0)]\n"
        "##racwire-file /u01/app/grid/diag/crs/rac1/crs/trace/alert.log\n"
        " 2026-11-23 03:30:00.000 [OCSSD(7)]CRS-7503: The Oracle Grid Infrastructure process 'ocssd' observed "
        "communication issues between node 'rac1' and node 'rac2', interface list of local "
        "node 'rac1' is '192.168.10.1:61020;'\n"
        "communication issues between node 'rac1' and node 'rac2', local node 'rac1' is '192.168.10.1:61020;'\n"
        "##racwire-logs-done\n"
    )
    report = report_of(with_logs(parse_logs(OutputSection(text))))
    assert "payroll7" in to_json(report).decode()
    redacted = to_json(Redactor(Pseudonyms()).report(report)).decode()
    assert [word for word in ("payroll", "rac1", "rac2", "bank.example", "192.168.10.1:") if word in redacted] == []
    assert "CRS-7503" in redacted
    assert "IPC Send timeout" in redacted
