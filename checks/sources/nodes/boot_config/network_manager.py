"""Parse NetworkManager's connections from its keyfiles (nm-settings-keyfile(5)) and from the output of nmcli."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import msgspec

from checks.model.facts import KeptMtu, MissingRight, NetworkService, Unknown
from checks.sources.node_setup import KEYFILE_DIRECTORIES
from checks.sources.nodes.boot_config.device import Device, parse_mtu
from checks.sources.nodes.boot_config.ini import Setting, last, parse_ini
from checks.sources.nodes.boot_config.profile import BY_DHCP, Profile, profile_mtus, with_prefix
from checks.sources.nodes.boot_config.shell_assignments import IGNORED_SUFFIXES
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import ConfigFile

_UNESCAPED_COLON = re.compile(r"(?<!\\):")
_ESCAPED = re.compile(r"\\(.)")
_NETPLAN = "netplan-"


class Listed(NamedTuple):
    """A line of `nmcli connection show`."""

    name: str
    uuid: str
    type: str
    device: str
    file: str | None
    """None where this nmcli is too old to print files."""


def parse_listed(text: str) -> tuple[Listed, ...]:
    """Read `nmcli -t -f NAME,UUID,TYPE,DEVICE[,FILENAME] connection show`: a colon in a value has a backslash."""
    found = []
    for line in text.split("\n"):
        match [_unescaped(word) for word in _UNESCAPED_COLON.split(line)]:
            case [name, uuid, type_, device, file]:
                found.append(Listed(name, uuid, type_, device, file))
            case [name, uuid, type_, device]:
                found.append(Listed(name, uuid, type_, device, None))
    return tuple(found)


def parse_details(text: str) -> tuple[Profile, ...]:
    """Read `nmcli -t -f NMCLI_FIELDS connection show UUID`, one after the other; each starts with `connection.id:`."""
    blocks: list[dict[str, str]] = []
    for line in text.split("\n"):
        key, colon, value = line.partition(":")
        if colon and key == "connection.id":
            blocks.append({})
        if colon and blocks:
            blocks[-1].setdefault(key, _unescaped(value.strip()))
    return tuple(_detailed(block) for block in blocks)


def parse_keyfile(file: ConfigFile) -> Profile:
    """Parse a connection from its keyfile."""
    settings = parse_ini(file.lines)
    # The long names are from releases before 1.0; files may still have them.
    link = ("infiniband",) if last(settings, "connection", "type") == "infiniband" else ("ethernet", "802-3-ethernet")
    mtu = next((mtu for section in link if (mtu := parse_mtu(last(settings, section, "mtu")))), None)
    return Profile(
        name=last(settings, "connection", "id") or file.name.removesuffix(".nmconnection"),
        type=last(settings, "connection", "type"),
        interface=last(settings, "connection", "interface-name"),
        hardware_address=next((a for section in link if (a := last(settings, section, "mac-address"))), ""),
        mtu=mtu or (BY_DHCP if last(settings, "ipv4", "method") == "auto" else None),
        network_service=NetworkService.NETPLAN if file.name.startswith(_NETPLAN) else NetworkService.NETWORK_MANAGER,
        file=file.path,
        uuid=last(settings, "connection", "uuid"),
        autoconnect=last(settings, "connection", "autoconnect").lower() not in ("false", "no", "0"),
        priority=number(last(settings, "connection", "autoconnect-priority")) or 0,
        addresses=_static(settings),
        is_by_dhcp=last(settings, "ipv4", "method") in ("auto", ""),
    )


_ADDRESS = re.compile(r"address(es)?[0-9]*")


def _static(settings: Sequence[Setting]) -> tuple[str, ...]:
    """The static addresses of a keyfile: `address1=192.168.10.1/24,GATEWAY`, or `addresses1=192.168.10.1;24;GATEWAY;`
    of releases before 1.0. An address that several lines have is one."""
    found = []
    for setting in settings:
        if setting.section in ("ipv4", "ipv6") and _ADDRESS.fullmatch(setting.key):
            own, _, _ = setting.value.partition(",")
            address, semicolon, rest = own.partition(";")
            found.append(with_prefix(address, rest.partition(";")[0] if semicolon else ""))
    return tuple(dict.fromkeys(address for address in found if address))


def parse_defaults(files: Iterable[ConfigFile]) -> dict[str, int | Unknown]:
    """The MTU of connections that set none, from the sections `connection*` of NetworkManager's own configuration.

    Unknown where sections have several values, or where one is for some devices only (NetworkManager.conf(5)).
    """
    found: dict[str, int | Unknown] = {}
    for file in files:
        settings = parse_ini(file.lines)
        partial = {s.section for s in settings if s.key == "match-device"}
        for setting in settings:
            link, _, key = setting.key.removeprefix("802-3-").partition(".")
            mtu = parse_mtu(setting.value)
            if key != "mtu" or link not in ("ethernet", "infiniband") or not setting.section.startswith("connection"):
                continue
            if not isinstance(mtu, int):
                continue
            if setting.section in partial or found.get(link, mtu) != mtu:
                found[link] = Unknown(
                    f"{file.path} sets a default MTU for some connections; racwire does not match them"
                )
            else:
                found[link] = mtu
    return found


def with_default(kept: KeptMtu, defaults: Mapping[str, int | Unknown]) -> KeptMtu:
    """The configured MTU of an interface, with NetworkManager's default where its connection sets none."""
    default = defaults.get("infiniband" if kept.kind == "infiniband" else "ethernet")
    return msgspec.structs.replace(kept, mtu=default) if kept.mtu is None and default is not None else kept


