"""`--redact`: the shared output contains no name and no address, and its statements are still true."""

import re
from contextlib import closing
from enum import Enum
from pathlib import Path

import msgspec
import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as effort

from checks.model.cluster_event import ClusterEvent, EventKind, EventPlace
from checks.model.condition import Condition, ConditionKind
from checks.model.facts import Address, Cluster, Database, Node, NodeSetup, PrivateNetwork
from checks.model.finding import Status, keyed
from checks.model.report import Report
from checks.model.run_record import RunRecord
from checks.model.situation import (
    ConditionStatement,
    Episode,
    FindingStatement,
    Former,
    Situation,
    Standing,
    Statement,
)
from checks.model.wording import NodePair
from checks.redact import Pseudonyms, Redactor
from checks.report.json_report import from_json, to_json
from checks.report.report_evidence import Evidence
from checks.saved import save
from checks.traffic.recorder import Recorder
from checks.traffic.recording import Recording
from checks.traffic.recording_runs import RecordedLine
from checks.traffic.samples import Gap, LatencySample, Links, NodeSample
from checks.traffic.source_id import PAIRS, SourceId
from checks.traffic.timeline import Timeline
from checks.whole_files import OutputFile
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import black_hole, report_of
from tests.fixtures.structs import any_of
from tests.unit.recording_support import BEGIN, busy, header
from tests.unit.redact_support import IDENTITY, ORIGINALS, STAYS, WORDS, site, track
from tests.unit.saved_support import members_of
from tui.cli.report_formats import FORMATS


@pytest.fixture(scope="module")
def evidence() -> Evidence:
    made = redactor()
    return Evidence(made.report(site()), made.track(track()))


@pytest.fixture(scope="module")
def redacted(evidence: Evidence) -> Report:
    return evidence.report


def redactor(pseudonyms: Pseudonyms | None = None) -> Redactor:
    made = Redactor(pseudonyms or Pseudonyms(), IDENTITY)
    made.learn(site())
    made.learn_track(track())
    return made


def left(data: bytes) -> list[str]:
    """Return the remaining originals, each with its surroundings."""
    text = data.decode("utf-8", errors="replace").lower()
    found = [text[max(0, at - 40) : at + 60] for o in ORIGINALS if (at := text.find(o.lower())) >= 0]
    return found + [m[0] for word in WORDS for m in re.finditer(rf"(?<![a-z]){word}(?![a-z]).{{0,40}}", text)]


@pytest.mark.parametrize("form", FORMATS)
def test_no_original_name_is_in_any_format(form: str, evidence: Evidence) -> None:
    assert left(FORMATS[form].write(evidence)) == []


def test_the_example_site_contains_every_original_name() -> None:
    text = to_json(site()).decode().lower()

    assert [o for o in (*ORIGINALS, *WORDS) if o.lower() not in text] == []


def test_no_original_name_is_in_a_saved_file_or_in_the_bytes_of_its_recording(tmp_path: Path) -> None:
    made = redactor()
    report = made.report(site())
    with closing(Recorder.create(tmp_path / "samples.rec", _header("before the change of prodrac"))) as recorder:
        recorder.write(_events())
        recorder.add_run(RunRecord(report=site(), ended=1.0))
        recorder.add_journal([RecordedLine(1.0, to_json(site()).decode())])

    made.recording(tmp_path / "samples.rec", tmp_path / "redacted.rec")
    save(OutputFile(tmp_path / "night.racwire"), report, tmp_path / "redacted.rec")

    assert [found for member in members_of(tmp_path / "night.racwire").values() for found in left(member)] == []
    assert left((tmp_path / "night.racwire").read_bytes()) == []
    assert left((tmp_path / "redacted.rec").read_bytes()) == []
    assert b"before the change" not in (tmp_path / "redacted.rec").read_bytes()


def test_texts_that_identify_no_site_are_unchanged(redacted: Report) -> None:
    text = to_json(redacted).decode()

    assert [s for s in STAYS if s not in text] == []
    assert "chacha20-poly1305@openssh.com getty@tty1.service" in text
    assert '\\"at\\": \\"2026-11-20T14:02:31.100+01:00\\"' in text


