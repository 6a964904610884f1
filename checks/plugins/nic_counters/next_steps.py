"""What to do about a fault that the counters of a private NIC show."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.effect import Effect
from checks.model.finding import NextStep
from checks.model.shell_command import for_each, shell
from checks.plugins.shared.filter_commands import capture
from checks.plugins.shared.grouping import named
from checks.rules.nic_counts import FaultyNic, NicFault

_PCIE = "cat " + " ".join(
    f"/sys/class/net/{{nic}}/device/{name}"
    for name in ("current_link_speed", "max_link_speed", "current_link_width", "max_link_width")
)


def steps(same: Sequence[FaultyNic], nodes: Sequence[str]) -> list[NextStep]:
    """Return the next steps for one fault of some NICs, on these nodes."""
    names = list(dict.fromkeys(f.nic.name for f in same))[:3]
    where, anyone = f"root on {named(nodes, 'node')}", f"any user on {named(nodes, 'node')}"
    port = NextStep(
        f"Ask the network team for the error counters and the log of the switch port of {places(same)}; then exchange "
        "the cable and the transceiver, one at a time."
    )
    match same[0].fault:
        case NicFault.CORRUPT | NicFault.OTHER:
            look = NextStep(
                "Check that the counters still grow, what was negotiated, and the light levels of an optical "
                "transceiver.",
                for_each(
                    "ip -s -s link show {nic}", "ethtool {nic}", "ethtool -S {nic}", "ethtool -m {nic}", nic=names
                ),
                where,
            )
            return [look, port]
        case NicFault.OVERRUN:
            look = NextStep(
                "Compare the receive ring with its maximum, and find the CPUs that serve the NIC.",
                for_each("ethtool -g {nic}", "ethtool -S {nic}", "grep {nic} /proc/interrupts", nic=names),
                anyone,
            )
            change = NextStep(
                "Enlarge the receive ring to the maximum that `ethtool -g` shows, also in the NIC's configuration.",
                for_each("ethtool -G {nic} rx MAXIMUM", nic=names[:1]),
                where,
                is_change=True,
            )
            return [look, change]
        case NicFault.PORT_BUFFER:
            look = NextStep(
                "Compare the buffer of the port with its pause frames, and the width and speed of the PCIe slot with "
                "those that the NIC can use. Larger rings do not help: the packets did not reach a ring.",
                for_each("ethtool -S {nic}", "ethtool -a {nic}", _PCIE, nic=names),
                anyone,
            )
            ask = NextStep(
                f"Ask the network team whether the switch port of {places(same)} takes part in flow control."
            )
            return [look, ask]
        case NicFault.DROPPED:
            look = NextStep(
                "Find out what is dropped: drops for want of memory and full rings of virtual NICs are in the counters "
                "of the driver; packets of other VLANs and protocols show in a capture.",
                tuple(
                    line
                    for nic in names
                    for line in (shell("ethtool -S {nic}", nic=nic), capture(nic, "not", "ip", "and", "not", "arp"))
                ),
                where,
            )
            return [look]
        case NicFault.SEND_QUEUE:
            return queue_steps(names, named(nodes, "node"))
        case NicFault.UNLINKED:
            return [
                NextStep(
                    f"Mend the link of {places(same)} first, then run this check again: without a link a NIC sends "
                    "nothing."
                )
            ]
        case NicFault.LIMIT:
            look = NextStep(
                "Find out which limit it is, from the names of the counters, and compare the load with the limits of "
                "the type of the virtual machine.",
                for_each("ethtool -S {nic} | grep allowance_exceeded", nic=names),
                anyone,
            )
            change = NextStep(
                "Plan a type of virtual machine with a higher limit, or reduce the load.",
                is_change=True,
                effect=Effect.NODE_OUT_FIRST,
            )
            return [look, change]
        case NicFault.CLASS_PAUSED | NicFault.OTHER_CLASS_PAUSED | NicFault.MARKED:
            look = NextStep(
                "Read its packets and pause frames by class.", for_each("ethtool -S {nic}", nic=names), anyone
            )
            ask = NextStep(
                f"Ask the network team by which queue the switch port of {places(same)} serves the class of the "
                "interconnect, and for the drops and marks of that queue."
            )
            return [look, ask]
        case NicFault.PAUSE:
            look = NextStep(
                "Compare flow control with the setting of the switch port, and whether the counters grow while blocks "
                "are lost.",
                for_each("ethtool -a {nic}", "ethtool -S {nic}", nic=names),
                anyone,
            )
            ask = NextStep(
                f"Ask the network team for the pause counters and egress drops of the switch port of {places(same)}."
            )
            return [look, ask]
        case NicFault.BOND:
            log = NextStep("Read what the bonding driver reported.", ("dmesg -T | grep -iE 'bond|link status'",), where)
            look = NextStep(
                "Read its monitoring of ARP or its partner of LACP.",
                for_each("cat /proc/net/bonding/{nic}", nic=names),
                anyone,
            )
            ask = NextStep(
                "Ask the network team for the log of LACP at the ports of these members. With ARP monitoring, find out "
                "why its target was silent."
            )
            return [log, look, ask]
        case NicFault.LINK:
            log = NextStep("Read when the link changed.", ("dmesg -T | grep -iE 'link (is )?(up|down)'",), where)
            look = NextStep("Read what was negotiated.", for_each("ethtool {nic}", nic=names), anyone)
            return [log, look, port]


def queue_steps(names: Sequence[str], nodes: str) -> list[NextStep]:
    """Return the next steps for drops in the send queues of some NICs; `ETH` stands for any."""
    return [
        NextStep(
            "Read the queue discipline, its limits and its drops, and the length of the queue.",
            for_each("tc -s qdisc show dev {nic}", "ip -s link show {nic}", nic=names),
            f"any user on {nodes}",
        ),
        NextStep(
            "Find out who set a rate limit or a short queue, and remove it: the default discipline suits an "
            "interconnect.",
            for_each("tc qdisc del dev {nic} root", nic=names[:1]),
            f"root on {nodes}",
            is_change=True,
        ),
    ]


def places(same: Sequence[FaultyNic]) -> str:
    """Return the NICs for a sentence: `eth1 of rac1 and eth1 of rac2`, or their number."""
    return named((f.nic.place for f in same), "private NIC")
