"""The practice database: real blocks and losses, queried with the real driver; each fault, and its complete removal."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import pytest

from checks.run.settings_file import load_settings
from racwire_lab import Lab, up
from racwire_lab.cluster.ssh_configuration import node_home
from racwire_lab.database.backend import Cancellation
from racwire_lab.database.live import Daemons
from tests.lab.database_client import Client, Refused, counters
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft, processes_of, run, settings, until

pytestmark = [
    needs_namespaces,
    needs_nft,
    pytest.mark.skipif(
        any(find_spec(name) is None for name in ("duckdb", "sqlglot", "cryptography")),
        reason="THE PRACTICE DATABASE WAS NOT TESTED: the extra `lab` is not installed",
    ),
]


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up(mtu=1500, fragment_time_s=2)


@pytest.fixture(scope="module")
def shared_client(running: Lab) -> Iterator[Client]:
    client = Client(running)
    yield client
    client.close()


@pytest.fixture
def cluster(running: Lab) -> Iterator[Lab]:
    before = {node: (settings(running, node), limits(running, node)) for node in running.nodes}
    yield running
    running.mend()
    assert {node: (settings(running, node), limits(running, node)) for node in running.nodes} == before


@pytest.fixture
def client(cluster: Lab, shared_client: Client) -> Client:
    until(lambda: flows_without_loss(shared_client))
    return shared_client


def limits(cluster: Lab, node: str) -> str:
    return run(cluster, node, "sh", "-c", "cat /proc/sys/net/ipv4/ipfrag_*").stdout


def flows_without_loss(client: Client) -> bool:
    """Whether every instance receives, and from now on, for a while, none loses."""
    lost, received = client.lost(), client.received()
    until(lambda: all(now >= received.get(number, 0) + 20 for number, now in client.received().items()))
    return client.lost() == lost and len(received) == 2


def lost_since(client: Client, before: dict[tuple[int, int], int]) -> dict[tuple[int, int], int]:
    return {pair: lost - before.get(pair, 0) for pair, lost in client.lost().items() if lost > before.get(pair, 0)}


def test_blocks_come_from_both_instances_and_none_is_lost(client: Client) -> None:
    instances = client.ask("SELECT inst_id, instance_name, host_name FROM gv$instance ORDER BY inst_id")
    assert [tuple(row.values()) for row in instances] == [(1, "prac1", "rac1"), (2, "prac2", "rac2")]
    before = {node: counters(client.cluster, node) for node in client.cluster.nodes}
    assert flows_without_loss(client)
    for number, node in enumerate(client.cluster.nodes, 1):
        after, statistics = counters(client.cluster, node), client.statistics()[number]
        assert statistics["gc blocks lost"] == 0
        assert statistics["gc cr blocks served"] > 0
        assert after["Ip.ReasmOKs"] > before[node]["Ip.ReasmOKs"]  # a block is cut at this MTU
        for quiet in ("Ip.ReasmFails", "Udp.RcvbufErrors", "Ip.ReasmTimeout"):
            assert after[quiet] == before[node][quiet]
    pings = client.ask("SELECT inst_id, instance, count_500b, count_8k FROM gv$instance_ping WHERE inst_id <> instance")
    assert {(row["inst_id"], row["instance"]) for row in pings} == {(1, 2), (2, 1)}
    assert client.ask("SELECT name FROM v$cluster_interconnects ORDER BY name") == [
        {"name": "eth1:1"},
        {"name": "eth2:1"},
    ]


def px_counts(cluster: Lab) -> tuple[int, int, int]:
    """Return the GV$ statements and the slaves of all instances, and the bytes of rows that were sent."""
    homes = [node_home(cluster.directory, node) for node in cluster.nodes]
    states = Daemons(homes[0], homes).states("everywhere", Cancellation())
    sums = [(s.px_statements, s.px_slaves, s.clients["ipq"][0]) for s in states]
    return sum(s[0] for s in sums), sum(s[1] for s in sums), sum(s[2] for s in sums)


def test_a_gv_statement_occupies_a_slave_on_each_instance_and_a_v_statement_none(client: Client) -> None:
    before = px_counts(client.cluster)
    client.ask("SELECT name, value FROM v$sysstat")
    assert px_counts(client.cluster) == before
    client.ask("SELECT inst_id, name, value FROM gv$sysstat")
    statements, slaves, sent = (a - b for a, b in zip(px_counts(client.cluster), before, strict=True))
    assert (statements, slaves) == (1, 2)
    assert 200 < sent < 4000, "the rows of the other instance did not cross the network"


def test_the_scan_leads_to_every_instance(client: Client) -> None:
    query = "SELECT instance_number AS n FROM v$instance"
    names = {client.ask(query, f"{client.access.connect}?retry_count={i}")[0]["n"] for i in range(4)}
    assert names == {1, 2}


def test_every_node_shows_the_process_of_its_instance(client: Client) -> None:
    for number, node in enumerate(client.cluster.nodes, 1):
        names = run(client.cluster, node, "sh", "-c", "cat /proc/[0-9]*/comm").stdout.split()
        assert f"ora_pmon_prac{number}" in names


def test_its_settings_connect_to_it_and_the_password_is_nowhere_else(client: Client) -> None:
    environment = client.cluster.environment("rac1")
    database = load_settings(None, environment).database
    assert (database.connect, database.user) == (client.access.connect, "RACWIRE")
    password_file = Path(database.password_file)
    assert password_file.stat().st_mode & 0o777 == 0o600
    password = password_file.read_text().strip()
    assert len(password) > 16
    assert processes_of(Path(password)) == []
    assert not any(password in value for value in environment.values())
    holding = [p for p in client.cluster.directory.rglob("*") if p.is_file() and password.encode() in p.read_bytes()]
    assert holding == [password_file]


@pytest.mark.beyond_sample
def test_drop_fragments(client: Client) -> None:
    before = counters(client.cluster, "rac2")
    client.cluster.break_("drop-fragments")
    until(lambda: client.lost().keys() >= {(1, 2), (2, 1)})
    until(lambda: counters(client.cluster, "rac2")["Ip.ReasmTimeout"] > before["Ip.ReasmTimeout"])
    assert counters(client.cluster, "rac2")["Ip.ReasmFails"] > before["Ip.ReasmFails"]
    events = client.ask("SELECT event FROM gv$system_event WHERE event LIKE 'gc c% block lost' AND total_waits > 0")
    assert events


@pytest.mark.beyond_sample
def test_small_reassembly_memory(client: Client) -> None:
    lost, before = client.lost(), counters(client.cluster, "rac2")
    client.cluster.break_("small-reassembly-memory")
    assert until(lambda: lost_since(client, lost)).keys() == {(2, 1)}
    after = until(lambda: (c := counters(client.cluster, "rac2"))["Ip.ReasmFails"] > before["Ip.ReasmFails"] + 20 and c)
    assert after["Ip.ReasmTimeout"] - before["Ip.ReasmTimeout"] < 10


@pytest.mark.beyond_sample
def test_small_receive_buffer(client: Client) -> None:
    lost, before = client.lost(), counters(client.cluster, "rac2")
    client.cluster.break_("small-receive-buffer")
    assert until(lambda: lost_since(client, lost)).keys() == {(2, 1)}
    assert counters(client.cluster, "rac2")["Udp.RcvbufErrors"] > before["Udp.RcvbufErrors"]


@pytest.mark.beyond_sample
def test_public_interconnect(client: Client) -> None:
    client.cluster.break_("public-interconnect")
    query = "SELECT inst_id, name, ip_address, is_public, source FROM gv$cluster_interconnects ORDER BY inst_id"
    rows = until(lambda: (found := client.ask(query)) and all(r["is_public"] == "YES" for r in found) and found)
    assert [(r["name"], r["ip_address"]) for r in rows] == [("eth0", "10.20.0.1"), ("eth0", "10.20.0.2")]
    count = ("cat", "/sys/class/net/eth0/statistics/rx_bytes")
    bytes_before = int(run(client.cluster, "rac2", *count).stdout)
    assert flows_without_loss(client)
    assert int(run(client.cluster, "rac2", *count).stdout) > bytes_before + 20 * 8192


@pytest.mark.beyond_sample
def test_cluster_interconnects_set(client: Client) -> None:
    client.cluster.break_("cluster-interconnects-set")
    query = "SELECT inst_id, name, ip_address, source FROM gv$cluster_interconnects WHERE source LIKE 'CLUSTER%'"
    rows = until(lambda: (found := client.ask(query)) and len(found) == 2 and found)
    assert {(r["inst_id"], r["name"], r["ip_address"]) for r in rows} == {
        (2, "eth1", "192.168.10.2"),
        (2, "eth2", "192.168.11.2"),
    }
    parameter = "SELECT inst_id, value FROM gv$parameter WHERE name = 'cluster_interconnects' ORDER BY inst_id"
    assert [r["value"] for r in client.ask(parameter)] == [None, "192.168.10.2:192.168.11.2"]
    assert flows_without_loss(client)


@pytest.mark.beyond_sample
@pytest.mark.parametrize("node", [None, "rac2"])
def test_listener_down(client: Client, node: str | None) -> None:
    query = "SELECT instance_number AS n FROM v$instance"
    fresh = (f"?retry_delay={i}" for i in range(1, 1000))  # a connect string that was not used before: a new login
    here, scan = "10.20.0.2:1521/prac", client.access.connect
    assert client.refusal(query, here + next(fresh)) == ""
    # As soon as the command returns, it applies everywhere: the next query sees no partial state.
    client.cluster.break_("listener-down", node)
    assert "DPY-6005" in client.refusal(query, here + next(fresh))
    if node is None:
        assert "DPY-6005" in client.refusal(query, scan + next(fresh))
    else:
        assert client.ask(query, scan + next(fresh)) == client.ask(query, scan + next(fresh)) == [{"n": 1}]
    client.cluster.mend("listener-down")
    assert client.refusal(query, here + next(fresh)) == ""
    assert client.refusal(query, scan + next(fresh)) == ""


@pytest.mark.beyond_sample
def test_no_grants(client: Client) -> None:
    here = "10.20.0.1:1521/prac"
    client.cluster.break_("no-grants")
    assert "ORA-00942" in client.refusal("SELECT value FROM v$sysstat", here)
    assert client.ask("SELECT USER AS u FROM dual", here) == [{"u": "RACWIRE"}]
    client.cluster.mend()
    assert client.refusal("SELECT value FROM v$sysstat", here) == ""


@pytest.mark.beyond_sample
def test_no_ic_clients(client: Client) -> None:
    here, users = "10.20.0.1:1521/prac", "SELECT name FROM sys.racwire_ic_clients"
    client.cluster.break_("no-ic-clients")
    assert "ORA-00942" in client.refusal(users, here)
    assert client.refusal("SELECT value FROM v$sysstat", here) == ""
    client.cluster.mend()
    assert {row["name"] for row in client.ask(users, here)} == {"cache", "dlm", "ipq"}


@pytest.mark.beyond_sample
def test_no_diagnostics_pack(client: Client) -> None:
    client.cluster.break_("no-diagnostics-pack")
    query = "SELECT DISTINCT value FROM gv$parameter WHERE name = 'control_management_pack_access'"
    until(lambda: client.ask(query) == [{"value": "NONE"}])


@pytest.mark.beyond_sample
def test_hung_instance(client: Client) -> None:
    here = "10.20.0.1:1521/prac"
    client.ask("SELECT value FROM v$sysstat", here)
    client.cluster.break_("hung-instance")
    until(lambda: "DPY-4024" in client.refusal("SELECT value FROM gv$sysstat", here, timeout_s=0.5))
    query = "SELECT value FROM v$sysstat WHERE name = 'gc cr blocks received'"
    before = client.ask(query, here)[0]["value"]
    until(lambda: client.ask(query, here)[0]["value"] > before + 20)
    client.cluster.mend()
    until(lambda: client.refusal("SELECT value FROM gv$sysstat", here, timeout_s=0.5) == "")


@pytest.mark.beyond_sample
def test_instance_restart(client: Client) -> None:
    query = "SELECT inst_id, startup_time FROM gv$instance ORDER BY inst_id"
    before, received = client.ask(query), client.received()
    client.cluster.break_("instance-restart")
    after = until(lambda: (now := client.ask(query))[1] != before[1] and now)
    assert after[0] == before[0]
    assert client.received()[2] < received[2] or received[2] < 200
    again = until(lambda: (now := client.ask(query))[1] != after[1] and now)
    assert again[0] == before[0]
    until(lambda: "DPY-4011" in client.refusal("SELECT 1 AS one FROM dual", "10.20.0.2:1521/prac"))


@pytest.mark.beyond_sample
def test_false_lost_of_12_1(client: Client) -> None:
    def versions() -> list[str]:
        with contextlib.suppress(Refused):  # its server is restarted with that version
            return [row["version"] for row in client.ask("SELECT version FROM gv$instance")]
        return []

    assert versions() == ["19.0.0.0.0"] * 2
    client.cluster.break_("false-lost-12.1")
    until(lambda: versions() == ["12.1.0.2.0"] * 2)
    until(lambda: all(values["gc blocks lost"] > 3 for values in client.statistics().values()))
    assert client.lost() == {}
    client.cluster.mend()
    until(lambda: versions() == ["19.0.0.0.0"] * 2)


@pytest.mark.beyond_sample
def test_peer_down_takes_its_instance_out(client: Client) -> None:
    client.cluster.break_("peer-down", "rac1")
    other = Client(client.cluster, "rac2")
    try:
        assert until(lambda: other.ask("SELECT inst_id FROM gv$instance") == [{"inst_id": 2}])
        lost = other.lost()
        client.cluster.mend()
        until(lambda: len(other.ask("SELECT inst_id FROM gv$instance")) == 2)
        until(lambda: flows_without_loss(other))
        assert lost_since(other, lost) == {}
    finally:
        other.close()


@pytest.mark.beyond_sample
def test_jumbo_blocks_arrive_whole_and_are_lost_in_a_small_switch(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab"):
        cluster = up()
        client = Client(cluster)
        try:
            until(lambda: flows_without_loss(client))
            assert counters(cluster, "rac2")["Ip.ReasmReqds"] == 0
            assert client.lost() == {}
            cluster.break_("switch-mtu")
            until(lambda: client.lost().keys() == {(1, 2), (2, 1)})
            # The other network goes on.
            received = client.received()
            until(lambda: all(now > received[number] + 20 for number, now in client.received().items()))
        finally:
            client.close()


def test_a_lab_without_database(tmp_path: Path) -> None:
    with lab_directory(tmp_path / "lab"):
        cluster = up(database=False)
        assert cluster.database is None
        assert not load_settings(None, cluster.environment("rac1")).database.is_set
        output = run(cluster, "rac1", "sh", "-c", "ls /proc/[0-9]*/cmdline | xargs cat | tr '\\0' ' '").stdout
        assert "ocssd.bin" in output
        assert "ora_pmon" not in output