def test_the_redacted_report_is_marked_and_not_redacted_twice(redacted: Report) -> None:
    assert redacted.is_redacted
    assert redactor().report(redacted) is redacted


def test_a_situation_belongs_to_the_findings_and_places_that_have_pseudonyms() -> None:
    report = site()
    said = Statement(standing=Standing.HOLDS, is_bad=True, since=1.0, as_of=2.0)
    places = (EventPlace(1.0, "rac1", "eth1"), EventPlace(1.0, "rac2", instance="prod2"))
    event = ClusterEvent(
        1, EventKind.LOST_BLOCKS, Status.FAIL, places, 1.0, reason="rac2 is away.", pairs=(NodePair(("rac1", "rac2")),)
    )
    keys = [key for key, _ in keyed(report.findings)]
    link, instance = Condition(ConditionKind.LINK, "rac1", "eth1"), Condition(ConditionKind.INSTANCE, "rac2", "prod2")
    situation = Situation(
        at=2.0,
        findings=tuple(FindingStatement(key, said) for key in keys),
        former=(Former(keys[0], report.findings[0], said),),
        episodes=(Episode(event=event, as_of=2.0),),
        conditions=tuple(ConditionStatement(condition, said) for condition in (link, instance)),
        change="6/15",
    )

    made = redactor()
    found = made.report(msgspec.structs.replace(report, situation=situation))

    assert left(to_json(found)) == []
    assert found.situation is not None
    assert [one.key for one in found.situation.findings] == [key for key, _ in keyed(found.findings)]
    assert found.situation.former[0].key == found.situation.findings[0].key
    assert found.situation.former[0].finding == found.findings[0]
    assert found.situation.change == "6/15"
    assert [one.condition for one in found.situation.conditions] == [
        (ConditionKind.LINK, made.text("rac1"), "eth1", ""),
        (ConditionKind.INSTANCE, made.text("rac2"), made.text("prod2"), ""),
    ]
    assert found.situation.episodes[0].event.pairs == (NodePair((made.text("rac1"), made.text("rac2"))),)


def test_the_same_mapping_gives_the_same_report() -> None:
    first = Pseudonyms()
    once = redactor(first).report(site())

    again = redactor(Pseudonyms(first.mapping())).report(site())

    assert again == once
    assert redactor().report(site()) == once


def test_names_of_another_cluster_change_no_pseudonym() -> None:
    pseudonyms = Pseudonyms()
    redactor(pseudonyms).report(site())
    before = pseudonyms.mapping().names
    other = report_of(cluster(2))

    Redactor(pseudonyms).report(
        from_json(to_json(other).replace(b"rac1", b"zulu1").replace(b"rac2", b"zulu2").replace(b"192.168.", b"172.20."))
    )

    after = pseudonyms.mapping().names
    assert {(kind, *item) for kind, names in before.items() for item in names.items()} <= {
        (kind, *item) for kind, names in after.items() for item in names.items()
    }
    assert {"zulu1", "zulu2"} <= after["host"].keys()


def test_checks_have_the_same_findings_with_the_redacted_facts(redacted: Report) -> None:
    report = report_of(redacted.cluster)

    assert [(f.code, f.status) for f in report.findings] == [(f.code, f.status) for f in site().findings]
    assert [f.title for f in report.findings] == [f.title for f in redacted.findings]


@pytest.mark.parametrize("base", [asked(4), asked(black_hole(3)), cluster(16)], ids=["well", "black hole", "16 nodes"])
def test_checks_have_the_same_texts_for_any_cluster(base: Cluster) -> None:
    report = Redactor(Pseudonyms()).report(report_of(base))

    assert report_of(report.cluster).findings == report.findings


@pytest.mark.parametrize("name", ["a", "up", "eth1", "node", "db", "bond", "mtu", "ok", "gc"])
def test_a_node_with_a_common_name_is_replaced_and_words_that_checks_need_are_not(name: str) -> None:
    base = asked(3)
    text = re.sub(rb'"rac2(-vip)?"', rf'"{name}\1"'.encode(), msgspec.json.encode(base))
    original = msgspec.json.decode(text, type=Cluster)

    report = Redactor(Pseudonyms()).report(report_of(original))

    redacted_report = report_of(report.cluster)
    assert [(f.code, f.status) for f in redacted_report.findings] == [(f.code, f.status) for f in report.findings]
    node = report.cluster.read_nodes()[1]
    assert node.name not in (name, "rac2")
    assert [i.name for i in node.interfaces] == ["eth0", "eth1", "eth2"]
    assert {i.operational_state for i in node.interfaces} == {"up"}
    assert node.name in {p.to_node for p in report.cluster.paths}  # type: ignore[union-attr]


