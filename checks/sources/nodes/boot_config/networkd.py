"""Parse the files of systemd-networkd, and the .link files that udev applies with every network service.

The files of all directories are in the order of their names, and the first that matches an interface counts. For one
name, /etc takes precedence over /run, and /run over /usr (systemd.network(5), systemd.link(5), systemd.netdev(5)).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase

import msgspec

from checks.model.facts import KeptMtu, NetworkService, Unknown
from checks.sources.node_setup import NETWORKD_DIRECTORIES
from checks.sources.nodes.boot_config.device import MTU_RANGE, Device, named
from checks.sources.nodes.boot_config.ini import Setting, last, parse_ini
from checks.sources.nodes.boot_config.profile import BY_DHCP
from checks.sources.nodes.proc import number
from checks.sources.nodes.sections import ConfigFile

_SUFFIXES = {"K": 1024, "M": 1024**2, "G": 1024**3}


@dataclass(frozen=True, slots=True)
class Unit:
    """A file, with its drop-ins read after it."""

    path: str
    settings: tuple[Setting, ...]
    mtu_from: str = ""
    """The path of the file or drop-in that sets the MTU."""

    @property
    def name(self) -> str:
        """The file's name, by which it is ordered."""
        return self.path.rpartition("/")[2]

    @property
    def has_match(self) -> bool:
        """Whether it has a condition: udev does not apply a .link file without one."""
        return any(s.section == "Match" for s in self.settings)

    def mtu(self, section: str = "Link") -> int | None:
        """MTUBytes= of a section, in bytes; a suffix counts to the base of 1024."""
        text = last(self.settings, section, "MTUBytes").upper()
        value = number(text.rstrip("KMGB "))
        bytes_ = value * _SUFFIXES.get(text.rstrip("B ")[-1:], 1) if value is not None else None
        return bytes_ if bytes_ in MTU_RANGE else None


def units(files: Iterable[ConfigFile], suffix: str) -> tuple[Unit, ...]:
    """The files of one kind in the order of their use, without masked files and files that a boot removes."""
    chosen: dict[str, ConfigFile] = {}
    drop_ins: dict[str, dict[str, ConfigFile]] = {}
    for file in sorted(files, key=_rank):
        if _is_lost(file.path):
            continue
        if file.name.endswith(suffix):
            chosen.setdefault(file.name, file)
        elif file.name.endswith(".conf") and file.directory.endswith(f"{suffix}.d"):
            drop_ins.setdefault(file.directory.rpartition("/")[2].removesuffix(".d"), {}).setdefault(file.name, file)
    return tuple(
        _unit(file, [drop_in for _, drop_in in sorted(drop_ins.get(name, {}).items()) if not drop_in.is_masked])
        for name, file in sorted(chosen.items())
        # An empty file masks like a link to /dev/null; so does a file without any relevant line.
        if not file.is_masked and (file.lines or not file.is_readable)
    )


