"""Parse SUSE's ifcfg files for wicked (ifcfg(5) of SUSE); the file has the name of its interface."""

from __future__ import annotations

from collections.abc import Sequence

from checks.model.facts import KeptMtu, NetworkService
from checks.sources.nodes.boot_config.device import Device, named, parse_mtu
from checks.sources.nodes.boot_config.profile import BY_DHCP, with_prefix
from checks.sources.nodes.boot_config.shell_assignments import IGNORED_SUFFIXES, is_yes, parse_assignments
from checks.sources.nodes.sections import ConfigFile


def wicked_mtus(files: Sequence[ConfigFile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The MTUs that wicked configures; at boot it ignores an interface with STARTMODE='off' or 'manual'."""
    kept = {}
    for file in files:
        name = file.name.removeprefix("ifcfg-")
        values = parse_assignments(file.lines)
        if name == "lo" or ":" in name or name.endswith(IGNORED_SUFFIXES) or not file.is_readable:
            continue
        by_dhcp = BY_DHCP if values.get("BOOTPROTO", "").lower().startswith("dhcp") else None
        mtu = parse_mtu(values.get("MTU", "")) or by_dhcp
        static = tuple(
            with_prefix(value, *(values.get(f"{key}{key_[6:]}", "") for key in ("PREFIXLEN", "NETMASK")))
            for key_, value in values.items()
            if key_.partition("_")[0] == "IPADDR" and value
        )
        kept[name] = KeptMtu(
            name, NetworkService.WICKED, file.path, mtu=mtu, kind=_kind(name, values, devices),
            addresses=static, is_by_dhcp=by_dhcp is not None,
            starts=values.get("STARTMODE", "").lower() not in ("off", "manual"),
        )  # fmt: skip
    return kept


def _kind(name: str, values: dict[str, str], devices: Sequence[Device]) -> str:
    if is_yes(values.get("BONDING_MASTER", "")):
        return "bond"
    if values.get("ETHERDEVICE"):
        return "vlan"
    if is_yes(values.get("BRIDGE", "")):
        return "bridge"
    device = named(name, devices)
    if device is not None:
        return device.kind
    return "infiniband" if values.get("IPOIB_MODE") or name.startswith("ib") else "ethernet"
