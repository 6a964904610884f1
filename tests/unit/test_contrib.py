"""What is in contrib/ names metrics that exist, and promtool accepts the rules."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from checks.report.openmetrics import METRICS

CONTRIB = Path(__file__).parents[2] / "contrib"


@pytest.mark.parametrize(
    "name", ["prometheus/racwire.rules.yml", "prometheus/racwire-fleet.rules.yml", "grafana/racwire.json"]
)
def test_each_metric_and_each_label_that_is_read_is_written(name: str) -> None:
    text = (CONTRIB / name).read_text()
    named = set(re.findall(r"\bracwire_\w+", text))
    assert named
    assert named <= set(METRICS)
    labels = {label for metric in named for label in METRICS[metric].labels} | {"instance"}
    assert set(re.findall(r"\$labels\.(\w+)|\{\{(\w+)\}\}", text)) <= {(one, "") for one in labels} | {
        ("", one) for one in labels
    }


def test_each_panel_has_a_query() -> None:
    board = json.loads((CONTRIB / "grafana/racwire.json").read_text())
    assert all(target["expr"] for panel in board["panels"] for target in panel["targets"])


@pytest.mark.skipif(shutil.which("promtool") is None, reason="promtool is not installed")
def test_the_rules_alert_as_their_tests_say() -> None:
    command = ["promtool", "test", "rules", "racwire.rules.test.yml"]
    ran = subprocess.run(command, cwd=CONTRIB / "prometheus", capture_output=True, text=True, timeout=60, check=False)
    assert ran.returncode == 0, ran.stdout + ran.stderr
