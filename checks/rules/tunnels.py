"""Tunnels below a NIC: how many bytes their headers take from each packet, and what the path then still carries."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from checks.model.facts import PathProbe

STANDARD_MTU = 1500
"""The MTU of Ethernet (IEEE 802.3): no Ethernet switch carries less."""
_MOST_HEADER_BYTES = 100
"""The headers of the usual tunnels together. Ours."""
_SMALL: Mapping[int, str] = {4: "a VLAN tag", 8: "PPPoE or two VLAN tags", 20: "IP in IP", 40: "Google Cloud"}
"""Known only against the standard MTU: RFC 2516, RFC 2003, and the MTU 1460 of Google Cloud. Above it, a switch that
counts its own headers falls short by so much."""
_HEADERS: Mapping[int, str] = {
    24: "GRE",
    28: "GRE with a key",
    38: "GRE of Ethernet frames",
    42: "NVGRE",
    50: "VXLAN or Geneve",
    54: "VXLAN with a VLAN tag",
    58: "Geneve with options",
    60: "WireGuard",
    70: "VXLAN over IPv6",
    78: "Geneve with options over IPv6",
}
"""Bytes by RFC 2784, 2890, 7637, 7348 and 8926: an Ethernet header of 14, IP of 20, UDP of 8, and the tunnel's own."""


def missing_bytes(path: PathProbe) -> int:
    """Return how many bytes the largest packet that passes is smaller than the NICs' MTU; 0 where that is not known."""
    return path.expected_mtu - path.path_mtu if isinstance(path.path_mtu, int) else 0


def mtu_below(path: PathProbe) -> int:
    """Return the MTU that the network below a tunnel has: the NICs', or the standard MTU where less than that passes,
    since each Ethernet switch carries it."""
    is_less = isinstance(path.path_mtu, int) and path.path_mtu < STANDARD_MTU
    return min(path.expected_mtu, STANDARD_MTU) if is_less else path.expected_mtu


def header_bytes(path: PathProbe) -> int:
    """Return the bytes that the headers of a tunnel take; 0 where no limit is known."""
    return mtu_below(path) - path.path_mtu if isinstance(path.path_mtu, int) else 0


def tunnel_of(path: PathProbe) -> str:
    """Return the tunnel whose headers explain the bytes that are missing; empty where none does."""
    missing, is_standard = header_bytes(path), mtu_below(path) <= STANDARD_MTU
    if name := _HEADERS.get(missing, "") or (_SMALL.get(missing, "") if is_standard else ""):
        return name
    return "a tunnel such as IPsec" if is_standard and 0 < missing <= _MOST_HEADER_BYTES else ""


def tunnels_of(paths: Iterable[PathProbe]) -> tuple[str, ...]:
    """Return the tunnels that explain the paths, each once; none where one of known limit has no such explanation."""
    known = [path for path in paths if missing_bytes(path) > 0]
    names = [tunnel_of(path) for path in known]
    return tuple(dict.fromkeys(names)) if all(names) else ()
