"""Clusterware of the practice nodes stops and starts as a real one does, and the database follows it."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from importlib.util import find_spec

import pytest

from checks.model.report import Report
from racwire_lab import Lab, find
from tests.lab.database_client import Client
from tests.lab.lab_support import assert_healthy, grid, lab_directory, needs_namespaces, run, until
from tests.lab.practice_command import Practice

pytestmark = [
    needs_namespaces,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE PRACTICE DATABASE WAS NOT TESTED: the extra `lab` is not installed",
    ),
]

ALL_ONLINE = """\
CRS-4638: Oracle High Availability Services is online
CRS-4537: Cluster Ready Services is online
CRS-4529: Cluster Synchronization Services is online
CRS-4533: Event Manager is online
"""
NOT_IN_THE_CLUSTER = """\
CRS-4638: Oracle High Availability Services is online
CRS-4535: Cannot communicate with Cluster Ready Services
CRS-4530: Communications failure contacting Cluster Synchronization Services daemon
CRS-4534: Cannot communicate with Event Manager
"""
NO_OHASD = "CRS-4639: Could not contact Oracle High Availability Services"
INSTANCES = "SELECT inst_id, startup_time FROM gv$instance ORDER BY inst_id"
WHERE = "SELECT instance_number AS n FROM v$instance"


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir") as directory:
        practice = Practice(directory, database=True)
        yield practice
        practice.leave()


@pytest.fixture
def cluster(practice: Practice) -> Iterator[Lab]:
    """The running cluster; it runs again afterwards."""
    running = running_lab()
    yield running
    running.mend().set_port_mtu("all", 9216)
    for node in running.nodes:
        if crsctl(running, node, "check crs") != ALL_ONLINE:
            crsctl(running, node, "stop crs -f")
            assert crsctl(running, node, "start crs").endswith("has been started.\n")
    grid(running, "rac1", "srvctl", "start", "database", "-d", "prac")
    assert all(running.is_running(node, "instance") for node in running.nodes)


@pytest.fixture
def client(cluster: Lab) -> Iterator[Client]:
    client = Client(cluster)
    yield client
    client.close()


def running_lab() -> Lab:
    found = find()
    assert found
    return found


def crsctl(cluster: Lab, node: str, words: str) -> str:
    return grid(cluster, node, "crsctl", *words.split()).stdout


def programs(cluster: Lab, node: str) -> set[str]:
    return set(run(cluster, node, "sh", "-c", "cat /proc/[0-9]*/comm").stdout.split())


def titles(report: Report) -> str:
    return " ".join(finding.title for finding in report.findings)


def haips(cluster: Lab, node: str) -> list[str]:
    shown = run(cluster, node, "ip", "-o", "-4", "address").stdout.splitlines()
    return [line.split()[1] for line in shown if "169.254." in line]


def codes(report: Report) -> set[str]:
    return {finding.code for finding in report.findings}


def test_a_node_is_stopped_and_started(practice: Practice, cluster: Lab, client: Client) -> None:
    before = client.ask(INSTANCES)
    assert haips(cluster, "rac2") == ["eth1", "eth2"]
    stopped = crsctl(cluster, "rac2", "stop crs").splitlines()
    assert stopped[0].startswith("CRS-2791: Starting shutdown of Oracle High Availability Services-managed resources")
    assert "CRS-2677: Stop of 'ora.prac.db' on 'rac2' succeeded" in stopped
    assert stopped[-2].startswith("CRS-2793: ")
    assert stopped[-1] == "CRS-4133: Oracle High Availability Services has been stopped."

    # When crsctl returns, no process of the stack is left on the node, and the other nodes know.
    assert not any(name.endswith((".bin", "_prac2")) or "asm_" in name for name in programs(cluster, "rac2"))
    assert haips(cluster, "rac2") == []
    assert grid(cluster, "rac1", "olsnodes", "-s").stdout == "rac1\tActive\nrac2\tInactive\n"
    assert "IC-GRID-006" in codes(practice.check("clusterware"))
    until(lambda: [row["inst_id"] for row in client.ask(INSTANCES)] == [1])
    until(lambda: "DPY-6005" in client.refusal(WHERE, "10.20.0.2:1521/prac"))
    lost = client.lost()

    assert crsctl(cluster, "rac2", "start crs") == "CRS-4123: Oracle High Availability Services has been started.\n"
    assert crsctl(cluster, "rac2", "check crs") == ALL_ONLINE
    assert_healthy(cluster)
    after = until(lambda: len(rows := client.ask(INSTANCES)) == 2 and rows)
    assert after[0] == before[0]
    assert after[1]["startup_time"] > before[1]["startup_time"]
    received = client.received()[1]
    until(lambda: client.received()[1] > received + 20)
    assert client.lost() == lost
    assert {"ocssd.bin", "crsd.bin", "ora_pmon_prac2", "asm_pmon_+ASM2"} <= programs(cluster, "rac2")


@pytest.mark.beyond_sample
class TestStoppedNode:
    """On the first node, from which racwire looks, Clusterware is stopped."""

    @pytest.fixture(scope="class")
    @staticmethod
    def cluster(practice: Practice) -> Iterator[Lab]:
        lab = running_lab()
        crsctl(lab, "rac1", "stop crs")
        yield lab
        crsctl(lab, "rac1", "start crs")

    @pytest.mark.parametrize(
        ("command", "lines"),
        [
            ("crsctl check crs", [NO_OHASD]),
            ("crsctl check cluster -all", [NO_OHASD, "CRS-4000: Command Check failed, or completed with errors."]),
            ("crsctl query crs activeversion", [NO_OHASD, "CRS-4000: Command Query failed, or completed with errors."]),
            ("crsctl stop crs", [NO_OHASD, "CRS-4000: Command Stop failed, or completed with errors."]),
            ("oifcfg getif", ["PRIF-10: failed to initialize the cluster registry"]),
            (
                "olsnodes -s",
                [
                    "PRCO-19: Failure retrieving list of nodes in the cluster",
                    "PRCO-2: Unable to communicate with the clusterware",
                ],
            ),
            (
                "srvctl config database",
                ["PRCR-1068 : Failed to query resources", "CRS-0184 : Cannot communicate with the CRS daemon."],
            ),
            (
                "ocrconfig -manualbackup",
                [
                    "PROT-1: Failed to initialize ocrconfig",
                    "PROC-32: Cluster Ready Services on the local node is not running Messaging error "
                    "[gipcretConnectionRefused] [29]",
                ],
            ),
        ],
    )
    def test_the_tools_of_a_stopped_node_refuse(self, cluster: Lab, command: str, lines: list[str]) -> None:
        done = grid(cluster, "rac1", *command.split())
        assert (done.stdout.splitlines(), done.stderr, done.returncode) == (lines, "", 1)

    def test_racwire_reports_the_stopped_node(self, practice: Practice, cluster: Lab) -> None:
        report = practice.check("clusterware", "interfaces")
        assert "IC-GRID-004" in codes(report)
        assert "Clusterware is not running on this node" in titles(report)

    def test_the_scan_leads_to_the_remaining_nodes(self, cluster: Lab) -> None:
        client = Client(cluster, "rac2")
        try:
            assert until(lambda: client.refusal(WHERE) == "" and client.ask(WHERE)) == [{"n": 2}]
            assert "10.20.0.100/24" in run(cluster, "rac2", "ip", "address", "show", "eth0").stdout
        finally:
            client.close()


@pytest.mark.beyond_sample
def test_the_whole_cluster_is_stopped_and_started_from_one_node(cluster: Lab) -> None:
    assert "CRS-2677: Stop of 'ora.crsd' on 'rac2' succeeded" in crsctl(cluster, "rac1", "stop cluster -all")
    for node in cluster.nodes:
        assert crsctl(cluster, node, "check crs") == NOT_IN_THE_CLUSTER
        assert haips(cluster, node) == []
        assert "ora.cssd\n      1        OFFLINE OFFLINE" in crsctl(cluster, node, "stat res -t -init")
    again = grid(cluster, "rac1", "crsctl", "stop", "cluster", "-all")
    assert again.returncode == 1
    assert "CRS-2796" in again.stdout
    crsctl(cluster, "rac2", "start cluster -all")
    for node in cluster.nodes:
        assert crsctl(cluster, node, "check crs") == ALL_ONLINE
    assert_healthy(cluster)


def test_autostart_is_stored_in_the_files_of_the_node(cluster: Lab) -> None:
    disabled = "CRS-4621: Oracle High Availability Services autostart is disabled.\n"
    enabled = "CRS-4622: Oracle High Availability Services autostart is enabled.\n"
    file = "/etc/oracle/scls_scr/rac2/root/ohasdstr"
    assert crsctl(cluster, "rac2", "config crs") == enabled
    assert crsctl(cluster, "rac2", "disable crs") == crsctl(cluster, "rac2", "config crs") == disabled
    assert run(cluster, "rac2", "cat", file).stdout == "disable\n"
    assert crsctl(cluster, "rac1", "config crs") == enabled
    assert crsctl(cluster, "rac2", "enable crs") == enabled


@pytest.mark.beyond_sample
def test_a_stopped_database_stays_down_until_it_is_started(practice: Practice, cluster: Lab) -> None:
    def srvctl(verb: str, *options: str) -> str:
        return grid(cluster, "rac1", "srvctl", verb, "database", *options).stdout

    running = "Instance prac1 is running on node rac1\nInstance prac2 is running on node rac2\n"
    assert srvctl("config") == "prac\n"
    assert "Database instances: prac1,prac2\n" in srvctl("config", "-d", "prac")
    assert srvctl("status", "-d", "prac") == running
    assert srvctl("status", "-d", "prac", "-v") == running.replace("\n", ". Instance status: Open.\n")
    assert srvctl("status", "-d", "x").startswith("PRCD-1120 : The resource for database x could not be found.\n")
    assert srvctl("stop", "-d", "prac", "-o", "immediate") == ""
    assert srvctl("status", "-d", "prac") == running.replace("is running", "is not running")
    assert "PRCC-1016 : prac was already stopped" in srvctl("stop", "-d", "prac")
    # A listener runs, for no database.
    until(lambda: "ORA-12514" in titles(practice.check("gc-blocks-lost")))

    crsctl(cluster, "rac2", "stop crs")
    crsctl(cluster, "rac2", "start crs")
    assert srvctl("status", "-d", "prac") == running.replace("is running", "is not running")
    assert srvctl("start", "-d", "prac") == ""
    assert srvctl("status", "-d", "prac") == running
    assert "PRCC-1014 : prac was already running" in srvctl("start", "-d", "prac")


@pytest.mark.beyond_sample
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may set a buffer above the maximum of the machine")
def test_an_instance_has_the_buffers_of_its_node_since_its_start(cluster: Lab) -> None:
    def srvctl(verb: str, *options: str) -> str:
        return grid(cluster, "rac1", "srvctl", verb, "instance", "-d", "prac", "-i", "prac1", *options).stdout

    def largest() -> int:
        return max(map(int, re.findall(r"\brb(\d+)", run(cluster, "rac1", "ss", "-u", "-a", "-n", "-m").stdout)))

    before = largest()
    run(cluster, "rac1", "sysctl", "-w", "net.core.rmem_default=1048576")
    assert srvctl("status") == "Instance prac1 is running on node rac1\n"
    assert largest() == before
    assert srvctl("stop", "-o", "immediate", "-f") == ""
    assert srvctl("status") == "Instance prac1 is not running on node rac1\n"
    assert "Instance prac2 is running" in grid(cluster, "rac2", "srvctl", "status", "database", "-d", "prac").stdout
    assert srvctl("start") == ""
    until(lambda: largest() == 2 * 1048576)  # the kernel gives twice what a program asks for
    run(cluster, "rac1", "sysctl", "-w", "net.core.rmem_default=262144")


@pytest.mark.beyond_sample
def test_one_instance_stops_and_starts_and_services_follow_the_instances(cluster: Lab) -> None:
    def srvctl(words: str) -> str:
        return grid(cluster, "rac1", "srvctl", *words.split()).stdout

    both = "Service crm is running on instance(s) prac1,prac2\n"
    manual = "Service batch is not running.\n"
    assert srvctl("add service -d prac -s crm -preferred prac1,prac2") == ""
    assert srvctl("add service -d prac -s batch -preferred prac1 -available prac2 -policy MANUAL") == ""
    assert srvctl("start service -d prac -s crm") == srvctl("start service -d prac -s batch") == ""
    assert "Services: batch,crm\n" in srvctl("config database -d prac")
    assert "Management policy: MANUAL\n" in srvctl("config service -d prac -s batch")
    assert srvctl("status database -d prac -v").splitlines() == [
        "Instance prac1 is running on node rac1 with online services batch,crm. Instance status: Open.",
        "Instance prac2 is running on node rac2 with online services crm. Instance status: Open.",
    ]

    # An instance with services is stopped only with -force, which moves them where they can run.
    assert "resource 'ora.prac.crm.svc' but the appropriate force flag" in srvctl("stop instance -d prac -i prac1")
    assert srvctl("stop instance -d prac -n rac1 -f") == ""
    assert srvctl("status instance -d prac -i prac1") == "Instance prac1 is not running on node rac1\n"
    assert srvctl("status service -d prac").count("is running on instance(s) prac2\n") == 2
    assert "PRCC-1017 : prac1 was already stopped on rac1" in srvctl("stop instance -d prac -i prac1")
    crsctl(cluster, "rac1", "stop crs")
    crsctl(cluster, "rac1", "start crs")
    assert srvctl("status instance -d prac -i prac1") == "Instance prac1 is not running on node rac1\n"
    assert srvctl("start instance -d prac -i prac1") == ""
    assert srvctl("status service -d prac -s crm") == both
    assert "PRCC-1015 : prac1 was already running on rac1" in srvctl("start instance -d prac -i prac1")
    assert srvctl("relocate service -d prac -s batch -oldinst prac2 -newinst prac1") == ""
    assert srvctl("status service -d prac -s batch") == "Service batch is running on instance(s) prac1\n"

    # crsctl is no stop of the services; srvctl is one, after which those with the policy MANUAL stay down.
    crsctl(cluster, "rac1", "stop crs")
    assert srvctl("status service -d prac").startswith("PRCD-1027 : ")
    crsctl(cluster, "rac1", "start crs")
    until(lambda: srvctl("status service -d prac") == "Service batch is running on instance(s) prac1\n" + both)
    assert srvctl("stop database -d prac") == srvctl("start database -d prac") == ""
    assert srvctl("status service -d prac") == manual + both
    for name in ("crm", "batch"):
        srvctl(f"stop service -d prac -s {name}")
        assert srvctl(f"remove service -d prac -s {name}") == ""


def test_a_node_joins_only_if_full_size_packets_pass(cluster: Lab) -> None:
    cluster.set_port_mtu("rac2-eth1", 1500)
    crsctl(cluster, "rac2", "stop crs")
    assert "has been started" in crsctl(cluster, "rac2", "start crs"), "one private network suffices"

    cluster.set_port_mtu("rac2-eth2", 1500)
    assert crsctl(cluster, "rac2", "check crs") == ALL_ONLINE, "who is in the cluster stays in it"
    crsctl(cluster, "rac2", "stop crs")
    refused = grid(cluster, "rac2", "crsctl", "start", "crs")
    assert refused.returncode == 1
    assert refused.stdout.splitlines() == [
        "CRS-2883: Resource 'ora.cssd' failed during Clusterware stack start.",
        "CRS-4406: Oracle High Availability Services synchronous start failed.",
        "CRS-4000: Command Start failed, or completed with errors.",
    ]
    assert crsctl(cluster, "rac2", "check crs") == NOT_IN_THE_CLUSTER
    assert "ora.cssd\n      1        ONLINE  OFFLINE      rac2                     STARTING" in crsctl(
        cluster, "rac2", "stat res -t -init"
    )
    assert grid(cluster, "rac1", "olsnodes", "-s").stdout == "rac1\tActive\nrac2\tInactive\n"
    # The remaining processes end only with -f.
    assert "CRS-2796" in crsctl(cluster, "rac2", "stop crs")
    assert "CRS-4133" in crsctl(cluster, "rac2", "stop crs -f")


@pytest.mark.beyond_sample
def test_a_crsctl_killed_in_the_middle_leaves_a_stack_that_can_be_stopped(cluster: Lab) -> None:
    crsctl(cluster, "rac2", "stop crs")
    cluster.set_port_mtu("all", 1500)
    command = [f"{cluster.environment('rac2')['GRID_HOME']}/bin/crsctl", "start", "crs"]
    starting = subprocess.Popen(cluster.enter("rac2", command), stdout=subprocess.DEVNULL)
    until(lambda: cluster.is_running("rac2", "ohasd"))
    starting.send_signal(signal.SIGKILL)
    starting.wait()
    assert crsctl(cluster, "rac2", "stop crs -f").endswith("has been stopped.\n")
    assert crsctl(cluster, "rac2", "check crs") == f"{NO_OHASD}\n"
    cluster.set_port_mtu("all", 9216)
    assert "has been started" in crsctl(cluster, "rac2", "start crs")


def test_a_killed_daemon_is_detected_at_once(cluster: Lab) -> None:
    run(cluster, "rac2", "sh", "-c", "kill -9 $(grep -lx crsd.bin /proc/[0-9]*/comm | cut -d/ -f3)")
    assert "CRS-4535: Cannot communicate with Cluster Ready Services" in crsctl(cluster, "rac2", "check crs")
    assert cluster.is_running("rac2", "cssd")


@pytest.mark.beyond_sample
def test_a_node_that_drops_pings_can_join(cluster: Lab) -> None:
    cluster.break_("icmp-filtered", "rac1")
    crsctl(cluster, "rac2", "stop crs")
    assert "has been started" in crsctl(cluster, "rac2", "start crs")


def test_backups_of_the_registries_are_listed(cluster: Lab) -> None:
    def ocrconfig(*words: str) -> str:
        return grid(cluster, "rac1", "ocrconfig", *words).stdout

    assert "PROT-25: Manual backups for the Oracle Cluster Registry are not available\n" in ocrconfig("-showbackup")
    created = ocrconfig("-manualbackup")
    node, day, moment, file, _ = created.split()
    assert (node, file.partition("backup_")[0]) == ("rac1", "+DATA:/practice/OCRBACKUP/")
    assert f"{day}{moment}".replace("/", "").replace(":", "") in file.replace("_", "")
    assert ocrconfig("-showbackup", "manual") == created
    assert grid(cluster, "rac2", "ocrconfig", "-showbackup", "manual").stdout == created, "it is the cluster's"

    assert "PROTL-25" in ocrconfig("-local", "-showbackup")
    local = ocrconfig("-local", "-manualbackup")
    assert run(cluster, "rac1", "test", "-s", local.split()[3]).returncode == 0
    assert ocrconfig("-local", "-showbackup", "manual") == local
    assert "PROTL-25" in grid(cluster, "rac2", "ocrconfig", "-local", "-showbackup").stdout, "it is the node's own"
