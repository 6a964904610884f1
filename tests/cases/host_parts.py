"""The part of a case about the setup of a node outside Clusterware: outputs as nodes print them, and single values."""

from __future__ import annotations

import msgspec

from checks.model.facts import (
    FirewalldZone,
    HostSetup,
    JoinedGroup,
    PacketFilters,
    PrivateUse,
    RightsOfOradism,
    ScheduledProcess,
    Unknown,
)
from checks.sources.nodes.setup_bonds import parse_bonds, parse_drivers


class DriverOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the driver of one NIC counted in the interval."""

    driver: str
    counts: dict[str, int] = {}


class HostOf(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Changes of a healthy node's setup."""

    bonding: dict[str, str] = {}
    """Files of /proc/net/bonding, by bond."""
    ethtool: str = ""
    """`nic eth1` before the answers of `ethtool -i`, `-g` and `-a` for each NIC."""
    processes: tuple[str, ...] | None = None
    """`LMS0 prod2 0 0`: name, instance, policy and real-time priority of the first thread; `3 1` behind it for three
    threads, one of them real-time."""
    oradism: tuple[str, ...] = ()
    """`oracle 750 /u01/db/bin/oradism`."""
    filters: tuple[str, ...] | None = None
    """The active services that filter packets."""
    zones: dict[str, str] = {}
    default_zone: str = ""
    others: tuple[str, ...] = ()
    """`NFS 192.168.11.2 192.168.11.9 3 /backup`: service, local and remote address, connections, directory."""
    groups_joined: tuple[str, ...] | None = None
    """`eth1 230.0.1.0`: interface and multicast group."""
    drivers: dict[str, str] = {}
    """The driver of each NIC, from /sys."""

    def applied(self, healthy: HostSetup) -> HostSetup:
        """Return the setup with the changes."""
        changes: dict[str, object] = {}
        if self.bonding:
            text = "\n".join(f"{name}:{line}" for name, file in self.bonding.items() for line in file.split("\n"))
            changes["bonds"] = parse_bonds(text)
        if self.ethtool:
            changes["drivers"] = parse_drivers(self.ethtool)
        if self.processes is not None:
            changes["processes"] = tuple(_process(line) for line in self.processes)
        if self.oradism:
            rights = [line.split() for line in self.oradism]
            changes["oradism"] = tuple(RightsOfOradism(path, owner, mode) for owner, mode, path in rights)
        if self.filters is not None:
            zones = tuple(FirewalldZone(name, zone) for name, zone in self.zones.items())
            changes["filters"] = PacketFilters(self.filters, zones, self.default_zone)
        if self.others:
            changes["others"] = tuple(_use(line) for line in self.others)
        if self.groups_joined is not None:
            changes["groups_joined"] = tuple(JoinedGroup(*line.split()) for line in self.groups_joined)
        if self.drivers:
            changes |= {"drivers_in_use": self.drivers, "drivers": Unknown("ethtool is not installed there")}
        return msgspec.structs.replace(healthy, **changes)


def _process(line: str) -> ScheduledProcess:
    name, instance, *words = line.split()
    policy, priority, *threads = map(int, words)
    return ScheduledProcess(name, instance, policy, priority, *(threads or (1, int(policy > 0))))


def _use(line: str) -> PrivateUse:
    service, local, remote, connections, *mount = line.split()
    return PrivateUse(service, local, remote, int(connections), *mount)
