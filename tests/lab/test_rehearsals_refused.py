"""Refused and dangerous changes while the cluster still runs: rehearsed on a practice cluster."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import pytest

from tests.lab.lab_support import needs_namespaces, run
from tests.lab.rehearsal import Rehearsal, waiting

pytestmark = [pytest.mark.lab, needs_namespaces]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path_factory.mktemp("rehearsal"))
    yield made
    made.end()


@pytest.fixture
def rehearsal(cluster: Rehearsal) -> Iterator[Rehearsal]:
    yield cluster
    cluster.forget_change()


@pytest.mark.beyond_sample
def test_a_faulty_cluster_is_refused_with_the_name_of_the_fault(rehearsal):
    rehearsal.outside(["racwire lab break link-down"])
    try:
        result = rehearsal.change("new", "--to", "9000")
    finally:
        rehearsal.outside(["racwire lab mend link-down"])
    assert result.code == 2
    assert "IC-IFACE-004" in result.out
    assert "192.168.11.0/24" in result.out
    assert "no change was opened" in result.err
    assert not list(rehearsal.changes.glob("*.change"))


@pytest.mark.beyond_sample
def test_a_cluster_during_an_upgrade_is_refused_and_cannot_be_accepted(rehearsal):
    crsctl = rehearsal.directory / "nodes" / "rac1" / "grid" / "bin" / "crsctl"
    normal = crsctl.read_text()
    crsctl.write_text(normal.replace("[NORMAL]", "[ROLLING PATCH]"))
    try:
        result = rehearsal.change("new", "--despite", "CH-START-006", "--reason", "We know what we do here.")
    finally:
        crsctl.write_text(normal)
    assert result.code == 2
    assert result.out.startswith("CH-START-006  The cluster is mid-upgrade")
    assert "ROLLING PATCH" in result.out


@pytest.mark.beyond_sample
def test_a_live_change_is_called_dangerous_by_the_next_verification_at_any_step(rehearsal):
    rehearsal.begin(9000)
    rehearsal.attest(rehearsal.step())
    rehearsal.inside("rac2", ["ip link set dev eth1 mtu 9000"])
    try:
        verified = rehearsal.verify()
        assert verified["code"] == 2
        danger = [surprise["sentence"] for surprise in verified["surprises"] if surprise.get("dangerous")]
        assert len(danger) == 1
        assert "eth1" in danger[0]
        assert "rac2" in danger[0]
        remedies = [remedy for result in verified["results"] for remedy in result.get("next", ())]
        assert any("ip link set dev eth1 mtu 1500" in remedy for remedy in remedies)
        assert "DANGER" in rehearsal.change("status").out
    finally:
        rehearsal.inside("rac2", ["ip link set dev eth1 mtu 1500"])
    assert not any("mtu-untouched" in waited for waited in waiting(rehearsal.verify()))


@pytest.mark.beyond_sample
def test_only_one_change_is_open_at_a_time_even_without_a_shared_directory(rehearsal):
    own = ("--directory", "/var/tmp/changes")
    assert rehearsal.change(*own, "new", "--to", "9000").code == 0
    refused = {node: rehearsal.change(*own, "new", node=node) for node in rehearsal.nodes}
    assert {node: (result.code, result.out) for node, result in refused.items()} == dict.fromkeys(
        rehearsal.nodes, (64, "")
    )
    assert "is still open" in refused["rac1"].err
    assert "is open on rac1" in refused["rac2"].err

    journal = rehearsal.change(*own, "status", "--format", "json").document["journal"]
    copied = run(rehearsal.lab, "rac1", "cat", journal).stdout
    rehearsal.inside("rac2", ["mkdir -p /var/tmp/changes", f"printf %s {shlex.quote(copied)} > {journal}"])
    assert rehearsal.change(*own, "attest", "--by", "Ann Lee", "--note", "all, 02:00 to 04:00", node="rac2").code == 0
    assert rehearsal.change(*own, "status", "--format", "json", node="rac2").document["current"] == "baseline"
