"""The fields of facts, findings and samples that are not replaced: fixed words that checks need, and interfaces."""

from __future__ import annotations

from enum import Enum

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
    observation,
    report,
    situation,
    traffic,
)
from checks.model.condition import Condition, ConditionKind
from checks.traffic import recording, samples


class Treatment(Enum):
    """What racwire replaces in the texts of a field."""

    REPLACE = 1
    """All names and addresses."""
    UNCHANGED = 2
    """Nothing: the text is a fixed word of the kernel, of Oracle or of racwire."""
    INTERFACE = 3
    """Names in the name of an interface."""
    DATABASE_ID = 4
    """The whole number, which is a DBID."""
    FREE_TEXT = 5
    """All words but those of vendors: a person at the site wrote the text."""


_UNCHANGED: dict[type[msgspec.Struct], tuple[str, ...]] = {
    report.Report: ("schema", "racwire_version", "started_at", "versions", "saved_at"),
    report.Rerun: ("check", "also", "groups", "judged", "started_at"),
    report.WaiverStanding: ("code", "expires", "standing", "check"),
    finding.Finding: ("code", "check", "sources"),
    finding.Waived: ("expires",),
    hypothesis.Hypothesis: ("cause", "name", "sources", "hides"),
    hypothesis.Together: ("causes",),
    observation.Observation: ("what",),
    traffic.Traffic: ("addresses", "protocols", "forms", "ends"),
    finding.Magnitude: ("unit",),
    investigation.Suspect: ("cause", "kind", "name"),
    investigation.SessionStep: ("declared",),
    journal.Entry: ("started_at",),
    measurement.Measurement: ("started_at", "racwire_version", "sha256"),
    measurement.MeasuredPath: ("far_end",),
    measured_rate.RateStep: ("protocol", "limit"),
    measurement.FlowRound: ("flow_class", "company"),
    measurement.FlowSummary: ("flow_class", "company", "fullness"),
    measurement.LinkFill: ("held_bps", "bound"),
    measurement.PriorityEffect: ("flow_class", "verdict"),
    measurement.HashDirection: ("verdict",),
    measurement.MeasuredStorage: ("file_system", "method"),
    drill_result.DrillOf: ("transition",),
    drill_result.PathSilence: ("protocol", "timer", "standing"),
    drill_result.DrillEvent: ("kind",),
    cluster_event.ClusterEvent: ("unit",),
    situation.Situation: ("change",),
    recording.Header: ("racwire_version", "started_at"),
    facts.Cluster: ("taken_at",),
    facts.GridHome: ("named_by",),
    facts.StaleHome: ("named_by",),
    facts.ToolMessage: ("code",),
    facts.ConfiguredInterface: ("scope", "roles"),
    facts.ListedInterface: ("guess",),
    facts.ClusterMember: ("status", "pinning"),
    facts.ActiveVersion: ("version", "upgrade_state", "patch_level"),
    facts.Haip: ("target", "state"),
    facts.Instance: ("version", "startup_time", "status"),
    facts.InterconnectInUse: ("source",),
    facts.Parameter: ("name",),
    facts.Database: ("version", "role", "open_mode", "driver"),
    facts.WaitEvent: ("name",),
    facts.InstanceActivity: ("statistics", "messages"),
    facts.UnreadView: ("view",),
    facts.NotGathered: ("reason",),
    facts.Activity: ("begun_at", "ended_at"),
    facts.InstanceHistory: ("statistics", "messages", "events"),
    facts.HistoryPeriod: ("begin", "end"),
    facts.LossHistory: ("first_begin", "first_end", "last_end", "since_begin", "worst_begin", "worst_end"),
    facts.DeviceHistory: ("last_seen",),
    facts.ClientTraffic: ("client",),
    facts.History: ("source", "begin", "end"),
    facts.CounterChange: ("left_out",),
    facts.CounterChanges: ("begun_at", "ended_at"),
    facts.KernelCounters: ("groups",),
    facts.Interface: ("kind", "operational_state", "duplex"),
    facts.Neighbour: ("state",),
    facts.Node: ("read_by", "kernel_release"),
    facts.PathProbe: ("sent_by",),
    facts.PrivateNetwork: ("named_by",),
    facts.KeptMtu: ("kind",),
    facts.NodeSetup: ("booted_at", "daemons", "platform"),
    facts.Bond: ("mode", "mii_status", "arp_validate"),
    facts.BondMember: ("mii_status", "duplex", "actor_churn", "partner_churn"),
    facts.FirewalldZone: ("zone",),
    facts.HostSetup: ("product",),
    facts.NicDriver: ("driver", "version", "firmware", "udp_hash"),
    facts.OpticalModule: ("kind",),
    facts.UnreadModule: ("reason",),
    facts.DroppedPackets: ("code", "location"),
    facts.PacketFilters: ("active", "default_zone"),
    facts.NicState: ("operational_state",),
    facts.PrivateUse: ("service",),
    facts.RightsOfOradism: ("mode",),
    facts.StorageConnection: ("service",),
    facts.TcpFlow: ("service",),
    facts.StorageMount: ("protocol", "version"),
    facts.ScheduledProcess: ("name",),
    facts.AlertLog: ("kind", "ipc"),
    facts.LogLine: ("at", "code"),
    facts.NodeLogs: ("read_at",),
    facts.OcrBackup: ("taken_at",),
    facts.SeenRecording: ("begun_at",),
    samples.NodeSample: ("counters", "left_out"),
    samples.InstanceSample: ("statistics", "messages", "left_out"),
    samples.Link: ("kind",),
    samples.InstancesPace: ("cause", "reason"),
}
_INTERFACES: dict[type[msgspec.Struct], tuple[str, ...]] = {
    observation.Observation: ("nic",),
    facts.ConfiguredInterface: ("name",),
    facts.ListedInterface: ("name",),
    facts.InterconnectInUse: ("name",),
    facts.DeviceHistory: ("name",),
    facts.Address: ("label",),
    facts.Interface: ("name", "master", "parent", "members"),
    facts.Route: ("interface",),
    facts.Neighbour: ("interface",),
    facts.Node: ("sysctls",),
    facts.Port: ("interface",),
    facts.PrivateNetwork: ("interface",),
    facts.KeptMtu: ("interface",),
    facts.FragileMtu: ("interface",),
    facts.LldpNeighbour: ("interface",),
    facts.NicState: ("name",),
    facts.NicAddresses: ("name",),
    facts.Bond: ("name", "active_member"),
    facts.BondMember: ("name",),
    facts.NicDriver: ("interface",),
    facts.OpticalModule: ("interface",),
    facts.UnreadModule: ("interface",),
    facts.DroppedPackets: ("nic",),
    facts.FollowedPackets: ("nic",),
    facts.FirewalldZone: ("interface",),
    facts.JoinedGroup: ("interface",),
    facts.HostSetup: ("drivers_in_use",),
    facts.NodeSetup: ("infiniband_modes",),
    measurement.MeasuredPath: ("interface", "target_interface"),
    drill_result.DrillEvent: ("interface",),
    drill_result.InterfaceTimers: ("interface", "members"),
    cluster_event.EventPlace: ("interface",),
    samples.NodeSample: ("interfaces",),
    samples.Link: ("name", "master"),
}
_DATABASE_IDS: dict[type[msgspec.Struct], tuple[str, ...]] = {facts.Database: ("dbid",), facts.History: ("dbid",)}
_FREE_TEXTS: dict[type[msgspec.Struct], tuple[str, ...]] = {facts.LldpNeighbour: ("description",)}
STRUCTS_WITHOUT_NAMES = (
    samples.InterfaceCounts,
    samples.CpuTime,
    facts.NodeMemory,
    facts.BlockTransfer,
    facts.InstancePing,
    facts.WaitBucket,
    facts.HistoryPeriod,
    measurement.SizeRound,
    measurement.HashPort,
    measurement.StorageRound,
)
"""Structs without names. They are not searched, because there are many of them."""
FIXED_KEYS = {(finding.Finding, "data")}
"""Fields with tables whose keys are part of the format, not names of the cluster."""
UNCHANGED_SETTINGS = frozenset({"console", "thresholds", "code", "status", "expires"})
"""Keys of the settings whose values contain no name."""
UNCHANGED_VALUES: dict[tuple[type[msgspec.Struct], str], str] = {
    (journal.Entry, "outcome"): "ok",
    (facts.Route, "destination"): "default",
}
"""Values that are not replaced, in fields whose other values can contain names."""


def _treatments() -> dict[tuple[type[msgspec.Struct], str], Treatment]:
    found = {}
    for table, treatment in (
        (_UNCHANGED, Treatment.UNCHANGED),
        (_INTERFACES, Treatment.INTERFACE),
        (_DATABASE_IDS, Treatment.DATABASE_ID),
        (_FREE_TEXTS, Treatment.FREE_TEXT),
    ):
        for kind, names in table.items():
            for name in names:
                if name not in kind.__struct_fields__:
                    raise AssertionError(f"{kind.__name__} has no field {name}")
                found[kind, name] = treatment
    return found


_TREATMENTS = _treatments()


def treatment_of(kind: type[msgspec.Struct], field: str) -> Treatment:
    """Return what to replace in the texts of a field."""
    return _TREATMENTS.get((kind, field), Treatment.REPLACE)


_OTHER_ITEMS = (ConditionKind.INSTANCE, ConditionKind.PATH)
"""The kinds of conditions whose item is no interface."""


def treatment_of_item(condition: Condition) -> Treatment:
    """Return what to replace in the item of a condition."""
    return Treatment.REPLACE if condition.kind in _OTHER_ITEMS else Treatment.INTERFACE
