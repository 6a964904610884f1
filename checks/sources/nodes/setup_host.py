"""Parse the sections of the program SETUP about a node's setup outside Clusterware.

Text in, facts out; raises nothing.
"""

from __future__ import annotations

import ipaddress
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from checks.model.facts import (
    FirewalldZone,
    HostSetup,
    JoinedGroup,
    MissingRight,
    NodeMemory,
    PacketFilters,
    PrivateUse,
    RightsOfOradism,
    ScheduledProcess,
    Unknown,
)
from checks.model.facts.host_setup import MULTICAST_GROUPS, REAL_TIME
from checks.sources.host_sections import (
    ALL_UNITS,
    AVAHI,
    FILTER_UNITS,
    HOST_COMMANDS,
    MOST_THREADS,
    SERVICES,
    ZONE_LINE,
)
from checks.sources.node_setup import UNITS
from checks.sources.nodes.proc import number, parse_values
from checks.sources.nodes.sections import OutputSection
from checks.sources.nodes.setup_bonds import parse_bonds, parse_drivers, parse_drivers_in_use, parse_slots

_STATES = ("active", "inactive", "failed", "unknown", "activating", "deactivating", "reloading", "maintenance")
_INCOMPLETE = Unknown("the answer is incomplete")


def parse_host(
    parts: Mapping[str, OutputSection],
    instances: Sequence[str] | Unknown,
    contained: frozenset[str],
    addresses: Callable[[str], str | None],
) -> HostSetup:
    """The setup from the sections of an answer.

    `contained` are the processes of containers on the node; `addresses` parses an address as the kernel prints it.
    """

    def text(section: str) -> str:
        return parts.get(section, OutputSection()).text

    last = list(HOST_COMMANDS)[-1]
    if last not in parts:
        return HostSetup(
            memory=_INCOMPLETE, bonds=_INCOMPLETE, drivers=_INCOMPLETE, processes=_INCOMPLETE, filters=_INCOMPLETE,
            others=_INCOMPLETE, groups_joined=_INCOMPLETE,
        )  # fmt: skip
    states = _unit_states(text("units"))
    dmi = parse_values(text("platform"))
    flags = next((line.split() for line in text("memory").split("\n") if line.startswith("flags")), [])
    return HostSetup(
        memory=_memory(text("memory")),
        bonds=parse_bonds(text("bonds")),
        drivers=parse_drivers(text("drivers")),
        drivers_in_use=parse_drivers_in_use(text("drivers")),
        slots=parse_slots(text("drivers")),
        processes=_processes(text("scheduling"), instances, contained),
        oradism=tuple(_oradism(text("oradism"))),
        filters=_filters(states, text("units")),
        others=(*_connections(text("connections in use"), addresses), *_mounts(text("mounts"))),
        is_virtual="hypervisor" in flags if flags else None,
        product=" ".join(value for key in ("sys_vendor", "product_name") if (value := dmi.get(key, ""))),
        groups_joined=_groups_joined(text("multicast groups"), addresses),
        is_avahi_active=states[AVAHI] == "active" if AVAHI in states else None,
    )


def _memory(text: str) -> NodeMemory | Unknown:
    values = parse_values(text)
    memory = {
        key.removeprefix("/proc/meminfo:"): number(value.strip().removesuffix(" kB"))
        for key, _, value in (line.rpartition(":") for line in text.splitlines())
    }
    total, pages, size = (memory.get(key) for key in ("MemTotal", "HugePages_Total", "Hugepagesize"))
    free = number(values.get("/proc/sys/vm/min_free_kbytes", ""))
    if not total or total < 0 or free is None or free < 0:
        return Unknown("its kernel did not report its memory, or not vm.min_free_kbytes")
    nodes, cpus = (_count(values.get(f"/sys/devices/system/{what}/online", "")) for what in ("node", "cpu"))
    huge = None if pages is None else pages * (size or 0)
    return NodeMemory(total, free, nodes or 1, cpus, memory.get("MemAvailable"), huge)


def _count(ranges: str) -> int | None:
    """The number of numbers in `0-3,8`; None where that cannot be parsed."""
    total = 0
    for part in ranges.split(","):
        first, dash, last = part.partition("-")
        low, high = number(first), number(last if dash else first)
        if low is None or high is None or not 0 <= low <= high < 4096:
            return None
        total += high - low + 1
    return total


_PROCESS = re.compile(r"([0-9]+)/cmdline:1:[a-z]{3}_([a-z0-9]+)_([+-]?[A-Za-z0-9_$#]+)[ \t]*", re.ASCII)
_THREAD = re.compile(r"([0-9]+) ([A-Za-z] .*)", re.ASCII)
_POLICY_AT = 41 - 3
"""The position of the policy in the fields that follow the name: field 41 of proc(5), counted from 1; 40 is the
priority."""


def _processes(
    text: str, instances: Sequence[str] | Unknown, contained: frozenset[str]
) -> tuple[ScheduledProcess, ...] | Unknown:
    """The processes of running instances; without those that ended while they were read."""
    if isinstance(instances, Unknown):
        return instances
    found: list[ScheduledProcess] = []
    threads: dict[str, tuple[int, int]] = {}
    process: re.Match[str] | None = None
    for line in [*text.split("\n"), "0/cmdline:1:end_of_text"]:
        if begun := _PROCESS.fullmatch(line):
            # Another program can have such a name, but no instance runs without its PMON.
            if process and process[1] not in contained and process[3] in instances:
                found.extend(_scheduled(process, threads))
            process, threads = begun, {}
        elif matched := _THREAD.fullmatch(line.strip()):
            values = [number(word) for word in matched[2].split(" ")[_POLICY_AT - 1 : _POLICY_AT + 1]]
            if len(values) == 2 and values[0] is not None and values[1] is not None:
                threads[matched[1]] = values[1], values[0]
    return tuple(sorted(found, key=lambda p: (p.instance, p.name)))


