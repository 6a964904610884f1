"""Yield the names in facts, findings, settings and samples, with the kind of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from checks.model import drill_result, facts, finding, journal, measurement, report
from checks.redact.connect_text import names_in_command, names_in_connect_string
from checks.redact.well_known import VOCABULARY, is_well_known_directory
from checks.traffic import recording, samples

Named = tuple[str, str]
"""The kind of a name, and the name."""

_GENERIC_SWITCH_PORT = re.compile(r"(?i)[a-z]{0,20}[ -]?\d+(?:[/.:]\d+){0,4}|(?:[0-9a-f]{2}:){5}[0-9a-f]{2}|")
_PERSON_WORD = re.compile(r"[^\W\d_][\w'-]{2,}")
_PATHS = frozenset(
    {"grid_home", "config_file", "password_file", "oracle_home", "tns_admin", "wallet", "directory", "switch_kinds"}
)
_PARAMETERS = {
    "db_name": "database",
    "db_unique_name": "database",
    "instance_name": "instance",
    "service_names": "service",
    "db_domain": "domain",
    "local_listener": "listener",
    "remote_listener": "listener",
}


@dataclass(frozen=True)
class Identity:
    """The operator and this machine. A live report can contain their names in the outputs of programs."""

    logins: tuple[str, ...] = ()
    """The user's name, and the name before `sudo` or `su`."""
    home: str = ""
    """The user's home directory."""
    host: str = ""
    """This machine's name, with its domain where it has one."""


def names_in_identity(identity: Identity) -> Iterator[Named]:
    """Yield the names of the operator's identity."""
    yield from (("user", login) for login in identity.logins)
    directory = identity.home.rstrip("/").rpartition("/")[2]
    if not is_well_known_directory(directory):
        yield "user", directory
    yield from _host(identity.host)


def names_in_facts(parts: Iterable[msgspec.Struct]) -> Iterator[Named]:
    """Yield the names in facts, findings and samples. `parts` has each struct, also those in other structs."""
    for part in parts:
        yield from _clusterware(part)
        yield from _database(part)
        yield from _nodes(part)
        yield from _report(part)
        yield from _measured(part)
        yield from _samples(part)


def names_in_settings(settings: Mapping[str, Any]) -> Iterator[Named]:
    """Yield the names in the settings, which are plain data."""
    for section in (s for s in settings.values() if isinstance(s, Mapping)):
        for key, value in section.items():
            if isinstance(value, str) and key in _PATHS:
                yield from _directories(value)
    cluster, ssh, database = (_section(settings, name) for name in ("cluster", "ssh", "database"))
    for peer in _items(cluster.get("peers")):
        yield from _peer(str(peer))
    yield "user", str(ssh.get("user", ""))
    yield "user", str(database.get("user", ""))
    yield "instance", str(database.get("oracle_sid", ""))
    yield from names_in_connect_string(str(database.get("connect", "")))
    for waiver in _items(settings.get("waivers")):
        if isinstance(waiver, Mapping):
            yield from _person(str(waiver.get("by", "")))
            yield from (("host", str(node)) for node in _items(waiver.get("nodes")))


