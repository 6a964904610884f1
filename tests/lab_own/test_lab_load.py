"""`racwire lab load`: the instances exchange as many blocks as wanted, over the private networks, and count them."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import replace

import pytest

from racwire_lab import Lab, LabUsageError, find, up
from racwire_lab.cluster.desired import desired
from racwire_lab.cluster.load import checked_load
from racwire_lab.cluster.topology import Shape
from racwire_lab.programs.cache_fusion.instance import CacheFusionInstance
from racwire_lab.programs.cache_fusion.settings import InstanceSettings
from tests.lab.lab_support import lab_directory, needs_namespaces, run, until
from tui.cli import lab

SETTINGS = InstanceSettings(1, "prac1", "rac1", "19.22.0.0.0", True, (), {2: {1: "169.254.0.2"}})


@pytest.mark.parametrize(("text", "wanted"), [("off", 0), ("default", None), ("1", 1), ("10000", 10_000)])
def test_a_load_is_a_number_or_one_of_two_words(text: str, wanted: int | None) -> None:
    assert checked_load(text) == wanted


@pytest.mark.parametrize("text", ["", "-1", "10001", "2k", "1.5", "²", "9" * 5000])
def test_another_load_is_refused(text: str) -> None:
    with pytest.raises(LabUsageError, match="1 to 10000 blocks a second, off or default"):
        checked_load(text)


def test_every_instance_knows_the_load_of_all() -> None:
    shape = Shape(3, 9000)
    assert {i.blocks_per_s for i in desired(shape, ()).instances.values()} == {None}
    assert {i.blocks_per_s for i in desired(shape, (), {}, 900).instances.values()} == {900}


def test_requests_are_due_more_often_under_a_higher_load_only() -> None:
    pauses = [CacheFusionInstance(replace(SETTINGS, blocks_per_s=n)).pause_s() for n in (None, 0, 300, 4000, 100_000)]
    assert pauses == [0.05, 0.05, 0.05, 0.005, 0.001]


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    with lab_directory(tmp_path_factory.mktemp("lab") / "dir"):
        yield up()


def command(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lab.add_options(parser)
    return lab.run(parser.parse_args(["load", *words]))


def frames_bytes(cluster: Lab) -> int:
    """The bytes that the private NICs of rac2 received, as its kernel counts them."""
    files = [f"/sys/class/net/{nic}/statistics/rx_bytes" for nic in ("eth1", "eth2")]
    return sum(map(int, run(cluster, "rac2", "cat", *files).stdout.split()))


@needs_namespaces
def test_the_instances_exchange_the_wanted_blocks_over_the_wire(
    cluster: Lab, capfd: pytest.CaptureFixture[str]
) -> None:
    assert command("1500") == 0
    assert capfd.readouterr().out.endswith(" blocks/s in all: 1,500 are wanted.\n")
    # A busy machine can make it fewer for some seconds, and never many more.
    until(lambda: 1300 < cluster.measured_load() < 1700, "the load is not reached")
    before = frames_bytes(cluster)
    blocks = cluster.measured_load() / 2  # rac2 receives half of them
    assert frames_bytes(cluster) - before > blocks * 8192 * 0.8


@needs_namespaces
def test_a_load_can_be_off_and_usual_again(cluster: Lab, capfd: pytest.CaptureFixture[str]) -> None:
    assert command("off") == 0
    until(lambda: cluster.measured_load() == 0, "blocks are still exchanged")
    assert command("default") == 0
    assert capfd.readouterr().out.endswith(" blocks/s in all: their usual load.\n")
    until(lambda: cluster.measured_load() > 200, "the usual load does not come back")
    assert command() == 0
    found = find()
    assert found
    assert found.blocks_per_s is None


@needs_namespaces
def test_a_fault_keeps_the_load(cluster: Lab) -> None:
    cluster.set_load(50)
    cluster.break_("loss")
    mended = cluster.mend()
    assert mended.blocks_per_s == 50