@effort(suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large])
@given(any_of(Report))
def test_any_report_keeps_its_structure_and_gets_the_same_pseudonyms_again(report: Report) -> None:
    original = msgspec.structs.replace(report, is_redacted=False)
    pseudonyms = Pseudonyms()

    once = Redactor(pseudonyms).report(original)

    assert _without_text(once.cluster) == _without_text(original.cluster)
    assert [_without_text(f) for f in once.findings] == [_without_text(f) for f in original.findings]
    assert Redactor(Pseudonyms(pseudonyms.mapping())).report(original) == once


def test_a_database_id_is_replaced_by_one_number_everywhere(redacted: Report) -> None:
    database = redacted.cluster.database
    assert isinstance(database, Database)

    assert 10**9 < database.dbid < 2**32
    assert f"DB Id: {database.dbid};" in redacted.journal[-1].text


def test_a_hostile_report_is_redacted_like_any_other() -> None:
    hostile = msgspec.structs.replace(hostile_report(), is_redacted=False)

    replaced = Redactor(Pseudonyms()).report(hostile)

    assert [n.name for n in replaced.cluster.read_nodes()] == ["host_a", "host_c", "host_e"]


def test_ports_on_one_subnet_stay_on_one_subnet(redacted: Report) -> None:
    before, after = site().cluster, redacted.cluster
    assert isinstance(before.networks, tuple)
    assert isinstance(after.networks, tuple)

    assert [_shape(n) for n in after.networks] == [_shape(n) for n in before.networks]
    assert len({n.subnet for n in after.networks}) == len(after.networks)
    for network in after.networks:
        assert all(
            address.network.with_prefixlen == network.subnet
            for port in network.ports
            for address in _interface_addresses(after.node(port.node), port.interface)
        )


def test_a_link_local_address_is_derived_from_the_pseudonym_of_the_mac_address(redacted: Report) -> None:
    public = redacted.cluster.read_nodes()[0].interfaces[0]
    linked = next(a.ip for a in public.addresses if a.ip.startswith("fe80:"))

    assert public.mac_address == "02:00:00:00:00:01"
    assert linked == "fe80::ff:fe00:1"


def test_names_composed_of_names_become_composed_pseudonyms(redacted: Report) -> None:
    names = {m.name: m.vip for m in redacted.cluster.clusterware.members}  # type: ignore[union-attr]

    assert names == {"host_a": "host_a-vip", "host_b": "host_b-vip", "host_c": "host_c-vip"}
    assert [i.name for i in redacted.cluster.database.instances] == ["base_a1", "base_a2", "base_a3"]  # type: ignore[union-attr]


def test_the_case_of_a_name_is_preserved(redacted: Report) -> None:
    text = redacted.journal[-1].text

    assert re.search(r"host_a\.domain_[a-c] HOST_A host_a-vip", text)
    assert "ora_pmon_BASE_A1 ora_lms0_base_a2 asm_pmon_+ASM1" in text
    assert "ora.CLUSTER_A.vip CLUSTER_A_1" in text


def test_evidence_still_belongs_to_its_findings(redacted: Report) -> None:
    plain = site()

    assert [len(redacted.evidence(f)) for f in redacted.findings] == [len(plain.evidence(f)) for f in plain.findings]


def test_settings_keep_their_own_names_and_words(redacted: Report) -> None:
    settings = redacted.settings

    assert settings["console"] == {"graphs": "blocks", "ascii": False}
    assert re.fullmatch(r"/home/user_[a-c]/\.ssh/config", settings["ssh"]["config_file"])
    assert settings["ssh"]["read_timeout_s"] == 10.0
    assert settings["waivers"][0]["code"] == "IC-PATH-003"


