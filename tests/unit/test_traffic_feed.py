"""The feed as a whole: the times of samples, sources that hang, fail or give wrong answers, and stopping."""

import asyncio
import dataclasses
import os
import shlex

import pytest

from checks.model import networks
from checks.model.facts import Cluster, NotAsked, Unknown, UnreadNode
from checks.model.journal import Journal
from checks.model.settings import DatabaseSettings, Settings, SshSettings, TrafficSettings
from checks.sources import registry
from checks.traffic import feed as feed_module
from checks.traffic import peer_stream, this_node
from checks.traffic.feed import Feed
from checks.traffic.links import LinkBook
from checks.traffic.samples import Gap, Links, NodeSample
from checks.traffic.source_id import DATABASE, PAIRS, SourceId
from tests.fixtures.clusters import cluster, clusterware, node
from tests.support.programs import LOGGED_IN

SETTINGS = Settings(traffic=TrafficSettings(interval_s=1), ssh=SshSettings(connect_timeout_s=5))
HERE = "rac1"


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    """Ticks so short that a test takes no seconds, a backoff too."""
    monkeypatch.setattr("checks.traffic.pace._FIRST_S", 0.02)


def program(path, script):
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


@pytest.fixture
def peers(monkeypatch, tmp_path):
    """Return the stand-in for ssh: a script that receives the host's name.

    Its `ip` reports no interface, so that racwire does not recognise it as this node, which it is.
    """

    def be(script=LOGGED_IN):
        if not (tmp_path / "ip").exists():
            program(tmp_path / "ip", "exit 1")
        script = f"PATH={tmp_path}:$PATH\n{script}"
        program(tmp_path / "rsh", script)
        monkeypatch.setenv("RACWIRE_RSH", shlex.quote(str(tmp_path / "rsh")))

    return be


@pytest.fixture
async def start():
    """Makes feeds at ten samples a second, and ends them."""
    made = []

    def begin(settings=SETTINGS, interval_s=0.1):
        made.append(Feed(settings))
        made[-1].interval_s = interval_s
        return made[-1]

    yield begin
    for one in made:
        await one.close()


async def until(feed, wanted, within_s=15):
    """Return the events up to the first one that meets the condition."""
    events = []
    async with asyncio.timeout(within_s):
        async for event in feed.events():
            events.append(event)
            if wanted(event):
                return events
    raise AssertionError(f"the feed ended: {events}")


def facts(*nodes, **more):
    return Cluster(local_node=HERE, taken_at="", nodes=nodes, **more)


def sample_of(name):
    return lambda event: isinstance(event, NodeSample) and event.node == name


def gap_of(name):
    return lambda event: isinstance(event, Gap) and event.source == name


# --- this node --------------------------------------------------------------------------------------------------------


async def test_this_node_is_sampled_and_described_before_the_cluster_is_known(start):
    feed = start()
    name = feed._session.local_node
    events = await until(feed, lambda event: isinstance(event, Links))
    assert [link.name for link in events[-1].links].count("lo") == 1
    assert {event.source for event in events} == {SourceId.node(name)}


async def test_samples_are_at_multiples_of_the_interval_on_a_monotonic_clock(start):
    feed = start()
    samples = []
    async for event in feed.events():
        if isinstance(event, NodeSample):
            samples.append(event)
        if len(samples) == 4:
            break
    assert all(sample.seconds > 0 for sample in samples)
    # Three intervals of 0.1 s, of which the first may have started late; a burst would take almost no time.
    assert sum(sample.seconds for sample in samples[1:]) > 0.2, "ticks were caught up in a burst"


async def test_clusterware_may_know_this_node_by_another_name(start):
    feed = start()
    feed.follow(facts(node(1)))
    events = await until(feed, sample_of(HERE))
    assert {event.source for event in events} == {SourceId.node("rac1")}


# --- links ------------------------------------------------------------------------------------------------------------


def test_links_are_reported_with_their_network_and_again_only_after_changes():
    events = []
    book = LinkBook(events.append)
    found = cluster(2)
    book.follow(found)
    assert [links.node for links in events] == ["rac1", "rac2"]
    assert {link.name: (link.network, link.mtu) for link in events[0].links} == {
        "eth0": ("", 1500),
        "eth1": ("192.168.10.0/24", 9000),
        "eth2": ("192.168.11.0/24", 9000),
    }
    book.follow(found)
    book.know("rac2", node(2).interfaces)
    assert len(events) == 2
    book.know("rac2", node(2, mtu=1500).interfaces)
    assert [link.mtu for link in events[2].links] == [1500, 1500, 1500]
    book.follow(found)
    assert len(events) == 3, "older facts replaced what was read since"


def test_networks_found_later_are_reported():
    events = []
    book = LinkBook(events.append)
    book.know("rac1", node(1).interfaces)
    assert {link.network for link in events[0].links} == {""}
    found = networks.private_networks(clusterware(1), (), [node(1)])
    book.follow(facts(node(1), networks=found))
    assert {link.network for link in events[1].links} == {"", "192.168.10.0/24", "192.168.11.0/24"}


# --- peers ------------------------------------------------------------------------------------------------------------


