"""The registry of reads: readers use each entry, and every journal entry of a run is registered."""

import ast
import re
import shlex
from functools import cache
from pathlib import Path

import pytest

import checks
from checks.change.gates import documented
from checks.change.record.copies import other_copies
from checks.model.facts import Clusterware
from checks.model.journal import Journal
from checks.model.settings import ClusterSettings, DatabaseSettings, SamplingSettings, Settings
from checks.run.check_discovery import discover
from checks.run.dry_run import plan_checks, plan_doctor, plan_drill, plan_measurement, plan_samples
from checks.run.dry_run_steps import plan_investigation
from checks.run.engine import Engine
from checks.sources.clusterware.grid_tools import GridTools
from checks.sources.clusterware.managed import read_managed
from checks.sources.entries import GridCommand, Program
from checks.sources.nodes.backup_files import read_archive, read_change_files, read_olr_backup
from checks.sources.nodes.driver_counters import read_driver_counters
from checks.sources.nodes.shell import Shell
from checks.sources.nodes.sysctl_files import read_sysctl_files, read_udp_sockets
from checks.sources.registry import DECLARED, queries, sources
from docs.generate.source_texts import source_tree
from tests.support.programs import LOGGED_IN

PACKAGE = Path(checks.__file__).parent


def topic_pattern(topic: str) -> re.Pattern[str]:
    """A pattern for the journal topics of an entry's topic: a word in capitals matches any name."""
    parts = (r".+" if re.fullmatch(r"[A-Z]{2,}", word) else re.escape(word) for word in topic.split(" "))
    return re.compile(" ".join(parts))


@cache
def used_names() -> frozenset[str]:
    """Every name and text in the modules of readers: not in the registry's own, the dry run or the practice cluster."""
    found: set[str] = set()
    for file in PACKAGE.rglob("*.py"):
        place = file.relative_to(PACKAGE).as_posix()
        if (place.startswith("sources/") and place.count("/") == 1) or place.startswith(("lab/", "run/dry_run")):
            continue
        for node in ast.walk(source_tree(file)):
            if isinstance(node, ast.Name):
                found.add(node.id)
            elif isinstance(node, ast.Attribute):
                found.add(node.attr)
            elif isinstance(node, ast.Constant) and isinstance(node.value, str):
                found.add(node.value)
    return frozenset(found)


def test_every_entry_has_a_name_of_its_own() -> None:
    names = [source.name for source in sources()]
    assert len(names) == len(set(names))


def test_every_topic_has_a_reader() -> None:
    """Entries of packets are declared for the dry run; their topic is that of the sender's journal."""
    packets = {"path pings", "latency pings", "database login", "recordings", "node addresses"}
    packets |= {"udp datagrams", "haip pings", "arp probes", "drill probes", "packets of steps"}
    entries = [name for name, source in DECLARED.items() if source.name not in packets]
    assert [name for name in entries if name not in used_names()] == []
    bare = {query.statement.name.removeprefix("awr_").removeprefix("statspack_"): query for query in queries()}
    assert [name for name in bare if name not in used_names()] == []


def test_every_topic_has_its_users_its_source_and_its_purpose() -> None:
    groups = {
        *("clusterware", "nodes", "setups", "managed", "changing", "counters", "paths"),
        *("database", "activity", "history", "samples", "readiness"),
        *("flows", "owners", "haip_paths", "effective_routes", "measurement", "investigation"),
    }
    assert {group for source in sources() for group in source.groups} == groups
    for source in sources():
        assert source.groups, source
        assert source.purpose, source
        assert all(read.how for read in source.reads), source
        if isinstance(source, Program):
            assert source.reads, source
            assert set(source.sections) <= set(source.topics), source


def topics_of(*groups: str) -> set[str]:
    return {topic for group in groups for source in sources(group) for topic in source.topics}


def unregistered(journal: Journal) -> set[str]:
    """The topics of a journal that no entry has."""
    known = [topic_pattern(topic) for source in sources() for topic in source.topics]
    return {e.topic for e in journal.entries if not any(pattern.fullmatch(e.topic) for pattern in known)}


