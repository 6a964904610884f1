"""A year of hourly AWR of eight instances, read over Oracle Net with the real driver."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest

from checks.model.facts import History
from tests.fixtures.history_truth import Truth
from tests.lab_own import history_year

pytestmark = pytest.mark.beyond_sample

ROWS_IN_A_ROUND_TRIP = 4000
"""What racwire asks the driver to bring at once (cursor.arraysize)."""


@pytest.fixture(scope="module")
def server() -> Iterator[int]:
    """The port of a database in a process of its own."""
    command = [sys.executable, "-m", "tests.lab_own.history_year", "serve"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdin is not None
        try:
            yield json.loads(process.stdout.readline())["port"]
        finally:
            process.stdin.close()
            process.wait(timeout=20)


@pytest.fixture(scope="module")
def result(server: int) -> tuple[dict[str, Any], Truth]:
    """Return the result of a process with racwire's modules only; compute the expected values at the same time."""
    command = [sys.executable, "-m", "tests.lab_own.history_year", "read", str(server)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as process:
        truth = Truth(history_year.plan(), history_year.DAYS)
        output, errors = process.communicate(timeout=120)
    assert process.returncode == 0, errors
    return json.loads(output), truth


def test_a_year_is_aggregated_in_the_database(result: tuple[dict[str, Any], Truth]) -> None:
    seen, truth = result
    history = msgspec.convert(seen["history"], History)
    assert history.instances == truth.instances()
    assert history.losses == truth.losses()
    assert history.transfers == truth.transfers()
    assert history.pings == truth.pings()
    assert history.devices == truth.devices()
    assert history.clients == truth.clients()
    begins = sorted({period.begin for period in history.periods})
    assert 100 <= len(begins) <= 170
    assert history.periods == truth.periods(3 * 86400)


def test_all_rows_arrive_in_three_round_trips(result: tuple[dict[str, Any], Truth]) -> None:
    seen, _ = result
    assert set(seen["rows"]) >= {"awr_sysstat", "awr_periods", "awr_losses", "awr_cache_transfer", "awr_devices"}
    assert all(rows < ROWS_IN_A_ROUND_TRIP for rows in seen["rows"].values()), seen["rows"]
    assert sum(seen["rows"].values()) < 3000 < 3 * ROWS_IN_A_ROUND_TRIP


def test_memory_grows_by_less_than_thirty_megabytes(result: tuple[dict[str, Any], Truth]) -> None:
    seen, _ = result
    assert seen["lab"] == []
    assert seen["grown_kb"] < 30 * 1024