async def test_a_peer_is_sampled_with_this_node_even_if_it_could_not_be_read_before(start, peers):
    peers()
    feed = start()
    feed.follow(facts(node(1), UnreadNode("rac2", "it was down then")))
    sample = (await until(feed, sample_of("rac2")))[-1]
    assert "lo" in sample.interfaces
    assert sample.counters["Ip.InReceives"] >= 0
    assert sample.cpu.cpus >= 1
    assert sample.load is not None


async def test_a_peer_that_could_not_be_read_is_a_gap_before_it_is_tried_again(start, peers):
    peers("exec sleep 60")
    feed = start()
    feed.follow(facts(node(1), UnreadNode("rac2", "Its profile waits.")))
    assert (await until(feed, gap_of(SourceId.node("rac2"))))[-1].reason == "Its profile waits."


async def test_a_pending_peer_is_sampled_at_once_and_is_a_gap_only_while_it_is_silent(
    start, peers, monkeypatch, tmp_path
):
    os.mkfifo(tmp_path / "answers")
    peers(f"[ $1 = rac3 ] && read _ < {tmp_path}/answers; {LOGGED_IN}")
    feed = start()
    monkeypatch.setattr(peer_stream, "_SILENCE_S", 60)
    feed.follow(facts(node(1), UnreadNode("rac2", "", is_pending=True)))
    events = await until(feed, sample_of("rac2"))
    monkeypatch.setattr(peer_stream, "_SILENCE_S", 0.2)
    feed.follow(facts(node(1), node(2), UnreadNode("rac3", "", is_pending=True)))
    events += await until(feed, gap_of(SourceId.node("rac3")))
    assert events[-1].reason == ("rac3 has not answered yet: racwire waits for the ssh login and the first counters.")
    assert not [event for event in events if gap_of(SourceId.node("rac2"))(event)]
    (tmp_path / "answers").write_text("now\n")
    await until(feed, sample_of("rac3"))


async def test_a_peer_that_fails_again_keeps_the_reason_of_its_failure(start, peers, monkeypatch):
    monkeypatch.setattr(peer_stream, "_SILENCE_S", 0.05)
    peers("sleep 0.2; exit 1")
    feed = start()
    feed.follow(facts(node(1), node(2)))
    events = []
    for _ in range(12):
        events += await until(feed, sample_of("rac1"))
    reasons = [event.reason for event in events if gap_of(SourceId.node("rac2"))(event)]
    assert len([reason for reason in reasons if "not answered yet" in reason]) == 1
    assert "not answered yet" not in reasons[-1]


async def test_a_peer_with_two_names_is_reported_and_sampled_once(start, peers, tmp_path):
    program(tmp_path / "ip", "echo '2: eth1: <UP> mtu 9000 state UP'; echo '    inet 192.0.2.7/24 scope global eth1'")
    peers()
    feed = start()
    feed.follow(facts(node(1), UnreadNode("rac2", "it was down then"), UnreadNode("scan", "it was down then")))
    events = await until(feed, lambda event: isinstance(event, Gap) and "another name" in event.reason)
    second = events[-1].source.name
    (first,) = {"rac2", "scan"} - {second}
    assert events[-1].reason.startswith(f"{second} is another name of {first}")
    for _ in range(3):
        events += await until(feed, sample_of(first))
    assert not [event for event in events if sample_of(second)(event)]


async def test_a_peer_that_refuses_or_dies_is_reported_and_retried(start, peers, tmp_path):
    refusal = "ssh: connect to host rac2 port 22: Connection refused"
    peers(f"[ -e {tmp_path}/asked ] || {{ : > {tmp_path}/asked; echo '{refusal}' >&2; exit 255; }}\n{LOGGED_IN}")
    feed = start()
    feed.follow(facts(node(1), node(2)))
    events = await until(feed, gap_of(SourceId.node("rac2")))
    assert events[-1].reason.startswith("rac2 refused the ssh connection")
    await until(feed, sample_of("rac2"))
    shell = await feed._session.shell("rac2")
    shell._process.write(b"exit 3\n")
    events = await until(feed, gap_of(SourceId.node("rac2")))
    assert events[-1].reason == (
        "The connection to rac2 was lost (its shell ended with status 3); racwire connects again by itself."
    )
    await until(feed, sample_of("rac2"))


def limited(monkeypatch, name, **limits):
    """Gives a program of the registry other limits."""
    other = dataclasses.replace(getattr(peer_stream, name), **limits)
    monkeypatch.setitem(registry.PROGRAMS, other.text, other)
    monkeypatch.setattr(peer_stream, name, other)


async def test_a_peer_that_hangs_is_a_gap_after_its_timeout_and_does_not_delay_others(
    start, peers, monkeypatch, tmp_path
):
    limited(monkeypatch, "SAMPLE", limit_s=0.5)
    (tmp_path / "hanging").mkdir()
    program(tmp_path / "hanging" / "cat", "exec sleep 60")
    peers(f"[ $1 = rac2 ] && PATH={tmp_path}/hanging:$PATH; {LOGGED_IN}")
    feed = start()
    feed.follow(facts(node(1), node(2), node(3)))
    events = await until(feed, gap_of(SourceId.node("rac2")))
    assert events[-1].reason == (
        "rac2 did not answer within 0.5 s, and racwire closed the connection: the node may hang. Try `ssh rac2 date`."
    )
    assert len([event for event in events if sample_of("rac1")(event)]) >= 2