def networkd_mtus(files: Sequence[ConfigFile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The MTUs of systemd-networkd: MTUBytes= of the .network file, else of the .netdev file of the device."""
    networks = units(files, ".network")
    made = {name: unit for unit in units(files, ".netdev") if (name := last(unit.settings, "NetDev", "Name"))}
    future = [Device(name, kind=last(unit.settings, "NetDev", "Kind")) for name, unit in made.items()]
    everyone = [*devices, *(device for device in future if named(device.name, devices) is None)]
    kept = {}
    for device in everyone:
        entry = _first(networks, device, _kept_by_network)
        if device.name in made and (entry is None or entry.mtu is None) and (mtu := made[device.name].mtu("NetDev")):
            path = made[device.name].path
            made_by = KeptMtu(device.name, _service_of(path), path, mtu=mtu, kind=device.kind)
            entry = (
                msgspec.structs.replace(entry, file=path, mtu=mtu, network_service=made_by.network_service)
                if entry
                else made_by
            )
        if entry is not None:
            kept[device.name] = entry
    return kept


def link_file_mtus(files: Sequence[ConfigFile], devices: Sequence[Device]) -> dict[str, KeptMtu]:
    """The MTUs that .link files set when a device appears, before any network service; without files that set none."""
    links = tuple(unit for unit in units(files, ".link") if unit.has_match)
    if all(unit.mtu() is None for unit in links):
        return {}  # which of them matches, such as udev's own by the path of a device, makes no difference then
    found = {device.name: _first(links, device, _set_by_link) for device in devices}
    return {name: entry for name, entry in found.items() if entry is not None and entry.mtu is not None}


def _kept_by_network(unit: Unit, device: Device) -> KeptMtu | None:
    if last(unit.settings, "Link", "Unmanaged").lower() in ("yes", "true", "on", "1"):
        return None
    by_dhcp = BY_DHCP if last(unit.settings, "Network", "DHCP").lower() in ("yes", "true", "ipv4", "both") else None
    mtu = unit.mtu() or by_dhcp
    return KeptMtu(
        device.name, _service_of(unit.path), unit.mtu_from or unit.path, mtu=mtu, kind=device.kind,
        addresses=_static(unit.settings), is_by_dhcp=by_dhcp is not None,
        starts=last(unit.settings, "Link", "ActivationPolicy").lower() not in ("manual", "down", "always-down"),
    )  # fmt: skip


def _static(settings: Iterable[Setting]) -> tuple[str, ...]:
    """The addresses of the sections [Network] and [Address]; an empty line in [Network] resets those before it."""
    found: list[str] = []
    for setting in settings:
        if setting.key == "Address" and setting.section in ("Network", "Address"):
            found = [*found, setting.value] if setting.value else []
    return tuple(found)


def _set_by_link(unit: Unit, device: Device) -> KeptMtu:
    return KeptMtu(device.name, NetworkService.UNKNOWN, unit.mtu_from or unit.path, mtu=unit.mtu(), kind=device.kind)


def _first(tried: Iterable[Unit], device: Device, kept: Callable[[Unit, Device], KeptMtu | None]) -> KeptMtu | None:
    """The MTU of the first unit that matches; Unknown where a condition that racwire cannot evaluate comes first."""
    for unit in tried:
        match _matches(unit, device):
            case True:
                return kept(unit, device)
            case str() as condition:
                entry = kept(unit, device)
                reason = f"{unit.path} matches by {condition}, which racwire does not evaluate"
                mtu = Unknown(reason)
                return entry and KeptMtu(device.name, entry.network_service, entry.file, mtu=mtu, kind=entry.kind)
    return None


def _matches(unit: Unit, device: Device) -> bool | str:
    """Whether all conditions hold; the name of a condition where only unsupported conditions are left."""
    not_followed = ""
    for key in dict.fromkeys(s.key for s in unit.settings if s.section == "Match"):
        words = _words(unit.settings, key)
        is_inverted = bool(words) and words[0].startswith("!")
        words = [word.removeprefix("!") for word in words]
        match key:
            case _ if not words:
                continue
            case "Name" | "OriginalName":
                new_name = last(unit.settings, "Link", "Name")
                holds = any(fnmatchcase(device.name, word) or new_name == device.name for word in words)
            case "MACAddress" | "PermanentMACAddress":
                holds = any(device.has_address(word.replace("-", ":")) for word in words)
            case "Type":
                holds = any(fnmatchcase("ether" if device.kind == "ethernet" else device.kind, word) for word in words)
            # The kind of an Ethernet interface, such as veth, is not known here, but it is none of these three.
            case "Kind" if device.kind != "ethernet" or set(words) <= {"bond", "vlan", "bridge"}:
                holds = any(fnmatchcase(device.kind, word) for word in words)
            case _:
                not_followed = not_followed or f"{key}="
                continue
        if holds == is_inverted:
            return False
    return not_followed or True


def _words(settings: Iterable[Setting], key: str) -> list[str]:
    """The words of a condition on one line or several; an empty line resets the words before it."""
    words: list[str] = []
    for setting in settings:
        if (setting.section, setting.key) == ("Match", key):
            found = setting.value.replace('"', " ").replace("'", " ").split()
            words = [*words, *found] if found else []
    return words


def _unit(file: ConfigFile, drop_ins: Iterable[ConfigFile]) -> Unit:
    unit = Unit(file.path, ())
    for part in (file, *drop_ins):
        settings = parse_ini(part.lines)
        sets = any(s.key == "MTUBytes" for s in settings)
        unit = replace(unit, settings=unit.settings + settings, mtu_from=part.path if sets else unit.mtu_from)
    return unit


def _rank(file: ConfigFile) -> int:
    return next(
        (i for i, place in enumerate(NETWORKD_DIRECTORIES) if file.path.startswith(f"{place}/")),
        len(NETWORKD_DIRECTORIES),
    )


def _is_lost(path: str) -> bool:
    """Whether a boot removes the file: /run is empty then, but netplan generates its files."""
    return path.startswith("/run/") and "netplan" not in path


def _service_of(path: str) -> NetworkService:
    return NetworkService.NETPLAN if path.startswith("/run/") else NetworkService.NETWORKD
