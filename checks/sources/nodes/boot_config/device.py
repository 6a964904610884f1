"""The interfaces of a node, as configuration files name them: by name or by hardware address. No I/O."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from checks.sources.nodes.proc import number, parse_values

_INFINIBAND = "32"
_LOOPBACK = "772"
"""ARPHRD_INFINIBAND and ARPHRD_LOOPBACK of linux/if_arp.h, as /sys/class/net/*/type has them."""

MTU_RANGE = range(68, 65_536)
"""Valid MTUs in bytes: IPv4 requires 68 (RFC 791), and a length field ends at 65,535."""


@dataclass(frozen=True, slots=True)
class Device:
    """An interface that the node has now."""

    name: str
    addresses: tuple[str, ...] = ()
    """Its hardware addresses in lower case, the permanent one first: a member of a bond has the bond's as well."""
    kind: str = "ethernet"
    """`ethernet`, `infiniband`, `loopback`, or the kernel's own name: `bond`, `vlan`, `bridge`, `wlan`."""

    @property
    def is_hardware(self) -> bool:
        """Whether it has a hardware address of its own, which a VLAN, bond or bridge borrows from below."""
        return self.kind in ("ethernet", "infiniband", "wlan")

    def has_address(self, address: str) -> bool:
        """Whether this is the device's own hardware address, in upper or lower case."""
        return self.is_hardware and bool(address) and address.strip().lower() in self.addresses


def parse_devices(text: str) -> tuple[Device, ...]:
    """Read `<name>/address`, `<name>/bonding_slave/perm_hwaddr`, `<name>/type` and `<name>/uevent` of /sys/class/net.

    As `grep -H` prints them: path, colon, content. Only DEVTYPE of uevent is used.
    """
    values = parse_values(text)
    names = dict.fromkeys(path.partition("/")[0] for path in values if "/" in path)
    return tuple(Device(name, _addresses(name, values), _kind(name, values)) for name in names if name)


def parse_mtu(text: str) -> int | None:
    """Parse an MTU of a configuration file; None for `0`, `auto`, `default` and other text that is no MTU."""
    value = number(text.strip().strip("'\""))
    return value if value in MTU_RANGE else None


def named(name: str, devices: Iterable[Device]) -> Device | None:
    """The device of that name."""
    return next((device for device in devices if device.name == name), None)


def _addresses(name: str, values: dict[str, str]) -> tuple[str, ...]:
    permanent = values.get(f"{name}/bonding_slave/perm_hwaddr", "")
    found = (permanent.lower(), values.get(f"{name}/address", "").lower())
    return tuple(dict.fromkeys(address for address in found if address))


def _kind(name: str, values: dict[str, str]) -> str:
    of_type = {_INFINIBAND: "infiniband", _LOOPBACK: "loopback"}.get(values.get(f"{name}/type", ""))
    return of_type or values.get(f"{name}/uevent", "").removeprefix("DEVTYPE=") or "ethernet"
