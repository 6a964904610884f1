"""The findings of df-ping about full-size pings that are answered: on all paths, on the others, over a router."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import Cluster, PathProbe, PrivateNetwork, Verdict
from checks.model.finding import Finding, NextStep, Scalar
from checks.model.observation import Fate, Observation
from checks.model.shell_command import shell
from checks.model.wording import all_nodes, counted
from checks.plugins.df_ping.path_kinds import PASS, ROUTED
from checks.plugins.df_ping.path_places import at_fault, path_data, where_either_way
from checks.plugins.shared.path_text import evidence_of, first_lines, on_all_nodes, pairs_of, short_name
from checks.rules.observed.pings import pings


def all_pass(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> Finding:
    """Return the finding where all paths of a network pass."""
    return _pass(
        cluster,
        network,
        paths,
        f"Full-size packets of {network.mtu} bytes pass on {network.name} between "
        f"{all_nodes(len(network.ports))}{'' if on_all_nodes(cluster, network) else ' probed'}, both ways.",
        f"{short_name(network)} {network.mtu}",
    )


def others_pass(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> Finding:
    """Return the finding for the paths that pass, where other paths have a finding of their own."""
    others = "path" if len(paths) == 1 else f"{len(paths)} paths"
    return _pass(
        cluster,
        network,
        paths,
        f"Full-size packets pass on the other {others} of {network.name}.",
        f"{short_name(network)}: {counted(len(paths), 'other path')}",
    )


def _pass(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe], title: str, subject: str) -> Finding:
    packets = sum(s.sent for p in paths for s in p.series if not s.refused_locally)
    slowest = max((s.rtt_ms_median for p in paths for s in p.series if s.rtt_ms_median is not None), default=None)
    data: dict[str, Scalar | None] = {"paths": len(paths), "packets": packets, "slowest_median_rtt_ms": slowest}
    return PASS.finding(
        title,
        subject=subject,
        data=data,
        seen=(
            f"{counted(len(paths), 'path')}, {counted(packets, 'ping')}, all answered",
            *([f"slowest median round trip {slowest:.2f} ms"] if slowest is not None else []),
        ),
        evidence=evidence_of(paths),
        network=network.name,
        observed=pings(cluster, paths),
    )


def routed_finding(cluster: Cluster, network: PrivateNetwork, paths: Sequence[PathProbe]) -> Finding:
    """Return the finding for paths over a router. Losses on such a path are in the finding of its verdict."""
    centre = at_fault(cluster, network, pairs_of(paths))
    seen = [
        f"{p.from_node} -> {p.to_node}: answers passed {counted(p.hops or 0, 'router')} (TTL "
        f"{next((s.ttl for s in p.series if s.ttl), '?')})"
        for p in paths
    ]
    hops = [
        Observation(fate=Fate.STATE, what="routers", nodes=(p.from_node, p.to_node), network=network.name, value=p.hops)
        for p in paths
    ]
    return ROUTED.finding(
        f"There is a router on {network.name} {where_either_way(cluster, network, pairs_of(paths))}.",
        subject=f"{short_name(network, centre)}: routed",
        data={**path_data(paths), "routers": max(p.hops or 0 for p in paths)},
        seen=first_lines(seen, "path like these"),
        expected=("One layer 2 network: no router between any two nodes",),
        next=[
            NextStep(
                "Display the routers on the path.",
                (shell("traceroute -n {to}", to=paths[0].destination_ip),),
                f"any user on {paths[0].from_node}",
            )
        ],
        evidence=evidence_of(paths),
        network=network.name,
        nodes=[centre] if centre else [],
        extent=(len(paths), "paths"),
        observed=[*hops, *pings(cluster, [p for p in paths if p.verdict is Verdict.PASSES and not p.reason])],
    )
