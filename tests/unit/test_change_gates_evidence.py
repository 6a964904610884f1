"""Gates of the paths, the backups, the recordings and the configuration, and built-in checks as gates."""

from datetime import datetime

import msgspec
import pytest

from checks.model.facts import (
    ArchiveSeen,
    Changing,
    Cluster,
    CounterChange,
    CounterChanges,
    FileSeen,
    KernelCounters,
    Managed,
    MissingRight,
    NoRecording,
    OcrBackup,
    PingSeries,
    RecordingsCompared,
    SeenRecording,
    Unknown,
    VotingFile,
)
from tests.unit.change_gate_support import found, gate_results, sentence
from tests.unit.change_support import MADE_AT, NODES, cluster, down, layer, plan, until

# --- the paths --------------------------------------------------------------------------------------------------------


def with_series(now: Cluster, *series: PingSeries) -> Cluster:
    """The path from rac1 to rac2 with these pings."""
    assert isinstance(now.paths, tuple)
    first, *rest = now.paths
    return msgspec.structs.replace(now, paths=(msgspec.structs.replace(first, series=series), *rest))


@pytest.mark.parametrize(
    ("series", "text"),
    [
        ((PingSeries(8973, 1, 0, refused_locally=1, local_mtu=9000),), "PASS 9001 refused"),
        ((PingSeries(8973, 1, 0, refused_locally=1),), "PASS 9001 refused"),
        ((PingSeries(8973, 1, 0, refused_locally=1, local_mtu=1500),), "FAIL 9001 not refused"),
        ((PingSeries(8973, 1, 1),), "FAIL 9001 not refused"),
        ((PingSeries(8973, 1, 0),), "FAIL 9001 not refused"),
        ((PingSeries(1473, 1, 0, refused_locally=1, local_mtu=1500),), "UNKNOWN 1 path not tested"),
        ((), "UNKNOWN 1 path not tested"),
    ],
)
def test_a_packet_one_byte_too_large_must_be_refused_by_the_kernel_of_the_sender(series, text):
    gate = gate_results("one-byte-more", with_series(down(9000), *series), until("prove-paths"))
    assert gate == {"rac1": text, "rac2": "PASS 9001 refused", "rac3": "PASS 9001 refused"}


def test_every_ordered_pair_on_every_network_must_be_probed():
    now = down(9000)
    assert isinstance(now.paths, tuple)
    one_way = tuple(p for p in now.paths if (p.from_node, p.to_node) != ("rac3", "rac1"))
    now = msgspec.structs.replace(now, paths=one_way)
    gate = gate_results("one-byte-more", now, until("prove-paths"))
    assert gate == {"rac1": "PASS 9001 refused", "rac2": "PASS 9001 refused", "rac3": "UNKNOWN 1 path not tested"}


def counters(**counts: int) -> Cluster:
    groups = {"Ip": {name: counts.get(name, 0) for name in ("ReasmFails", "ReasmReqds")}, "Softnet": {"Dropped": 0}}
    change = CounterChange("rac1", 5.0, KernelCounters(groups))
    unread = {"rac2": Unknown("rac2 was booted meanwhile.")}
    changes = CounterChanges("", "", 5.0, (change, CounterChange("rac3", 5.0, KernelCounters({}))), unread)
    return msgspec.structs.replace(down(9000), counters=changes)


def test_a_node_that_drops_packets_during_the_probe_does_not_pass():
    assert gate_results("quiet-counters", counters())["rac1"] == "PASS nothing lost"
    loud = counters(ReasmFails=7)
    assert gate_results("quiet-counters", loud)["rac1"] == "FAIL 7 lost"
    assert sentence("quiet-counters", loud, "rac1") == "In 5 s rac1 counted 7 failed reassemblies."
    assert gate_results("quiet-counters", loud)["rac2"] == "UNKNOWN not known"


# --- backups and recordings -------------------------------------------------------------------------------------------


def saved(**more: object) -> Cluster:
    paths = [f"/var/tmp/racwire-2026-11-20-a/{name}" for name in ("network.tar.gz", "ip-address.txt", "ip-route.txt")]
    files = dict.fromkeys(paths, FileSeen(100, 1_800_000_000.0))
    facts = {"backups": dict.fromkeys(NODES, files), "registries": {}, **more}
    backup = OcrBackup("rac1", "2026-11-20T18:10:00", "+DATA:/prodrac/backup.ocr")
    return msgspec.structs.replace(cluster(), changing=Changing(**facts), managed=Managed((), backup))


