"""The rule by which a block counts as lost, and the other counters of the Cache Fusion daemon, without packets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import asdict, replace
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.fault_kind import ActiveFault
from racwire_lab.cluster.faults import FAULTS, place
from racwire_lab.cluster.topology import Shape
from racwire_lab.database.live import InstanceState
from racwire_lab.programs.cache_fusion.counters import Counters
from racwire_lab.programs.cache_fusion.messages import Block, Message, Type, decode, encode
from racwire_lab.programs.cache_fusion.requests import (
    MAX_QUERIES,
    STATUS_TIMEOUT_S,
    WINDOW_BLOCKS,
    BlockRequest,
    Requests,
)
from racwire_lab.programs.cache_fusion.settings import FILE, SettingsFile
from racwire_lab.programs.cache_fusion.stack_locks import DATABASE, INSTANCE, Lock, Stack

HOLDER, NETWORK = 2, 1
LATE = STATUS_TIMEOUT_S + 0.01


class Requester:
    """One instance's requests, with a clock that the test sets."""

    def __init__(self) -> None:
        self.counters = Counters()
        self.requests = Requests(self.counters, 100)
        self.now = 50.0

    def begin(self, count: int = 1, block: Block = Block.CR) -> BlockRequest:
        return self.requests.open(NETWORK, HOLDER, block, count, 2, self.ns(), self.now)

    def ns(self) -> int:
        return int(self.now * 1e9)

    def later(self, seconds: float = LATE) -> list[BlockRequest]:
        """Move the clock forward. Return the requests whose holder is queried."""
        self.now += seconds
        return list(self.requests.queries(self.now, self.ns()))

    def lost(self) -> int:
        return self.counters.statistics()["gc blocks lost"]

    def received(self) -> int:
        statistics = self.counters.statistics()
        return statistics["gc cr blocks received"] + statistics["gc current blocks received"]


@pytest.fixture
def requester() -> Requester:
    return Requester()


def test_a_received_block_is_counted_with_its_time_without_the_delay_of_the_holder(requester: Requester) -> None:
    request = requester.begin()
    requester.requests.arrived(request.number, 1, request.requested_ns + 250_000, waited_ns=100_000)
    assert requester.received() == 1
    assert requester.counters.events["gc cr block 2-way"].time_us == 150
    assert requester.counters.transfers[HOLDER].as_document()["cr_block_time"] == 150
    assert requester.later() == []
    assert requester.lost() == 0


def test_a_block_sent_and_never_received_is_lost_and_requested_again(requester: Requester) -> None:
    request = requester.begin(4)
    requester.requests.arrived(request.number, 0b0001, requester.ns(), 0)
    assert requester.later() == [request]
    requester.requests.answered(request.number, 0b1111, requester.now)
    assert requester.lost() == 0
    assert requester.later() == []
    assert requester.lost() == requester.counters.transfers[HOLDER].lost == 3
    assert requester.counters.events["gc cr block lost"].waits == 3
    assert list(requester.requests.again) == [(HOLDER, Block.CR, 3)]


def test_a_block_waiting_in_the_socket_is_not_lost(requester: Requester) -> None:
    request = requester.begin()
    requester.later()
    requester.requests.answered(request.number, 1, requester.now)
    requester.requests.arrived(request.number, 1, request.requested_ns + 1000, 0)
    requester.later()
    assert (requester.lost(), requester.received()) == (0, 1)


def test_a_lost_request_counts_nothing_and_is_sent_again(requester: Requester) -> None:
    request = requester.begin(2, Block.CURRENT)
    requester.later()
    requester.requests.answered(request.number, 0, requester.now)
    requester.later()
    assert (requester.lost(), requester.received()) == (0, 0)
    assert list(requester.requests.again) == [(HOLDER, Block.CURRENT, 2)]


def test_a_holder_that_never_answers_counts_nothing_and_is_skipped_until_it_answers(requester: Requester) -> None:
    first = requester.begin()
    queried = [request for _ in range(MAX_QUERIES + 3) for request in requester.later()]
    assert queried == [first] * MAX_QUERIES
    assert requester.lost() == 0
    assert requester.requests.room(NETWORK, HOLDER) == 0
    requester.requests.answer_from(HOLDER, NETWORK)
    assert requester.requests.room(NETWORK, HOLDER) == WINDOW_BLOCKS