async def test_a_peer_with_an_unexpected_answer_is_a_gap_reported_once(start, peers, tmp_path):
    program(tmp_path / "cat", "echo 'Access denied: 1 2 3'")
    peers()
    feed = start()
    feed.follow(facts(node(1), node(2)))
    events = await until(feed, gap_of(SourceId.node("rac2")))
    for _ in range(3):
        events += await until(feed, sample_of("rac1"))
    gaps = [event for event in events if gap_of(SourceId.node("rac2"))(event)]
    assert [gap.reason for gap in gaps] == [
        "The counters of rac2 could not be read: /proc/net/dev of the peer could not be parsed."
    ]


async def test_an_mtu_change_on_a_peer_is_detected(start, peers, monkeypatch, tmp_path):
    program(tmp_path / "grep", f'case "$*" in *mtu*) cat {tmp_path}/mtu;; *) PATH=/usr/bin:/bin exec grep "$@";; esac')
    words = f"2: eth1: <BROADCAST,UP,LOWER_UP> mtu $(cut -d: -f2 {tmp_path}/mtu) state UP qlen 1000"
    program(tmp_path / "ip", f'echo "{words}"')
    (tmp_path / "mtu").write_text("eth1/mtu:9000\n")
    peers()
    feed = start()
    feed.follow(facts(node(1), UnreadNode("rac2", "it was down then")))

    def links(event):
        return isinstance(event, Links) and event.node == "rac2"

    assert [link.mtu for link in (await until(feed, links))[-1].links] == [9000]
    (tmp_path / "mtu").write_text("eth1/mtu:1500\n")
    assert [link.mtu for link in (await until(feed, links))[-1].links] == [1500]


# --- the whole --------------------------------------------------------------------------------------------------------


async def test_following_again_adds_new_sources_and_keeps_the_others(start, peers):
    peers()
    feed = start()
    feed.follow(facts(node(1), node(2)))
    await until(feed, sample_of("rac2"))
    before = dict(feed._tasks)
    feed.follow(facts(node(1), node(3), database=NotAsked("none is set")))
    assert {name: feed._tasks[name] for name in before} == before
    assert set(feed._tasks) - set(before) == {SourceId.node("rac3")}


async def test_an_unavailable_database_is_a_gap_and_an_unrequested_one_is_not(start):
    settings = Settings(database=DatabaseSettings(connect="nowhere:1521/prod"), traffic=SETTINGS.traffic)
    feed = start(settings)
    feed.follow(facts(node(1), database=Unknown("No listener answers.")))
    events = await until(feed, gap_of(DATABASE))
    assert events[-1].reason == "No listener answers."
    feed = start(settings)
    feed.follow(facts(node(1)))
    events = await until(feed, sample_of("rac1"))
    assert not [event for event in events if isinstance(event, Gap)], "the database was not searched for yet"
    feed = start()
    feed.follow(facts(node(1), database=NotAsked("No database connection is set.")))
    events = await until(feed, sample_of("rac1"))
    assert not [event for event in events if isinstance(event, Gap)]


async def test_a_source_that_fails_is_reported_and_restarted(start, monkeypatch, caplog):
    broken = [ValueError("no such column")]

    async def breaks(name, pace, emit):
        if broken:
            raise broken.pop()
        await this_node.sample_this_node(name, pace, emit)

    monkeypatch.setattr(feed_module, "sample_this_node", breaks)
    feed = start()
    feed.follow(facts(node(1)))
    events = await until(feed, sample_of("rac1"))
    gaps = [event.reason for event in events if isinstance(event, Gap)]
    assert gaps == ["Sampling failed and starts again: ValueError: no such column."]
    assert "broke down" in caplog.text


async def test_stopping_does_not_wait_for_eight_hanging_peers_and_leaves_no_process(start, peers):
    peers("trap '' TERM; while :; do sleep 60; done")
    feed = start()
    feed.follow(facts(*map(node, range(1, 10))))
    await until(feed, sample_of("rac1"))
    tasks = list(feed._tasks.values())
    await feed.close()
    assert all(task.done() for task in tasks)
    assert [event async for event in feed.events()] == []
    await feed.close()


async def test_the_queue_of_events_without_a_reader_is_limited(start, monkeypatch):
    monkeypatch.setattr(feed_module, "_WAITING_EVENTS", 5)
    feed = start()
    for at in range(50):
        feed._emit(Gap(PAIRS, at, f"reason {at}"))
    assert [event.at for event in feed._waiting] == [45, 46, 47, 48, 49]


def test_a_long_journal_keeps_the_newest_entries():
    journal = Journal(keep=3)
    for number in range(10):
        with journal.entry("rac1", "sql sysstat", f"SELECT {number}"):
            pass
    assert [entry.action for entry in journal.entries] == ["SELECT 7", "SELECT 8", "SELECT 9"]
