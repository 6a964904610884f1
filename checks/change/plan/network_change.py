"""What a change of the private networks replaces: the new network, the old one, and the lines of oifcfg. No I/O.

It is made from a plan, so that the rollback needs nothing but the journal.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

import msgspec

from checks.change.plan.change_plan import OF_NETWORKS, Layer, NetworkPart, PlannedNetwork, Registrations
from checks.change.progress.change_events import Opened, Verified
from checks.change.progress.state import Change
from checks.model.wording import listed

_LISTENER = re.compile(r"ASMNET(\d+)LSNR_ASM")
_FIRST_ROLE = "cluster_interconnect"


@dataclass(frozen=True)
class NetworkChange:
    """The networks and the registry before, during and after a change of the private networks."""

    new: PlannedNetwork
    old: PlannedNetwork | None
    """None for a network that is added."""
    before: Registrations
    both: Registrations
    """With the old and the new network, while Clusterware is restarted."""
    after: Registrations
    new_ports: Mapping[str, Layer]
    """The interface of each node on the new network."""
    old_ports: Mapping[str, Layer]

    @property
    def new_lines(self) -> tuple[str, ...]:
        """The lines of oifcfg that the change adds."""
        return tuple(line for line in self.both.interconnects if line not in self.before.interconnects)

    @property
    def old_lines(self) -> tuple[str, ...]:
        """The lines of oifcfg that the change deletes."""
        return tuple(line for line in self.before.interconnects if line not in self.after.interconnects)

    @property
    def new_listeners(self) -> tuple[tuple[str, str], ...]:
        """The ASM listeners that the change adds, each with its subnet."""
        return _listeners(self.both, but=self.before)

    @property
    def old_listeners(self) -> tuple[tuple[str, str], ...]:
        """The ASM listeners that the change removes, each with its subnet."""
        return _listeners(self.before, but=self.after)

    @property
    def has_asm_role(self) -> bool:
        """Whether the new network also carries the traffic of ASM."""
        return any("asm" in line.split()[-1].split(",") for line in self.new_lines)

    def shares_nic(self, node: str) -> bool:
        """Whether the old and the new network have the same interface on a node."""
        new, old = self.new_ports.get(node), self.old_ports.get(node)
        return new is not None and old is not None and new.interface == old.interface


def network_change(
    networks: Iterable[PlannedNetwork], layers: Iterable[Layer], before: Registrations, both: Registrations
) -> NetworkChange:
    """Return the change of these planned networks. `both` is the registry with the new network added."""
    planned = tuple(networks)
    new = next(network for network in planned if network.part is NetworkPart.NEW)
    old = next((network for network in planned if network.part is NetworkPart.OLD), None)
    ports = [layer for layer in layers if layer.role == "port"]
    return NetworkChange(
        new=new,
        old=old,
        before=before,
        both=both,
        after=both if old is None else without(both, old.subnet),
        new_ports={port.node: port for port in ports if new.name in port.networks},
        old_ports={port.node: port for port in ports if old and old.name in port.networks},
    )


def without(registered: Registrations, subnet: str) -> Registrations:
    """Return the registry without a private network."""
    bare = subnet.partition("/")[0]
    lines = tuple(
        line for line in registered.interconnects if line.split()[1] != bare or _FIRST_ROLE not in line.split()[-1]
    )
    known = registered.asm_listeners
    return Registrations(lines, known and tuple(one for one in known if one.split()[1] != bare))


def with_network(registered: Registrations, interface: str, subnet: str, roles: Iterable[str]) -> Registrations:
    """Return the registry with a private network, and with its ASM listener where it has the role of ASM."""
    bare, ordered = subnet.partition("/")[0], sorted(roles)
    lines = sorted({*registered.interconnects, f"{interface}  {bare}  global  {','.join(ordered)}"})
    known = registered.asm_listeners
    if known and "asm" in ordered and not any(one.split()[1] == bare for one in known):
        known = tuple(sorted((*known, f"{_next_listener(known)} {bare}")))
    return Registrations(tuple(lines), known)


def _next_listener(known: Iterable[str]) -> str:
    """Return a name as the installer gives it, ASMNET1LSNR_ASM, that no listener has."""
    taken = {match[1] for one in known if (match := _LISTENER.fullmatch(one.split()[0].upper()))}
    number = next(n for n in range(1, len(taken) + 2) if str(n) not in taken)
    return f"ASMNET{number}LSNR_ASM"


def _listeners(registered: Registrations, *, but: Registrations) -> tuple[tuple[str, str], ...]:
    mine, others = registered.asm_listeners or (), but.asm_listeners or ()
    pairs = (one.split() for one in mine if one not in others)
    return tuple((name, subnet) for name, subnet in pairs)


def roles_text(roles: Iterable[str]) -> str:
    """Return roles as the manual of oifcfg has them: `cluster_interconnect,asm`."""
    return ",".join(sorted(roles, key=lambda role: (role != _FIRST_ROLE, role)))


def shown(lines: Iterable[str]) -> str:
    """Return lines of oifcfg for a sentence, with the roles in the order of the manual."""
    words = (line.split() for line in lines)
    return listed(f"`{' '.join((*others, roles_text(roles.split(','))))}`" for *others, roles in words)


def address_of(network: PlannedNetwork, node: str) -> str:
    """Return the address of a node with the prefix length: `192.168.12.1/24`; empty if the node has none."""
    address = network.addresses.get(node, "")
    return f"{address}/{ipaddress.ip_network(network.subnet).prefixlen}" if address else ""


class ReportedRegistry(msgspec.Struct, frozen=True, kw_only=True):
    """The lines of `oifcfg getif` before the change, and when they were last read."""

    before: tuple[str, ...]
    after: tuple[str, ...]

    @property
    def added(self) -> tuple[str, ...]:
        """The lines that are there only afterwards."""
        return tuple(line for line in self.after if line not in self.before)

    @property
    def removed(self) -> tuple[str, ...]:
        """The lines that are there only before."""
        return tuple(line for line in self.before if line not in self.after)


def registry_of(change: Change) -> ReportedRegistry | None:
    """Return the networks in oifcfg before and after; None for a change that leaves them, or if they were not read."""
    plan = change.opened
    if plan.kind not in OF_NETWORKS or not plan.interconnects:
        return None
    seen = [line.event.look.interconnects for line in change.lines if isinstance(line.event, Opened | Verified)]
    known = [lines for lines in seen if lines]
    return ReportedRegistry(before=plan.interconnects, after=known[-1]) if known else None