def _scheduled(process: re.Match[str], threads: Mapping[str, tuple[int, int]]) -> Iterator[ScheduledProcess]:
    """The process, where its first thread was read; not one with more threads than are read, and none real-time."""
    fast = sum(policy in REAL_TIME for policy, _ in threads.values())
    if process[1] in threads and (fast or len(threads) < MOST_THREADS):
        yield ScheduledProcess(process[2].upper(), process[3], *threads[process[1]], len(threads), fast)


def _oradism(text: str) -> Iterator[RightsOfOradism]:
    for line in text.split("\n"):
        owner, _, rest = line.partition(" ")
        mode, _, path = rest.partition(" ")
        if owner and path.startswith("/") and re.fullmatch("[0-7]{3,4}", mode):
            yield RightsOfOradism(path, owner, mode)


def _unit_states(text: str) -> dict[str, str]:
    """The state of each unit after those that bring interfaces up; empty where systemctl did not answer."""
    states = [line.strip() for line in text.split("\n") if line.strip() in _STATES]
    if len(states) != len(UNITS) + len(ALL_UNITS):
        return {}
    return dict(zip(ALL_UNITS, states[len(UNITS) :], strict=True))


def _filters(states: Mapping[str, str], text: str) -> PacketFilters | Unknown:
    if not states:
        return Unknown("systemctl did not report the services of packet filters there")
    active = tuple(unit for unit in FILTER_UNITS if states[unit] == "active")
    lines = [line.removeprefix(ZONE_LINE) for line in text.split("\n") if line.startswith(ZONE_LINE)]
    if FILTER_UNITS[0] not in active:
        return PacketFilters(active, zones=())
    zones: dict[str, str] = {}
    default = zone = ""
    for line in lines:
        if line and not line.startswith(" "):
            zone = line.split(" ")[0]
            default = zone if line.endswith("(default)") else default
        elif (words := line.split()) and words[0] == "interfaces:":
            zones |= dict.fromkeys(words[1:], zone)
    if not zones:
        said = next((line.strip() for line in lines if line.strip()), "it printed no answer")
        return PacketFilters(
            active,
            zones=Unknown(
                f"firewall-cmd shows no zone of an interface to this user ({said[:120]})",
                MissingRight(
                    "query firewalld, as root", ("systemctl -q is-active firewalld && firewall-cmd --get-active-zones",)
                ),
            ),
        )
    return PacketFilters(active, tuple(FirewalldZone(name, found) for name, found in sorted(zones.items())), default)


_CONNECTION = re.compile(r"\s*\d+: ([0-9A-Fa-f]+):([0-9A-Fa-f]{4}) ([0-9A-Fa-f]+):([0-9A-Fa-f]{4}) 01 ", re.ASCII)


def _connections(text: str, addresses: Callable[[str], str | None]) -> Iterator[PrivateUse]:
    """One entry for each service, local and remote address, with the number of connections."""
    counts: Counter[tuple[str, str, str]] = Counter()
    for line in text.split("\n"):
        if not (matched := _CONNECTION.match(line)):
            continue
        ports = int(matched[2], 16), int(matched[4], 16)
        service = next((SERVICES[port] for port in ports if port in SERVICES), "")
        local, remote = addresses(matched[1]), addresses(matched[3])
        if service and local and remote:
            counts[service, local, remote] += 1
    for (service, local, remote), connections in sorted(counts.items()):
        yield PrivateUse(service, local, remote, connections)


_GROUP_INTERFACE = re.compile(r"[0-9]+\t(\S+) *: .*", re.ASCII)
_GROUP = re.compile(r"\t+([0-9A-F]{8}) .*", re.ASCII)
_GROUP_6 = re.compile(r"[0-9]+ +(\S+) +([0-9a-f]{32}) .*", re.ASCII)


def _groups_joined(text: str, addresses: Callable[[str], str | None]) -> tuple[JoinedGroup, ...] | Unknown:
    if not text.lstrip().startswith("Idx"):
        return Unknown("its kernel did not report the multicast groups that it joined (/proc/net/igmp)")
    found: set[tuple[str, str]] = set()
    interface = ""
    for line in text.split("\n"):
        if begun := _GROUP_INTERFACE.fullmatch(line):
            interface = begun[1]
        elif (matched := _GROUP.fullmatch(line)) and interface:
            found.add((interface, addresses(matched[1]) or ""))
        elif matched := _GROUP_6.fullmatch(line):
            found.add((matched[1], str(ipaddress.IPv6Address(bytes.fromhex(matched[2])))))
    return tuple(JoinedGroup(name, group) for name, group in sorted(found) if group in MULTICAST_GROUPS)


_MOUNT_SERVICES = {"nfs": "NFS", "nfs4": "NFS", "cifs": "SMB", "smb3": "SMB"}


def _mounts(text: str) -> Iterator[PrivateUse]:
    for line in text.split("\n"):
        words = line.split(" ")
        if len(words) < 4 or words[2] not in _MOUNT_SERVICES:
            continue
        options = dict(option.partition("=")[::2] for option in words[3].split(","))
        if remote := options.get("addr", ""):
            local = options.get("clientaddr", "")
            yield PrivateUse(_MOUNT_SERVICES[words[2]], local, remote, 0, mount=words[1])
