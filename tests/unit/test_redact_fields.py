"""What of the facts a redacted report keeps: each field of text is classed, and free text keeps no word of the site."""

import typing
from collections.abc import Sequence

import msgspec
import pytest

from checks.model import facts
from checks.model.facts import Address, LldpNeighbour, NodeSetup
from checks.model.finding import Finding
from checks.model.journal import Entry
from checks.model.report import Report
from checks.model.situation import Situation
from checks.model.vendors import Kinds
from checks.redact import Pseudonyms, Redactor
from checks.redact.fields import Treatment, treatment_of
from checks.redact.originals import NAMES
from tests.unit.redact_support import site
from tests.unit.test_vendors_file import KNOWN

ADDRESSES = """
    Address.ip AddressProbe.ip AddressProbe.macs AddressProbe.network AsmListener.subnet Bond.arp_targets
    Bond.partner_mac BondMember.partner_mac Changing.addresses Cluster.named_networks ConfiguredInterface.subnet
    DeviceHistory.ip FlowPort.prohibited_by FlowProbe.destination_ip FlowProbe.network FlowProbe.source_ip
    HaipPath.destination_ip HaipPath.neighbour_mac HaipPath.network HaipPath.source_ip InterconnectInUse.ip
    Interface.mac_address JoinedGroup.group KeptMtu.addresses ListedInterface.subnet LldpNeighbour.management_ips
    LldpNeighbour.port_mac Neighbour.ip Neighbour.mac_address NicState.mac_address NodeSetup.clients_by
    PathProbe.destination_ip PathProbe.neighbour_mac PathProbe.network PathProbe.source_ip PingSeries.too_big_from
    PingSeries.unreachable_from Port.ip PrivateNetwork.name PrivateNetwork.subnet PrivateUse.local_ip
    PrivateUse.remote_ip Route.destination Route.gateway Route.source RouteInUse.destination_ip RouteInUse.gateway
    RouteInUse.network RouteInUse.source_ip RouteInUse.unbound_source StorageConnection.local_ip
    StorageConnection.remote_ip StorageMount.server_ip TcpFlow.local_ip TcpFlow.remote_ip UdpSocket.ip
"""
"""Addresses, which are replaced by their form."""
NODES = """
    AddressProbe.node AddressProbes.node AlertLog.database AlertLog.owner CounterChange.racwires FlowArrivals.node
    FlowProbe.from_node FlowProbe.to_node HaipPath.from_node HaipPath.to_node LldpNeighbour.port
    ManagedDatabase.instances ManagedDatabase.not_running ManagedDatabase.services Node.racwires NodeRoutes.node
    Parameter.value RouteInUse.to_node ServiceActivity.service
"""
"""Names that another field has, or that `originals` finds in another way."""
IN_SENTENCES = """
    ActivityGap.reason ArchiveSeen.fault ArchiveSeen.names Database.login_warning FlowPort.error FlowProbe.reason
    HaipPath.reason HaipPaths.reason InterfaceConfiguration.not_understood JournalSeen.headline JournalSeen.outcome
    LogLine.text MissingRight.commands MissingRight.needed MissingRight.script MissingRight.where MtuByDhcp.reason
    NodeLogs.closed NodeLogs.cut NodeLogs.looked_in NodeRoutes.rules NodeSetup.services NotAsked.reason PathProbe.reason
    PingSeries.errors RouteInUse.refusal RouteInUse.table SmallDatagrams.error StaleHome.reason ToolMessage.text
    UnaskedInstance.reason Unknown.reason UnreadNode.reason UnreadView.reason JournalCopy.outcome
    RecordingsCompared.summary RecordingsCompared.harm RecordingsCompared.worse RecordingsCompared.open
"""
"""Sentences of racwire and lines of tools: known names and addresses in them are replaced."""
FILES = """
    AlertLog.path FragileMtu.file FragileMtu.line KeptMtu.connection KeptMtu.file NoRecording.path OcrBackup.file
    RecoveryArea.location StoredHash.path SysctlFiles.files SysctlFiles.unread SysctlLine.file
"""
"""Files of Linux and of Clusterware: known names in them are replaced."""
WORDS = """
    AddressProbe.interface Bond.hash_policy Changing.archives Changing.backups Changing.copies Changing.hashes
    Changing.registries Changing.registry_files Changing.sysctl_files Changing.udp_sockets Changing.unasked
    Changing.unlike BeforeAfter.after BeforeAfter.before CounterGroup.counts CounterGroup.name DriverCounters.counts
    DriverCounters.driver DriverCounters.name HostSetup.slots JournalCopy.begins JournalSeen.closed_at JournalSeen.id
    JournalSeen.opened_at NodeSetup.boot_id OpenPluggable.open_mode PredictedFigure.at_load PredictedFigure.measured
    PredictedFigure.name PredictedFigure.predicted RecentLoad.ended_at RecentLoad.kind RecordingsCompared.figures
    RecoveryArea.log_mode RouteInUse.interface SeenRecording.mtus SeenRecording.private_bytes_per_s
    SeenRecording.sampled StoredHash.sha256 SysctlLine.key SysctlLine.value TunedProfile.name TunedProfile.not_found
    VotingFile.disk_group VotingFile.state
"""
"""Words of the kernel, of Oracle and of racwire, and keys that are nodes or interfaces."""


