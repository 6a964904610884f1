"""`racwire check --lab`: a healthy cluster passes, and each fault is named right: network, node or direction, layer."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from checks.model.exit_codes import ExitCode
from checks.model.facts import Verdict
from checks.model.finding import Finding, Status
from checks.model.report import Report
from checks.sources.clusterware.grid_home import css_daemons
from tests.cases.loading import parameters
from tests.cases.outcomes import PROPERTY, Result, outcome_of, outcome_of_pair
from tests.cases.pairs import lab_pairs
from tests.lab.lab_support import run
from tests.lab.practice_command import OnTerminal, Practice
from tui.cli.interrupts import STOPPING

NETWORK_2 = "192.168.11.0/24"
NOT_WITHOUT_A_DATABASE = {
    *("gc-blocks-lost", "gc-receive-time", "interconnect-in-use", "instance-ping", "device-mtu", "haip-path"),
}
NOT_OF_THE_NODES = {"bonding", "bond-balance", "oracle-processes", "packet-sizes", "storage-mtu", "virtualisation"}
"""The nodes have no bonds, no processes with the names of LMS, no hypervisor of their own and no storage server; frames
by size need an interval of 30 s."""
NOT_JUDGED = {
    *("IC-BALANCE-001", "IC-BOND-001", "IC-DRIVER-001", "IC-PROC-001", "IC-SIZE-006", "IC-STORE-001", "IC-TOPO-010"),
    "IC-VIRT-001",
}
"""Their codes, and those for rings that ethtool does not show and switches without lldpd."""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[tuple[int, int], Practice]]:
    clusters: dict[tuple[int, int], Practice] = {}
    yield clusters
    for cluster in clusters.values():
        cluster.down()


@pytest.fixture
def cluster(
    built: dict[tuple[int, int], Practice], tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[Practice]:
    of = getattr(request, "param", (2, 9000))
    if of not in built:
        built[of] = Practice(tmp_path_factory.mktemp("lab") / "lab", *of)
    yield built[of]
    built[of].lab("mend")


def problems(report: Report) -> dict[str, Finding]:
    well = (Status.PASS, Status.INFO)
    return {f.code: f for f in report.findings if f.status not in well and f.code != "RW-ENGINE-005"}


@pytest.mark.parametrize(
    "cluster", [(2, 9000), pytest.param((8, 9000), marks=pytest.mark.beyond_sample)], indirect=True
)
def test_a_healthy_cluster_passes_all_checks(cluster):
    report = cluster.check()
    nodes = len(cluster.cluster.nodes)
    assert len(report.cluster.paths) == nodes * (nodes - 1) * 2
    assert {path.verdict for path in report.cluster.paths} == {Verdict.PASSES}
    # On a small machine, one of many concurrent packets may be lost once: that is reported, and is not a fault.
    allowed = {Status.PASS, Status.SKIPPED}
    # The networks of a new installation have the role asm too.
    noted = ("IC-PATH-012", "IC-STORE-009")
    assert [f.title for f in report.findings if f.status not in allowed and f.code not in noted] == []
    passed = {f.check for f in report.findings if f.status is Status.PASS}
    assert {f.check for f in report.findings} - passed <= {*NOT_WITHOUT_A_DATABASE, *NOT_OF_THE_NODES}


@pytest.mark.case
@pytest.mark.parametrize(("cluster", "case"), parameters(database=False), indirect=["cluster"])
def test_a_case_has_exactly_its_expected_findings(cluster, case, record_property):
    for fault in case.make.lab:
        cluster.lab("break", *fault.split())
    interval = ("--interval", str(case.make.interval_s)) if case.make.interval_s > 1 else ()
    report = cluster.check(*case.make.checks, *interval)
    record_property(PROPERTY, msgspec.to_builtins(outcome_of(case, report)))
    assert case.faults_of(report, noise=["IC-PATH-012"]) == [], [(f.code, f.title) for f in report.findings]


@pytest.mark.case
@pytest.mark.beyond_sample
@pytest.mark.parametrize(("cluster", "pair"), [((4, 9000), pair) for pair in lab_pairs()], indirect=["cluster"])
def test_of_two_faults_at_once_at_least_one_is_named_and_nothing_false_is_said(cluster, pair, record_property):
    for fault in pair.make.lab:
        cluster.lab("break", *fault.split())
    outcome = outcome_of_pair(pair.name, pair.first, pair.second, cluster.check())
    record_property(PROPERTY, msgspec.to_builtins(outcome))
    assert outcome.false == ()
    assert outcome.result is not Result.NEITHER


@pytest.mark.case
@pytest.mark.beyond_sample
def test_the_same_fault_gives_the_same_first_line_twenty_times(cluster):
    cluster.lab("break", "switch-mtu")
    # Without the datagrams, which are paced over the interval: that would take four minutes.
    checks = ("interfaces", "mtu-consistency", "df-ping", "neighbours", "reassembly", "rp-filter")
    first = [cluster.check(*checks).diagnosis.hypotheses[0] for _ in range(20)]
    assert {(h.cause, h.standing, h.headline, h.place) for h in first} == {
        (first[0].cause, first[0].standing, first[0].headline, first[0].place)
    }
    assert first[0].cause == "CAUSE-12"


@pytest.mark.beyond_sample
def test_a_hung_shell_costs_its_time_limit_once_and_is_named(cluster, tmp_path):
    (tmp_path / "s.toml").write_text(
        "[ssh]\nconnect_timeout_s = 2\nlogin_timeout_s = 2\n[sampling]\ninterval_without_database_s = 1\n"
    )
    cluster.lab("break", "slow-ssh")
    report = cluster.check("--settings", str(tmp_path / "s.toml"))
    title = problems(report)["IC-IFACE-010"].title
    assert re.search("the shell on rac2 did not (start|answer) within 2 s", title), title
    waited = [entry for entry in report.journal if entry.node == "rac2" and entry.outcome != "ok"]
    assert [entry.topic for entry in waited] == ["ssh"]


@pytest.mark.beyond_sample
def test_clusterware_that_answers_late_is_read(cluster):
    for number in ("1", "2"):
        cluster.lab("break", "slow-clusterware", "--node", number)
    report = cluster.check("clusterware", "boot-mtu")
    assert problems(report) == {}
    assert {type(setup.services) for setup in report.cluster.setups} == {tuple}


@pytest.mark.beyond_sample
def test_a_stack_that_is_down_or_halfway_up_is_no_hang(cluster):
    home = cluster.cluster.environment("rac1")["GRID_HOME"]
    try:
        assert run(cluster.cluster, "rac1", f"{home}/bin/crsctl", "stop", "crs").returncode == 0
        finding = problems(cluster.check("clusterware"))["IC-GRID-004"]
        assert finding.seen == ("CRS-4639: Could not contact Oracle High Availability Services",)
        assert finding.next[0].commands == ("crsctl config crs",)
    finally:
        assert run(cluster.cluster, "rac1", f"{home}/bin/crsctl", "start", "crs").returncode == 0


def test_the_doctor_finds_a_healthy_cluster_ready_and_sends_no_ping(cluster):
    ran = cluster.inside("doctor")
    assert (ran.code, ran.err) == (ExitCode.PASS, "")
    assert "Ready: nothing that racwire read here makes a check UNKNOWN." in ran.out
    assert "2 of 2 nodes read: rac1 and rac2." in ran.out
    assert "rac2 agrees with rac1 within" in ran.out
    assert len(ran.out.splitlines()) <= 24


def test_the_doctor_predicts_what_a_check_cannot_tell(cluster, tmp_path):
    (tmp_path / "s.toml").write_text("[sampling]\ninterval_without_database_s = 1\n")
    cluster.lab("break", "no-ssh")
    ran = cluster.inside("doctor", "--format", "json")
    ready = json.loads(ran.out)
    assert ran.code == ExitCode.COULD_NOT_TELL
    (refused,) = (item["refusals"] for item in ready["items"] if item["topic"] == "nodes")
    assert "accepts no key of this user" in refused[0]["reason"]
    report = cluster.check("--settings", str(tmp_path / "s.toml"))
    concluded = sorted({f.check for f in report.findings if f.status is Status.UNKNOWN})
    assert ready["unknown"] == refused[0]["checks"] == concluded


@pytest.fixture
def ipv6(cluster: Practice) -> Iterator[str]:
    """Both nodes with an IPv6 address on the second private network."""
    knob = "/proc/sys/net/ipv6/conf/{all,default,eth2}/disable_ipv6"
    if not Path("/proc/sys/net/ipv6").exists():
        pytest.skip("this kernel has no IPv6, so IPv6 paths were not tested")
    for number in (1, 2):
        on = f"for f in {knob}; do echo 0 >$f; done; ip address add fd00:11::{number}/64 dev eth2 nodad"
        assert run(cluster.cluster, f"rac{number}", "bash", "-c", on).returncode == 0
    yield "fd00:11::/64"
    for number in (1, 2):
        run(cluster.cluster, f"rac{number}", "bash", "-c", f"for f in {knob}; do echo 1 >$f; done")


@pytest.mark.beyond_sample
def test_an_ipv6_network_is_probed_in_the_same_way(cluster, ipv6, tmp_path):
    words = ("--grid-home", str(tmp_path), "--network", ipv6, "--peer", "rac2")
    left_out = {"IC-GRID-007", "IC-HAIP-003", "IC-OWNER-003", "IC-MCAST-001"}
    assert problems(cluster.check(*words)).keys() - NOT_JUDGED == left_out
    cluster.lab("break", "switch-mtu")
    finding = problems(cluster.check(*words, "df-ping"))["IC-PATH-003"]
    assert finding.title.startswith("Jumbo frames vanish on fd00:11::/64 between rac1 and rac2, both ways.")
    expected = "packets of 9000 bytes (ping -s 8952) 0 of 20 answered, no error; largest that passes 1500 bytes"
    assert any(expected in line for line in finding.seen)


@pytest.mark.beyond_sample
def test_findings_refer_to_existing_evidence(cluster):
    cluster.lab("break", "switch-mtu")
    report = cluster.check()
    recorded = {(entry.node, entry.topic) for entry in report.journal}
    for finding in report.findings:
        assert finding.evidence or finding.code in ("RW-ENGINE-005", "IC-HAIP-003", "IC-SIZE-006"), finding.title
        for reference in finding.evidence:
            assert (reference.node, reference.topic) in recorded, (finding.title, reference)


def test_the_exit_code_matches_the_text(cluster):
    assert cluster.racwire("check", "--lab", "df-ping").returncode == ExitCode.PASS
    cluster.lab("break", "switch-mtu")
    ran = cluster.racwire("check", "--lab", "df-ping")
    assert ran.returncode == ExitCode.FAILURES
    assert ran.stdout.splitlines()[1].startswith("1 cause  1 FAIL")
    assert ran.stderr == ""


def test_only_the_named_check_runs_and_only_its_facts_are_queried(cluster):
    report = cluster.check("clusterware")
    assert {f.check for f in report.findings} == {"clusterware"}
    assert not [entry for entry in report.journal if entry.topic.startswith("path") or entry.topic == "ssh"]


def test_a_file_is_written_completely_and_not_over_another(cluster, tmp_path):
    out = tmp_path / "report.json"
    ran = cluster.inside("check", "--format", "json", "-o", str(out), "interfaces")
    assert (ran.code, ran.out) == (ExitCode.PASS, "")
    assert json.loads(out.read_text())["schema"] == "racwire-report/2"
    again = cluster.inside("check", "-o", str(out), "interfaces")
    assert again.code == ExitCode.USAGE


def test_an_interrupted_run_shows_its_results(cluster):
    cluster.lab("break", "slow-ssh")
    running = OnTerminal(cluster, "check", "--lab")
    # The check of Clusterware is through, and the peer takes its time to answer.
    running.until_it_shows(r"(?s)clusterware known.*checks concluded")
    out, shown = running.interrupted()
    assert running.process.returncode == ExitCode.INTERRUPTED
    assert STOPPING in shown
    assert re.search(r"\d+ UNKNOWN  [1-9]\d* PASS", out)
    assert "Interrupted: the report contains the findings up to then." in out
    assert "Traceback" not in shown


def test_an_unusable_grid_home_is_one_sentence(cluster, tmp_path):
    report = cluster.check("clusterware", "--grid-home", str(tmp_path))
    finding = problems(report)["IC-GRID-007"]
    assert finding.status is Status.UNKNOWN
    assert str(tmp_path) in finding.title


@pytest.mark.beyond_sample
def test_without_clusterware_the_networks_and_peers_are_named_on_the_command_line(cluster, tmp_path):
    report = cluster.check(
        "--grid-home", str(tmp_path), "--network", "192.168.10.0/24", "--network", NETWORK_2, "--peer", "rac2"
    )
    left_out = {f.code: f.status for f in report.findings if f.status is not Status.PASS}
    codes = ("IC-GRID-007", "RW-ENGINE-005", "IC-HAIP-003", "IC-MCAST-001")
    assert {code: status for code, status in left_out.items() if code not in NOT_JUDGED} == dict.fromkeys(
        codes, Status.SKIPPED
    )
    assert left_out.keys() >= NOT_JUDGED


@pytest.mark.beyond_sample
def test_the_dry_run_names_what_a_run_uses_and_does_none_of_it(cluster):
    ran = cluster.racwire("plan", "--lab")
    assert ran.returncode == 0
    cluster.lab("break", "switch-mtu")
    for entry in cluster.check().journal:
        if entry.topic not in ("grid home", "ssh") and not entry.topic.startswith("path "):
            # The plan has an example for each argument, and a line for each one of a script.
            for action in re.split("; |\n", entry.action.replace("INTERFACE", "eth1")):
                command = re.sub(r"^(lsnrctl status) \S+$", r"\1 NAME", action.split("/bin/")[-1])
                assert command in ran.stdout, entry.action
    for words in ("/etc/oracle/olr.loc", "BatchMode=yes", "ping -V", "/proc/net/snmp", "at most 400 packets"):
        assert words in ran.stdout, words


def test_daemons_of_the_practice_cluster_do_not_count_for_its_host(cluster):
    directory = cluster.environment["RACWIRE_LAB_DIR"]
    assert [d for d in css_daemons() if directory in d.executable + d.argv0] == []
    assert cluster.check("clusterware").count(Status.PASS) == 1
