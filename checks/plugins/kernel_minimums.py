"""Do the kernel settings of the nodes meet Oracle's minimums for the interconnect?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import PassKind, UnknownKind, WarnKind, check
from checks.model.facts import Cluster, Node, NodeMemory
from checks.model.finding import Finding, NextStep, Status, check_again
from checks.model.shell_command import shell
from checks.plugins.shared.grouping import alike, briefly, named, some
from checks.plugins.shared.host_facts import HOST_TOPIC, parts_of
from checks.plugins.shared.settings_text import plan_of
from checks.rules.host_limits import BUFFER_MINIMUM, counts_fragments_by_cpu, fragment_memory_wanted
from checks.rules.node_counts import sysctl
from checks.rules.observed.states import read_on, state

_GUIDE = "Database Installation Guide, minimum parameter settings"
_LIMIT = "net.ipv4.ipfrag_high_thresh"

MET = PassKind("IC-KERNEL-001", "The buffers of the kernel meet Oracle's minimum")
SMALL_BUFFERS = WarnKind(
    "IC-KERNEL-002",
    "The buffers of a node are below Oracle's minimum",
    "A burst of blocks overflows a small buffer, and the kernel drops the rest: the instance counts them as lost. "
    "Clusterware checks these values when it is installed.",
    (_GUIDE, "MOS 563566.1, cause 2"),
)
SMALL_FRAGMENTS = WarnKind(
    "IC-KERNEL-003",
    "The memory for fragments is too small for the CPUs of a node",
    "Kernels from 3.9 to 4.13 count this memory for each CPU apart, 130,000 bytes imprecisely for each. With many CPUs "
    "they drop fragments although memory is free: IPC send timeouts and evictions follow.",
    ("MOS 2008933.1", "Linux include/net/inet_frag.h"),
)
NOT_KNOWN = UnknownKind("IC-KERNEL-004", "Whether the buffers of a node meet Oracle's minimum is not known")


@check(
    "kernel-minimums",
    question="Do the kernel settings of the nodes meet Oracle's minimums?",
    needs=("nodes",),
    uses=("networks", "setups"),
    kinds=(MET, SMALL_BUFFERS, SMALL_FRAGMENTS, NOT_KNOWN),
)
def kernel_minimums(cluster: Cluster) -> Iterator[Finding]:
    """Compares the socket buffers of each kernel with Oracle's minimum, and the memory for fragments with the CPUs.

    Buffers below the minimum are a warning. So is net.ipv4.ipfrag_high_thresh below 130,000 bytes for each CPU, where a
    private network has an MTU below the size of a block and the kernel counts this memory for each CPU (3.9 to 4.13,
    and Oracle Linux 6.6 and later). Newer kernels count exactly.
    """
    small = {node.name: _small(cluster, node.name) for node in cluster.read_nodes()}
    unread = [name for name in small if _values(cluster, name) == {}]
    for same in alike([n for n in small if small[n]], lambda n: tuple(small[n].items())):
        yield _below(cluster, same, small[same[0]])
    memory, _ = parts_of(cluster, lambda host: host.memory)
    imprecise = [node for node in cluster.read_nodes() if _is_short_of_fragments(cluster, node, memory)]
    for group in alike(imprecise, lambda node: (memory[node.name].cpus, sysctl(cluster, node.name, _LIMIT))):
        yield _fragments(cluster, group, memory[group[0].name].cpus or 0)
    fine = [n for n in small if n not in unread and not small[n]]
    if fine:
        yield MET.finding(
            f"The buffers of {named(fine, 'node')} meet Oracle's minimum.",
            subject=f"{briefly(fine, 'node')}: buffers",
            seen=some([f"{n}: {', '.join(f'{k} {v:,}' for k, v in _values(cluster, n).items())}" for n in fine]),
            evidence=[(n, "sysctls") for n in fine],
            observed=read_on(MET.code, fine),
        )
    if unread or not small:
        reason = f"The kernel of {named(unread, 'node')} shows no net.core settings here, as in a container."
        yield MET.finding(
            reason if unread else "No node could be read.", status=Status.SKIPPED, subject="no settings", nodes=unread
        )
    for node in cluster.unread_nodes():
        yield NOT_KNOWN.finding(
            f"The kernel settings of {node.name} are not known, since racwire could not read the node.",
            subject=f"{node.name}: not known",
            seen=(node.reason,),
            next=[check_again("kernel-minimums")],
            evidence=[(node.name, "ssh")],
            nodes=[node.name],
            lacks=[node],
        )


def _values(cluster: Cluster, node: str) -> dict[str, int]:
    return {key: value for key in BUFFER_MINIMUM if (value := sysctl(cluster, node, key)) is not None}


def _small(cluster: Cluster, node: str) -> dict[str, int]:
    return {key: value for key, value in _values(cluster, node).items() if value < BUFFER_MINIMUM[key]}


def _below(cluster: Cluster, nodes: Sequence[str], small: dict[str, int]) -> Finding:
    keys = ", ".join(f"{key} is {value:,}" for key, value in small.items())
    return SMALL_BUFFERS.finding(
        f"The buffers of {named(nodes, 'node')} are below Oracle's minimum: {keys}.",
        subject=f"{briefly(nodes, 'node')}: small buffers",
        data={key.replace(".", "_"): value for key, value in small.items()},
        seen=some([f"{n}: {', '.join(f'{k} {v:,}' for k, v in _values(cluster, n).items())}" for n in nodes]),
        expected=tuple(f"{key} of {BUFFER_MINIMUM[key]:,} bytes or more" for key in small),
        next=[
            NextStep(
                "Find the file that sets them; the last one in the order of sysctl.d(5) applies.",
                ("grep -r -s -E 'net.core.[rw]mem' /etc/sysctl.conf /etc/sysctl.d /usr/lib/sysctl.d",),
                f"any user on {named(nodes, 'node')}",
            ),
            plan_of("receive-buffers"),
            NextStep(
                "Raise them on one node after the other, and in /etc/sysctl.d. Running processes keep their buffers "
                "until they are restarted.",
                tuple(shell("sysctl -w {key}={value}", key=key, value=BUFFER_MINIMUM[key]) for key in small),
                f"root on {named(nodes, 'node')}",
                is_change=True,
            ),
        ],
        evidence=[(node, "sysctls") for node in nodes],
        nodes=nodes,
        extent=(len(small), "settings"),
        observed=[state(key, node, value=value) for node in nodes for key, value in small.items()],
    )


def _is_short_of_fragments(cluster: Cluster, node: Node, memory: dict[str, NodeMemory]) -> bool:
    cpus = memory[node.name].cpus if node.name in memory else None
    limit = sysctl(cluster, node.name, _LIMIT)
    if cpus is None or limit is None or not counts_fragments_by_cpu(node.kernel_release):
        return False
    return _fragments_blocks(cluster, node) and limit < fragment_memory_wanted(cpus)


_BLOCK_BYTES = 8192


def _fragments_blocks(cluster: Cluster, node: Node) -> bool:
    """Return whether a block of 8 KB is fragmented on a private network of the node."""
    ports = (node.interface(port.interface) for n in cluster.read_networks() if (port := n.port(node.name)))
    return any(interface is not None and interface.mtu < _BLOCK_BYTES for interface in ports)


def _fragments(cluster: Cluster, nodes: Sequence[Node], cpus: int) -> Finding:
    names = [node.name for node in nodes]
    limit, wanted = sysctl(cluster, names[0], _LIMIT) or 0, fragment_memory_wanted(cpus)
    return SMALL_FRAGMENTS.finding(
        f"{named(names, 'node')} {'has' if len(names) == 1 else 'have'} {limit:,} bytes for fragments, less than the "
        f"{wanted:,} that {cpus} CPUs need with this kernel.",
        subject=f"{briefly(names, 'node')}: memory for fragments",
        data={"limit_bytes": limit, "wanted_bytes": wanted, "cpus": cpus},
        seen=some([f"{node.name}: kernel {node.kernel_release}, {_LIMIT} {limit:,}" for node in nodes]),
        expected=(f"{_LIMIT} of {wanted:,} bytes or more, or a kernel from 4.14 on, or jumbo frames",),
        next=[
            NextStep(
                "Compare with the failed reassemblies.",
                ("nstat -az IpReasmFails IpReasmTimeout",),
                f"any user on {named(names, 'node')}",
            ),
            NextStep(
                "Raise it on one node after the other, and in /etc/sysctl.d.",
                (shell("sysctl -w {key}={value}", key=_LIMIT, value=max(2 * limit, wanted)),),
                f"root on {named(names, 'node')}",
                is_change=True,
            ),
        ],
        evidence=[(name, topic) for name in names for topic in ("sysctls", HOST_TOPIC)],
        nodes=names,
        extent=(len(names), "nodes"),
        observed=[state(_LIMIT, name, value=limit) for name in names],
    )
