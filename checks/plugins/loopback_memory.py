"""Do the loopback interface and the memory reserve of each node suit Oracle's inter-process communication?"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec

from checks.model.check import PassKind, UnknownKind, WarnKind, check
from checks.model.effect import Effect
from checks.model.facts import Cluster, NodeMemory
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.plugins.shared.grouping import alike, briefly, named, some, topics_of
from checks.plugins.shared.host_facts import HOST_TOPIC, not_known_findings, parts_of, skipped, skipped_without_hosts
from checks.rules.host_limits import LOOPBACK_MTU, reserve_refused, reserve_wanted_kb
from checks.rules.observed.states import read_on, state

_NOTE = "MOS 2041723.1"
_WHY = (
    "Packets over the loopback interface may be as large as its MTU, and the kernel needs memory in one piece for "
    "each. Without such a piece, sending fails with ORA-27300 (status 105) and ORA-27301 (No buffer space "
    "available): an instance hangs or ends."
)
SUITABLE = PassKind("IC-LOOP-001", "The memory reserve of a node suits its loopback interface")
LARGE = PassKind("IC-LOOP-002", "The loopback interface has a large MTU, and the node has the memory reserve for it")
SMALL_RESERVE = WarnKind(
    "IC-LOOP-003", "A node has a large MTU on the loopback interface and a small memory reserve", _WHY, (_NOTE,)
)
NOT_KNOWN = UnknownKind("IC-LOOP-004", "The memory reserve of a node is not known")


@check(
    "loopback-memory",
    question="Do the loopback interface and the memory reserve of each node suit Oracle?",
    needs=("nodes", "setups"),
    kinds=(SUITABLE, LARGE, SMALL_RESERVE, NOT_KNOWN),
)
def loopback_memory(cluster: Cluster) -> Iterator[Finding]:
    """Compares the MTU of lo and vm.min_free_kbytes of each node with MOS 2041723.1.

    An MTU of lo above 16436 together with a reserve below 0.4 % of the memory for each NUMA node is a warning. The
    large MTU, 65536 in kernels from 3.6 on, passes with a sufficient reserve.
    """
    memory, unknown = parts_of(cluster, lambda host: host.memory)
    mtus = {node: _loopback_mtu(cluster, node) for node in memory}
    large = [node for node in memory if (mtus[node] or 0) > LOOPBACK_MTU]
    short = [node for node in large if memory[node].min_free_kb < reserve_wanted_kb(memory[node])]
    for same in alike(short, lambda n: (_lasting(memory[n]), mtus[n], bool(_refused(memory[n])))):
        yield _short(same, memory[same[0]], mtus[same[0]] or 0)
    enough = [node for node in large if node not in short]
    for mtu in sorted({mtus[node] for node in enough if mtus[node]}, key=lambda value: value or 0):
        nodes = [node for node in enough if mtus[node] == mtu]
        yield LARGE.finding(
            f"lo of {named(nodes, 'node')} has MTU {mtu}; vm.min_free_kbytes has the reserve that Oracle recommends "
            "for it.",
            subject=f"{briefly(nodes, 'node')}: lo {mtu}",
            data={"mtu_bytes": mtu},
            seen=some([_line(node, memory[node]) for node in nodes]),
            evidence=topics_of(nodes, "interfaces", HOST_TOPIC),
            observed=read_on(LARGE.code, nodes),
        )
    if fine := [node for node in memory if node not in large and mtus[node] is not None]:
        yield SUITABLE.finding(
            f"lo of {named(fine, 'node')} has MTU {max(mtus[n] or 0 for n in fine)}, which needs no larger reserve of "
            "memory.",
            subject=f"{briefly(fine, 'node')}: lo small",
            seen=some([_line(node, memory[node]) for node in fine]),
            evidence=topics_of(fine, "interfaces", HOST_TOPIC),
            observed=read_on(SUITABLE.code, fine),
        )
    yield from not_known_findings(NOT_KNOWN, "The memory reserve of {} is", unknown, "loopback-memory")
    if not unknown and not any(mtu is not None for mtu in mtus.values()):
        reason = "No node that was read shows a loopback interface."
        yield skipped(SUITABLE, reason, "no loopback", cluster) if memory else skipped_without_hosts(SUITABLE)


def _short(nodes: list[str], memory: NodeMemory, mtu: int) -> Finding:
    wanted = reserve_wanted_kb(memory)
    return SMALL_RESERVE.finding(
        f"lo of {named(nodes, 'node')} has MTU {mtu}, and vm.min_free_kbytes is {memory.min_free_kb:,}, less than the "
        f"{wanted:,} that Oracle recommends.",
        subject=f"{briefly(nodes, 'node')}: reserve {memory.min_free_kb:,} KB",
        data={"min_free_kb": memory.min_free_kb, "wanted_kb": wanted, "mtu_bytes": mtu},
        seen=some([_line(node, memory) for node in nodes]),
        expected=(
            f"vm.min_free_kbytes of {wanted:,} or more: 0.4 % of the memory for each NUMA node; or an MTU of lo of "
            f"{LOOPBACK_MTU}",
        ),
        next=[
            NextStep(
                "Find out whether it has happened.",
                ("grep -h -E 'ORA-2730[01]' $ORACLE_BASE/diag/rdbms/*/*/trace/alert_*.log",),
                f"the owner of the database's home on {named(nodes, 'node')}",
            ),
            _raise_reserve(nodes, memory, wanted),
        ],
        evidence=topics_of(nodes, "interfaces", HOST_TOPIC),
        nodes=nodes,
        extent=(len(nodes), "nodes"),
        observed=[state("vm.min_free_kbytes", node, nic="lo", value=memory.min_free_kb) for node in nodes],
    )


def _raise_reserve(nodes: list[str], memory: NodeMemory, wanted: int) -> NextStep:
    where = f"root on {named(nodes, 'node')}"
    if why_not := _refused(memory):
        return NextStep(
            f"Do not raise vm.min_free_kbytes to {wanted:,} KB while {nodes[0]} runs: {why_not}. Set the MTU of lo to "
            f"{LOOPBACK_MTU} in the boot configuration instead ({_NOTE}).",
            where=where,
            is_change=True,
            effect=Effect.AT_NEXT_START,
        )
    return NextStep(
        "Raise the reserve on one node after the other, and in /etc/sysctl.d.",
        (shell("sysctl -w vm.min_free_kbytes={wanted}", wanted=wanted),),
        where,
        is_change=True,
    )


def _refused(memory: NodeMemory) -> str:
    return reserve_refused(memory, reserve_wanted_kb(memory))


def _lasting(memory: NodeMemory) -> NodeMemory:
    """Return the memory without what differs from node to node and from time to time."""
    return msgspec.structs.replace(memory, available_kb=None, huge_kb=None)


def _line(node: str, memory: NodeMemory) -> str:
    numa = f", {memory.numa_nodes} NUMA nodes" if memory.numa_nodes > 1 else ""
    return (
        f"{node}: vm.min_free_kbytes {memory.min_free_kb:,} with {memory.total_kb / 2**20:,.0f} GB of memory{numa} "
        f"(recommended {reserve_wanted_kb(memory):,})"
    )


def _loopback_mtu(cluster: Cluster, node: str) -> int | None:
    read = cluster.node(node)
    loopback = read.interface("lo") if read else None
    return loopback.mtu if loopback and loopback.administratively_up else None