def is_kept(path: str) -> bool:
    """Whether a connection in this file exists after a boot: /run is empty then, but netplan generates its files."""
    return bool(path) and (not path.startswith("/run/") or _NETPLAN in path)


def network_manager_mtus(
    files: Sequence[ConfigFile],
    listed: Sequence[Listed],
    details: Sequence[Profile],
    from_ifcfg: Sequence[Profile],
    devices: Sequence[Device],
) -> tuple[dict[str, KeptMtu], tuple[str, ...]]:
    """The MTUs that NetworkManager configures, and the paths of files whose content is not known.

    A readable file takes precedence, because the next boot reads it; else the output of nmcli counts. `from_ifcfg` are
    the connections of ifcfg files that NetworkManager reads.
    """
    keyfiles = [
        f for f in files if is_kept(f.path) and not f.is_masked and not f.name.endswith((*IGNORED_SUFFIXES, ".d"))
    ]
    readable = [*from_ifcfg, *(parse_keyfile(f) for f in keyfiles if f.is_readable)]
    from_files = {p.uuid for p in readable if p.uuid} | {p.file for p in readable}
    lines = {line.uuid: line for line in listed}
    from_nmcli = [p for p in _persistent(details, lines) if p.uuid not in from_files and p.file not in from_files]
    profiles = [_as_listed(p, listed) for p in (*readable, *from_nmcli)]
    known = {p.file for p in from_nmcli}
    unread = tuple(f.path for f in keyfiles if not (f.is_readable or f.path in known or _is_in_nmcli(f, from_nmcli)))
    kept = profile_mtus(profiles, devices)
    if unread:
        kept |= {d.name: _unread(d, unread[0]) for d in devices if d.is_hardware and d.name not in kept}
    return kept, unread


def _is_in_nmcli(file: ConfigFile, from_nmcli: Sequence[Profile]) -> bool:
    """Whether an nmcli that prints no files printed the connection of this file, which has the connection's name.

    An unreadable directory counts as printed where nmcli printed any connection.
    """
    if any(f"{directory}/".startswith(f"{file.path}/") for directory in KEYFILE_DIRECTORIES):
        return bool(from_nmcli)
    return file.name.removesuffix(".nmconnection") in {p.name for p in from_nmcli if not p.file}


def _persistent(details: Iterable[Profile], lines: dict[str, Listed]) -> Iterator[Profile]:
    """Yield the connections that nmcli printed, without those that are only in memory or in /run."""
    for profile in details:
        line = lines.get(profile.uuid)
        if line is None or line.file is None:
            yield profile
        elif is_kept(line.file):
            is_ifcfg = "/ifcfg-" in line.file
            network_service = NetworkService.IFCFG_NETWORK_MANAGER if is_ifcfg else NetworkService.NETWORK_MANAGER
            yield replace(
                profile,
                file=line.file,
                network_service=NetworkService.NETPLAN if _NETPLAN in line.file else network_service,
            )


def _as_listed(profile: Profile, listed: Iterable[Listed]) -> Profile:
    """The connection with the interface that it is active on."""
    for line in listed:
        if (profile.uuid and line.uuid == profile.uuid) or (line.file and line.file == profile.file):
            return replace(profile, active_on=line.device.removeprefix("--"))
    return profile


def _unread(device: Device, path: str) -> KeptMtu:
    reason = Unknown(
        f"this user may not read {path}, and nmcli printed no connection; root may read it",
        MissingRight(f"read {path} as root, or query NetworkManager with nmcli"),
    )
    return KeptMtu(device.name, NetworkService.NETWORK_MANAGER, mtu=reason, kind=device.kind)


def _detailed(block: dict[str, str]) -> Profile:
    def value(key: str) -> str:
        return block.get(key, "").removeprefix("--")

    link = "infiniband" if value("connection.type") == "infiniband" else "802-3-ethernet"
    mtu = parse_mtu(value(f"{link}.mtu"))
    written = ",".join((value("ipv4.addresses"), value("ipv6.addresses")))
    static = tuple(address for word in written.split(",") if (address := word.strip()))
    return Profile(
        name=value("connection.id"),
        type=value("connection.type"),
        interface=value("connection.interface-name"),
        hardware_address=value(f"{link}.mac-address"),
        mtu=mtu or (BY_DHCP if value("ipv4.method") == "auto" else None),
        uuid=value("connection.uuid"),
        autoconnect=value("connection.autoconnect") != "no",
        priority=number(value("connection.autoconnect-priority")) or 0,
        addresses=static,
        is_by_dhcp=value("ipv4.method") == "auto",
    )


def _unescaped(text: str) -> str:
    return _ESCAPED.sub(r"\1", text)
