"""The next steps that the network team carries out on switches, with commands of one vendor as an example."""

from __future__ import annotations

import re

from checks.model.finding import NextStep


def on_switches(text: str, *commands: str, where: str = "the network team, on each switch") -> NextStep:
    """Return the step with commands of Cisco NX-OS, and say that they are."""
    return NextStep(f"{text} The commands are those of Cisco NX-OS.", commands, where)


def dotted(mac: str) -> str:
    """Return `52:54:00:12:34:56` as Cisco and Arista write it, 5254.0012.3456: IOS takes no other form. Empty for other
    than an Ethernet MAC address."""
    digits = mac.replace(":", "").lower()
    return ".".join(re.findall("....", digits)) if re.fullmatch("[0-9a-f]{12}", digits) else ""