def test_the_dry_run_lists_every_topic() -> None:
    settings = Settings(database=DatabaseSettings(connect="scan/prod", user="racwire", diagnostics_pack=True))
    everything = (*discover().checks, *documented())
    without_database = plan_checks(everything, Settings(), {})
    with_database = plan_checks(everything, settings, {})
    of_loads = (*plan_measurement(), *plan_drill(), *plan_investigation(settings))
    others = (*plan_samples(settings, {}), *plan_doctor(), *of_loads)
    dry_run = "\n".join((*with_database, *without_database, *others))
    described_in_words = {"ssh", "path pings", "latency pings", "database login"}
    described_in_words |= {"udp datagrams", "haip pings", "arp probes"}
    for entry in sources():
        if isinstance(entry, GridCommand):
            assert shlex.join(entry.argv("$GRID_HOME")) in dry_run, entry.name
        elif isinstance(entry, Program) and entry.example:
            assert all(line in dry_run for line in entry.action_on(*entry.example).splitlines()), entry.name
        elif entry.name not in described_in_words:
            lines = [line for read in entry.reads for line in read.how.strip().splitlines()]
            assert all(line in dry_run for line in lines), entry.name


GRID_TOOLS = {
    "olsnodes": 'case "$*" in -l) echo rac1 ;; -c) echo prod ;; *) echo "rac1 1 rac1-vip Active Unpinned" ;; esac',
    "oifcfg": 'case "$*" in getif) echo "eth1  192.168.10.0  global  cluster_interconnect" ;; *) echo "eth1 x" ;; esac',
    "crsctl": 'case "$*" in *-f) echo "CRS-10: usage: crsctl"; exit 1 ;; *) echo "CRS-4638: HA is online" ;; esac',
    "srvctl": 'case "$*" in "config database") echo prod ;; *) echo "Instance prod1 is running on node rac1" ;; esac',
    "ocrconfig": "echo 'PROT-25: Manual backups for the Oracle Cluster Registry are not available'",
}
PEER_TOOLS = {
    "ip": """case "$*" in
    "-d addr show") echo "2: eth1: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 9000 qdisc mq state UP group default qlen 1000"
        echo "    link/ether 02:00:00:00:00:0$N brd ff:ff:ff:ff:ff:ff"
        echo "    inet 192.168.10.$N/24 brd 192.168.10.255 scope global eth1" ;; esac""",
    "ping": 'echo "PING 192.168.10.2"; echo "3 packets transmitted, 0 received"; exit 1',
}


def executable(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(0o755)
    return file


async def test_a_whole_run_on_fakes_records_only_registered_topics_and_each_of_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in GRID_TOOLS.items():
        executable(tmp_path / "grid" / "bin" / name, text)
    for name, text in PEER_TOOLS.items():
        executable(tmp_path / "peer" / name, text)
    rsh = executable(tmp_path / "rsh", f"export PATH={tmp_path}/peer:/usr/bin:/bin N=${{1#rac}}; {LOGGED_IN}")
    monkeypatch.setenv("RACWIRE_RSH", shlex.quote(str(rsh)))
    settings = Settings(
        cluster=ClusterSettings(
            grid_home=str(tmp_path / "grid"), peers=("rac2", "rac3", "rac4"), networks=("192.168.10.0/24",)
        ),
        sampling=SamplingSettings(interval_without_database_s=0.05),
    )
    engine = Engine(discover().checks, settings)
    grid = (await engine.run()).cluster.clusterware
    journal = engine.journal
    assert isinstance(grid, Clusterware)
    await read_managed(GridTools(grid.grid_home, journal, "rac1"))
    peer = await Shell.open_ssh("rac2", settings.ssh)
    try:
        await read_change_files(peer, journal, [str(tmp_path / "backup")], 10)
        await read_archive(peer, journal, str(tmp_path / "network.tar.gz"), 10)
        await read_olr_backup(peer, journal, 10)
        await read_driver_counters(peer, journal, ["eth1"], 10)  # the interval of this run is too short for them
        await read_sysctl_files(peer, journal, 10)
        await read_udp_sockets(peer, journal, 10)
        await other_copies(peer, journal, tmp_path, "prod", 10)
    finally:
        await peer.close()
    assert unregistered(journal) == set()
    assert {entry.node for entry in journal.entries if entry.topic == "ssh"} == {"rac2", "rac3", "rac4"}
    topics = {entry.topic for entry in journal.entries}
    without_database = topics_of("clusterware", "nodes", "setups", "managed", "counters", "paths", "changing")
    for topic in without_database - {"sql pluggables", "sql recovery_area", "sql restore_points"}:
        assert any(map(topic_pattern(topic).fullmatch, topics)), topic


def test_a_topic_with_a_word_in_capitals_matches_any_name() -> None:
    assert topic_pattern("path NETWORK FROM TO").fullmatch("path 192.168.10.0/24 rac1 rac2")
    assert not topic_pattern("path NETWORK FROM TO").fullmatch("interfaces")
    assert topic_pattern("sql sysstat").fullmatch("sql sysstat")
    assert not topic_pattern("sql sysstat").fullmatch("sql sysstats")
