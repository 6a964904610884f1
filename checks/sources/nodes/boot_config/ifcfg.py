"""Parse the ifcfg files of Red Hat's family, for the network service or NetworkManager (nm-settings-ifcfg-rh(5))."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from checks.model.facts import KeptMtu, NetworkService
from checks.sources.nodes.boot_config.device import Device, parse_mtu
from checks.sources.nodes.boot_config.profile import BY_DHCP, Profile, profile_mtus, with_prefix
from checks.sources.nodes.boot_config.shell_assignments import IGNORED_SUFFIXES, is_no, is_yes, parse_assignments
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import ConfigFile


def parse_ifcfg(file: ConfigFile) -> tuple[Profile, bool] | None:
    """A connection, and whether NetworkManager must ignore it; None for loopback, aliases and old copies.

    An alias (`ifcfg-eth1:1`) has no MTU of its own.
    """
    name = file.name.removeprefix("ifcfg-")
    if name == "lo" or ":" in name or name.endswith(IGNORED_SUFFIXES) or not file.is_readable or file.is_masked:
        return None
    values = parse_assignments(file.lines)
    address = values.get("HWADDR", "")
    # Without DEVICE the hardware address decides; without either the file's own name.
    interface = values.get("DEVICE", "") or ("" if address else name)
    mtu = parse_mtu(values.get("MTU", ""))
    by_dhcp = BY_DHCP if values.get("BOOTPROTO", "").lower() == "dhcp" else None
    profile = Profile(
        name=values.get("NAME", "") or f"System {name}",
        type=_type(values),
        interface=interface,
        hardware_address=address,
        mtu=mtu or by_dhcp,
        network_service=NetworkService.IFCFG_NETWORK_MANAGER,
        file=file.path,
        uuid=values.get("UUID", ""),
        autoconnect=not is_no(values.get("ONBOOT", "yes")),
        priority=number(values.get("AUTOCONNECT_PRIORITY", "")) or 0,
        addresses=_addresses(values),
        is_by_dhcp=by_dhcp is not None,
    )
    return profile, is_no(values.get("NM_CONTROLLED", "yes"))


def connections(files: Sequence[ConfigFile], *, unmanaged: bool) -> Iterator[Profile]:
    """Yield the connections that NetworkManager reads, or with `unmanaged` those that it must ignore."""
    for file in files:
        if (parsed := parse_ifcfg(file)) and parsed[1] == unmanaged:
            yield parsed[0]


def ifcfg_mtus(profiles: Sequence[Profile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The MTUs that the network service configures: `ifup` sets MTU= on the interface."""
    kept = profile_mtus(profiles, devices)
    return {name: replace(of, network_service=NetworkService.IFCFG) for name, of in kept.items()}


_INDEXED = re.compile(r"IPADDR([0-9]*)")


def _addresses(values: dict[str, str]) -> tuple[str, ...]:
    """The static addresses: IPADDR, IPADDR0 and so on, each with its PREFIX or NETMASK; then those of IPv6."""
    found = [
        with_prefix(value, values.get(f"PREFIX{match[1]}", ""), values.get(f"NETMASK{match[1]}", ""))
        for name, value in values.items()
        if (match := _INDEXED.fullmatch(name))
    ]
    six = [values.get("IPV6ADDR", ""), *values.get("IPV6ADDR_SECONDARIES", "").split()]
    return tuple(address for address in (*found, *six) if address)


def _type(values: dict[str, str]) -> str:
    written = (values.get("TYPE", "") or values.get("DEVICETYPE", "")).lower()
    if is_yes(values.get("VLAN", "")) or written == "vlan":
        return "vlan"
    if written in ("bond", "team") or is_yes(values.get("BONDING_MASTER", "")):
        return "bond"
    return written if written in ("bridge", "infiniband") else "ethernet"