def _has_text(kind: object) -> bool:
    return kind is str or any(map(_has_text, typing.get_args(kind)))


def _structs(kind: object, found: set[type[msgspec.Struct]]) -> set[type[msgspec.Struct]]:
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        if kind not in found:
            found.add(kind)
            for inner in typing.get_type_hints(kind).values():
                _structs(inner, found)
    else:
        for inner in typing.get_args(kind):
            _structs(inner, found)
    return found


def test_each_text_of_the_facts_is_an_identifier_free_text_or_of_a_class_that_was_read() -> None:
    unclassed = {
        f"{kind.__name__}.{field}"
        for kind in _structs(facts.Cluster, set())
        for field, of in typing.get_type_hints(kind).items()
        if _has_text(of) and treatment_of(kind, field) is Treatment.REPLACE and field not in NAMES.get(kind, {})
    }
    assert unclassed == set(f"{ADDRESSES} {NODES} {IN_SENTENCES} {FILES} {WORDS}".split())


SITUATION = """
    ClusterEvent.pairs ClusterEvent.reason Episode.step EventPlace.network FindingStatement.key Former.key
    Statement.step
"""
"""Of the situation of a report: names that other fields have, an address, and sentences with known names; the keys are
made again from the replaced findings."""


def test_each_text_of_a_situation_is_an_identifier_or_of_a_class_that_was_read() -> None:
    unclassed = {
        f"{kind.__name__}.{field}"
        for kind in _structs(Situation, set()) - _structs(Finding, set())
        for field, of in typing.get_type_hints(kind).items()
        if _has_text(of) and treatment_of(kind, field) is Treatment.REPLACE and field not in NAMES.get(kind, {})
    }
    assert unclassed == set(SITUATION.split())


# --- free text --------------------------------------------------------------------------------------------------------

DESCRIPTIONS = [
    "topology/pod-1/node-101",
    "Cisco NX-OS(tm) ucs, Software (ucs-6100-k9-system)",
    "Cisco Nexus Operating System (NX-OS) Software N9K-C93180YC-EX",
    "Cisco NX-OS(tm) Nexus 7000 N7K-C7010, Software (n7000-s2-dk9), Version 8.2(5)",
    "Cisco IOS Software [Amsterdam], Catalyst L3 Switch Software (CAT9K_IOSXE), Version 17.3.4",
    "Aruba JL635A  GL.10.08.1010",
    "HPE ANW AOS-CX Virtual.10.13",
    "HP J9727A 2920-24G-PoE+ Switch, revision WB.16.10.0005",
    "ARISTA Networks EOS version 4.24.2F running on an Arista Networks DCS-7050SX3-48YC12",
    "Juniper Networks, Inc. qfx5100-48s-6q Ethernet Switch, kernel JUNOS 18.4R2-S3",
    "Dell EMC Networking OS10 Enterprise. OS Version: 10.5.1.3",
    "MSN2700,Onyx,SWv3.9.0300",
    "Cumulus Linux version 4.2.0 running on Mellanox Technologies Ltd. MSN2700",
    "racwire practice switch",
]
SECRETS = [
    "John",
    "Doe",
    "john.doe@acme.example",
    "FOX1234ABCD",
    "rack-17/U4",
    "INV0047110815",
    "Lagerhalle-Nord",
    "hr-db",
]


def _redacted(lldp: Sequence[LldpNeighbour], *outputs: str) -> tuple[tuple[LldpNeighbour, ...], list[str]]:
    """Return the neighbours and the outputs of the site's redacted report."""
    report = site()
    assert isinstance(report.cluster.setups, tuple)
    first, *others = report.cluster.setups
    setups = (msgspec.structs.replace(first, lldp=tuple(lldp)), *others)
    journal = tuple(Entry("rac1", "output", "cat", "2026-11-20T14:02:31.100+01:00", text=text) for text in outputs)
    made: Report = Redactor(Pseudonyms()).report(
        msgspec.structs.replace(report, cluster=msgspec.structs.replace(report.cluster, setups=setups), journal=journal)
    )
    assert isinstance(made.cluster.setups, tuple)
    setup = made.cluster.setups[0]
    assert isinstance(setup, NodeSetup)
    assert isinstance(setup.lldp, tuple)
    return setup.lldp, [entry.text for entry in made.journal]