BACKUP_MISSING: dict[str, FileSeen | Unknown] = {
    "/b/network.tar.gz": Unknown("not there"),
    "/b/ip.txt": FileSeen(0, 2e9),
}


@pytest.mark.parametrize(
    ("more", "text"),
    [
        ({}, "PASS saved"),
        ({"backups": {"rac2": BACKUP_MISSING}}, "FAIL 0 of 2 saved"),
        ({"backups": {"rac2": {"/b/network.tar.gz": FileSeen(10, 1_000.0)}}}, "FAIL older than the plan"),
        ({"backups": {}, "unasked": {"rac2": Unknown("rac2 did not answer.")}}, "UNKNOWN not known"),
        ({"registries": {"rac2": None}}, "FAIL OLR not saved"),
        ({"registries": {"rac2": OcrBackup("rac2", "2026-11-19T10:00:00", "x.olr")}}, "FAIL OLR not saved"),
        ({"registries": {"rac2": Unknown("as root only")}}, "PASS saved"),
    ],
)
def test_every_node_must_have_its_own_backup_newer_than_the_plan(more, text):
    assert gate_results("backups-made", saved(**more))["rac2"] == text


KEPT_IN = "/etc/sysconfig/network-scripts/ifcfg-eth1"
UNREADABLE = Unknown("this user may not read it", MissingRight("read the archive"))


@pytest.mark.parametrize(
    ("archive", "text"),
    [
        (ArchiveSeen((KEPT_IN[1:],)), "PASS saved"),
        (ArchiveSeen(("etc/",)), "FAIL 1 file not saved"),
        (ArchiveSeen((KEPT_IN[1:],), "gzip: stdin: unexpected end of file"), "FAIL archive damaged"),
        (UNREADABLE, "PASS saved"),
        (Unknown("tar did not list it in time"), "UNKNOWN not known"),
    ],
)
def test_an_archive_must_be_whole_and_hold_the_files_of_private_interfaces(archive, text):
    of = until("set-mtu", opened=plan(layers=tuple(layer(node, file=KEPT_IN) for node in NODES)))
    assert gate_results("backups-made", saved(archives={"rac2": archive}), of)["rac2"] == text


def test_an_archive_that_only_root_reads_is_attested_unless_root_made_the_plan():
    now = saved(archives={"rac2": UNREADABLE})
    for made_by, text in (("oracle@rac1", "PASS saved"), ("root@rac1", "UNKNOWN not known")):
        of = until("set-mtu", opened=plan(made_by=made_by))
        assert gate_results("backups-made", now, of)["rac2"] == text


def test_sizes_ages_voting_files_and_asm_metadata_are_listed():
    own = OcrBackup("rac1", "2026-11-20T18:10:00", "/u01/cdata/b.olr")
    seen = FileSeen(4096, datetime.fromisoformat(MADE_AT).timestamp() + 60)
    now = saved(registries={"rac1": own}, registry_files={"rac1": seen}, ocr_file=seen, asm_metadata=seen)
    now = msgspec.structs.replace(
        now, managed=msgspec.structs.replace(now.managed, voting_files=(VotingFile("ONLINE", "/dev/sdb1", "DATA"),))
    )
    assert "(OLR) in /u01/cdata/b.olr (4,096 bytes, made 1 min after the plan)" in sentence("backups-made", now, "rac1")
    of_cluster = " ".join(f.title for f in found("backups-made", now) if not f.nodes)
    assert "in +DATA:/prodrac/backup.ocr; 4,096 bytes, made 1 min after the plan" in of_cluster
    assert "1 voting file: /dev/sdb1 in disk group DATA (ONLINE)" in of_cluster
    assert "ASM metadata is saved (4,096 bytes)" in of_cluster


@pytest.mark.parametrize(
    ("backup", "text"),
    [
        (OcrBackup("rac1", "2026-11-20T18:10:00", "x"), "PASS OCR saved"),
        (OcrBackup("rac1", "2026-11-20T17:00:00", "x"), "FAIL OCR not saved"),
        (None, "FAIL OCR not saved"),
        (Unknown("PROC-5: it needs root."), "INFO OCR not known"),
    ],
)
def test_the_registry_must_have_a_backup_that_ocrconfig_lists(backup, text):
    now = msgspec.structs.replace(saved(), managed=Managed((), backup))
    assert text in {f"{f.status} {f.subject}" for f in found("backups-made", now) if not f.nodes}


