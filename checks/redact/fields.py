"""The fields of facts, findings and samples whose words checks need, or that name interfaces: they are not replaced."""

from __future__ import annotations

from enum import Enum

import msgspec

from checks.model import facts, finding, journal, report
from checks.traffic import recording, samples


class Treatment(Enum):
    """How the texts of a field are treated."""

    REPLACE = 1
    """Names and addresses in it are replaced."""
    KEEP = 2
    """It is one of the words of the kernel, of Oracle or of racwire."""
    LINK = 3
    """It is the name of an interface."""
    NUMBER = 4
    """It is a number that a database is known by."""


_KEPT: dict[type[msgspec.Struct], str] = {
    report.Report: "schema racwire_version started_at versions saved_at",
    report.Rerun: "check started_at",
    report.WaiverStanding: "code expires standing check",
    finding.Finding: "code check sources",
    finding.Waived: "expires",
    finding.Magnitude: "unit",
    journal.Entry: "started_at",
    recording.Header: "racwire_version started_at",
    facts.Cluster: "taken_at",
    facts.GridHome: "named_by",
    facts.StaleHome: "named_by",
    facts.ToolMessage: "code",
    facts.ConfiguredInterface: "scope roles",
    facts.ListedInterface: "guess",
    facts.ClusterMember: "status pinning",
    facts.ActiveVersion: "version upgrade_state patch_level",
    facts.Haip: "target state",
    facts.Instance: "version startup_time status",
    facts.InterconnectInUse: "source",
    facts.Parameter: "name",
    facts.Database: "version role open_mode driver",
    facts.WaitEvent: "name",
    facts.InstanceActivity: "statistics messages",
    facts.UnreadView: "view",
    facts.NotGathered: "reason",
    facts.Activity: "begun_at ended_at",
    facts.InstanceHistory: "statistics messages events",
    facts.HistoryPeriod: "begin end",
    facts.LossHistory: "first_begin first_end last_end since_begin worst_begin worst_end",
    facts.DeviceHistory: "last_seen",
    facts.ClientTraffic: "client",
    facts.History: "source begin end",
    facts.CounterChange: "left_out",
    facts.CounterChanges: "begun_at ended_at",
    facts.KernelCounters: "groups",
    facts.Interface: "kind operational_state duplex",
    facts.Neighbour: "state",
    facts.Node: "read_by kernel_release",
    facts.PathProbe: "sent_by",
    facts.PrivateNetwork: "named_by",
    facts.KeptMtu: "kind",
    facts.NodeSetup: "boot_id booted_at daemons platform",
    facts.OcrBackup: "taken_at",
    facts.SeenRecording: "begun_at",
    samples.NodeSample: "counters left_out",
    samples.InstanceSample: "statistics messages left_out",
    samples.Link: "kind",
}
_LINKS: dict[type[msgspec.Struct], str] = {
    facts.ConfiguredInterface: "name",
    facts.ListedInterface: "name",
    facts.InterconnectInUse: "name",
    facts.DeviceHistory: "name",
    facts.Address: "label",
    facts.Interface: "name master parent members",
    facts.Route: "interface",
    facts.Neighbour: "interface",
    facts.Node: "sysctls",
    facts.Port: "interface",
    facts.PrivateNetwork: "interface",
    facts.KeptMtu: "interface",
    facts.FragileMtu: "interface",
    facts.LldpNeighbour: "interface",
    facts.NodeSetup: "infiniband_modes",
    samples.NodeSample: "interfaces",
    samples.Link: "name master",
}
_NUMBERS: dict[type[msgspec.Struct], str] = {facts.Database: "dbid", facts.History: "dbid"}
NUMBERS_ONLY = (
    samples.InterfaceCounts,
    samples.CpuTime,
    facts.BlockTransfer,
    facts.InstancePing,
    facts.WaitBucket,
    facts.HistoryPeriod,
)
"""Structs without any name in them: there are many."""
VALUES_ONLY = {(finding.Finding, "data")}
"""Fields with tables whose keys are names of the format, not of the cluster."""
KEPT_SETTINGS = frozenset({"console", "thresholds", "code", "status", "expires"})
"""Keys of the settings whose values contain no name."""
KEPT_VALUES: dict[tuple[type[msgspec.Struct], str], str] = {
    (journal.Entry, "outcome"): "ok",
    (facts.Route, "destination"): "default",
}
"""Single values of fields that may hold names otherwise."""


def _treatments() -> dict[tuple[type[msgspec.Struct], str], Treatment]:
    found = {}
    for table, treatment in ((_KEPT, Treatment.KEEP), (_LINKS, Treatment.LINK), (_NUMBERS, Treatment.NUMBER)):
        for kind, names in table.items():
            for name in names.split():
                if name not in kind.__struct_fields__:
                    raise AssertionError(f"{kind.__name__} has no field {name}")
                found[kind, name] = treatment
    return found


_TREATMENTS = _treatments()


def treatment_of(kind: type[msgspec.Struct], field: str) -> Treatment:
    """How the texts of a field are treated. Raises AssertionError for an unknown field."""
    return _TREATMENTS.get((kind, field), Treatment.REPLACE)
