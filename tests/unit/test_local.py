"""The facts of the machine that runs the tests."""

import os

import pytest

from checks.model.facts import KernelCounters, Unknown
from checks.model.journal import Journal
from checks.sources.kernel_files import THIS_NODE
from checks.sources.nodes import netlink
from checks.sources.nodes.local import read_local_node
from checks.sources.nodes.shell import ShellError


async def test_this_node_is_read_without_privilege_and_recorded_in_the_journal() -> None:
    journal = Journal()
    node = await read_local_node("rac1", journal)
    assert (node.name, node.read_by, node.kernel_release) == ("rac1", "netlink", os.uname().release)
    loopback = next(interface for interface in node.interfaces if interface.kind == "loopback")
    assert loopback.mtu > 0
    assert isinstance(loopback.speed_mbps, Unknown)
    assert isinstance(node.counters, KernelCounters)
    assert node.counters.value("Ip", "ReasmFails") is not None
    assert not isinstance(node.sysctls["net.ipv4.ipfrag_time"], Unknown)
    assert f"net.ipv4.conf.{loopback.name}.rp_filter" in node.sysctls
    assert [(entry.node, entry.topic, entry.outcome) for entry in journal.entries] == [
        ("rac1", topic, "ok") for topic in ("interfaces", "routes", "neighbours", "counters", "racwires", "sysctls")
    ]
    assert tuple((entry.topic, entry.action) for entry in journal.entries) == tuple(
        (read.topic, read.how) for read in THIS_NODE.reads
    )
    assert f"{loopback.name}: <" in journal.entries[0].text


async def test_a_kernel_that_does_not_answer_makes_an_unread_node(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> netlink.Dump:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(netlink, "dump", refuse)
    with pytest.raises(ShellError, match="kernel of rac1 did not report its interfaces: Operation not permitted"):
        await read_local_node("rac1", Journal())