@pytest.mark.parametrize(
    "settings",
    [{"cluster": 3}, {"cluster": {"peers": 3}}, {"waivers": 3}, {"waivers": [3, {"by": 3, "nodes": 3}]}, {"ssh": [[]]}],
)
def test_settings_without_names_are_unchanged(settings: dict[str, object]) -> None:
    report = msgspec.structs.replace(report_of(cluster(2)), settings=settings)

    assert Redactor(Pseudonyms()).report(report).settings == settings


def test_samples_are_found_under_their_pseudonyms() -> None:
    made = redactor()
    report, samples = made.report(site()), made.track(track())
    first, second = (n.name for n in report.cluster.read_nodes()[:2])

    assert samples.sources() == (SourceId.node(first), SourceId.node(second))
    assert isinstance(sample := samples.newest(SourceId.node(first)), NodeSample)
    assert sample.source == SourceId.node(first)
    assert isinstance(links := samples.links(first, 2.0), Links)
    assert links.links[0].network == report.cluster.networks[0].name  # type: ignore[union-attr,index]
    assert samples.links("rac1", 2.0) is None or samples.links("rac1", 2.0) == links
    assert samples.window(SourceId.node(second), 0.0, 9.0)[0].source == SourceId.node(second)
    assert samples.span() == track().span()


def test_a_node_called_node_keeps_its_samples() -> None:
    timeline = Timeline()
    timeline.add(
        [NodeSample("node", 1.0, 1.0), Gap(SourceId.node("node"), 2.0, "node gave no answer"), _latency("node")]
    )
    made = Redactor(Pseudonyms())
    made.learn_track(timeline)

    samples = made.track(timeline)

    assert samples.sources()[0] == samples.window(samples.sources()[0], 0, 9)[0].source
    assert {e.source for s in samples.sources() for e in samples.window(s, 0, 9)} == set(samples.sources())


def test_a_redacted_recording_has_the_same_numbers(tmp_path: Path) -> None:
    with closing(Recorder.create(tmp_path / "plain.rec", header())) as recorder:
        for events in busy(12):
            recorder.write(events)

    Redactor(Pseudonyms()).recording(tmp_path / "plain.rec", tmp_path / "redacted.rec")

    with (
        closing(Recording.open(tmp_path / "plain.rec")) as plain,
        closing(Recording.open(tmp_path / "redacted.rec")) as redacted,
    ):
        events, replaced = list(plain.events()), list(redacted.events())
        assert [(type(e), e.at) for e in replaced] == [(type(e), e.at) for e in events]
        assert [_numbers(e) for e in replaced] == [_numbers(e) for e in events]
        assert len(redacted.sources()) == len(plain.sources())
        assert not set(redacted.sources()) & (set(plain.sources()) - {PAIRS})
    assert (tmp_path / "redacted.rec").stat().st_mode & 0o777 == 0o600


def _without_text(value: object) -> object:
    """Return the parts of a value that are not text, and enums: the values that checks compute with."""
    if isinstance(value, msgspec.Struct):
        return type(value), [_without_text(getattr(value, f)) for f in value.__struct_fields__ if f != "dbid"]
    if isinstance(value, (list, tuple)):
        return [_without_text(item) for item in value]
    if isinstance(value, dict):
        return [_without_text(item) for item in value.values()]
    return str if isinstance(value, str) and not isinstance(value, Enum) else value


def _numbers(event: object) -> object:
    return (event.counters, event.interfaces) if isinstance(event, NodeSample) else getattr(event, "statistics", None)


def _latency(node: str) -> LatencySample:
    return LatencySample("192.168.10.0/24", node, 56, 3.0, 1.0, 10, 10)


def _header(label: str) -> object:
    return msgspec.structs.replace(header(label), cluster=site().cluster, settings=site().settings)


def _events() -> list[object]:
    samples = track()
    found = [e for source in samples.sources() for e in samples.window(source, 0, 9)]
    return [samples.links("rac1", 9.0), *found, *(e for events in busy(3, BEGIN) for e in events)]


def _shape(network: PrivateNetwork) -> tuple[object, ...]:
    return network.interface, network.subnet.partition("/")[2], len({p.ip for p in network.ports}), network.mtu


def _interface_addresses(node: Node | NodeSetup | None, name: str) -> list[Address]:
    assert isinstance(node, Node)
    found = node.interface(name)
    assert found
    return [a for a in found.addresses if not a.is_link_local]