def _section(settings: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    section = settings.get(name)
    return section if isinstance(section, Mapping) else {}


def _items(value: object) -> Iterable[object]:
    """Return the items of a list; nothing for any other value, which a damaged file can have."""
    return value if isinstance(value, (list, tuple)) else ()


def _clusterware(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case facts.Clusterware():
            yield from _host(part.local_node)
            yield "cluster", _text(part.cluster_name)
        case facts.GridHome():
            yield "user", part.owner
            yield from _directories(part.path)
        case facts.StaleHome():
            yield from _directories(part.path)
        case facts.ClusterMember():
            yield from _host(part.name)
            yield from _host(part.vip)
        case facts.Haip():
            yield from _host(part.server)
        case facts.ManagedDatabase():
            yield "database", part.name
            running = () if isinstance(part.instances, facts.Unknown) else part.instances
            for instance, node in (*running, *part.not_running):
                yield "instance", instance
                yield from _host(node)
            for service, _ in part.services:
                yield "service", service


def _database(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case facts.Database():
            yield "database", part.name
            yield "database", part.container
            yield "user", part.user
            yield from names_in_connect_string(part.reached)
        case facts.Instance() | facts.InstanceHistory():
            yield "instance", part.name
            yield from _host(part.host)
        case facts.DnfsServer():
            yield from _host(part.name)
        case facts.StorageMount():
            yield from _host(part.server)
        case facts.UnaskedInstance():
            yield "instance", part.name
            yield from _host(part.host)
        case facts.ServiceActivity() if not part.service.startswith("SYS$"):
            yield "service", part.service
        case facts.NotAsked():
            for command in part.commands:
                yield from names_in_command(command)
        case facts.Parameter() if part.name in _PARAMETERS:
            kind = _PARAMETERS[part.name]
            if kind == "listener":
                yield from names_in_connect_string(part.value, alias_kind="listener")
            else:
                yield from ((kind, value.strip()) for value in part.value.split(","))


def _nodes(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case facts.Cluster():
            yield from _host(part.local_node)
        case facts.Node() | facts.UnreadNode():
            yield from _host(part.name)
        case facts.NodeSetup():
            yield from _host(part.name)
            yield from _directories(_text(part.grid_home))
            if not isinstance(part.instances, facts.Unknown):
                yield from (("instance", name) for name in part.instances)
        case facts.AlertLog():
            yield from _host(part.owner) if part.kind is facts.LogKind.CLUSTERWARE else (("instance", part.owner),)
            yield "database", part.database
        case facts.LldpNeighbour():
            yield "switch", part.switch
            if not _GENERIC_SWITCH_PORT.fullmatch(part.port):
                yield "port", part.port
        case facts.Port() | facts.CounterChange() | facts.OcrBackup() | facts.JournalCopy():
            yield from _host(part.node)
        case facts.PathProbe():
            yield from _host(part.from_node)
            yield from _host(part.to_node)
        case facts.CounterChanges():
            for node in part.unread:
                yield from _host(node)


def _measured(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case measurement.Measurement():
            yield "cluster", part.cluster
            yield from _host(part.node)
        case measurement.MeasuredPath():
            yield from _host(part.source_node)
            yield from _host(part.target_node)
            yield from _directories(part.program)
        case measurement.MeasuredStorage():
            yield from _directories(part.directory)
            yield from _host(part.server.partition(":")[0])
            yield from _directories(part.server.partition(":")[2])
        case drill_result.DrillEvent() | drill_result.InterfaceTimers():
            yield from _host(part.node)


def _report(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case finding.Finding():
            for node in part.nodes:
                yield from _host(node)
        case finding.EvidenceRef() | journal.Entry():
            yield from _host(part.node)
        case report.WaiverStanding() | finding.Waived():
            yield from _person(part.by)


def _samples(part: msgspec.Struct) -> Iterator[Named]:
    match part:
        case recording.Header():
            yield "label", part.label
        case samples.NodeSample() | samples.Links():
            yield from _host(part.node)
        case samples.InstanceSample():
            yield "instance", part.instance
            yield from _host(part.host)
        case samples.LatencySample():
            yield from _host(part.to_node)


def _host(name: str | facts.Unknown) -> Iterator[Named]:
    yield "host", _text(name)


def _peer(peer: str) -> Iterator[Named]:
    """Yield the names in an ssh destination: `user@host`, `ssh://user@host:port`, or a name."""
    user, _, host = peer.removeprefix("ssh://").rpartition("@")
    yield "user", user
    yield from _host(host if host.count(":") > 1 else host.partition(":")[0])


def _person(by: str) -> Iterator[Named]:
    """Yield the whole name of a person, and each of its parts."""
    yield "person", by
    for word in _PERSON_WORD.findall(by):
        if word.istitle() and word.casefold() not in VOCABULARY:
            yield "person", word


def _directories(path: str) -> Iterator[Named]:
    """Yield the parts of a path that a person chose."""
    parts = [part for part in path.split("/") if part]
    for before, part in zip(["", *parts], parts, strict=False):
        if before == "home":
            yield "user", part
        elif not is_well_known_directory(part):
            yield "directory", part


def _text(value: str | facts.Unknown) -> str:
    return "" if isinstance(value, facts.Unknown) else value
