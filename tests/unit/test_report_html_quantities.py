"""Figures with their units, as the page writes them: a positive value is never 0, a missing value is `?`."""

import math

import pytest

from checks.model.facts import Verdict
from checks.report import quantities
from checks.report.path_lines import meaning_of, path_line
from checks.rules.path_matrix import path_matrices
from tests.fixtures.clusters import cluster, path, with_paths


@pytest.mark.parametrize(
    ("value", "written"),
    [
        (0, "0 b/s"),
        (812, "812 b/s"),
        (999.6, "1 kb/s"),
        (12_345_678, "12.3 Mb/s"),
        (25e9, "25 Gb/s"),
        (0.004, "< 0.01 b/s"),
        (None, "? b/s"),
        (math.nan, "? b/s"),
        (10**400, "? b/s"),
    ],
)
def test_bits(value, written):
    assert quantities.bits(value) == written


@pytest.mark.parametrize(
    ("part", "of", "written"),
    [(37, 12_400, "0.298 %"), (1, 10**9, "< 0.01 %"), (0, 5, "0 %"), (5, 0, ""), (5, None, ""), (1, math.nan, "")],
)
def test_shares(part, of, written):
    assert quantities.share(part, of) == written


@pytest.mark.parametrize(
    ("value", "least", "written"),
    [
        (0.42, None, "0.42 ms"),
        (0.001, None, "< 0.01 ms"),
        (0.0, 0.14, "< 0.14 ms"),
        (0.0, None, "0.00 ms"),
        (1234.5, None, "1,234 ms"),
        (None, None, "–"),
        (math.inf, None, "?"),
    ],
)
def test_milliseconds(value, least, written):
    assert quantities.milliseconds(value, least) == written


@pytest.mark.parametrize(
    ("value", "written"), [(0.8, "0.8 s"), (4.0, "4 s"), (25.3, "25 s"), (12_000, "3 h 20 min"), (math.nan, "?")]
)
def test_seconds(value, written):
    assert quantities.seconds(value) == written


def test_a_path_is_described_in_one_line():
    built = cluster(2)
    assert isinstance(built.networks, tuple)
    network = built.networks[0]
    lost = path(network, "rac1", "rac2", Verdict.UNREACHABLE, packets_sent=42, elapsed_ms=61.2)
    cells = path_matrices(with_paths(built, lost))[0].cells
    assert path_line(cells["rac1", "rac1"]) == "rac1 itself: racwire sends no pings from a node to itself."
    assert path_line(cells["rac1", "rac2"]) == "rac1→rac2: 84 bytes 0/20 · 9000 bytes 0/20 · 42 probes in 61 ms"
    assert meaning_of(cells["rac1", "rac2"]) == "unreachable"
    assert path_line(cells["rac2", "rac1"]) == (
        "rac2→rac1: 84 bytes 20/20 0.08 ms · 9000 bytes 20/20 0.21 ms · largest 9000"
    )
