"""A connection as NetworkManager has it, whichever kind of file it comes from, and which of several it would take."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from checks.model.facts import Keeper, KeptMtu, Unknown
from checks.sources.nodes.boot_config.device import Device

BY_DHCP = Unknown("no file sets it, and DHCP can bring one (option 26)")
"""An interface that gets its address by DHCP, and no MTU from its file."""

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
    """Empty where it is bound to none by name."""
    hardware_address: str = ""
    mtu: int | Unknown | None = None
    keeper: Keeper = Keeper.NETWORK_MANAGER
    file: str = ""
    uuid: str = ""
    autoconnect: bool = True
    priority: int = 0
    active_on: str = ""
    """The interface that it is active on now; empty where it is not, or where that is not known."""

    @property
    def kind(self) -> str:
        """What it makes, in the words of KeptMtu."""
        return _TYPES.get(self.type, "")

    def is_for(self, device: Device) -> bool:
        """Whether it can be activated on the device: by its name, else by its hardware address, else as it is now."""
        if self.interface:
            return self.interface == device.name
        if self.hardware_address:
            return device.has_address(self.hardware_address)
        return self.active_on == device.name

    def kept(self, interface: str) -> KeptMtu:
        """What it keeps for an interface."""
        return KeptMtu(interface, self.keeper, self.file, self.name, self.mtu, self.kind)


def profile_mtus(profiles: Iterable[Profile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """For each interface, what the connection keeps that NetworkManager would take at boot.

    It takes one that connects by itself, of the highest priority, and among equals the one used last (nm-settings(5),
    autoconnect-priority): the one that is active now is taken for that.
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
