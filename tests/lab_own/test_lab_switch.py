"""The ports of the practice switch: each drops packets above its MTU, and a command changes the MTU."""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator

import pytest

from checks.run.settings_file import load_settings
from racwire_lab import Lab, find
from racwire_lab.cluster.networks import PRIVATE
from tests.lab.lab_support import lab_directory, needs_namespaces, needs_nft, run
from tui.cli import lab

pytestmark = needs_namespaces

TO_RAC2 = {network.number: network.address(2) for network in PRIVATE}


def racwire(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_options(parser)
    return lab.run(parser.parse_args(words))


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A cluster before a change: the MTU is 1500 everywhere.

    Then the nodes get a larger MTU, and the switch does not.
    """
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        assert racwire("up", "--mtu", "1500", "--switch-mtu", "1500", "--no-database") == 0
        found = find()
        assert found
        yield found


@pytest.fixture
def raised(cluster: Lab) -> Iterator[Lab]:
    set_mtu(cluster, 9000)
    yield cluster
    cluster.mend()
    set_mtu(cluster, 1500)
    cluster.set_port_mtu("all", 1500)


def set_mtu(cluster: Lab, mtu: int) -> None:
    """On every node, as an operator does it."""
    for node in cluster.nodes:
        run(cluster, node, "sh", "-c", f"ip link set eth1 mtu {mtu} && ip link set eth2 mtu {mtu}")


def passes(cluster: Lab, packet_bytes: int, network: int = 1) -> bool:
    """Whether an unfragmented packet of that size is answered, from rac1 to rac2."""
    return pinged(cluster, network, "-M", "do", "-s", str(packet_bytes - 28))


def pinged(cluster: Lab, network: int, *options: str) -> bool:
    run(cluster, "rac1", "ping", "-c1", "-W1", TO_RAC2[network])  # so that the neighbour is known
    done = run(cluster, "rac1", "ping", "-c1", "-W0.3", *options, TO_RAC2[network])
    assert "too long" not in done.stdout + done.stderr, "the node itself must not know"
    return done.returncode == 0


def test_the_switch_has_the_mtu_from_before_the_change(cluster: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    assert racwire("switch") == 0
    assert capfd.readouterr().out.splitlines() == [
        "rac1-eth1  MTU 1500 bytes  to eth1 of rac1",
        "rac2-eth1  MTU 1500 bytes  to eth1 of rac2",
        "rac1-eth2  MTU 1500 bytes  to eth2 of rac1",
        "rac2-eth2  MTU 1500 bytes  to eth2 of rac2",
    ]
    assert racwire("status") == 0
    output = capfd.readouterr().out
    assert "Switch     MTU 1500 bytes at every port\n" in output
    assert "Stack      running on every node\n" in output
    assert passes(cluster, 1500)
    change = load_settings(None, cluster.environment("rac1")).change
    assert change.directory == f"{cluster.directory}/changes", "a rehearsal leaves no journal behind"


def test_a_port_drops_packets_larger_than_its_mtu_exactly(raised: Lab) -> None:
    assert passes(raised, 1500)
    assert not passes(raised, 1501)
    raised.set_port_mtu("all", 4000)
    assert passes(raised, 4000)
    assert not passes(raised, 4001)


def test_a_port_does_not_fragment(raised: Lab) -> None:
    assert not pinged(raised, 1, "-M", "dont", "-s", "8972")


def test_ports_are_raised_one_by_one(raised: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    assert racwire("switch", "rac1-eth1", "mtu", "9216") == 0
    assert not passes(raised, 9000)
    assert racwire("switch", "rac2-eth1", "mtu", "9216") == 0
    assert passes(raised, 9000)
    assert not passes(raised, 9000, network=2)
    capfd.readouterr()
    racwire("status", "--format", "json")
    ports = {port["port"]: port["mtu"] for port in json.loads(capfd.readouterr().out)["switch"]}
    assert ports == {"rac1-eth1": 9216, "rac2-eth1": 9216, "rac1-eth2": 1500, "rac2-eth2": 1500}
    assert racwire("switch", "all", "mtu", "9216") == 0
    assert passes(raised, 9000, network=2)
    capfd.readouterr()
    racwire("status")
    assert "Switch " not in capfd.readouterr().out


def test_a_fault_of_the_switch_is_added_to_its_mtu(raised: Lab) -> None:
    raised.set_port_mtu("all", 9216)
    raised.break_("switch-mtu", "rac2", "eth1")
    assert not passes(raised, 9000)
    raised.set_port_mtu("rac2-eth1", 1500)
    raised.mend()
    assert not passes(raised, 9000), "mending makes the port as it was set"
    raised.set_port_mtu("rac2-eth1", 9216)
    assert passes(raised, 9000)


@needs_nft
def test_faults_made_before_the_change_are_shown_with_it(raised: Lab) -> None:
    set_mtu(raised, 1500)
    raised.set_port_mtu("all", 9216)
    raised.break_("switch-mtu-one-way", "rac2", "eth1")
    assert passes(raised, 1500)
    set_mtu(raised, 9000)
    assert not passes(raised, 9000)
    assert passes(raised, 9000, network=2)


@pytest.mark.parametrize("words", [("rac2-eth0", "mtu", "9216"), ("rac2-eth1",), ("all", "mtu", "100000")])
def test_an_impossible_request_is_one_sentence(
    cluster: Lab, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    assert racwire("switch", *words) == 64
    lines = capfd.readouterr().err.splitlines()
    assert len(lines) == 1
    assert lines[0].endswith(".")


def test_the_switch_is_unreachable_from_a_node(
    cluster: Lab, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    for name, value in cluster.environment("rac1").items():
        monkeypatch.setenv(name, value)
    assert racwire("switch", "all", "mtu", "9216") == 2
    assert "This shell is inside a practice node" in capfd.readouterr().err
