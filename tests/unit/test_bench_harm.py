"""The figures with which the bench compares windows with racwire and without it."""

from __future__ import annotations

import json
import os
from itertools import pairwise
from pathlib import Path

import pytest

from bench.programs import harm
from bench.receivers import FRAG_BYTES, LOST_HERE, fullest_second, kernel_values


def test_the_rank_test_is_exact() -> None:
    assert harm.chance_of_more([5, 6, 7], [1, 2, 3, 4]) == pytest.approx(1 / 35)
    assert harm.chance_of_more([1, 2, 3], [4, 5, 6]) == 1.0
    # Of the three ways to choose one of 0, 0 and 1, one has the rank of the 1.
    assert harm.chance_of_more([1], [0, 0]) == pytest.approx(1 / 3)
    assert harm.chance_of_more([0] * 10, [0] * 21) == 1.0


@pytest.mark.parametrize("runs", [1, 2, 10])
def test_windows_with_racwire_and_without_it_come_in_turns(runs: int) -> None:
    found = list(harm.windows(runs))
    assert len(set(found)) == len(found)
    assert all(harm.WITHOUT in {kind for kind, _ in three} for three in zip(found, found[1:], found[2:], strict=False))
    assert (harm.WITHOUT, harm.WITHOUT) not in [(one, other) for (one, _), (other, _) in pairwise(found)]
    for name, kind in harm.KINDS.items():
        assert [number for used, number in found if used == name] == list(
            range(runs if kind.is_frequent else min(3, runs))
        )


def window(kind: str, run: int, lost: int) -> harm.Line:
    zeros = dict.fromkeys(("frag_peak", *LOST_HERE, "no_ports", "echos"), 0)
    return {
        "situation": "slow-port",
        "kind": kind,
        "run": run,
        "seconds": 6.0,
        "lost": lost,
        "ended": [],
        **zeros,
        "racwire": "1",
    }


def test_the_table_says_which_use_loses_more() -> None:
    without = [window(harm.WITHOUT, run, run % 3) for run in range(10)]
    few, many = ([window(kind, run, lost) for run in range(10)] for kind, lost in (("watch", 1), ("check", 9)))
    text, is_worse = harm.table([*without, *few, *many])
    verdicts = {line.split()[1]: line.split()[-1] for line in text.splitlines() if line.startswith("slow-port")}
    assert (verdicts["check"], verdicts["watch"], is_worse) == ("MORE", "more", True)
    assert not harm.table([*without, *few])[1]
    text, is_worse = harm.table([*without[:3], *many[:2]])
    assert ("too few runs to tell" in text, is_worse) == (True, False)


def test_a_line_that_was_cut_short_is_no_window(tmp_path: Path) -> None:
    file = tmp_path / "windows"
    file.write_text(json.dumps(window("check", 0, 1)) + '\n{"situation": "slow', encoding="utf-8")
    harm.append_line(file, window("check", 1, 1))
    assert [line["run"] for line in harm.lines_of(file)] == [0, 1]


def test_the_fullest_second_of_a_counter() -> None:
    assert fullest_second([(0.0, 0), (0.5, 10), (1.0, 10), (1.5, 40), (2.0, 40)]) == 30
    assert fullest_second([(0.0, 0), (0.5, 10)]) == 0.0


def test_a_process_shows_the_counters_of_its_network() -> None:
    assert {FRAG_BYTES, "Ip.ReasmFails", "Udp.NoPorts", "Icmp.InEchos"} <= kernel_values(os.getpid()).keys()