def test_the_bytes_on_a_network_never_exceed_its_buffer(requester: Requester) -> None:
    requester.begin(6)
    assert requester.requests.room(NETWORK, HOLDER) == 0  # one request at a time
    assert requester.requests.room(NETWORK, 3) == WINDOW_BLOCKS - 6
    assert requester.requests.room(2, HOLDER) == WINDOW_BLOCKS
    requester.requests.drop_networks({NETWORK})
    assert requester.requests.room(NETWORK, HOLDER) == WINDOW_BLOCKS
    assert requester.lost() == 0


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("begin"), st.integers(1, WINDOW_BLOCKS)),
            st.tuples(st.just("arrived"), st.integers(0, 7)),
            st.tuples(st.just("answered"), st.integers(0, 255)),
            st.tuples(st.just("later"), st.floats(0, 2)),
        )
    )
)
def test_every_requested_block_is_received_lost_missing_or_requested_again(steps: list[tuple[str, int]]) -> None:
    requester = Requester()
    request: BlockRequest | None = None
    requested = unanswered = 0
    for step, value in steps:
        if step == "begin" and requester.requests.room(NETWORK, HOLDER) >= value:
            request = requester.begin(value)
            requested += value
        elif step == "arrived" and request:
            requester.requests.arrived(request.number, 1 << value, requester.ns(), 0)
        elif step == "answered" and request:
            requester.requests.answered(request.number, value, requester.now)
        elif step == "later":
            requester.later(value)
            if request and (HOLDER, NETWORK) in requester.requests.silent:
                unanswered += request.missing.bit_count()
                requester.requests.answer_from(HOLDER, NETWORK)
    open_blocks = request.missing.bit_count() if request and requester.requests.room(NETWORK, HOLDER) == 0 else 0
    again = sum(count for _, _, count in requester.requests.again)
    assert requested == requester.received() + again + unanswered + open_blocks
    assert requester.lost() <= again


BYTES, LONG = st.integers(0, 255), st.integers(0, 2**63)
MESSAGES = st.builds(
    Message,
    st.sampled_from(Type),
    origin=BYTES,
    holder=BYTES,
    number=LONG,
    block=st.sampled_from(Block),
    blocks=BYTES,
    hops=st.integers(2, 3),
    large=st.booleans(),
    waited_ns=LONG,
    answer_to=st.binary(min_size=4, max_size=4),
)


@given(MESSAGES)
def test_a_message_round_trips(message: Message) -> None:
    assert decode(encode(message, 500)) == message


@given(st.binary(max_size=40))
def test_any_datagram_is_a_message_or_ignored(datagram: bytes) -> None:
    found = decode(datagram)
    assert found is None or isinstance(found, Message)


@given(st.lists(st.integers(1, 10**7), min_size=1))
def test_times_add_up_in_the_units_of_each_view(times_us: list[int]) -> None:
    counters = Counters()
    for us in times_us:
        counters.received(HOLDER, Block.CURRENT, us)
        counters.waited(Block.CURRENT, 1, 2, us)
    document = counters.as_document()
    assert document["statistics"]["gc current block receive time"] == sum(times_us) // 10_000
    wait = document["events"]["gc current block 2-way"]
    assert (wait["waits"], wait["time_us"]) == (len(times_us), sum(times_us))
    assert sum(wait["histogram"].values()) == len(times_us)
    assert max(map(int, wait["histogram"])) > max(times_us) >= max(map(int, wait["histogram"])) // 2


def test_the_views_are_made_from_the_counters() -> None:
    counters = Counters()
    counters.received(HOLDER, Block.CR, 100)
    counters.ping(HOLDER, True, 30)
    head = {"instance": 1, "name": "prac1", "host": "rac1", "startup_time": 1.0, "taken_at": 2.0}
    state = msgspec.json.decode(json.dumps({**head, **counters.as_document()}).encode(), type=InstanceState)
    assert state.transfers["2"].cr_block == 1
    assert state.pings["2"].count_8k == 1
    known = set(InstanceState.__struct_fields__)
    assert set(counters.as_document()) <= known


@pytest.mark.parametrize("fault", [None, *FAULTS.values()], ids=lambda fault: fault.name if fault else "healthy")
def test_the_daemon_reads_the_file_of_the_cluster(fault, tmp_path: Path) -> None:  # type: ignore[no-untyped-def]
    shape = Shape(
        3,
        1500 if fault is None or fault.needs_fragments else 9000,
        has_storage=bool(fault and fault.needs_storage),
        rate_mbps=1000 if fault and fault.needs_rate else 0,
        hypervisor=("rac2",),
    )
    broken = [place(fault, shape, None, None)] if fault else []
    for instance in desired(shape, broken).instances.values():
        (tmp_path / "new").write_text(json.dumps(asdict(instance)))
        os.replace(tmp_path / "new", tmp_path / FILE)
        file = SettingsFile(str(tmp_path))
        read = file.changed_settings()
        assert read is not None
        assert file.changed_settings() is None
        for name in (
            "number",
            "peers",
            "hosts",
            "asks_by_way_of_others",
            "parameters",
            "receive_buffer_bytes",
            "hangs",
            "is_open",
            "version",
        ):
            assert getattr(read, name) == getattr(instance, name)
        assert [i.ip for i in read.interconnects] == [i.ip for i in instance.interconnects]


