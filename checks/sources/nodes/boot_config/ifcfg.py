"""Parse the ifcfg files of Red Hat's family, for the network service or NetworkManager (nm-settings-ifcfg-rh(5))."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from checks.model.facts import KeptMtu, NetworkService
from checks.sources.nodes.boot_config.device import Device, parse_mtu
from checks.sources.nodes.boot_config.profile import BY_DHCP, Profile, profile_mtus
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
        keeper=NetworkService.IFCFG_NETWORK_MANAGER,
        file=file.path,
        uuid=values.get("UUID", ""),
        autoconnect=not is_no(values.get("ONBOOT", "yes")),
        priority=number(values.get("AUTOCONNECT_PRIORITY", "")) or 0,
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
    return {
        name: KeptMtu(name, NetworkService.IFCFG, of.file, of.connection, of.mtu, of.kind) for name, of in kept.items()
    }


def _type(values: dict[str, str]) -> str:
    written = (values.get("TYPE", "") or values.get("DEVICETYPE", "")).lower()
    if is_yes(values.get("VLAN", "")) or written == "vlan":
        return "vlan"
    if written in ("bond", "team") or is_yes(values.get("BONDING_MASTER", "")):
        return "bond"
    return written if written in ("bridge", "infiniband") else "ethernet"
