"""Yield the names in facts, findings, settings and samples, with the kind of each."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import msgspec

from checks.model import (
    cluster_event,
    drill_result,
    facts,
    finding,
    hypothesis,
    investigation,
    journal,
    measured_rate,
    measurement,
    report,
    signs,
)
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


NAMES: dict[type[msgspec.Struct], dict[str, str]] = {
    facts.Clusterware: {"local_node": "host", "cluster_name": "cluster"},
    facts.GridHome: {"owner": "user", "path": "path"},
    facts.StaleHome: {"path": "path"},
    facts.ClusterMember: {"name": "host", "vip": "host"},
    facts.Haip: {"server": "host"},
    facts.ManagedDatabase: {"name": "database"},
    facts.Database: {"name": "database", "container": "database", "user": "user", "reached": "connect"},
    facts.Instance: {"name": "instance", "host": "host"},
    facts.InstanceHistory: {"name": "instance", "host": "host"},
    facts.UnaskedInstance: {"name": "instance", "host": "host"},
    facts.DnfsServer: {"name": "host"},
    facts.AsmClient: {"asm": "instance"},
    facts.StorageMount: {"server": "host", "mount": "path"},
    facts.PrivateUse: {"mount": "path"},
    facts.OpenPluggable: {"instance": "instance", "name": "database"},
    facts.AsmListener: {"name": "listener"},
    facts.ScheduledProcess: {"instance": "instance"},
    facts.RightsOfOradism: {"path": "path", "owner": "user"},
    facts.RestorePoint: {"name": "label"},
    facts.VotingFile: {"place": "path"},
    facts.JournalSeen: {"cluster": "cluster"},
    facts.SeenRecording: {"cluster": "cluster", "path": "path"},
    facts.OtherSender: {"node": "host"},
    facts.RecentLoad: {"node": "host", "nodes": "host"},
    facts.NotAsked: {"commands": "command"},
    facts.Cluster: {"local_node": "host"},
    facts.Node: {"name": "host"},
    facts.UnreadNode: {"name": "host"},
    facts.NodeOptics: {"name": "host"},
    facts.KernelDrops: {"name": "host"},
    facts.NodeSetup: {"name": "host", "grid_home": "path", "instances": "instance"},
    facts.LldpNeighbour: {"switch": "switch", "chassis": "switch"},
    facts.Port: {"node": "host"},
    facts.CounterChange: {"node": "host"},
    facts.CounterChanges: {"unread": "host"},
    facts.OcrBackup: {"node": "host"},
    facts.JournalCopy: {"node": "host", "path": "path"},
    facts.PathProbe: {"from_node": "host", "to_node": "host"},
    measurement.Measurement: {"cluster": "cluster", "node": "host"},
    measurement.MeasuredPath: {"source_node": "host", "target_node": "host", "program": "path"},
    measured_rate.SocketBuffers: {"node": "host"},
    measured_rate.PublicMtu: {"node": "host"},
    measurement.MeasuredStorage: {"directory": "path"},
    drill_result.DrillEvent: {"node": "host"},
    cluster_event.EventPlace: {"node": "host", "instance": "instance"},
    drill_result.InterfaceTimers: {"node": "host"},
    finding.Finding: {"nodes": "host"},
    finding.EvidenceRef: {"node": "host"},
    journal.Entry: {"node": "host"},
    report.WaiverStanding: {"by": "person"},
    finding.Waived: {"by": "person"},
    investigation.SessionRecord: {"cluster": "cluster"},
    hypothesis.Place: {"nodes": "host", "to": "host"},
    signs.SignAt: {"node": "host"},
    recording.Header: {"label": "label"},
    samples.NodeSample: {"node": "host"},
    samples.Links: {"node": "host"},
    samples.InstanceSample: {"instance": "instance", "host": "host"},
    samples.LatencySample: {"to_node": "host"},
}
"""The fields with names: the kind of each, or `path`, `connect` (a connect string) and `command`, which contain names.
A field with several names has a name in each item, or in each key."""


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
    yield "host", identity.host


def names_in_facts(parts: Iterable[msgspec.Struct]) -> Iterator[Named]:
    """Yield the names in facts, findings and samples. `parts` has each struct, also those in other structs."""
    for part in parts:
        for field, kind in NAMES.get(type(part), {}).items():
            for value in _names_of(getattr(part, field)):
                yield from _named(kind, value)
        yield from _irregular(part)


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


def _names_of(value: str | Iterable[str] | facts.Unknown) -> Iterable[str]:
    if isinstance(value, facts.Unknown):
        return ()
    return (value,) if isinstance(value, str) else value


def _named(kind: str, text: str) -> Iterator[Named]:
    match kind:
        case "path":
            yield from _directories(text)
        case "connect":
            yield from names_in_connect_string(text)
        case "command":
            yield from names_in_command(text)
        case "person":
            yield from _person(text)
        case _:
            yield kind, text


def _irregular(part: msgspec.Struct) -> Iterator[Named]:
    """Yield the names of which the field alone does not say the kind."""
    match part:
        case facts.ManagedDatabase():
            running = () if isinstance(part.instances, facts.Unknown) else part.instances
            for instance, node in (*running, *part.not_running):
                yield "instance", instance
                yield "host", node
            for service, _ in part.services:
                yield "service", service
        case facts.ServiceActivity() if not part.service.startswith("SYS$"):
            yield "service", part.service
        case facts.Parameter() if part.name in _PARAMETERS:
            kind = _PARAMETERS[part.name]
            if kind == "listener":
                yield from names_in_connect_string(part.value, alias_kind="listener")
            else:
                yield from ((kind, value.strip()) for value in part.value.split(","))
        case facts.AlertLog():
            yield "instance" if part.kind.is_of_instance else "host", part.owner
            yield "database", part.database
        case facts.LldpNeighbour() if not _GENERIC_SWITCH_PORT.fullmatch(part.port):
            yield "port", part.port
        case measurement.MeasuredStorage():
            yield "host", part.server.partition(":")[0]
            yield from _directories(part.server.partition(":")[2])


def _peer(peer: str) -> Iterator[Named]:
    """Yield the names in an ssh destination: `user@host`, `ssh://user@host:port`, or a name."""
    user, _, host = peer.removeprefix("ssh://").rpartition("@")
    yield "user", user
    yield "host", host if host.count(":") > 1 else host.partition(":")[0]


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