AT_1500 = {node: {"eth1": (1500,)} for node in NODES}


def recording(**more: object) -> SeenRecording:
    facts: dict[str, object] = {
        "path": "/changes/before.rec",
        "begun_at": "2026-11-20T18:10:00.000+01:00",
        "seconds": 599.0,
        "sampled": dict.fromkeys(NODES, 1.0),
        "mtus": AT_1500,
        "private_bytes_per_s": dict.fromkeys(NODES, 1e7),
    }
    return SeenRecording(**{**facts, **more})  # type: ignore[arg-type]


def recorded(gate: str, **changing: object) -> list[str]:
    now = msgspec.structs.replace(cluster(), changing=Changing(**changing))
    return [f"{f.status} {f.subject}" for f in found(gate, now, until("sign-off"))]


@pytest.mark.parametrize(
    ("recording", "texts"),
    [
        (recording(), ["PASS 9 min 59 s"]),
        (recording(begun_at="2026-11-14T18:10:00+01:00"), ["PASS 9 min 59 s"]),
        (recording(begun_at="2026-11-13T17:59:00+01:00"), ["FAIL too old"]),
        (recording(seconds=300.0), ["FAIL 5 min"]),
        (recording(sampled={"rac1": 1.0, "rac2": 0.5, "rac3": 1.0}), ["FAIL rac2 missing"]),
        (
            recording(mtus={**AT_1500, "rac3": {"eth1": (1500, 9000)}}),
            ["FAIL rac3 at 9000"],
        ),
        (recording(mtus={}), ["FAIL MTU missing"]),
        (recording(private_bytes_per_s={"rac1": 900.0}), ["PASS 9 min 59 s", "INFO idle"]),
        (NoRecording("/changes/before.rec"), ["FAIL not recorded"]),
        (Unknown("it is damaged."), ["UNKNOWN not readable"]),
    ],
)
def test_the_baseline_must_cover_all_nodes_be_long_enough_recent_and_at_the_old_mtu(recording, texts):
    assert recorded("baseline-recording", before=recording) == texts


def test_a_node_with_a_different_mtu_may_have_it_in_the_baseline():
    layers = tuple(layer(node, mtu_before=9000 if node == "rac3" else 1500) for node in NODES)
    now = msgspec.structs.replace(
        cluster(), changing=Changing(before=recording(mtus={**AT_1500, "rac3": {"eth1": (9000,)}}))
    )
    of = until("baseline", opened=plan(layers=layers))
    assert [f"{f.status} {f.subject}" for f in found("baseline-recording", now, of)] == ["PASS 9 min 59 s"]


def test_the_second_recording_must_be_from_after_the_change_at_the_new_mtu():
    new = recording(mtus={node: {"eth1": (9000,)} for node in NODES}, begun_at="2026-11-20T18:20:00+01:00")
    assert recorded("after-recording", after=new) == ["PASS 9 min 59 s"]
    assert recorded("after-recording", after=recording(begun_at=new.begun_at)) == ["FAIL rac1 at 1500"]
    early = msgspec.structs.replace(new, begun_at="2026-11-20T18:01:00+01:00")
    assert recorded("after-recording", after=early) == ["FAIL too old"]


@pytest.mark.parametrize(
    ("compared", "texts"),
    [
        (RecordingsCompared(summary=("A block came in 1.0 packets.",)), ["PASS no harm", "INFO compared"]),
        (RecordingsCompared(summary=(), worse=("CPU busy +12 %",)), ["PASS no harm", "INFO compared"]),
        (
            RecordingsCompared(summary=(), harm=("blocks lost from 0 to 3.20 1/s",)),
            ["FAIL blocks lost from 0 to 3.20 1/s"],
        ),
        (RecordingsCompared(summary=(), open=("The load was not the same.",)), ["UNKNOWN not comparable"]),
        (RecordingsCompared(summary=(), harm=("x",), open=("y",)), ["FAIL x"]),
        (NoRecording("/changes/after.rec"), ["UNKNOWN not compared"]),
    ],
)
def test_a_worse_critical_metric_stops_the_change_and_other_metrics_are_reported(compared, texts):
    assert recorded("comparison", compared=compared) == texts
