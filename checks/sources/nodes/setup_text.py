"""Parse the output of the program SETUP: a node's setup, with LLDP neighbours and logins. Text in, facts out.

Raises nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime

from msgspec.structs import replace

from checks.model.facts import LldpNeighbour, MissingRight, NetworkService, NodeSetup, Unknown
from checks.rules.engineered import PLATFORM
from checks.sources.clusterware.cluster_text import parse_check_crs
from checks.sources.clusterware.grid_home import SUDOERS_SCRIPT, right_to_the_tools
from checks.sources.clusterware.home_files import parse_crs_home
from checks.sources.clusterware.oracle_text import printed_lines, quoted, read_messages, refusal_in
from checks.sources.grid_commands import OLR_FILES
from checks.sources.node_setup import CRSCTL_LIMIT_S, DAEMONS, NO_HOME, STARTING_LIMIT_S
from checks.sources.nodes.alert_log_text import parse_logs
from checks.sources.nodes.boot_config.active_manager import BootFiles, mtus_at_boot, parse_network_services
from checks.sources.nodes.boot_config.device import Device, parse_devices
from checks.sources.nodes.boot_config.fragile import parse_fragile
from checks.sources.nodes.boot_config.network_manager import parse_defaults, parse_details, parse_listed
from checks.sources.nodes.proc import number, parse_values
from checks.sources.nodes.sections import OutputSection, config_files, grepped_files
from checks.sources.nodes.setup_host import parse_host
from checks.sources.sh_text import NOT_FOUND, TIMED_OUT

# The interface's own name can hold dots (bond1.200), so it ends before a known word.
_LINE = re.compile(r"lldp\.(.+?)\.((?:via|rid|age|chassis|port|vlan|ppvid|pi|lldp-med|unknown-tlvs)(?:\..+?)?)=(.*)")
_SMALLEST_FRAME_BYTES = 64
_MOST_VLANS = 4095
_NO_TIMEOUT = "the program timeout, which racwire runs `{}` with, is not installed there"
_TIMEOUT_MISSING = re.compile(r"\btimeout: (?:command )?not found")
"""As shells print it. The program timeout itself prints `timeout: failed to run command`."""
_LOG_HEAD = re.compile(r"^[0-9]{4}-\S+ \[[^\]]*\] ")
"""The time and the level in front of a message of lldpctl."""
_NO_DAEMON = re.compile(r"socket.*: (?:No such file or directory|Connection refused)$")
_REFUSED = re.compile(r"socket.*: Permission denied$")
_NO_CRSCTL = "the Grid home that olr.loc names has no crsctl"


def parse_lldp(section: OutputSection) -> tuple[LldpNeighbour, ...] | Unknown:
    """The LLDP neighbours of the node's interfaces, in the order of the output; can be empty.

    An interface can have several neighbours, where a switch forwards the announcements of other switches.
    """
    if section.exit_status == NOT_FOUND:
        if _lacks_timeout(section):
            return Unknown(_NO_TIMEOUT.format("lldpctl"))
        return Unknown("lldpd, which receives the announcements of switches, is not installed there")
    if section.exit_status == TIMED_OUT:
        return Unknown("lldpctl did not answer in time")
    neighbours = tuple(_neighbours(section.text))
    if section.exit_status and not neighbours:
        printed = [_LOG_HEAD.sub("", line) for line in printed_lines(section.text)]
        reported = f" ({quoted(printed[-1])})" if printed else ""
        if any(_NO_DAEMON.search(line) for line in printed):
            return Unknown(f"lldpd, which receives the announcements of switches, does not run there{reported}")
        if any(_REFUSED.search(line) for line in printed):
            return Unknown(
                f"only root and the group of lldpd's socket may query lldpd there{reported}",
                MissingRight(
                    "query lldpd (lldpctl) as root or as a member of the group of its socket", script=SUDOERS_SCRIPT
                ),
            )
        return Unknown(f"lldpctl printed no answer{reported}")
    return neighbours


def _neighbours_of(parts: Mapping[str, OutputSection]) -> tuple[LldpNeighbour, ...] | Unknown:
    """The neighbours that lldpd received, else those that systemd-networkd did; without both the reason of lldpd."""
    found = parse_lldp(parts.get("lldp", OutputSection(exit_status=255)))
    if isinstance(found, Unknown) or not found:
        return parse_networkd_lldp(parts.get("networkd lldp", OutputSection()).text) or found
    return found


_TABLE = re.compile(r"LINK +CHASSIS[ -]ID +SYSTEM[ -]NAME +CAPS +PORT[ -]ID +PORT[ -]DESCRIPTION *")
_COLUMN = re.compile(r"LINK +|CHASSIS[ -]ID +|SYSTEM[ -]NAME +|CAPS +|PORT[ -]ID +|PORT[ -]DESCRIPTION *")
_EMPTY = ("n/a", "-")
_CUT = "\u2026"
"""networkctl prints it for the rest of a value that is longer than its column."""


def parse_networkd_lldp(text: str) -> tuple[LldpNeighbour, ...]:
    """The neighbours in the table of `networkctl lldp`, by its columns, since names can hold blanks; can be empty.

    It has no VLAN, no largest frame and no management address. A value that networkctl cut short is left out: the
    first letters of two switches can be the same.
    """
    columns: list[tuple[int, int]] = []
    found: list[LldpNeighbour] = []
    for line in text.split("\n"):
        if _TABLE.fullmatch(line):
            columns = [match.span() for match in _COLUMN.finditer(line)]
        elif not line.strip():
            columns = []  # a legend follows
        elif columns:
            cells = [line[begin : end if end < columns[-1][1] else None].strip() for begin, end in columns]
            link, chassis, system, _, port, description = ("" if c in _EMPTY or _CUT in c else c for c in cells)
            if link and (chassis or system):
                mac = _mac(port)
                found.append(
                    LldpNeighbour(
                        link,
                        system or chassis,
                        port=(description if mac else port) or port,
                        chassis=_mac(chassis) or chassis,
                        port_mac=mac,
                    )
                )
    return tuple(found)


def _lacks_lldpd(section: OutputSection) -> bool:
    """Whether the node has no lldpd, or none that runs."""
    if section.exit_status == NOT_FOUND:
        return not _lacks_timeout(section)
    return bool(section.exit_status) and any(
        _NO_DAEMON.search(_LOG_HEAD.sub("", line)) for line in printed_lines(section.text)
    )


def _lacks_timeout(section: OutputSection) -> bool:
    return section.exit_status == NOT_FOUND and _TIMEOUT_MISSING.search(section.text) is not None


def _neighbours(text: str) -> Iterator[LldpNeighbour]:
    interface = ""
    values: dict[str, list[str]] = {}
    # Lines of another shape continue a description of several lines.
    matched = (found for line in text.split("\n") if (found := _LINE.fullmatch(line.strip())))
    for name, key, value in (found.groups() for found in matched):
        if interface and (name != interface or key == "via"):
            yield _neighbour(interface, values)
            values = {}
        interface = name
        values.setdefault(key, []).append(value.strip())
    if interface:
        yield _neighbour(interface, values)


def _neighbour(interface: str, values: Mapping[str, Sequence[str]]) -> LldpNeighbour:
    def first(*keys: str) -> str:
        return next((value for key in keys for value in values.get(key, ()) if value), "")

    frame = number(first("port.mfs"))
    chassis = first("chassis.mac", "chassis.local", "chassis.ip", "chassis.ifname")
    neighbour = LldpNeighbour(
        interface,
        switch=first("chassis.name", "chassis.mac", "chassis.local", "chassis.ip"),
        description=first("chassis.descr"),
        port=first("port.ifname", "port.local", "port.descr", "port.mac"),
        chassis=_mac(chassis) or chassis,
        port_mac=_mac(first("port.mac")),
        management_ips=tuple(dict.fromkeys(values.get("chassis.mgmt-ip", ()))),
        untagged_vlan=_untagged(values),
    )
    return neighbour if frame is None or frame < _SMALLEST_FRAME_BYTES else replace(neighbour, max_frame_bytes=frame)


_MAC = re.compile(r"(?:[0-9A-Fa-f]{2}[:.-]?){5}[0-9A-Fa-f]{2}", re.ASCII)


def _mac(text: str) -> str:
    """The MAC address in lower case with colons; empty where the text is none."""
    return bytes.fromhex(re.sub("[:.-]", "", text)).hex(":") if _MAC.fullmatch(text) else ""


def _untagged(values: Mapping[str, Sequence[str]]) -> int | None:
    """The VLAN that lldpctl marks with `pvid=yes`. The switch announces 0 where the port has none."""
    marked = zip(values.get("vlan.vlan-id", ()), values.get("vlan.pvid", ()), strict=False)
    found = next((number(tag) for tag, pvid in marked if pvid == "yes"), None)
    return found if found is not None and 0 < found < _MOST_VLANS else None


_BIG_ENDIAN = ("s390x", "s390", "ppc64", "ppc")
"""Machines, as uname names them, on which the kernel prints the words of an address in network order."""
_LOCAL = re.compile(r"\s*\d+:\s+([0-9A-Fa-f]{32}|[0-9A-Fa-f]{8}):[0-9A-Fa-f]{4}\s")
_WORD_DIGITS = 8


def parse_logins(text: str, machine: str) -> tuple[str, ...]:
    """The local addresses of the lines, sorted, each once; an IPv4-mapped IPv6 address as IPv4."""
    return tuple(sorted(set(_addresses(text, machine in _BIG_ENDIAN))))


def _addresses(text: str, is_big_endian: bool) -> Iterator[str]:
    for line in text.split("\n"):
        if found := _LOCAL.match(line):
            yield _address(found[1], is_big_endian)


def _address(digits: str, is_big_endian: bool) -> str:
    words = re.findall(f".{{{_WORD_DIGITS}}}", digits)
    octets = b"".join(bytes.fromhex(w) if is_big_endian else bytes.fromhex(w)[::-1] for w in words)
    address = ipaddress.ip_address(octets)
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return str(mapped or address)


def _address_or_none(digits: str, is_big_endian: bool) -> str | None:
    return _address(digits, is_big_endian) if len(digits) in (_WORD_DIGITS, 4 * _WORD_DIGITS) else None


_PMON = re.compile(r"[a-z]{2,4}_pmon_([+-]?[A-Za-z0-9_$#]{1,30})")
_PROGRAM = re.compile(r"([0-9]+)/cmdline:1:(.+)")
_CONTAINED = re.compile(r"([0-9]+)/status:NSpid:")
_HIDDEN_PROCESSES = Unknown(
    "this user may not see the processes of other users there (hidepid of /proc)",
    MissingRight("see the processes of other users, as root or as a member of the group of hidepid"),
)
_RECORDS_ARE_READ = "2:b"
_ENABLED, _DISABLED = "CRS-4622", "CRS-4621"
_FURTHEST_S = 2**40

_PLATFORMS = (
    ("chassis_asset_tag", "OracleCloud.com", "Oracle Cloud"),
    ("chassis_asset_tag", "7783-7084-3265-9085-8269-3286-77", "Microsoft Azure"),
    ("sys_vendor", "Amazon EC2", "Amazon EC2"),
    ("bios_vendor", "Amazon EC2", "Amazon EC2"),
    ("sys_vendor", "Google", "Google Cloud"),
    ("product_name", "Google Compute Engine", "Google Cloud"),
)
"""The DMI field and value that identify the machines of each cloud, as the cloud documents them for its guests."""


def parse_setup(name: str, parts: Mapping[str, OutputSection], grid_owner: str = "") -> NodeSetup:
    """The setup of a node whose Grid home belongs to `grid_owner`.

    Never raises: text that cannot be parsed is left out, or Unknown.
    """

    def text(section: str) -> str:
        return parts.get(section, OutputSection()).text

    boot = dict(line.partition(" ")[::2] for line in text("boot").split("\n"))
    programs = _programs(text("processes"))
    seen = () if isinstance(programs, Unknown) else programs
    devices = parse_devices(text("devices"))
    files = BootFiles(
        config_files(text("keyfiles")),
        config_files(text("ifcfg")),
        config_files(text("wicked")),
        config_files(text("networkd")),
        tuple(line for line in text("netplan").split("\n") if line.startswith("/")),
        parse_listed(text("connections")),
        parse_details(text("connection details")),
        parse_defaults(grepped_files(text("connection defaults"))),
    )
    services = parse_network_services(text("units"))
    kept, unread = mtus_at_boot(files, services, devices)
    is_cut = "rules" not in parts
    instances = programs if isinstance(programs, Unknown) else tuple(sorted(set(_instances(programs))))
    is_big_endian = boot.get("machine", "") in _BIG_ENDIAN
    return NodeSetup(
        name,
        boot_id=boot.get("boot_id") or Unknown("the kernel did not report its boot id"),
        booted_at=_moment(boot.get("btime", "")),
        taken_at_s=float(number(boot.get("now", "")) or 0),
        grid_home=_home(seen, text("homes")),
        daemons=programs if isinstance(programs, Unknown) else tuple(sorted(set(_daemons(programs)))),
        instances=instances,
        autostart=_autostart(
            parts.get("autostart", OutputSection()), text("ohasdstr"), boot.get("name", name), grid_owner
        ),
        services=_services(parts.get("services", OutputSection()), grid_owner),
        network_services=(NetworkService.NETPLAN, *services) if services and files.netplan else services,
        kept=Unknown("the answer is incomplete") if is_cut else kept,
        fragile=parse_fragile((*config_files(text("scripts")), *grepped_files(text("rules")))),
        platform=_platform(text("platform")),
        infiniband_modes=_modes(text("devices"), devices),
        lldp=_neighbours_of(parts),
        lacks_lldpd=_lacks_lldpd(parts.get("lldp", OutputSection())),
        clients_by=parse_logins(text("logins"), boot.get("machine", "")),
        unread=unread,
        host=parse_host(
            parts, instances, _contained(text("processes")), lambda digits: _address_or_none(digits, is_big_endian)
        ),
        logs=parse_logs(parts.get("alert logs")),
    )


def _programs(text: str) -> tuple[str, ...] | Unknown:
    """The command lines that match, without those of containers on the node."""
    lines = text.split("\n")
    if _RECORDS_ARE_READ not in lines:
        return Unknown("the grep of this node cannot read command lines; GNU grep can")
    if "visible" not in lines:
        return _HIDDEN_PROCESSES
    contained = _contained(text)
    found_at = (found for line in lines if (found := _PROGRAM.fullmatch(line)))
    return tuple(found[2].strip() for found in found_at if found[1] not in contained)


def _contained(text: str) -> frozenset[str]:
    """The processes of containers on the node."""
    return frozenset(found[1] for line in text.split("\n") if (found := _CONTAINED.match(line)))


def _daemons(programs: tuple[str, ...]) -> Iterator[str]:
    for program in programs:
        name = program.split(" ")[0].rpartition("/")[2]
        if name in DAEMONS:
            yield name


def _instances(programs: tuple[str, ...]) -> Iterator[str]:
    for program in programs:
        if found := _PMON.fullmatch(program):
            yield found[1]


def _home(programs: tuple[str, ...], homes: str) -> str | Unknown:
    """The home that Clusterware runs from; else the home that olr.loc names, which a rollback can leave behind."""
    for wanted in ("ocssd.bin", "ohasd.bin"):
        for program in programs:
            path, slash, name = program.split(" ")[0].rpartition("/bin/")
            if slash and name == wanted and path.startswith("/"):
                return path
    return parse_crs_home(homes) or Unknown(
        "racwire saw no ocssd.bin there, and read no olr.loc that names a Grid home"
    )


def _autostart(config: OutputSection, files: str, host: str, grid_owner: str) -> bool | Unknown:
    codes = {message.code for message in read_messages(config.text)}
    if codes & {_ENABLED, _DISABLED}:
        return _ENABLED in codes
    # One directory for each name that the host had when Clusterware was installed.
    by_host = {path.split("/")[-3].lower(): value for path, value in parse_values(files).items() if path.count("/") > 3}
    names = (host.lower(), host.lower().partition(".")[0])
    found = next((by_host[name] for name in names if name in by_host), "")
    if found in ("enable", "disable"):
        return found == "enable"
    return _unanswered("crsctl config crs", config, grid_owner, CRSCTL_LIMIT_S)


def _services(check: OutputSection, grid_owner: str) -> tuple[str, ...] | Unknown:
    messages = parse_check_crs(check.text)
    if isinstance(messages, Unknown):
        return _unanswered("crsctl check crs", check, grid_owner, STARTING_LIMIT_S)
    return tuple(f"{message.code}: {message.text}" for message in messages)


def _unanswered(command: str, answer: OutputSection, grid_owner: str, limit_s: int) -> Unknown:
    if NO_HOME in answer.text.split("\n"):
        if denied := next((file for file in OLR_FILES if f"{file}: Permission denied" in answer.text), ""):
            return Unknown(
                f"this user may not read {denied} there, which names the Grid home: the Grid owner and root may",
                MissingRight(f"read {denied}, as the Grid owner or root"),
            )
        return Unknown("no olr.loc there names a Grid home")
    if answer.exit_status == NOT_FOUND:
        return Unknown(_NO_TIMEOUT.format(command) if _lacks_timeout(answer) else _NO_CRSCTL)
    if answer.exit_status == TIMED_OUT:
        return Unknown(f"`{command}` did not answer there within {limit_s} s: Clusterware starts, or hangs")
    lines = printed_lines(answer.text)
    refusal = refusal_in(answer.text)
    if refusal is not None:
        return Unknown(
            f"this user may not run `{command}` there ({quoted(refusal)}): the Grid owner and root may",
            right_to_the_tools(grid_owner),
        )
    return Unknown(f"`{command}` printed no answer{f': {quoted(lines[0])}' if lines else ''}")


def _moment(text: str) -> str | Unknown:
    seconds = number(text)
    if seconds is None or not 0 < seconds < _FURTHEST_S:
        return Unknown("the kernel did not report its boot time")
    return datetime.fromtimestamp(min(seconds, 253_402_300_799), UTC).isoformat()


def _platform(text: str) -> str:
    values = parse_values(text)
    # Exadata and ODA are recognised by files of Oracle's own images, also in a cloud.
    if any(line.startswith("there:") for line in text.split("\n")):
        return PLATFORM
    return next((name for field, value, name in _PLATFORMS if values.get(field) == value), "")


def _modes(text: str, devices: tuple[Device, ...]) -> dict[str, str]:
    values = parse_values(text)
    return {
        device.name: mode
        for device in devices
        if device.kind == "infiniband" and (mode := values.get(f"{device.name}/mode", ""))
    }
