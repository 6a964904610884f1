"""Why nothing may be sent on this cluster now. Facts in, refusals out; no I/O."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass

from checks.change.gates.stack_gates import running_on
from checks.model.facts import Cluster, Unknown
from checks.model.finding import FAULTS, Finding, Status
from checks.model.measurement import MeasuredPath
from checks.model.wording import listed
from checks.rules.engineered import PLATFORM, engineered_ports

LOADED_LINK = 0.05
"""The share of a link in use, above which a cluster counts as loaded."""

FULL_LINK = 0.8
"""The share of a link in use, above which not even `mix --beside` sends."""


@dataclass(frozen=True, slots=True)
class LoadRefusal:
    """One reason not to send."""

    code: str
    sentence: str
    is_load: bool = False
    """Whether `--although-loaded REASON` overrides it."""


def standing_refusals(cluster: Cluster, *, change: str = "", is_lab: bool, link_share: float) -> Iterator[LoadRefusal]:
    """Yield the refusals that need no sample. `change`: the name of an open change of this node."""
    platforms = [setup.name for setup in cluster.read_setups() if setup.platform == PLATFORM]
    if platforms or engineered_ports(cluster):
        yield LoadRefusal(
            "ME-LOAD-001",
            "This is an engineered system: its interconnect also carries RDS and the storage cells. racwire sends no "
            "load there.",
        )
    clusterware = cluster.clusterware
    if not isinstance(clusterware, Unknown):
        state = Unknown("") if isinstance(clusterware.version, Unknown) else clusterware.version.upgrade_state
        if isinstance(state, str) and state != "NORMAL":
            yield LoadRefusal(
                "ME-LOAD-002", f"The cluster is in the state {state}: finish the patch or the upgrade first."
            )
    if change:
        yield LoadRefusal("ME-LOAD-003", f"The change {change} is open on this node: finish it or roll it back first.")
    if link_share > 0.10 and not is_lab and (why := why_not_down(cluster)):
        yield LoadRefusal(
            "ME-LOAD-004",
            f"More than 10 % of a link may be sent only with the stack down on all nodes: {why}. Choose 10 % or less.",
        )


def only_paths(cut_off: Iterable[tuple[str, str]]) -> Iterator[LoadRefusal]:
    """Yield a refusal for each node and its links without which it would have no private path left, in a drill."""
    for node, links in cut_off:
        yield LoadRefusal(
            "ME-LOAD-011",
            f"Without {links}, {node} has no private path left, and CSS evicts it: a drill needs a second path that "
            "works.",
        )


def why_not_down(cluster: Cluster) -> str:
    """Return why the stack is not known to be down on all nodes, as a clause; empty where it is."""
    if isinstance(cluster.nodes, Unknown):
        return f"the nodes are not known ({cluster.nodes.reason.rstrip('.')})"
    if isinstance(cluster.setups, Unknown):
        return cluster.setups.reason.rstrip(".")
    for node in cluster.nodes:
        setup = cluster.setup(node.name)
        if setup is None:
            return f"what runs on {node.name} is not known"
        if running := running_on(setup):
            return f"{running[0]}{f' and {len(running) - 1} more' if running[1:] else ''} " + (
                f"{'run' if running[1:] else 'runs'} on {node.name}"
            )
        if setup.is_down is None:
            unread = next(one.reason for one in (setup.daemons, setup.instances) if isinstance(one, Unknown))
            return f"what runs on {node.name} is not known ({unread.rstrip('.')})"
    return ""


_WARNING = ("udp-path", "fragments", "reassembly", "udp-receive-buffers", "packet-filter")
"""The checks whose warnings refuse a measurement too: it would lose datagrams itself, and a few hide many."""
PATH_CHECKS = ("df-ping", "interfaces", "mtu-consistency", *_WARNING)
"""The checks that run before a measurement."""


def failing_paths(
    findings: Iterable[Finding], paths: Sequence[MeasuredPath], looks_for: Collection[str] = ()
) -> Iterator[LoadRefusal]:
    """Yield a refusal for each finding that a path of the measurement fails.

    `looks_for`: the codes of what the measurement itself looks for, with few packets.
    """
    networks = {path.network for path in paths}
    nodes = {path.source_node for path in paths} | {path.target_node for path in paths}
    for finding in findings:
        is_of_nodes = not finding.nodes or nodes & set(finding.nodes)
        is_of_networks = not finding.network or finding.network in networks
        is_refusing = finding.status in FAULTS if finding.check in _WARNING else finding.status is Status.FAIL
        if is_refusing and finding.code not in looks_for and is_of_nodes and is_of_networks:
            yield LoadRefusal(
                "ME-LOAD-005", f"{finding.title.rstrip('.')} ({finding.code}): mend that first (`racwire check`)."
            )


def load_refusals(
    link_use: dict[str, float],
    cpu: dict[str, float],
    losses: Sequence[str],
    most_cpu_percent: float,
    *,
    is_beside: bool = False,
) -> Iterator[LoadRefusal]:
    """Yield the refusals of a loaded cluster.

    `link_use`: the share of each link in use, 0 to 1; `cpu`: that of each node's CPUs; `losses`: counters that grew.
    `is_beside`: whether the load of the cluster is what the measurement looks at; then nothing overrides the refusals.
    """
    limit = FULL_LINK if is_beside else LOADED_LINK
    full = [f"{name} ({use:.0%})" for name, use in link_use.items() if use > limit]
    if full and is_beside:
        yield LoadRefusal(
            "ME-LOAD-010",
            f"The interconnect is nearly full: {listed(full)} of the link in use, over {FULL_LINK:.0%}; not even small "
            "flows are sent there.",
        )
    elif full:
        yield LoadRefusal(
            "ME-LOAD-006", f"The interconnect is loaded: {listed(full)} of the link in use, over 5 %.", True
        )
    busy = [f"{node} ({use:.0%})" for node, use in cpu.items() if use * 100 > most_cpu_percent]
    if busy:
        yield LoadRefusal(
            "ME-LOAD-007",
            f"The CPUs are busy on {listed(busy)}, over the limit of {most_cpu_percent:.0f} %.",
            not is_beside,
        )
    if losses:
        yield LoadRefusal(
            "ME-LOAD-008",
            f"Something is being lost already: {listed(losses)} grew in the last seconds.",
            not is_beside,
        )
