"""The practice cluster at MTU 1500 and at 9000 under one and the same load of blocks, recorded and compared."""

from __future__ import annotations

import json
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.lab.lab_support import PATIENCE_S, SIX_PACKETS_THEN_ONE, needs_namespaces
from tests.lab.practice_command import Practice, record, until_it_holds
from tui.cli.main import main

pytestmark = [pytest.mark.lab, needs_namespaces]


SAMPLES = 15
"""So many of each node and instance: enough for a verdict on what differs as much as packets per block."""
EVERYTHING = ("node rac1", "node rac2", "instance prac1", "instance prac2", "latency ")


@pytest.fixture
def recordings(tmp_path: Path) -> Iterator[tuple[str, str]]:
    """A cluster at MTU 1500 and another at 9000, recorded at the same time with every source."""
    clusters = []
    running = []
    try:
        for mtu in (1500, 9000):
            clusters.append(Practice(tmp_path / f"lab{mtu}", 2, mtu, database=True))
        files = [tmp_path / "before.rec", tmp_path / "after.rec"]
        running = [record(cluster, file, "--probe") for cluster, file in zip(clusters, files, strict=True)]
        for file in files:
            until_it_holds(file, *EVERYTHING, samples=SAMPLES)
        for each in running:
            each.send_signal(signal.SIGINT)
        for each in running:
            _, stderr = each.communicate(timeout=PATIENCE_S)
            assert each.returncode == 0, stderr
        yield str(files[0]), str(files[1])
    finally:
        for each in running:
            each.kill()
            each.communicate()
        for cluster in clusters:
            cluster.down()


@pytest.mark.beyond_sample
def test_a_block_takes_six_packets_at_mtu_1500_and_one_at_9000(recordings, tmp_path, capsys):
    picture = tmp_path / "mtu.svg"
    # A real comparison has stretches of ten samples and more; these few seconds are for the test's sake.
    code = main(["compare", *recordings, "--stretch", "1s", "--format", "json", "--svg", str(picture)])
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    metrics = {metric["name"]: metric for metric in found["pairs"][0]["metrics"]}

    packets = metrics["packets per block received"]
    assert packets["before"]["centre"] == pytest.approx(6, rel=0.1)
    assert packets["after"]["centre"] == pytest.approx(1, rel=0.1)
    # Other work on this machine may disturb a control, as the small ping: then that is the verdict, and the only one.
    controls = {name for name, metric in metrics.items() if metric["is_control"]}
    assert all(any(text.startswith(f"{name} went ") for name in controls) for text in found["shifted"])
    assert packets["verdict"] == ("environment shifted" if found["shifted"] else "differs")
    assert metrics["rac2 packets per block received"]["before"]["centre"] == pytest.approx(6, rel=0.1)
    assert metrics["fragments in"]["after"]["centre"] == 0
    assert metrics["blocks received"]["after"]["centre"] == pytest.approx(
        metrics["blocks received"]["before"]["centre"], rel=0.25
    )
    assert {"small ping p50", "block-sized ping p50", "CPU per MB", "CR receive time"} <= metrics.keys()

    changed = {d["name"]: (d["before"], d["after"]) for d in found["pairs"][0]["differences"] if d["is_change"]}
    assert changed == {f"{node} {nic} MTU": ("1500", "9000") for node in ("rac1", "rac2") for nic in ("eth1", "eth2")}
    assert any(map(SIX_PACKETS_THEN_ONE.fullmatch, found["summary"])), found["summary"]
    assert (code == 1) <= ("worse" in {m["verdict"] for m in metrics.values()})
    assert picture.read_text().startswith("<?xml")
