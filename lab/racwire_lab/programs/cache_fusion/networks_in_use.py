"""The private networks that Clusterware took at its start on each node, as oifcfg and the NICs were then.

`grid/lib/stack.sh` writes them to `stack/in_use` of a node: the number of the network, the interface, its address, the
HAIP, and `own` for an address of the lab, `other` for one that was added later, `moved` for a HAIP whose network the
node lacks. Without the file, as on engineered systems, the settings hold.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from .settings import InstanceSettings, InterconnectAddress, mark_of

_FILE = "stack/in_use"
_LINK_LOCAL = "169.254."
_NONE = "-"


class NetworkInUse(NamedTuple):
    """A line of the file."""

    number: int
    interface: str
    address: str
    haip: str
    kind: str


class NetworksInUse:
    """The networks in use of this node and its peers, followed from their files."""

    def __init__(self, home: str) -> None:
        self._home = home
        self._marks: tuple[str, ...] = ()
        self._applied: tuple[InstanceSettings, InstanceSettings] | None = None

    def applied(self, settings: InstanceSettings) -> InstanceSettings:
        """Return the settings with the networks that Clusterware took."""
        hosts = {number: host for number, (host, _) in settings.members.items()} | dict(settings.hosts)
        marks = tuple(mark_of(self._path(host)) for host in (settings.host, *hosts.values()))
        if self._applied is None or self._applied[0] is not settings or marks != self._marks:
            own = self._read(settings.host)
            peers = {number: self._read(host) for number, host in hosts.items()}
            self._marks, self._applied = marks, (settings, _with(settings, own, peers) if own else settings)
        return self._applied[1]

    def _path(self, host: str) -> str:
        return os.path.join(self._home, "..", host, _FILE)

    def _read(self, host: str) -> tuple[NetworkInUse, ...]:
        try:
            with open(self._path(host), encoding="ascii") as file:
                lines = [line.split() for line in file]
        except FileNotFoundError:
            return ()
        return tuple(NetworkInUse(int(words[0]), *words[1:]) for words in lines if len(words) == 5)


def _with(
    settings: InstanceSettings, own: tuple[NetworkInUse, ...], peers: Mapping[int, tuple[NetworkInUse, ...]]
) -> InstanceSettings:
    numbers = {one.number for one in own if one.kind != "moved"}
    return replace(
        settings,
        interconnects=_interconnects(settings, own),
        peers={peer: _haips_of(settings, known, peers.get(peer, ())) for peer, known in settings.peers.items()},
        private={
            one.number: settings.private[one.number]
            if one.kind == "own" and one.number in settings.private
            else (one.interface, one.address.partition("/")[0])
            for one in own
            if one.kind != "moved"
        },
        members={
            number: (host, {n: ip for n, ip in _addresses(known, peers.get(number, ())).items() if n in numbers})
            for number, (host, known) in settings.members.items()
        },
        haips={one.number: one.haip for one in own if one.haip != _NONE and one.kind != "moved"},
    )


def _interconnects(settings: InstanceSettings, own: tuple[NetworkInUse, ...]) -> tuple[InterconnectAddress, ...]:
    """Return the HAIPs, unless the instance uses other addresses, as with cluster_interconnects."""
    if not all(one.ip.startswith(_LINK_LOCAL) for one in settings.interconnects):
        return settings.interconnects
    return tuple(
        InterconnectAddress(one.number, one.haip.partition("/")[0], "NO", "") for one in own if one.haip != _NONE
    )


def _haips_of(settings: InstanceSettings, known: dict[int, str], peer: tuple[NetworkInUse, ...]) -> dict[int, str]:
    """Return the addresses of a peer; in a large cluster each pair of instances has one network."""
    if not peer or not all(ip.startswith(_LINK_LOCAL) for ip in known.values()):
        return known
    found = {one.number: one.haip.partition("/")[0] for one in peer if one.haip != _NONE}
    chosen = found if settings.asks_by_way_of_others else {n: ip for n, ip in found.items() if n in known}
    return chosen or found


def _addresses(known: dict[int, str], peer: tuple[NetworkInUse, ...]) -> dict[int, str]:
    """Return the private addresses of a peer by network; empty where CSS sends no heartbeat."""
    if not known or not peer:
        return known
    return {
        one.number: known.get(one.number, "") if one.kind == "own" else one.address.partition("/")[0]
        for one in peer
        if one.kind != "moved"
    }
