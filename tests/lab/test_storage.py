"""storage-mtu on a practice cluster with a storage server: real TCP connections, as the kernel's `ss` shows them."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from checks.model.finding import Finding, Status
from checks.model.link_traffic import LinkUser
from checks.rules.link_users import link_traffic
from tests.lab.lab_support import needs_namespaces, until
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]
CHECKS = ("storage-mtu", "shared-network")


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    started = Practice(tmp_path_factory.mktemp("storage") / "lab", has_storage=True)
    try:
        yield started
    finally:
        started.down()


def found(practice: Practice, *, connections: int = 4) -> dict[str, Finding]:
    """Return the findings once each node has its two connections to the server."""
    reports: list[dict[str, Finding]] = []

    def all_connected() -> bool:
        reports.append({finding.code: finding for finding in practice.check(*CHECKS).findings})
        lines = [line for finding in reports[-1].values() for line in finding.seen if " of NFS to " in line]
        return sum(int(line.split()[1]) for line in lines) >= connections

    until(all_connected)
    return reports[-1]


def test_a_healthy_storage_server_passes_with_what_was_seen(practice: Practice) -> None:
    findings = found(practice)
    assert findings.keys() == {"IC-STORE-001", "IC-SHARE-001"}
    text = " ".join(findings["IC-STORE-001"].seen)
    assert "rac1: 2 connections of NFS to 10.40.0.200 over eth3, MTU 9,000, mss 8,948, path MTU 9,000" in text
    assert "rac2: /backup from 10.40.0.200, NFS version 3 over tcp" in text
    assert "reads and writes in" in text


def test_a_server_at_1500_is_named_as_the_limit(practice: Practice) -> None:
    practice.lab("break", "storage-mtu")
    finding = found(practice)["IC-STORE-002"]
    assert (finding.status, finding.nodes) == (Status.WARN, ("rac1", "rac2"))
    assert finding.data == {"bytes": 1500, "mtu": 9000, "limit": "server"}
    practice.lab("mend", "storage-mtu")
    assert found(practice)["IC-STORE-001"].status is Status.PASS


def test_a_route_with_a_smaller_mtu_is_the_nodes_own_limit(practice: Practice) -> None:
    route = ("10.40.0.200/32", "dev", "eth3")
    shell = ("shell", "rac1", "--", "ip", "route")
    practice.racwire("lab", *shell, "add", *route, "mtu", "lock", "1500")
    try:
        until(lambda: "IC-STORE-004" in found(practice))
        assert found(practice)["IC-STORE-004"].nodes == ("rac1",)
    finally:
        practice.racwire("lab", *shell, "del", *route)


def test_storage_on_a_private_network_is_named(practice: Practice) -> None:
    practice.lab("break", "storage-on-private")
    findings = found(practice)
    assert findings["IC-SHARE-002"].network == "192.168.10.0/24"
    assert "rac1: NFS at /backup from 192.168.10.200" in findings["IC-SHARE-002"].seen
    assert findings["IC-STORE-001"].status is Status.PASS
    for use in (one for one in link_traffic(practice.check("link-saturation").cluster) if one.nics == ("eth1",)):
        (nfs,) = [one for one in use.shares if one.user is LinkUser.STORAGE]
        assert (nfs.name, nfs.remote_ip, nfs.port, nfs.connections) == ("NFS", "192.168.10.200", 2049, 2)
        # A pause of 50 ms after each read and write of 32 KB: about 0.6 MB/s each way.
        assert 200_000 < nfs.bytes_per_s < 700_000
        assert sum(one.percent for one in use.shares) == pytest.approx(100)
    practice.lab("mend", "storage-on-private")
