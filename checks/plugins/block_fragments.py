"""Do blocks arrive that a node's kernel cuts into fragments, as at MTU 1500?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.check import FailKind, InfoKind, PassKind, check
from checks.model.condition import ConditionKind
from checks.model.facts import Cluster, FlowProbe, Flows, PrivateNetwork, Unknown
from checks.model.finding import Finding, NextStep, Status
from checks.model.packet_sizes import USUAL_BLOCK_BYTES, fragments_of
from checks.model.shell_command import shell
from checks.model.wording import counted, hub
from checks.plugins.shared.filter_commands import RULES
from checks.plugins.shared.path_text import first_lines, pairs_of, short_name, where
from checks.plugins.shared.place_steps import below_steps, capture_steps
from checks.plugins.shared.switch_steps import on_switches
from checks.plugins.udp_path.flow_text import held_text, others_text
from checks.rules.flow_verdicts import flows_of
from checks.rules.fragment_verdicts import CutVerdict, cut, judge_fragments
from checks.rules.observed.datagrams import blocks_in_fragments

ARRIVE = PassKind("IC-FRAG-001", "Datagrams of a block's size arrive in fragments")
DROPPED = FailKind(
    "IC-FRAG-002",
    "Datagrams that are cut into fragments vanish, although packets of full size pass",
    "At an MTU below the size of a block, each block travels in fragments and is lost with any of them: instances "
    "lose blocks, while pings and heartbeats pass.",
    ("MOS 563566.1, causes 3 and 8",),
)
NOT_CUT = PassKind("IC-FRAG-003", "No block is cut into fragments, or none was sent")
UNDECIDED = InfoKind(
    "IC-FRAG-004",
    "Whether fragments arrive is not decided",
    "Datagrams in fragments got no answer, and those in one packet do not tell why.",
)


@check(
    "fragments",
    question="Do blocks arrive that travel in fragments?",
    needs=("networks",),
    uses=("paths", "flows", "effective_routes"),
    about=(ConditionKind.PATH,),
    kinds=(ARRIVE, DROPPED, NOT_CUT, UNDECIDED),
)
def fragments(cluster: Cluster) -> Iterator[Finding]:
    """Sends UDP datagrams of a block's size without Don't Fragment where the MTU is smaller than a block of 8 KB.

    The sender's kernel cuts them into fragments, as it does with blocks. They are a part of the datagrams of udp-path.
    Where none is answered, racwire sends small and full-size datagrams from the same source ports: fragments are
    dropped where these pass. Only as many may be without an answer as fill 5 % of the receiver's memory for reassembly.
    """
    if isinstance(cluster.networks, Unknown):
        return
    flows = cluster.flows
    judged = [
        (network, verdict, [p for p in probes if judge_fragments(p, flows, cluster.read_paths()) is verdict])
        for network in cluster.networks
        if isinstance(flows, Flows) and (probes := [p for p in flows.probes if p.network == network.name])
        for verdict in (CutVerdict.DROPPED, CutVerdict.UNDECIDED, CutVerdict.PASSES)
    ]
    found = False
    for network, verdict, probes in judged:
        if probes:
            found = True
            yield _finding(cluster, network, verdict, probes)
    if not found:
        fits = isinstance(flows, Flows) and any(p.ports for p in flows.probes)
        yield NOT_CUT.finding(
            "A block of 8 KB fits one packet of each private network that was probed."
            if fits
            else "This run sent no datagrams of a block's size.",
            status=Status.PASS if fits else Status.SKIPPED,
            subject="no fragments" if fits else "not sent",
            evidence=[(node.name, "interfaces") for node in cluster.read_nodes()],
        )


def _finding(cluster: Cluster, network: PrivateNetwork, verdict: CutVerdict, probes: Sequence[FlowProbe]) -> Finding:
    pairs = pairs_of(probes)
    names = [p.node for p in network.ports]
    place = where(cluster, network, pairs)
    number = fragments_of(USUAL_BLOCK_BYTES, probes[0].expected_mtu)
    centre, sent = hub(pairs, names), [port for p in probes for port in cut(p)]
    lines = [f"{p.from_node} -> {p.to_node}: {_line(p)}" for p in probes]
    kind, title, subject = {
        CutVerdict.DROPPED: (
            DROPPED,
            f"Datagrams of 8 KB in {number} fragments vanish on {network.name} {place}; those in one packet of "
            f"{probes[0].expected_mtu} bytes pass.",
            "fragments vanish",
        ),
        CutVerdict.UNDECIDED: (
            UNDECIDED,
            f"Whether datagrams of 8 KB in {number} fragments arrive on {network.name} {place} is not decided: some "
            "got no answer.",
            "not decided",
        ),
    }.get(
        verdict,
        (
            ARRIVE,
            f"{counted(len(sent), 'datagram')} of 8 KB in {number} fragments arrived on {network.name} {place}.",
            f"{number} fragments",
        ),
    )
    return kind.finding(
        title,
        subject=f"{short_name(network, centre)}: {subject}",
        data={"paths": len(probes), "fragments": number, "datagrams": sum(port.sent for port in sent)},
        seen=(
            *first_lines(lines, "path like these"),
            *others_text(flows_of(cluster), [probe.from_node for probe in probes]),
        ),
        expected=("An answer to each datagram in fragments",) if kind is DROPPED else (),
        next=_steps(cluster, network, probes) if kind is DROPPED else (),
        evidence=[
            *((node, "udp datagrams") for node in dict.fromkeys(p.from_node for p in probes)),
            *((p.from_node, f"path {network.name} {p.from_node} {p.to_node}") for p in probes),
        ],
        observed=blocks_in_fragments(cluster, verdict, probes),
        network=network.name,
        # Fragments are lost on the way to these nodes, or where these put them together.
        nodes=sorted({p.to_node for p in probes}) if kind is DROPPED else (),
        extent=(len(probes), "paths") if kind is DROPPED else None,
    )


def _line(probe: FlowProbe) -> str:
    ports = cut(probe)
    parts = [f"{sum(p.answered for p in ports)} of {sum(p.sent for p in ports)} in fragments answered"]
    if full := sum(p.full_sent for p in ports):
        parts.append(f"{sum(p.full_answered for p in ports)} of {full} in one packet")
    return ", ".join([*parts, *([held_text(probe)] if probe.held else [])])


def _steps(cluster: Cluster, network: PrivateNetwork, probes: Sequence[FlowProbe]) -> tuple[NextStep, ...]:
    path = probes[0]
    ping = shell("ping -c 3 -M dont -I {source} -s 8192 {to}", source=path.source_ip, to=path.destination_ip)
    return (
        NextStep("Reproduce by hand with a ping in fragments.", (ping,), f"any user on {path.from_node}"),
        *capture_steps(network, path.from_node, path.to_node, ("ip[6:2] & 0x3fff != 0",)),
        NextStep(
            "Look for a filter of fragments on the node.",
            RULES,
            f"root on {path.to_node}",
        ),
        *below_steps(cluster, network, sorted({n for p in probes for n in (p.from_node, p.to_node)})),
        on_switches(
            "Ask the network team for a filter (ACL) or a protection that drops IP fragments, on the ports and the "
            f"VLAN of {network.name}.",
            "show access-lists",
        ),
    )
