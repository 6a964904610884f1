"""Gathering the nodes: which nodes are queried, and the report about a node that fails or is this node again."""

import msgspec
import pytest

from checks.model.facts import Address, Database, Unknown, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings, Settings
from checks.run import gathering
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.sources.probes.safety import UnsafePathError, public_subnets
from tests.fixtures.clusters import cluster, node, with_interface
from tests.fixtures.instance_states import StraightIn, instances, practice

RAC1, RAC2 = cluster(2).nodes


async def nodes(monkeypatch, peers, answer):
    async def local(name, journal):
        return msgspec.structs.replace(RAC1, name=name)

    async def peer(shell, journal, timeout_s):
        return answer(shell)

    async def shell(self, name):
        return name

    monkeypatch.setattr(gathering, "read_local_node", local)
    monkeypatch.setattr(gathering, "read_peer", peer)
    monkeypatch.setattr(Session, "shell", shell)
    session = Session(Settings(cluster=ClusterSettings(peers=peers)), Journal())
    session.local_node = "rac1"
    known = await gathering._nodes(session, cluster(2))
    return {node.name: node for node in known}


@pytest.mark.parametrize("name", ["rac1", "RAC1", "rac1.example.com", "grid@rac1", "localhost"])
async def test_settings_shared_by_all_nodes_may_name_this_node_too(monkeypatch, name):
    assert list(await nodes(monkeypatch, (name, "rac2"), lambda _: RAC2)) == ["rac1", "rac2"]


async def test_a_peer_that_is_this_node_is_reported_and_not_probed(monkeypatch):
    known = await nodes(monkeypatch, ("scan",), lambda _: msgspec.structs.replace(RAC1, name="scan"))
    assert isinstance(known["scan"], UnreadNode)
    assert known["scan"].reason.startswith("scan is another name of rac1: specify the other node")


async def test_any_failure_of_one_peer_does_not_affect_the_others(monkeypatch):
    def answer(name):
        if name == "rac3":
            raise ValueError("embedded null byte")
        if name == "rac4":
            raise ShellError("rac4 is down.")
        return RAC2

    known = await nodes(monkeypatch, ("rac2", "rac3", "rac4"), answer)
    assert known["rac2"] == RAC2
    assert known["rac3"] == UnreadNode("rac3", "Reading rac3 failed: ValueError: embedded null byte")
    assert known["rac4"] == UnreadNode("rac4", "rac4 is down.")


async def test_a_private_network_that_is_also_public_is_not_probed_and_the_reason_says_so(monkeypatch):
    def refuse(*_, **__):
        raise UnsafePathError("10.20.0.0/24 overlaps the public network 10.20.0.0.")

    monkeypatch.setattr(gathering, "PathRun", refuse)
    known = await gathering._paths(Session(Settings(), Journal()), cluster(2))
    assert known == Unknown("No packet was sent: 10.20.0.0/24 overlaps the public network 10.20.0.0.")


def test_the_range_of_a_public_network_comes_from_its_addresses():
    wide = with_interface(node(1), "eth0", addresses=(Address("10.20.0.1", 16),))
    assert "10.20.0.0/16" in public_subnets(cluster([wide, node(2)]))


@pytest.mark.parametrize(("cluster_database", "is_included"), [("FALSE", False), ("TRUE", True)])
async def test_a_database_without_an_interconnect_is_left_out_with_all_its_findings(cluster_database, is_included):
    source = instances(1)
    alone = {**source.states_by_number[1].parameters, "cluster_database": cluster_database}
    source.change(1, parameters=alone)
    session = Session(Settings(), Journal())
    session.databases = StraightIn(practice(source)).databases()
    found = await gathering._database(session, cluster(2))
    assert isinstance(found, Database) is is_included
    if not is_included:
        assert found.reason == "prod is not a RAC database (cluster_database is FALSE) and uses no interconnect."
        known = msgspec.structs.replace(cluster(2), database=found)
        assert await gathering._activity(session, known) == await gathering._history(session, known) == found
