"""What racwire says of logs that the field reported, and of others of their kind."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.model.facts import Cluster
from checks.model.finding import Finding, Status
from checks.plugins.log_messages import log_lines_check
from checks.rules.log_events.log_names import instances_in
from checks.rules.log_events.table import MESSAGES
from tests.fixtures.clusters import cluster
from tests.unit.log_samples import cluster_with, sample

DATABASE = "# path: /u01/app/oracle/diag/rdbms/prod/prod{0}/trace/alert_prod{0}.log\n# node: rac{0}\n"
ASM = "# path: /u01/app/grid/diag/asm/+asm/+ASM{0}/trace/alert_+ASM{0}.log\n# node: rac{0}\n"
CRS = "# path: /u01/app/grid/diag/crs/rac{0}/crs/trace/alert.log\n# node: rac{0}\n"
OCSSD = "# path: /u01/app/grid/diag/crs/rac{0}/crs/trace/ocssd.trc\n# node: rac{0}\n"
GIPCD = "# path: /u01/app/grid/diag/crs/rac{0}/crs/trace/gipcd.trc\n# node: rac{0}\n"
SAYS_NOTHING = {"IC-LOG-001", "IC-LOG-015", "IC-LOG-016", "IC-LOG-017"}


def running(size: int = 2) -> Cluster:
    """A cluster on which prod1, prod2 ... and +ASM1, +ASM2 ... run."""
    base = cluster(size)
    setups = tuple(msgspec.structs.replace(s, instances=(f"+ASM{n}", f"prod{n}")) for n, s in enumerate(base.setups, 1))
    return msgspec.structs.replace(base, setups=setups)


def found(*texts: str, base: Cluster | None = None) -> dict[str, Finding]:
    facts = cluster_with(*texts, base=base or running())
    return {f.code: f for f in log_lines_check.run(facts) if f.code not in SAYS_NOTHING}


def said(*texts: str, base: Cluster | None = None) -> dict[str, str]:
    return {code: finding.title for code, finding in found(*texts, base=base).items()}


@pytest.mark.parametrize(("names", "code", "title"), [
    (("asm481a",), "IC-LOG-019", "+ASM2 on rac2 ended with error 481 (LMON ended), by PMON, at 2026-11-04 10:31:59 "
     "(28 min 1 s ago); why is not in this log."),
    (("lms481",), "IC-LOG-019", "prod1 on rac1 ended with error 481 (LMON ended), by LMS2, at "),
    (("lmskill",), "IC-LOG-019", "prod1 on rac1 ended with error 484 (an LMS process ended), by PMON, at "),
    (("iferr",), "IC-LOG-021", "The interface of 169.254.45.12 was lost on rac1, at 2026-11-04 10:30:09 "),
    (("ipcr",), "IC-LOG-007", "Messages to prod2 timed out (IPC send timeout), at "),
    (("ipc1", "ipc1b"), "IC-LOG-006", "prod2 was evicted by prod1, at "),
    (("ipc1", "ipc1b"), "IC-LOG-007", "Messages from prod1 to instance 2 timed out (IPC send timeout), at "),
    (("kill11",), "IC-LOG-006", "Instance 2 was evicted by +ASM1, at "),
    (("es1",), "IC-LOG-004", "rac2 was evicted from the cluster, at "),
    (("es1b",), "IC-LOG-004", "rac2 was evicted from the cluster, at "),
    (("es1", "es1b"), "IC-LOG-004", "rac2 was evicted from the cluster, at "),
    (("zh1",), "IC-LOG-004", "rac2 was evicted from the cluster, at "),
    (("old11",), "IC-LOG-003", "Clusterware on rac2 missed the network heartbeat of rac1 for 90 % of misscount, at "),
    (("msgsize",), "IC-LOG-022", "The kernel refused messages of prod2 because of their length (ORA-27300, "
     "status 90), at "),
    (("vfy",), "IC-LOG-010", "The kernel had no buffer space for messages of prod2 (ORA-27300, status 105), at "),
    (("en1",), "IC-LOG-004", "rac2 was evicted from the cluster, at "),
])  # fmt: skip
def test_each_log_of_the_field_has_its_right_value(names: tuple[str, ...], code: str, title: str) -> None:
    titles = said(*map(sample, names))
    assert titles[code].startswith(title)
    assert set(titles) == ({"IC-LOG-006", "IC-LOG-007"} if names == ("ipc1", "ipc1b") else {code})


@pytest.mark.parametrize(("name", "lines"), [("zhshut", 2), ("zhshut2", 2), ("semop", 3)])
def test_an_order_and_a_matter_of_others_are_no_trouble(name: str, lines: int) -> None:
    facts = cluster_with(sample(name), base=running())
    (quiet,) = (f for f in log_lines_check.run(facts) if f.code in ("IC-LOG-001", "IC-LOG-026"))
    assert quiet.status is Status.PASS
    assert f"racwire read {lines} lines with messages on its list" in quiet.title
    assert ("Shut down by order: rac2 at 2026-11-04 10:30:10." in quiet.title) is name.startswith("zhshut")
    assert found(sample(name)) == {}


# --- an instance that ended -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("lines", "title"), [
    ("PMON (ospid: 41879): terminating the instance due to ORA error 499\n{ISO+0}\nCause - 'Instance is being "
     "terminated due to fatal process death (pid: 5, ospid: 41971, IPC0)'", "with error 499 (IPC0 had died), by PMON"),
    ("LMD0 (ospid: 8123_8124): terminating the instance due to ORA error 29743", "with error 29743 (its own receivers "
     "made no progress, and it ended itself), by LMD0, at "),
    ("LMON: terminating instance due to error 29702\nInstance terminated by LMON, pid = 6", "with error 29702 (an "
     "operation of the cluster group services failed), by LMON, at "),
    ("ASMB (ospid: 26030): terminating the instance due to error 15064", "with error 15064 (it lost its ASM instance), "
     "by ASMB, at "),
    ("Instance terminated by LGWR, pid = 22011", "without an error in its log, by LGWR, at "),
    ("USER(prelim) (ospid: 2411870): terminating the instance due to ORA error 604\nInstance terminated by "
     "USER(prelim), PID = 2411870", "with error 604, by USER, at "),
])  # fmt: skip
def test_an_instance_that_ended_is_named_with_its_process_and_its_error(lines: str, title: str) -> None:
    (finding,) = found(f"{DATABASE.format(1)}{{ISO+0}}\n{lines}\n").values()
    assert finding.title.startswith(f"prod1 on rac1 ended {title}")
    assert (finding.code, finding.status) == ("IC-LOG-019", Status.WARN)
    assert finding.title.endswith("why is not in this log.")
    assert not [word for word in ("interconnect", "network") if word in finding.title]


@pytest.mark.parametrize("order", [
    "Shutting down ORACLE instance (abort) (OS id: 44064)\n{ISO+0}\nUSER (ospid: 44064): terminating the instance",
    "ORA-29746: Cluster Synchronization Service is being shut down.\nLMON (ospid: 7): terminating the instance due to "
    "error 29746",
    "Error: Shutdown in progress. Error: 29702.\nUSER (ospid: 6504): terminating the instance due to ORA error 29702",
    "Shutting down instance (immediate)\n{ISO+200}\nPMON (ospid: 7): terminating the instance due to error 481",
    "USER (ospid: 44064): terminating the instance",
])  # fmt: skip
def test_an_end_by_order_is_no_fault(order: str) -> None:
    assert found(f"{DATABASE.format(1)}{{ISO+0}}\n{order}\nInstance terminated by USER, pid = 44064\n") == {}


def test_an_order_before_the_last_start_explains_nothing() -> None:
    text = (
        f"{DATABASE.format(1)}{{ISO+0}}\nShutting down ORACLE instance (abort)\n{{ISO+20}}\nStarting ORACLE instance\n"
        "{ISO+60}\nPMON (ospid: 7): terminating the instance due to error 481\n{ISO+90}\nStarting ORACLE instance\n"
    )
    assert said(text)["IC-LOG-019"].endswith(
        "by PMON, at 2026-11-04 10:31:00 (29 min ago); it started again at 2026-11-04 10:31:30; why is not in this log."
    )


def test_the_node_that_was_shut_down_took_its_instance_along() -> None:
    crs = f"{CRS.format(1)}{{CRS+10}} [OCSSD(7)]CRS-1625: Node rac2, number 2, was shut down\n"
    end = f"{DATABASE.format(2)}{{ISO+5}}\nLMON (ospid: 7): terminating the instance due to error 29702\n"
    assert found(crs, end) == {}
    assert set(found(end)) == {"IC-LOG-019"}


ENDED = "\n{ISO+600}\nLMS0 (ospid: 7): terminating the instance due to error 481\n"
NEAR = {
    "an IPC send timeout": f"{DATABASE.format(1)}{{ISO+300}}\nIPC Send timeout detected. Sender: ospid 1\n",
    "a missing network heartbeat": f"{CRS.format(1)}{{CRS+660}} [OCSSD(7)]CRS-1610: node rac2 (2) missing for 90%\n",
    "a lost address or NIC": f"{ASM.format(1)}{{ISO+595}}\nORA-27300: OS system dependent operation:if_not_found "
    "failed with status: 0\nORA-27303: additional information: requested interface 10.0.0.1 not found\n",
    "the eviction of an instance": f"{ASM.format(1)}{{ISO+500}}\nORA-29740: evicted by member 1, group incarnation 7\n",
}


@pytest.mark.parametrize("shown", NEAR)
def test_the_interconnect_is_named_where_the_same_minutes_of_any_log_show_it(shown: str) -> None:
    finding = found(f"{DATABASE.format(2)}{ENDED}", NEAR[shown])["IC-LOG-018"]
    assert finding.title.endswith(f"; the logs show {shown} in the same minutes.")
    assert len(finding.seen) >= 2


BETWEEN_TWO_OTHERS = {
    "a heartbeat": f"{CRS.format(1)}{{CRS+630}} [OCSSD(7)]CRS-1612: Network communication with node rac3 (3) has been "
    "missing for 50% of the timeout interval.\n",
    "an IPC send timeout": f"{DATABASE.format(1)}{{ISO+500}}\nIPC Send timeout detected. Sender: ospid 1\nReceiver: "
    "inst 3 binc 430 ospid 4846\n",
    "an eviction": f"{DATABASE.format(3)}{{ISO+590}}\nORA-29740: evicted by member 0, group incarnation 7\n",
}


@pytest.mark.parametrize("between", BETWEEN_TWO_OTHERS)
def test_what_two_other_nodes_report_of_each_other_does_not_explain_the_end_of_a_third(between: str) -> None:
    line = BETWEEN_TWO_OTHERS[between]
    end = f"{DATABASE.format(2)}{ENDED}"
    assert "IC-LOG-019" in found(end, DATABASE.format(3), line, base=running(3))
    with_it = line.replace("rac3 (3)", "rac2 (2)").replace("inst 3", "inst 2").replace("by member 0", "by member 1")
    assert "IC-LOG-018" in found(end, DATABASE.format(3), with_it, base=running(3))


@pytest.mark.parametrize("minutes", ["0", "800"])
def test_the_interconnect_is_not_named_for_lines_of_other_minutes_or_of_other_matters(minutes: str) -> None:
    end = ENDED.replace("600", "660")
    far = f"{DATABASE.format(1)}{{ISO+{minutes}}}\nIPC Send timeout detected. Sender: ospid 1\n"
    disk = f"{CRS.format(2)}{{CRS+655}} [cssd(7)]CRS-1615:No I/O has completed after 50% of the maximum interval.\n"
    semaphores = f"{ASM.format(2)}{{ISO+655}}\nORA-27300: OS system dependent operation:semop failed with status: 28\n"
    assert "IC-LOG-018" not in found(f"{DATABASE.format(2)}{end}", far, disk, semaphores)
    assert "IC-LOG-019" in found(f"{DATABASE.format(2)}{end}", far, disk, semaphores)


def test_an_instance_that_ended_with_the_eviction_of_its_node_has_the_cause_of_the_eviction() -> None:
    evicted = f"{CRS.format(1)}{{CRS+598}} [OCSSD(7)]CRS-1607: Node rac2 is being evicted in cluster incarnation 7\n"
    codes = found(f"{DATABASE.format(2)}{ENDED}", evicted)
    assert codes["IC-LOG-019"].title.endswith("; rac2 was evicted from the cluster in the same minutes.")
    assert codes["IC-LOG-019"].observed == codes["IC-LOG-004"].observed
    assert "evicted" not in said(f"{DATABASE.format(1)}{ENDED}", evicted)["IC-LOG-019"]


def test_an_instance_that_ended_and_does_not_run_is_a_failure_unless_it_was_stopped_since() -> None:
    base = running()
    one = msgspec.structs.replace(base.setups[1], instances=("+ASM2",))
    base = msgspec.structs.replace(base, setups=(base.setups[0], one))
    end = f"{DATABASE.format(2)}{ENDED}"
    finding = found(end, base=base)["IC-LOG-020"]
    assert finding.status is Status.FAIL
    assert "; it does not run now; why is not in this log." in finding.title
    stopped = f"{end}{{ISO+700}}\nStarting ORACLE instance (normal)\n{{ISO+900}}\nShutting down ORACLE instance\n"
    assert set(found(stopped, base=base)) == {"IC-LOG-019"}


# --- lines that were read ---------------------------------------------------------------------------------------------


def test_lines_that_are_not_understood_are_counted_and_shown() -> None:
    text = f"{DATABASE.format(1)}{{ISO+0}}\nORA-29769: inactive instance 2 in cluster\nskgxpdmpctx: something new\n"
    finding = found(text)["IC-LOG-026"]
    assert finding.status is Status.INFO
    assert finding.title == "racwire does not understand 2 lines in the logs of rac1."
    assert "ORA-29769" in finding.seen[0]
    assert "IC-LOG-001" not in {f.code for f in log_lines_check.run(cluster_with(text, base=running()))}


@pytest.mark.parametrize(("lines", "title"), [
    ("network interface with IP address 10.0.0.7 no longer running (check cable)",
     "The interface of 10.0.0.7 was lost on rac1, at "),
    ("ORA-27504: IPC error creating OSD context\nORA-27300: OS system dependent operation:check if cable failed with "
     "status: 0\nORA-27301: OS failure message: Error 0\nORA-27302: failure occurred at: skgxpcini1\nORA-27303: "
     "additional information: requested interface eth0 interface not running set _disable_interface_checking = TRUE",
     "eth0 was lost on rac1, at "),
    ("ORA-27300: 操作系统相关操作: if_not_found 失败, 状态为: 0\nORA-27303: 附加信息: requested interface "
     "169.254.9.1 not found", "The interface of 169.254.9.1 was lost on rac1, at "),
])  # fmt: skip
def test_a_lost_interface_is_named(lines: str, title: str) -> None:
    assert said(f"{DATABASE.format(1)}{{ISO+0}}\n{lines}\n")["IC-LOG-021"].startswith(title)


def test_an_interface_that_failed_in_a_trace_is_named_and_that_of_a_peer_is_not() -> None:
    line = (
        "{{TRACE+0}}GIPCHGEN:332:  gipchaInterfaceFailF [gipchaNodeAddInterfaceF : gipchaMain.c : 2466]: failing "
        "interface 0x7f6d94092c40 {{ host '{0}', haName 'dbe1-effd-30dd-adba', local (nil), ip '192.168.10.1:60150', "
        "subnet '192.168.10.0', mask '255.255.255.0', mac '02-00-17-00-3b-91', ifname 'eth1', numRef 0 }}\n"
    )
    assert said(GIPCD.format(1) + line.format(""))["IC-LOG-021"].startswith("eth1 (192.168.10.1) was lost on rac1, at ")
    assert found(GIPCD.format(1) + line.format("rac2")) == {}


# --- direction and number ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("line", "title"), [
    ("IPC Send timeout detected.Receiver ospid 4", "Messages to prod1 timed out"),
    ("IPC Send timeout detected. Sender: ospid 2, Receiver: inst 3 binc 4", "Messages from prod1 to instance 3"),
    ("LMS0 (ospid: 10410) has detected no messaging activity from instance 2", "Messages from instance 2 to prod1"),
])  # fmt: skip
def test_messages_have_their_direction(line: str, title: str) -> None:
    finding = found(f"{DATABASE.format(1)}{{ISO+0}}\n{line}\n")["IC-LOG-007"]
    assert finding.title.startswith(title)
    (lost,) = finding.observed
    ends = [(leg.senders, leg.receivers) for leg in lost.legs]
    assert ends == ends[:1] + [(receivers, senders) for senders, receivers in ends[:1]]


@pytest.mark.parametrize(("line", "title", "times"), [
    ("Remote instance kill map (size 2) : 2 3 ", "Instance 3 and prod2 were evicted by prod1, 2 times", 2),
    ("Received an instance abort message from instance 2\nPMON (ospid: 7): terminating the instance due to error 481",
     "prod1 was evicted by prod2, at", 1),
    ("ORA-29740: evicted by instance number 2, group incarnation 12\nLMON (ospid: 7): terminating the instance due to "
     "error 29740\nInstance terminated by LMON, pid = 7", "prod1 was evicted by prod2, at", 1),
])  # fmt: skip
def test_an_eviction_names_the_instances_by_the_numbers_of_the_lines(line: str, title: str, times: int) -> None:
    finding = found(f"{DATABASE.format(1)}{{ISO+0}}\n{line}\n", f"{DATABASE.format(2)}{{ISO+0}}\n")["IC-LOG-006"]
    assert finding.title.startswith(title)
    assert finding.data["times"] == times


def test_two_evictions_of_one_instance_are_two() -> None:
    evicted = "Evicting instance 2 from cluster"
    text = f"{DATABASE.format(1)}{{ISO+0}}\n{evicted}\n{{ISO+900}}\n{evicted}\n"
    assert ", 2 times in the last 24 h" in said(text)["IC-LOG-006"]


# --- languages --------------------------------------------------------------------------------------------------------

LANGUAGES = {
    "Japanese": "CRS-1607:ノードrac2はクラスタで削除されています。詳細は/u01/diag/crs/rac1/ocssd.trcの",
    "Korean": "CRS-1632: rac2 노드가 클러스터 인카네이션 295030317에서 클러스터로부터 제거됩니다.",
    "French": "CRS-1607: Le noeud rac2 est en train d'être expulsé du cluster ; voir /u01/rac1/ocssd.trc",
    "German": "CRS-1632: Knoten rac2 wird in Cluster-Inkarnation 295030317 aus dem Cluster entfernt",
    "Portuguese": "CRS-1607: O nó rac2 está sendo expulso na encarnação de cluster 7; detalhes em /u01/rac1/ocssd.trc",
}


@pytest.mark.parametrize("language", LANGUAGES)
def test_a_message_with_a_code_is_read_in_any_language(language: str) -> None:
    text = f"{CRS.format(1)}{{CRS+0}} [OCSSD(7)]{LANGUAGES[language]}\n"
    assert said(text)["IC-LOG-004"].startswith("rac2 was evicted from the cluster, at ")


@pytest.mark.parametrize("encoding", ["gbk", "iso-8859-1", "utf-8"])
def test_bytes_of_another_encoding_cost_no_code_and_no_name(encoding: str) -> None:
    said_so = "El nodo rac2 se ha expulsado en la encarnación 7" if encoding != "gbk" else "正在从集群中删除节点 rac2"
    text = f"{CRS.format(1)}{{CRS+0}} [OCSSD(7)]CRS-1607: {said_so}\n".encode(encoding).decode(errors="replace")
    assert said(text)["IC-LOG-004"].startswith("rac2 was evicted from the cluster, at ")


def test_a_name_within_a_path_or_a_longer_name_does_not_count() -> None:
    base = running(12)
    text = (
        f"{CRS.format(2)}{{CRS+0}} [OCSSD(7)]CRS-1607: El nodo rac12 se ha expulsado; detalles en /u01/rac1/ocssd.trc\n"
    )
    assert said(text, base=base)["IC-LOG-004"].startswith("rac12 was evicted")


def test_a_remote_node_is_read_in_another_language() -> None:
    text = f"{CRS.format(1)}{{CRS+0}} [OCSSD(7)]CRS-7500: no se ha podido establecer la conexión con el nodo 'rac2'.\n"
    assert said(text)["IC-LOG-008"].startswith("Clusterware on rac1 had no connection to rac2 ")


# --- status -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("status", "code", "says"), [
    (105, "IC-LOG-010", "status 105"),
    (90, "IC-LOG-022", "status 90"),
    (1, "IC-LOG-011", "status 1: a packet filter refused it"),
    (99, "IC-LOG-011", "status 99: the address is not on the node"),
    (113, "IC-LOG-011", "status 113: no neighbour answered ARP, or no route led to the host"),
    (77, "IC-LOG-011", "(ORA-27300, status 77)"),
])  # fmt: skip
def test_the_status_decides_and_not_the_function(status: int, code: str, says: str) -> None:
    sent = f"ORA-27300: OS system dependent operation:sendmsg failed with status: {status}"
    text = f"{DATABASE.format(1)}{{ISO+0}}\n{sent}\n"
    (finding,) = found(f"{text}ORA-27301: OS failure message: x\nORA-27302: failure occurred at: sskgxpsnd2\n").values()
    assert (finding.code, says in finding.title, finding.data["times"]) == (code, True, 1)


_PIECES = st.sampled_from(
    [message.sample for message in MESSAGES]
    + [
        "ORA-27300:",
        "ORA-27303: requested interface",
        "Remote instance kill map (size 9) : ",
        "by member 99999",
        "{ISO+9}",
    ]
    + ["CRS-1607", "CRS-7503 '' (1)", "Receiver: inst 99999", "due to error 99999", "ORA-27301", "skgxp", "ORA-29799 "]
)


@settings(max_examples=60, deadline=None)
@given(st.lists(_PIECES | st.text(max_size=30), max_size=9), st.sampled_from([DATABASE, ASM, CRS, OCSSD, GIPCD]))
def test_any_lines_are_judged(lines: list[str], path: str) -> None:
    text = "\n".join(lines).replace("{", "").replace("}", "")
    for finding in log_lines_check.run(cluster_with(f"{path.format(1)}{{CRS+0}} {text}")):
        assert finding.title


# --- traces -----------------------------------------------------------------------------------------------------------


def test_heartbeats_in_a_trace_of_ocssd_are_those_of_the_alert_log() -> None:
    at_50 = "CSSD:9: [     INFO] clssnmPollingThread: node rac2 (2) at 50% heartbeat fatal, removal in 14.320 seconds\n"
    alert = f"{CRS.format(1)}{{CRS+0}} [OCSSD(7)]CRS-1612: Network communication with node rac2 (2) missing for 50%\n"
    titles = said(f"{OCSSD.format(1)}{{TRACE+0}}{at_50}{{TRACE+7}}{at_50.replace('50%', '75%')}", alert)
    assert titles["IC-LOG-003"].startswith(
        "Clusterware on rac1 missed the network heartbeat of rac2 for 75 % of misscount, at "
    )
    old = OCSSD.format(1).replace(
        "app/grid/diag/crs/rac1/crs/trace/ocssd.trc", "app/11.2.0/grid/log/rac1/cssd/ocssd.log"
    )
    assert set(said(f"{old}{{TRACE11+0}}[    CSSD][1113200960]{at_50.partition('] ')[2]}")) == {"IC-LOG-003"}


def test_a_disk_heartbeat_without_a_network_heartbeat_counts_where_it_lasts() -> None:
    line = "CSSD:9: clssnmvDHBValidateNCopy: node 2, rac2, has a disk HB, but no network HB, DHB has rcfg 2950\n"
    lines = [f"{{TRACE+{second}}}{line}" for second in (0, 10, 20, 30)]
    assert said(OCSSD.format(1) + "".join(lines))["IC-LOG-023"].startswith(
        "CSS on rac1 saw the disk heartbeat of rac2 and no network heartbeat, at "
    )
    assert said(OCSSD.format(1) + "".join(lines[:2])) == {}


@pytest.mark.parametrize("text", [
    "CRS-1615:No I/O has completed after 50% of the maximum interval. Voting file /dev/sdb1 will be considered",
    "CRS-1606: The number of voting files available, 0, is less than the minimum number of voting files required, 1",
    "CRS-1604: 表决文件脱机: /dev/sdb1",
    "CRS-1649:An I/O error occured for voting file: ORCL:DISK01; details at (:CSSNM00059:) in ocssd.log.",
])  # fmt: skip
def test_a_voting_file_is_no_matter_of_the_network(text: str) -> None:
    (finding,) = found(f"{CRS.format(1)}{{CRS+0}} [OCSSD(7)]{text}\n").values()
    assert finding.code == "IC-LOG-024"
    assert "no matter of the network" in finding.title
    assert {one.legs for one in finding.observed} == {()}


@pytest.mark.parametrize(("text", "number"), [("instance 0", 1), ("instance_number 2", 2), ("instance_number 10", 10)])
def test_a_reconfiguration_of_old_releases_counts_instances_from_0(text: str, number: int) -> None:
    assert instances_in(f"Communications reconfiguration: {text}") == (number,)
