"""The findings of udp-path about links of an aggregation: some source ports lose all of a size, others lose none."""

from __future__ import annotations

from checks.model.facts import Cluster, FlowProbe, PrivateNetwork
from checks.model.finding import Finding, NextStep
from checks.model.shell_command import shell
from checks.model.wording import counted
from checks.plugins.shared.switch_steps import on_switches
from checks.plugins.udp_path.flow_kinds import DEAD_MEMBER, LOSSY_MEMBER, SHORT_MEMBER
from checks.plugins.udp_path.flow_text import ALL_ANSWERED, Judged, flow_finding, packet_bytes, port_numbers
from checks.rules.flow_verdicts import harm, is_fine, whole
from checks.rules.port_shares import lost_by_port

_AGGREGATION = (
    "cat /proc/net/bonding/*",
    "ip -details link show",
)


def _members(judged: Judged, what: str) -> tuple[str, ...]:
    """Return the source ports that lose, and how many links their share suggests."""
    worst = max(judged, key=lambda j: len(j.ports))
    probe = worst.probe
    lines = [f"{probe.from_node} -> {probe.to_node}: source ports that lose {what}: {port_numbers(worst.ports)}"]
    fine = [p for p in whole(probe) if is_fine(p)]
    return (*lines, f"source ports that lose none: {port_numbers(fine)}; target port {probe.destination_port}")


def _reproduce(judged: Judged, size: int) -> NextStep:
    probe = judged[0].probe
    fine = [p.source_port for p in whole(probe) if is_fine(p)]
    commands = tuple(
        shell(
            "iperf3 -u -c {to} -B {source} --cport {port} -l {size} -k 10",
            to=probe.destination_ip,
            source=probe.source_ip,
            port=port,
            size=size,
        )
        for port in (judged[0].ports[0].source_port, *fine[:1])
    )
    server = shell("iperf3 -s -1 -B {to}", to=probe.destination_ip)
    return NextStep(
        f"Reproduce by hand with ten datagrams, each time with `{server}` on {probe.to_node}: the "
        "first source port loses, the second does not.",
        commands,
        f"any user on {probe.from_node}",
    )


def _ask_for_members(network: PrivateNetwork, text: str) -> tuple[NextStep, ...]:
    nics = " ".join(dict.fromkeys(p.interface for p in network.ports))
    return (
        on_switches(
            f"Ask the network team to test each link of every aggregation of {network.name}, those of the nodes "
            f"({nics}) and those between switches: {text}.",
            "show port-channel summary",
            "show interface PORT | include MTU",
            "show interface PORT counters errors",
        ),
        NextStep("Where the node itself has a bond, compare its members.", _AGGREGATION, "any user on each node"),
    )


def short_member(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for source ports that lose every full-size datagram, while others lose none."""
    size = packet_bytes(judged)
    return flow_finding(
        SHORT_MEMBER, (cluster, network, judged),
        f"UDP packets of {size:,} bytes vanish from {_share(judged)} on {{}} {{}}; other source ports lose none, and "
        "small datagrams pass from all.",
        f"{_share(judged)} lose jumbo frames" if size > 1500 else f"{_share(judged)} lose full-size packets",
        more=_members(judged, "full-size datagrams"), expected=ALL_ANSWERED,
        next=(
            *_ask_for_members(network, f"one of them carries no packets of {size:,} bytes"),
            _reproduce(judged, size - 28),
        ),
    )  # fmt: skip


def _share(judged: Judged) -> str:
    worst = max(judged, key=lambda j: len(j.ports))
    return f"{len(worst.ports)} of {worst.of} source ports"


def dead_member(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for source ports that lose every datagram, while others lose none."""
    return flow_finding(
        DEAD_MEMBER, (cluster, network, judged),
        f"UDP datagrams of every size vanish from {_share(judged)} on {{}} {{}}; other source ports lose none.",
        f"{_share(judged)} pass no datagram", more=_members(judged, "all datagrams"), expected=ALL_ANSWERED,
        next=(*_ask_for_members(network, "one of them passes no packets"), _reproduce(judged, 1000)),
    )  # fmt: skip


def lossy_member(cluster: Cluster, network: PrivateNetwork, judged: Judged) -> Finding:
    """Return the finding for source ports that lose a share of their datagrams, while others lose far fewer."""
    worst = max(judged, key=lambda j: sum(lost for lost, _ in lost_by_port(j.probe.turns).values()))
    counts = lost_by_port(worst.probe.turns)
    bad = [port.source_port for port in worst.ports]
    (lost, of), (rest, of_rest) = (
        [sum(counts[port][place] for port in own) for place in (0, 1)]
        for own in (bad, [port for port in counts if port not in bad])
    )
    others = "none" if not rest else f"{rest} of {of_rest}"
    return flow_finding(
        LOSSY_MEMBER, (cluster, network, judged),
        f"{counted(len(bad), 'source port')} of {len(counts)} lose {lost} of {of} UDP packets on {{}} {{}}, the others "
        f"{others}.",
        f"{len(bad)} of {len(counts)} source ports lose packets", status=harm(cluster),
        more=tuple(by_port(j.probe) for j in judged), expected="No losses, or a like share of them at each source port",
        next=_ask_for_members(network, "one of them loses a part of its packets"),
    )  # fmt: skip


def by_port(probe: FlowProbe) -> str:
    """Return what each source port of a path lost."""
    counts = ", ".join(f"{port} {lost} of {of}" for port, (lost, of) in sorted(lost_by_port(probe.turns).items()))
    return f"{probe.from_node} -> {probe.to_node}: lost by source port: {counts}"
