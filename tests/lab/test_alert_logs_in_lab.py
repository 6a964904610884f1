"""The alert logs of practice nodes as racwire reads them: after an eviction, a HAIP that moved, and hours later."""

from __future__ import annotations

import re
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from checks.model.finding import PROBLEMS, Finding, Status
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.programs.cache_fusion.alert_log import BASE, crs_log, css_trace, database_log
from tests.lab.lab_support import needs_namespaces, needs_nft, run, until
from tests.lab.practice_command import Practice

pytestmark = [
    pytest.mark.lab,
    needs_namespaces,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE PRACTICE DATABASE WAS NOT TESTED: the extra `lab` is not installed",
    ),
]
CHECKS = ("log-lines", "clusterware", "interfaces", "interconnect-in-use", "neighbours")


@pytest.fixture(params=[{"haip_after_s": 1.0}])
def practice(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Practice]:
    practice = Practice(tmp_path / "lab", database=True, **request.param)
    yield practice
    practice.down()


def found(practice: Practice, *checks: str) -> dict[str, Finding]:
    report = practice.check(*(checks or CHECKS))
    return {finding.code: finding for finding in report.findings if finding.status in PROBLEMS}


def log(practice: Practice, node: str, path: str) -> str:
    return (node_home(practice.cluster.directory, node) / BASE / path).read_text()


def labels(practice: Practice, node: str) -> list[str]:
    printed = run(practice.cluster, node, "ip", "-o", "-4", "address").stdout
    return sorted(set(re.findall(r"eth[12]:\d", printed)))


@pytest.mark.beyond_sample
def test_a_node_without_private_networks_is_evicted_and_comes_back(practice: Practice) -> None:
    practice.lab("break", "evicted-node")
    assert not practice.cluster.is_running("rac2", "cssd")
    codes = found(practice)
    assert codes["IC-LOG-005"].status is Status.FAIL
    assert codes["IC-LOG-005"].nodes[0] == "rac2"
    assert codes["IC-GRID-006"].nodes == ("rac2",)
    assert codes["IC-LOG-020"].status is Status.FAIL
    ended = codes["IC-LOG-020"].title
    assert ended.startswith("prac2 on rac2 ended with error 29702 ")
    assert ended.endswith("; it does not run now; rac2 was evicted from the cluster in the same minutes.")
    # Either side can decide first: the trace of the other one has the last stage in any case.
    assert "clssnmPollingThread: node rac2 (2) at 90% heartbeat fatal" in log(practice, "rac1", css_trace("rac1"))
    practice.lab("mend")
    until(lambda: practice.cluster.is_running("rac2", "instance"))
    codes = found(practice, "log-lines", "clusterware", "interfaces")
    assert {code: finding.status for code, finding in codes.items()} == {
        "IC-LOG-004": Status.WARN,
        "IC-LOG-018": Status.WARN,
    }
    assert "; it started again at " in codes["IC-LOG-018"].title
    assert codes["IC-LOG-004"].data["times"] == 1
    assert "CRS-1609" in log(practice, "rac2", crs_log("rac2"))


@pytest.mark.beyond_sample
def test_a_haip_leaves_a_nic_without_link_on_all_nodes_and_returns(practice: Practice) -> None:
    practice.lab("break", "link-down", "--node", "rac2")
    for node in practice.cluster.nodes:
        until(lambda node=node: labels(practice, node) == ["eth1:1", "eth1:2"])
    codes = found(practice)
    # The neighbour entries of the NIC that lost its HAIP are no fault of the cabling.
    assert set(codes) == {"IC-IFACE-004", "IC-USE-006"}
    assert {finding.network for finding in codes.values()} == {"192.168.11.0/24"}
    practice.lab("mend")
    for node in practice.cluster.nodes:
        until(lambda node=node: labels(practice, node) == ["eth1:1", "eth2:1"])
    assert found(practice) == {}


@pytest.mark.beyond_sample
@needs_nft
@pytest.mark.parametrize("practice", [{"ipc_timeout_s": 2.0}], indirect=True)
def test_instances_that_exchange_nothing_report_it_in_their_alert_logs(practice: Practice) -> None:
    for network in ("1", "2"):
        practice.lab("break", "udp-filtered", "--node", "rac2", "--network", network)
    until(lambda: "IPC Send timeout detected" in log(practice, "rac2", database_log("prac", "prac2")))
    finding = found(practice)["IC-LOG-007"]
    assert "prac2 to instance 1" in finding.title


@pytest.mark.beyond_sample
def test_lines_of_some_hours_ago_are_reported_as_the_past(practice: Practice) -> None:
    practice.lab("break", "log-lines")
    codes = found(practice)
    assert {code: finding.status for code, finding in codes.items()} == {
        "IC-LOG-003": Status.WARN,
        "IC-LOG-007": Status.WARN,
    }
    assert "(3 h ago)" in codes["IC-LOG-003"].title
    practice.lab("mend")
    assert found(practice) == {}
