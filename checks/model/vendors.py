"""Kinds of switch and of hypervisor: the commands for jumbo frames, their scope, and their side effects.

A switch is set to the largest frame that it can carry, not to the MTU of the hosts: a larger limit does no harm, and
then headers and tags do not matter. The kinds are data: `vendors.toml`, and a file of the site.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Annotated, Literal

import msgspec
from msgspec import Meta

from checks.model.facts import LldpNeighbour
from checks.model.shell_command import switch

PRACTICE = "practice"
"""The key of the practice cluster's own switches."""
PORT = "PORT"
"""The placeholder for a switch port in the commands of a kind, if LLDP does not name the port."""
PLACEHOLDERS = ("port", "mtu")
"""The names that a command may have in braces: `{port}` stands for a switch port, `{mtu}` for the kind's `mtu`."""

Answer = Literal["yes", "no", "unknown"]
Counts = Literal["without header", "with header", "with header and checksum", "unknown"]
_COUNTED: dict[str, int] = {"without header": 0, "with header": 14, "with header and checksum": 18}
"""Bytes of an Ethernet frame that the MTU of a kind includes: destination, source and type, and the checksum."""
_Commands = tuple[str, ...]
_Mtu = Annotated[int, Meta(ge=1500, le=65_535)]


class _Kind(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What switches and hypervisors have in common."""

    name: str
    place: str
    """The place where the commands are typed, if LLDP names no switch."""
    mtu: _Mtu | None = None
    """The value in the commands, in bytes as the vendor counts; None if they have no number."""
    counts: Counts = "unknown"
    """What the MTU of the vendor includes of the Ethernet frame."""
    look: _Commands = ()
    """The commands that show the present state, before the change."""
    verify: _Commands
    save: _Commands = ()
    scope: str
    """The scope and the side effects of the commands, in full sentences."""
    hints: tuple[str, ...] = ()
    source: str
    """The public document with the commands."""

    @property
    def carries(self) -> int | None:
        """The largest packet in bytes that the kind surely carries with `mtu`; None if its commands have no number."""
        return None if self.mtu is None else self.mtu - _COUNTED.get(self.counts, max(_COUNTED.values()))

    @property
    def counting(self) -> str:
        """The sentence about what the MTU of the vendor includes; empty if the commands have no number."""
        if self.mtu is None:
            return ""
        if self.counts == "unknown":
            return f"Ask whether the MTU of {self.mtu} includes the Ethernet header."
        if self.counts == "without header":
            return f"The MTU of {self.mtu} does not include the Ethernet header."
        included = self.counts.removeprefix("with ").replace("header", "Ethernet header")
        return (
            f"The MTU of {self.mtu} includes the {_COUNTED[self.counts]} bytes of {included}: it carries packets of "
            f"{self.carries} bytes."
        )

    def falls_short(self, largest: int) -> str:
        """Return the sentence that a packet of `largest` bytes is too large for the kind; empty if it is not, or if
        that is not known."""
        if self.carries is None or self.counts == "unknown" or largest <= self.carries:
            return ""
        return f"This is less than the {largest} bytes of the plan: ask for another MTU, or plan a smaller one."

    def filled(self, lines: Iterable[str], port: str = PORT) -> tuple[str, ...]:
        """Return command lines with a port and the MTU in place of `{port}` and `{mtu}`."""
        return tuple(switch(line, port=port, mtu=str(self.mtu)) for line in lines)


class SwitchKind(_Kind, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of switch. `each_port` is repeated for each port."""

    place: str = "On every switch of the private networks"
    lldp: tuple[str, ...] = ()
    """Regular expressions that match the switch's LLDP name and description, of any case; none if they do not show the
    kind."""
    enter: _Commands = ()
    """The commands that are typed once on each switch, before those for the ports."""
    each_port: _Commands = ()
    each_channel: _Commands = ()
    """The commands for a port-channel, in place of those for its member ports; empty where ports are changed alike."""
    leave: _Commands = ()
    pair: str = ""
    """The vendor's name for two switches that a bond takes for one: `vPC`, `MLAG`."""
    pair_compares: Answer = "unknown"
    """Whether the two switches of a pair compare the MTU of their interfaces, so that a difference suspends member
    ports."""
    pair_look: _Commands = ()
    """The commands that show what the two switches compare."""
    reloads: bool = False
    """Whether the commands take effect only after a reload, which cuts every port."""


class Hypervisor(_Kind, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One kind of hypervisor: what carries the packets of a guest to the cable, and how its MTU is raised."""

    place: str = "On every host that a node may run on"
    product: tuple[str, ...] = ()
    """Regular expressions that match manufacturer and product of a guest, from DMI, of any case."""
    uplinks: _Commands = ()
    """The commands for the physical NICs of the host; empty where they follow the virtual switch."""
    port_group: _Commands = ()
    virtual_switch: _Commands = ()
    interrupts: Answer = "unknown"
    """Whether the commands interrupt the network of running guests."""

    @property
    def commands(self) -> tuple[str, ...]:
        """All commands, from the cable to the guest, those that save last."""
        return self.filled((*self.uplinks, *self.port_group, *self.virtual_switch, *self.save))


@dataclass(frozen=True)
class Kinds:
    """All kinds that racwire knows, by key; those of the site come first."""

    switches: Mapping[str, SwitchKind]
    hypervisors: Mapping[str, Hypervisor]

    def of_neighbour(self, neighbour: LldpNeighbour) -> str:
        """Return the kind of the switch that LLDP shows: the first that matches; empty if LLDP does not show it."""
        text = f"{neighbour.switch} {neighbour.description}"
        return next((key for key, kind in self.switches.items() if _matches(kind.lldp, text)), "")

    def recognised(self, neighbours: Iterable[LldpNeighbour]) -> tuple[str, ...]:
        """Return the kinds of the switches that LLDP shows, each once."""
        return tuple(dict.fromkeys(key for n in neighbours if (key := self.of_neighbour(n))))

    def of_product(self, product: str) -> str:
        """Return the kind of hypervisor of a guest with this manufacturer and product; empty if none matches."""
        return next((key for key, kind in self.hypervisors.items() if _matches(kind.product, product)), "")


@cache
def known_kinds() -> Kinds:
    """Return the kinds of racwire itself, which a file of the site can replace."""
    tables = tomllib.loads(files("checks.model").joinpath("vendors.toml").read_text(encoding="utf-8"))
    return Kinds(
        msgspec.convert(tables["switch"], dict[str, SwitchKind]),
        msgspec.convert(tables["hypervisor"], dict[str, Hypervisor]),
    )


def _matches(patterns: Iterable[str], text: str) -> bool:
    return any(re.search(pattern, text, re.IGNORECASE) for pattern in patterns)


QUESTIONS = (
    "Which ports of which switches carry the private networks, and on which VLANs?",
    "Is every one of these ports raised: on both switches of a vPC, MLAG or stack, and on the links between them (peer "
    "link, ISL, trunk, port-channel)?",
    "Is a pair of switches a vPC or MLAG that compares the MTU of both? On Nexus the MTU is a type 1 parameter: `show "
    "vpc consistency-parameters interface port-channel NUMBER`, and is the graceful consistency check on?",
    "Does the change need a reload or cut a port, and which other systems use that switch?",
    "Is the configuration saved, so that it survives a reload of the switch?",
    "Do the counters of giants, jabbers and discards on these ports stay constant after the change?",
)
"""Questions for the network team, for any kind of switch: the nodes cannot see a mismatch inside the network."""
HOST_QUESTIONS = (
    "Which virtual switch, and which port group or network, carries each private NIC of each guest?",
    "Which physical NICs are the uplinks of that virtual switch, and which switch ports are at their other end?",
    "Are all hosts raised that a guest may run on after a migration or a failover, not only the present one?",
    "Does the change interrupt the network of running guests, or move guests to another host?",
    "Does the change survive a reboot of the host?",
)
"""Questions for the operators of the hypervisor, of any kind: guests see neither the virtual switch nor LLDP."""


def commands_of(kind: SwitchKind, ports: Sequence[str], *, in_channels: bool = False) -> tuple[str, ...]:
    """Return the commands that enable jumbo frames on these ports of a switch; on `PORT` if no port is named.

    Where there are `in_channels`, ports that are members of port-channels, with those for a port-channel; without
    `ports`, with those alone.
    """
    channels = kind.filled(kind.each_channel) if in_channels else ()
    wanted = tuple(dict.fromkeys(ports)) or (() if channels else (PORT,))
    each = tuple(line for port in wanted for line in kind.filled(kind.each_port, port))
    return (*kind.filled(kind.enter), *channels, *each, *kind.filled((*kind.leave, *kind.save)))


def showing(kind: SwitchKind, ports: Sequence[str], *, before: bool = False) -> tuple[str, ...]:
    """Return the commands that show the frame size of these ports of a switch, after or before the change."""
    wanted = tuple(dict.fromkeys(ports)) or (PORT,)
    lines = kind.look or kind.verify if before else kind.verify
    return tuple(dict.fromkeys(line for port in wanted for line in kind.filled(lines, port)))
