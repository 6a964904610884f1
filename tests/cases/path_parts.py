"""Parts of a case about paths between nodes and about the next boot."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import msgspec

from checks.model.facts import (
    KeptMtu,
    Leg,
    NetworkService,
    PathProbe,
    PingSeries,
    PrivateNetwork,
    Verdict,
)
from tests.fixtures.clusters import path


class Table(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True, rename={"from_": "from"}):
    """A table of a case file; an unknown key is an error."""


def several(names: str | tuple[str, ...]) -> tuple[str, ...]:
    return (names,) if isinstance(names, str) else names


class PathOf(Table, frozen=True, kw_only=True):
    """The result of pings between nodes on one network; all other paths pass."""

    from_: str | tuple[str, ...]
    to: str | tuple[str, ...]
    network: str = "eth2"
    """The network, by its interface in oifcfg."""
    both_ways: bool = False
    verdict: Verdict
    lost_leg: Leg = Leg.UNKNOWN
    small: tuple[int, int] | None = None
    """Small packets: sent, answered."""
    full: tuple[int, int] | None = None
    path_mtu: int | None = None
    """The largest packet that passes."""
    refused_locally: int = 0
    local_mtu: int | None = None
    too_big_mtu: int | None = None
    too_big_from: str = ""
    hops: int | None = None
    reason: str = ""
    neighbour_mac: str = ""

    def probes(self, networks: Iterable[PrivateNetwork]) -> Iterator[PathProbe]:
        """Yield the probed paths."""
        network = next(n for n in networks if n.interface == self.network)
        more: dict[str, object] = {"hops": self.hops, "reason": self.reason, "neighbour_mac": self.neighbour_mac}
        if self.path_mtu:
            more["path_mtu"] = self.path_mtu
        if self.small or self.full:
            (sent, back), (sent_full, back_full) = self.small or (20, 20), self.full or (20, 20)
            mtu = network.mtu if isinstance(network.mtu, int) else 9000
            more["series"] = (
                PingSeries(56, sent, back),
                PingSeries(
                    mtu - 28, sent_full, back_full, refused_locally=self.refused_locally, local_mtu=self.local_mtu,
                    too_big_mtu=self.too_big_mtu, too_big_from=self.too_big_from,
                ),
            )  # fmt: skip
        for a in several(self.from_):
            for b in several(self.to):
                if a != b:
                    yield path(network, a, b, self.verdict, self.lost_leg, **more)
                    if self.both_ways:
                        yield path(network, b, a, self.verdict, self.lost_leg, **more)


class BootOf(Table, frozen=True, kw_only=True):
    """The configuration of an interface at the next boot."""

    node: str
    interface: str
    mtu: int | None = None
    """The MTU in the files; None when no file sets it."""
    manager: NetworkService = NetworkService.IFCFG
    file: str = ""
    addresses: tuple[str, ...] | None = None
    """The static addresses in the file; without this line neither they nor the start were read."""
    by_dhcp: bool = False
    starts: bool = True

    def kept(self) -> KeptMtu:
        """Return the configuration as a fact."""
        kept = KeptMtu(self.interface, self.manager, self.file, mtu=self.mtu)
        if self.addresses is None:
            return kept
        more = {"addresses": self.addresses, "is_by_dhcp": self.by_dhcp, "starts": self.starts}
        return msgspec.structs.replace(kept, **more, connection=self.interface)
