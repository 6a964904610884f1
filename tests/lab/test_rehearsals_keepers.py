"""The printed commands for each network service, verified by a reboot of the node from its files: to jumbo frames and
back."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.lab.lab_support import needs_namespaces, run
from tests.lab.rehearsal import Rehearsal

pytestmark = [pytest.mark.lab, needs_namespaces, pytest.mark.beyond_sample]

FILES = {
    "rac1": "/etc/NetworkManager/system-connections/eth1.nmconnection",
    "rac2": "/etc/sysconfig/network-scripts/ifcfg-eth1",
    "rac3": "/etc/systemd/network/10-eth1.network",
}
"""Where each node of a mixed cluster keeps its first private interface."""


@pytest.fixture
def rehearsal(tmp_path) -> Iterator[Rehearsal]:
    made = Rehearsal(tmp_path, nodes=3, keeper="mixed")
    yield made
    made.end()


def test_printed_commands_of_each_network_service_and_their_rollback_survive_a_boot(rehearsal):
    was = {node: boot_mtus(rehearsal, node) for node in FILES}
    rehearsal.begin(9000)
    rehearsal.prove(rehearsal.step())
    rehearsal.verify()
    rehearsal.change("override", "--by", "Ann Lee", "--reason", "A rehearsal without load.")
    rehearsal.walk("survives-boot")
    booted = [block["node"] for block in rehearsal.step()["commands"] if "reboot" in block["lines"]]
    assert sorted(booted) == ["rac1", "rac2", "rac3"]  # each has its own network service
    rehearsal.walk("first-node")
    assert mtus(rehearsal) == {node: [9000, 9000] for node in FILES}

    result = rehearsal.change(
        "rollback", "--by", "Ann Lee", "--reason", "The rehearsal is of the way back.", node="rac3"
    )
    assert result.code == 0, result.err
    while rehearsal.current not in ("first-node", "sign-off"):
        rehearsal.walk(next_of(rehearsal), look_first=True)
    for node in FILES:
        rehearsal.inside(node, ["reboot"])
    assert mtus(rehearsal) == {node: [1500, 1500] for node in FILES}
    assert {node: boot_mtus(rehearsal, node) for node in FILES} == was


def next_of(rehearsal: Rehearsal) -> str:
    """The step after the current one."""
    steps = [step["id"] for step in rehearsal.change("status", "--format", "json").document["steps"]]
    return str(steps[steps.index(rehearsal.current) + 1])


def mtus(rehearsal: Rehearsal) -> dict[str, list[int]]:
    return {node: [rehearsal.mtu(node, nic) for nic in ("eth1", "eth2")] for node in FILES}


def boot_mtus(rehearsal: Rehearsal, node: str) -> list[str]:
    """Return the text of a node's file without empty lines: some network services leave an empty line."""
    return [line for line in run(rehearsal.lab, node, "cat", FILES[node]).stdout.splitlines() if line.strip()]