OUTPUTS = [
    ("lldp.eth1.chassis.descr={}\nlldp.eth1.chassis.mgmt-ip=192.0.2.1", "Cisco NX-OS"),
    ("lldp.eth1.chassis.descr=Cisco NX-OS\nof {}\nlldp.eth1.port.ttl=120", "port.ttl=120"),
    ("lldp.eth1.port.descr=to {}\nlldp.eth1.port.mfs=9216", "port.mfs=9216"),
    ("lldp.eth1.lldp-med.inventory.serial={}\nlldp.eth1.vlan.vlan-id=1", "vlan.vlan-id=1"),
    ("    SysDescr:     Cisco {}\n    MgmtIP:       192.0.2.1", "MgmtIP"),
    ("2: eth1: <UP> mtu 9000\n    alias uplink {}\n    inet 192.0.2.7/24", "inet "),
    ("sys_vendor:Dell Inc.\nchassis_asset_tag:{}\nbios_vendor:Dell Inc.", "bios_vendor:Dell Inc."),
    (
        "LINK CHASSIS ID         SYSTEM NAME CAPS PORT ID      PORT DESCRIPTION\n"
        "eth1 02:11:22:33:44:55  leaf7       ..b. Ethernet1/5  {}\n\nCapability Flags:\nb - Bridge",
        "b - Bridge",
    ),
]
"""What the tools print, and what of it stays."""
SERIAL = "lldp.eth1.unknown-tlvs.unknown-tlv.oui=00,01,42\nlldp.eth1.unknown-tlvs.unknown-tlv=46,4C,4D,32,36,31,47"


def _secrets_in(text: str) -> list[str]:
    return [secret for secret in SECRETS if secret.lower() in text.lower()]


def test_texts_that_a_site_writes_keep_the_kind_of_the_switch_and_no_word_of_the_site() -> None:
    kinds: Kinds = KNOWN
    lldp = [LldpNeighbour("eth1", "", f"{description} {' '.join(SECRETS)}") for description in DESCRIPTIONS]
    outputs = [output.format(f"Cisco NX-OS {' '.join(SECRETS)}") for output, _ in OUTPUTS]
    neighbours, shown = _redacted(lldp, *outputs, SERIAL)
    for description, found in zip(DESCRIPTIONS, neighbours, strict=True):
        kind = kinds.of_neighbour(LldpNeighbour("eth1", "", description))
        assert kind
        assert kinds.of_neighbour(found) == kind, found
        assert not _secrets_in(found.description), description
    for (output, kept), text in zip(OUTPUTS, shown[:-1], strict=True):
        assert not _secrets_in(text), output
        assert kept in text
    assert "46,4C" not in shown[-1], "the serial number of the switch"
    assert "oui=00,01,42" in shown[-1]


@pytest.mark.parametrize("chassis", ["FOX1234ABCD", "b8:59:9f:0a:1b:2c"])
def test_the_chassis_of_a_switch_is_an_identifier_everywhere(chassis: str) -> None:
    neighbour = LldpNeighbour("eth1", "leaf7", "Cisco NX-OS", "Ethernet1/49", chassis=chassis)
    (found,), (shown,) = _redacted([neighbour], f"lldp.eth1.chassis.local={chassis} ({chassis.upper()})")
    assert found.chassis
    assert chassis.lower() not in f"{found.chassis} {shown}".lower()
    assert shown.startswith(f"lldp.eth1.chassis.local={found.chassis} ")


SPELLINGS = [
    "0xac1f4d09", "ac1f4d09", "AC1F4D09", "094D1FAC", "0x094d1fac", "094D1FAC:0016", "peer=ac1f4d09,",
    "ip_ac1f4d09",
    "00000000000000000000FFFF094D1FAC", "00000000000000000000ffffac1f4d09", "::ffff:ac1f:4d09", "2887732489",
    "ac:1f:4d:09", "0xac,0x1f,0x4d,0x09", "AC-1F-4D-09", r"\xac\x1f\x4d\x09", "172%2E31%2E77%2E9",
    "http%3A%2F%2F172.31.77.9%3A1521", "%3A%3Affff%3Aac1f%3A4d09", "172.031.077.009", "9.77.31.172.in-addr.arpa",
]  # fmt: skip


def test_a_known_address_is_replaced_in_any_spelling_and_other_numbers_are_not() -> None:
    report = site()
    assert isinstance(report.cluster.nodes, tuple)
    first, *others = report.cluster.nodes
    assert isinstance(first, facts.Node)
    nic = msgspec.structs.replace(first.interfaces[1], addresses=(Address("172.31.77.9", 24),))
    nodes = (msgspec.structs.replace(first, interfaces=(first.interfaces[0], nic, *first.interfaces[2:])), *others)
    other = "crc 1b2c3d4e 1234567890 of 0x0000ffff at 10:20:30:40"
    journal = tuple(
        Entry("rac1", "output", "cat", "2026-11-20T14:02:31.100+01:00", text=text) for text in (*SPELLINGS, other)
    )
    made = Redactor(Pseudonyms()).report(
        msgspec.structs.replace(report, cluster=msgspec.structs.replace(report.cluster, nodes=nodes), journal=journal)
    )
    *shown, same = (entry.text for entry in made.journal)
    assert [a for a, b in zip(SPELLINGS, shown, strict=True) if a.lower() == b.lower()] == []
    assert same == other