def test_a_lock_is_held_for_the_lifetime_of_its_holder(tmp_path: Path) -> None:
    lock = Lock(tmp_path / "cssd.lock")
    assert not lock.is_held(), "there is no such file"
    script = (
        "import fcntl, sys; file = open(sys.argv[1], 'w'); fcntl.flock(file, fcntl.LOCK_EX); print(flush=True); "
        "sys.stdin.read()"
    )
    holder = subprocess.Popen(
        [sys.executable, "-S", "-c", script, str(tmp_path / "cssd.lock")], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    with holder:
        assert holder.stdout
        holder.stdout.readline()
        assert lock.is_held()
        assert not Lock(tmp_path / "cssd.lock").take()
        holder.kill()
        holder.wait()
    assert not lock.is_held()
    assert lock.take()
    assert Lock(tmp_path / "cssd.lock").is_held()
    lock.close()
    assert not lock.is_held()


def test_an_instance_is_open_while_clusterware_runs_and_the_database_is_enabled(tmp_path: Path) -> None:
    settings = SettingsFile(str(settings_directory(tmp_path))).changed_settings()
    assert settings
    assert settings.peers.keys() == {2, 3}
    (tmp_path / "cluster").mkdir()
    for node in ("rac1", "rac2", "rac3"):
        (tmp_path / "nodes" / node / "stack").mkdir(parents=True)
    target = tmp_path / "nodes" / "rac1" / INSTANCE
    target.write_text("ONLINE\n")
    stack = Stack(str(tmp_path / "nodes" / "rac1"))
    css, peer = (Lock(tmp_path / "nodes" / node) for node in ("rac1/stack/cssd.lock", "rac2/stack/instance.lock"))
    (tmp_path / DATABASE).write_text("ONLINE\n")
    assert not stack.restrict(settings).is_open
    assert css.take()
    assert stack.restrict(settings) == replace(settings, peers={})
    assert peer.take()
    assert stack.restrict(settings).peers == {2: settings.peers[2]}
    (tmp_path / DATABASE).write_text("")  # srvctl is about to write it
    assert stack.restrict(settings).is_open
    (tmp_path / DATABASE).write_text("OFFLINE\n")
    assert stack.restrict(settings) == replace(settings, is_open=False, peers={})
    (tmp_path / DATABASE).write_text("ONLINE\n")
    assert stack.restrict(settings).is_open
    target.write_text("OFFLINE\n")
    assert not stack.restrict(settings).is_open


def settings_directory(tmp_path: Path) -> Path:
    instance = desired(Shape(3, 9000), ()).instances["rac1"]
    (tmp_path / FILE).write_text(json.dumps(asdict(instance)))
    return tmp_path


def test_instances_find_each_other_by_their_configured_addresses() -> None:
    shape = Shape(3, 9000)
    faults = [ActiveFault("cluster-interconnects-set", "rac2", None), ActiveFault("peer-down", "rac3", None)]
    instances = desired(shape, faults).instances
    assert instances["rac1"].peers == {2: {1: "192.168.10.2", 2: "192.168.11.2"}}
    assert instances["rac3"].peers == {}
    assert not instances["rac3"].is_open
    assert instances["rac1"].hosts == {2: "rac2"}
    assert instances["rac1"].scan_targets == {"rac1": "10.20.0.1", "rac2": "10.20.0.2"}


def test_the_scan_moves_away_from_a_node_that_is_down() -> None:
    instances = desired(Shape(2, 9000), [ActiveFault("peer-down", "rac1", None)]).instances
    assert [instance.scan_nodes for instance in instances.values()] == [("rac2",), ("rac2",)]
    assert desired(Shape(2, 9000, database=""), ()).instances == {}


def test_in_a_large_cluster_each_pair_of_instances_shares_one_network() -> None:
    instances = desired(Shape(16, 9000), ()).instances.values()
    networks = {(i.number, peer): tuple(found) for i in instances for peer, found in i.peers.items()}
    assert len(networks) == 16 * 15
    assert all(len(found) == 1 and found == networks[(b, a)] for (a, b), found in networks.items())
    assert set(networks.values()) == {(1,), (2,)}
    assert not any(instance.asks_by_way_of_others for instance in instances)
    assert all(len(f) == 2 for i in desired(Shape(8, 9000), ()).instances.values() for f in i.peers.values())
