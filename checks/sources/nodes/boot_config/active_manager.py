"""Which network service manages each interface at boot, and the MTU that its files set there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import msgspec

from checks.model.facts import KeptMtu, MissingRight, NetworkService, Unknown
from checks.sources.host_sections import ZONE_LINE
from checks.sources.nodes.boot_config.device import Device
from checks.sources.nodes.boot_config.ifcfg import connections, ifcfg_mtus
from checks.sources.nodes.boot_config.network_manager import Listed, network_manager_mtus, with_default
from checks.sources.nodes.boot_config.networkd import link_file_mtus, networkd_mtus
from checks.sources.nodes.boot_config.profile import Profile
from checks.sources.nodes.boot_config.wicked import wicked_mtus
from checks.sources.nodes.sections import ConfigFile

_RUNS = ("active", "reloading", "activating", "failed")
"""States of a unit that starts at boot; the network service is `failed` as soon as one interface did not come up."""
_SIGNS = {
    NetworkService.NETWORK_MANAGER: ("/run/NetworkManager", "/var/run/NetworkManager"),
    NetworkService.IFCFG: ("/var/lock/subsys/network",),
    NetworkService.NETWORKD: ("/run/systemd/netif",),
    NetworkService.WICKED: ("/run/wicked",),
}
_UNITS = (NetworkService.NETWORK_MANAGER, NetworkService.IFCFG, NetworkService.NETWORKD, NetworkService.WICKED)
"""The network services that are units of systemd, in the order of the query to systemctl."""
_STATES = {*_RUNS, "inactive", "deactivating"}


@dataclass(frozen=True, slots=True)
class BootFiles:
    """The boot configuration files, and the answers of nmcli."""

    keyfiles: Sequence[ConfigFile] = ()
    ifcfg: Sequence[ConfigFile] = ()
    wicked: Sequence[ConfigFile] = ()
    networkd: Sequence[ConfigFile] = ()
    netplan: Sequence[str] = ()
    """The paths of netplan's files."""
    listed: Sequence[Listed] = ()
    details: Sequence[Profile] = ()
    defaults: Mapping[str, int | Unknown] = field(default_factory=dict)
    """NetworkManager's MTU for connections that set none, by `ethernet` and `infiniband`."""


def parse_network_services(text: str) -> tuple[NetworkService, ...]:
    """The running network services: the first lines of `systemctl is-active`, else lines `there <path>`.

    The paths are files of running services. They count only where systemctl printed nothing: before systemd, and in
    containers.
    """
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    signs = {line.removeprefix("there ") for line in lines if line.startswith("there ")}
    states = [line for line in lines if not line.startswith(("there ", ZONE_LINE))]
    if len(states) >= len(_UNITS) and _STATES & set(states[: len(_UNITS)]):
        return tuple(service for service, state in zip(_UNITS, states, strict=False) if state in _RUNS)
    return tuple(service for service, paths in _SIGNS.items() if signs & set(paths))


def mtus_at_boot(
    files: BootFiles, services: Sequence[NetworkService], devices: Sequence[Device]
) -> tuple[tuple[KeptMtu, ...], tuple[Unknown, ...]]:
    """The configured MTU of every interface with a file or connection, and the parts that could not be read.

    Only the files of running network services count; where none is known to run, all files count. Where several
    services configure an interface, one takes precedence: netplan, which generates the files of the others, then
    NetworkManager.
    """

    def runs(service: NetworkService) -> bool:
        return not services or service in services

    kept: dict[str, KeptMtu] = {}
    unread: list[Unknown] = []
    if runs(NetworkService.WICKED):
        kept |= wicked_mtus(files.wicked, devices)
    if runs(NetworkService.NETWORKD):
        kept |= networkd_mtus(files.networkd, devices)
    if runs(NetworkService.IFCFG):
        alone = not runs(NetworkService.NETWORK_MANAGER)
        profiles = [
            *connections(files.ifcfg, unmanaged=True),
            *(connections(files.ifcfg, unmanaged=False) if alone else ()),
        ]
        kept |= ifcfg_mtus(profiles, devices)
    if runs(NetworkService.NETWORK_MANAGER):
        read_by_it = tuple(connections(files.ifcfg, unmanaged=False))
        by_it, refused = network_manager_mtus(files.keyfiles, files.listed, files.details, read_by_it, devices)
        by_it = {name: with_default(of, files.defaults) for name, of in by_it.items()}
        # An unknown MTU of NetworkManager does not hide the MTU of another service.
        kept = {**{name: of for name, of in by_it.items() if isinstance(of.mtu, Unknown)}, **kept} | {
            name: of for name, of in by_it.items() if not isinstance(of.mtu, Unknown)
        }
        if refused:
            unread.append(_refused("NetworkManager", refused))
    kept = {**_of_unread_files(files, runs, devices), **kept}
    if files.netplan and (runs(NetworkService.NETWORKD) or runs(NetworkService.NETWORK_MANAGER)):
        kept |= _by_netplan(files.netplan[0], kept, devices)
    for name, by_link in link_file_mtus(files.networkd, devices).items():
        of = kept.get(name)
        if of is None:
            kept[name] = by_link
        elif of.mtu is None:
            kept[name] = msgspec.structs.replace(of, mtu=by_link.mtu, file=by_link.file)
    return tuple(kept[name] for name in sorted(kept)), tuple(unread)


def _of_unread_files(
    files: BootFiles, runs: Callable[[NetworkService], bool], devices: Sequence[Device]
) -> dict[str, KeptMtu]:
    """The interfaces that a file or directory may configure that this user may not read."""
    groups = (
        (files.ifcfg, (NetworkService.IFCFG, NetworkService.NETWORK_MANAGER)),
        (files.wicked, (NetworkService.WICKED,)),
        (files.networkd, (NetworkService.NETWORKD,)),
    )
    kept: dict[str, KeptMtu] = {}
    for found, services in groups:
        service = next((service for service in services if runs(service)), None)
        if service is None:
            continue
        for file in (f for f in found if not (f.is_readable or f.is_masked)):
            name = file.name.removeprefix("ifcfg-") if file.name.startswith("ifcfg-") else ""
            names = [d for d in devices if d.name == name] if name else [d for d in devices if d.is_hardware]
            reason = Unknown(f"this user may not read {file.path}; root may", MissingRight(f"read {file.path} as root"))
            for one in names:
                kept.setdefault(one.name, KeptMtu(one.name, service, file.path if name else "", "", reason, one.kind))
    return kept


def _by_netplan(path: str, kept: Mapping[str, KeptMtu], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The interfaces that netplan configures or may configure: those of its generated files, and all without a file.

    racwire does not read its YAML: Oracle certifies RAC on no distribution that uses netplan.
    """
    unread = Unknown(
        f"netplan configures it in {path}, which racwire does not read, because RAC is not certified on Ubuntu: "
        f"check the MTU in {path} by hand"
    )
    generated = {name: of.kind for name, of in kept.items() if of.network_service is NetworkService.NETPLAN}
    open_to_it = {
        device.name: device.kind for device in devices if device.kind != "loopback" and device.name not in kept
    }
    return {
        name: KeptMtu(name, NetworkService.NETPLAN, path, mtu=unread, kind=kind)
        for name, kind in (generated | open_to_it).items()
    }


def _refused(service: str, paths: Sequence[str]) -> Unknown:
    others = f" and {len(paths) - 1} more" if len(paths) > 1 else ""
    return Unknown(
        f"The configuration of {service} in {paths[0]}{others} is not known: only root can read it.",
        MissingRight(f"read {paths[0]}{others} as root"),
    )
