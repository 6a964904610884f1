"""The report of a saved file as it was judged when it was written: its findings, its diagnosis and its situation.

Of the facts it has those that name the cluster: Clusterware, nodes, networks, database. The others, the journal and
the measurements are not decoded, which takes a tenth of the time of `open_saved` and a replay.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from checks.model.facts import Cluster, Clusterware, Database, Node, NotAsked, NotGathered, PrivateNetwork, Unknown
from checks.model.facts.node import UnreadNode
from checks.model.finding import Finding
from checks.model.hypothesis import Diagnosis
from checks.model.observation import Observation
from checks.model.report import SCHEMA, Report
from checks.report.json_report import SCHEMA_OF_0_2_0
from checks.saved.manifest import REPORT, SavedError
from checks.saved.reader import refuse_long_lists, refuse_newer, refused_as_report, written_report

_NO_ADDRESS = "00:00:00:00:00:00"
_NOTHING = msgspec.Raw(b"null")


class StoredReport(NamedTuple):
    """What a saved file says without being judged again."""

    report: Report
    """Without most facts, the journal, settings and measurements; with `saved_at` set. Its times can be impossible."""
    nics: frozenset[tuple[str, str]]
    """The nodes that were read, each with the MAC address of each of its interfaces."""
    digest: str
    """The SHA-256 of the report: copies of a file have the same."""
    is_verified: bool
    """Whether the checksum of the report was verified; a report as JSON has none."""


class _Nic(msgspec.Struct):
    mac_address: str = ""


class _Node(msgspec.Struct, tag_field="fact", tag="Node"):
    name: str
    interfaces: tuple[_Nic, ...] = ()


class _Cluster(msgspec.Struct, tag_field="fact", tag="Cluster", kw_only=True):
    local_node: str
    taken_at: str
    clusterware: Clusterware | Unknown | NotGathered = NotGathered()
    nodes: tuple[_Node | UnreadNode, ...] | Unknown | NotGathered = NotGathered()
    networks: tuple[PrivateNetwork, ...] | Unknown | NotGathered = NotGathered()
    database: Database | Unknown | NotGathered | NotAsked = NotGathered()


class _Finding(Finding, frozen=True, kw_only=True, omit_defaults=True):
    """What it saw as data is most of the report, and needed only where two findings have one kind and place."""

    observed: msgspec.Raw = _NOTHING  # type: ignore[assignment]


class _Stored(Report, frozen=True, kw_only=True):
    diagnosis: msgspec.Raw = _NOTHING  # type: ignore[assignment]
    cluster: _Cluster  # type: ignore[assignment]
    findings: tuple[_Finding, ...]
    journal: msgspec.Raw = _NOTHING  # type: ignore[assignment]
    settings: msgspec.Raw = _NOTHING  # type: ignore[assignment]
    measurements: msgspec.Raw = _NOTHING  # type: ignore[assignment]
    sessions: msgspec.Raw = _NOTHING  # type: ignore[assignment]


_DECODER = msgspec.json.Decoder(_Stored)
_LEFT_OUT: dict[str, Any] = {"journal": (), "settings": {}, "measurements": (), "sessions": ()}


def stored_report(path: Path) -> StoredReport:
    """Read a saved file, or a report as JSON, without judging it again. Blocking. Raises SavedError where it cannot be
    read, is no such file, is damaged, or was written by a newer racwire."""
    data, manifest = written_report(path)
    with refused_as_report(path):
        stored = _DECODER.decode(data)
        refuse_newer(stored.schema, path)
        if stored.schema not in (SCHEMA, SCHEMA_OF_0_2_0):
            raise ValueError(f"its schema is {stored.schema[:60]}")
        is_present = stored.schema == SCHEMA and stored.diagnosis != _NOTHING
        fields = {name: getattr(stored, name) for name in Report.__struct_fields__}
        fields |= {
            **_LEFT_OUT,
            "schema": SCHEMA,
            "diagnosis": msgspec.json.decode(stored.diagnosis, type=Diagnosis) if is_present else Diagnosis(),
            "cluster": _cluster(stored.cluster),
            "findings": _findings(stored.findings),
            "saved_at": (manifest.saved_at if manifest else "") or stored.saved_at or stored.started_at,
        }
    if manifest is not None and manifest.is_redacted is not stored.is_redacted:
        raise SavedError(f"{path} contradicts itself about pseudonyms: ask the person who sent it.")
    report = Report(**fields)
    refuse_long_lists(report, path)
    return StoredReport(
        report,
        frozenset(_nics(stored.cluster)),
        manifest.members[REPORT].sha256 if manifest else hashlib.sha256(data).hexdigest(),
        manifest is not None,
    )


def _cluster(stored: _Cluster) -> Cluster:
    known = stored.nodes if isinstance(stored.nodes, tuple) else ()
    nodes = tuple(Node(name=node.name, read_by="") if isinstance(node, _Node) else node for node in known)
    return Cluster(
        local_node=stored.local_node,
        taken_at=stored.taken_at,
        clusterware=stored.clusterware,
        nodes=stored.nodes if isinstance(stored.nodes, Unknown) else nodes,
        networks=stored.networks,
        database=stored.database,
    )


def _findings(stored: tuple[_Finding, ...]) -> tuple[Finding, ...]:
    """The findings, with what they saw where the numbers of their keys follow from it."""
    alike = Counter((f.check, f.code, f.network, f.nodes) for f in stored)
    seen = tuple[Observation, ...]
    return tuple(
        msgspec.structs.replace(
            f,
            observed=msgspec.json.decode(f.observed, type=seen)
            if alike[f.check, f.code, f.network, f.nodes] > 1 and f.observed != _NOTHING
            else (),
        )
        for f in stored
    )


def _nics(stored: _Cluster) -> set[tuple[str, str]]:
    nodes = stored.nodes if isinstance(stored.nodes, tuple) else ()
    return {
        (node.name, nic.mac_address)
        for node in nodes
        if isinstance(node, _Node)
        for nic in node.interfaces
        if nic.mac_address not in ("", _NO_ADDRESS)
    }
