"""A connection of NetworkManager from any kind of file, and the choice between several connections."""

from __future__ import annotations

import ipaddress
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import KeptMtu, MtuByDhcp, NetworkService, Unknown
from checks.sources.nodes.boot_config.device import Device

BY_DHCP = MtuByDhcp()
"""The MTU of an interface that has its address from DHCP and no MTU in its file."""

_TYPES = {
    "802-3-ethernet": "ethernet",
    "ethernet": "ethernet",
    "bond": "bond",
    "team": "bond",
    "vlan": "vlan",
    "bridge": "bridge",
    "infiniband": "infiniband",
}


@dataclass(frozen=True, slots=True)
class Profile:
    """One connection."""

    name: str
    """`connection.id`."""
    type: str = ""
    interface: str = ""
    """Empty where the connection names no interface."""
    hardware_address: str = ""
    mtu: int | Unknown | None = None
    network_service: NetworkService = NetworkService.NETWORK_MANAGER
    file: str = ""
    uuid: str = ""
    autoconnect: bool = True
    priority: int = 0
    addresses: tuple[str, ...] = ()
    is_by_dhcp: bool = False
    active_on: str = ""
    """The interface on which it is active; empty where it is inactive or not known to be active."""

    @property
    def kind(self) -> str:
        """The kind of its interface, as in KeptMtu."""
        return _TYPES.get(self.type, "")

    def is_for(self, device: Device) -> bool:
        """Whether it applies to the device: by name, else by hardware address, else because it is active there."""
        if self.interface:
            return self.interface == device.name
        if self.hardware_address:
            return device.has_address(self.hardware_address)
        return self.active_on == device.name

    def kept(self, interface: str) -> KeptMtu:
        """The configured MTU for an interface."""
        return KeptMtu(
            interface, self.network_service, self.file, self.name, self.mtu, self.kind,
            addresses=self.addresses, is_by_dhcp=self.is_by_dhcp, starts=self.autoconnect,
        )  # fmt: skip


def with_prefix(address: str, length: str = "", mask: str = "") -> str:
    """Return an address with its prefix length, from either of the two ways to write it; without one as it is."""
    text = address.strip()
    if "/" in text or not text:
        return text
    length = length.strip() or _length_of(mask.strip())
    return f"{text}/{length}" if length else text


def _length_of(mask: str) -> str:
    try:
        return str(ipaddress.ip_network(f"0.0.0.0/{mask}").prefixlen) if mask else ""
    except ValueError:
        return ""


def profile_mtus(profiles: Iterable[Profile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The configured MTU of each interface, from the connection that NetworkManager would activate at boot.

    NetworkManager prefers a connection with autoconnect, then the highest priority, then the one used last
    (nm-settings(5), autoconnect-priority). racwire assumes that the active connection is the one used last.
    """
    ranked = sorted(
        (profile for profile in profiles if profile.kind),
        key=lambda p: (p.autoconnect, p.priority, bool(p.active_on)),
        reverse=True,
    )
    kept: dict[str, KeptMtu] = {}
    for profile in ranked:
        names = [device.name for device in devices if profile.is_for(device)]
        for name in names or ([profile.interface] if profile.interface else []):
            kept.setdefault(name, profile.kept(name))
    return kept
