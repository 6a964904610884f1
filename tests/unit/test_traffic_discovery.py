"""The sources that the traffic feed follows: the cluster is found without a check, and grows with each answer."""

import asyncio
import dataclasses
from contextlib import aclosing

import pytest

from checks.model.facts import NotAsked, NotGathered, Unknown
from checks.model.settings import Settings
from checks.run import gathering
from checks.sources.nodes.session import Session
from checks.sources.nodes.shell import ShellError
from checks.traffic import discovery
from checks.traffic.discovery import find_cluster, growing_cluster
from tests.fixtures.clusters import clusterware, node


async def test_the_sources_are_found_without_a_check_and_failures_are_unknown(monkeypatch):
    async def nodes(session, cluster):
        assert cluster.clusterware == clusterware()
        return (node(1),)

    async def fails(session, cluster):
        raise ShellError("it broke")

    async def hangs(session, cluster):
        await asyncio.sleep(60)

    async def known(session, cluster):
        session.local_node = "rac1"
        return clusterware()

    doings = {"clusterware": known, "nodes": nodes, "networks": fails, "database": hangs}
    changed = [
        dataclasses.replace(g, gather=doings[g.group], limit_s=0.1 if g.group == "database" else 5)
        for g in discovery.GATHERERS
        if g.group in doings
    ]
    monkeypatch.setattr(discovery, "GATHERERS", changed)
    found = await find_cluster(Settings())
    assert (found.local_node, found.read_nodes()) == ("rac1", (node(1),))
    assert found.networks == Unknown("Reading the private networks failed: ShellError: it broke")
    assert found.database == Unknown("Reading the database took over 0 s and was stopped.")


async def test_a_cluster_grows_with_each_answer_while_a_peer_and_the_database_hang(monkeypatch):
    released, all_nodes_seen = asyncio.Event(), asyncio.Event()

    async def known(session, cluster):
        session.local_node = "rac1"
        return clusterware(3)

    async def read_here(name, journal):
        return node(1)

    async def read_there(name, *more):
        return node(int(name.removeprefix("rac")))

    async def shell(session, name):
        if name == "rac3":
            await released.wait()
        return name

    async def database(session, cluster):
        await released.wait()
        return NotAsked("none")

    async def networks(session, cluster):
        await all_nodes_seen.wait()
        return await gathering._networks(session, cluster)

    monkeypatch.setattr(gathering, "read_local_node", read_here)
    monkeypatch.setattr(gathering, "read_peer", read_there)
    monkeypatch.setattr(Session, "shell", shell)
    doings = {"clusterware": known, "database": database, "networks": networks}
    changed = [dataclasses.replace(g, gather=doings.get(g.group, g.gather)) for g in discovery.GATHERERS]
    monkeypatch.setattr(discovery, "GATHERERS", changed)
    async with asyncio.timeout(15), aclosing(growing_cluster(Settings())) as clusters:
        async for found in clusters:
            pending = {n.name for n in found.unread_nodes() if n.is_pending}
            assert pending <= {"rac1", "rac2", "rac3"}
            if found.is_gathered("nodes") and pending == {"rac3"}:
                assert [n.name for n in found.read_nodes()] == ["rac1", "rac2"]
                assert [p.node for p in found.networks[0].ports] == ["rac1", "rac2"]
                assert isinstance(found.database, NotGathered)
                released.set()
            if found.is_gathered("nodes") and not pending:
                all_nodes_seen.set()
                assert [p.node for p in found.networks[0].ports] == ["rac1", "rac2", "rac3"]
        assert [n.name for n in found.read_nodes()] == ["rac1", "rac2", "rac3"]
        assert len(found.networks[0].ports) == 3
        assert found.database == NotAsked("none")


async def test_a_closed_discovery_leaves_no_task(monkeypatch):
    async def hangs(session, cluster):
        await asyncio.sleep(60)

    monkeypatch.setattr(discovery, "GATHERERS", [dataclasses.replace(g, gather=hangs) for g in discovery.GATHERERS])
    before = asyncio.all_tasks()
    clusters = growing_cluster(Settings())
    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.05):
            await anext(clusters)
    await clusters.aclose()
    assert asyncio.all_tasks() == before
