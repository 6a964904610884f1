"""A failure on a live cluster costs its own results only, and no other findings."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import racwire_lab
from checks.model.exit_codes import ExitCode
from tests.lab.lab_support import lab_directory, needs_namespaces

pytestmark = [pytest.mark.lab, needs_namespaces]


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[racwire_lab.Lab]:
    with lab_directory(tmp_path_factory.mktemp("robust") / "lab"):
        yield racwire_lab.up(database=False)


def start(*words: str, before: str = "") -> subprocess.Popen[str]:
    line = f"{before} exec {sys.executable} -P -m racwire check --lab {' '.join(words)}"
    return subprocess.Popen(
        ["sh", "-c", line], stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])},
    )  # fmt: skip


@pytest.mark.beyond_sample
def test_several_checks_at_once_do_not_affect_each_other(practice: racwire_lab.Lab) -> None:
    runs = [start() for _ in range(3)]
    assert [run.communicate(timeout=60)[1] for run in runs] == ["", "", ""]
    assert [run.returncode for run in runs] == [ExitCode.PASS] * 3


def test_a_working_directory_that_was_removed_is_named(practice: racwire_lab.Lab, tmp_path: Path) -> None:
    removed = tmp_path / "gone"
    run = start(before=f"mkdir {removed}; cd {removed}; rmdir {removed};")
    stderr = run.communicate(timeout=60)[1]
    assert (run.returncode, stderr) == (
        ExitCode.USAGE,
        "racwire: The current directory no longer exists; change to another one.\n",
    )


@pytest.mark.beyond_sample
def test_a_peer_with_two_names_is_reported_and_not_probed_against_itself(practice: racwire_lab.Lab) -> None:
    if practice.remote_shell != "ssh":
        pytest.skip(f"THE SECOND NAME OF A PEER WAS NOT TESTED: {practice.remote_shell_reason}")
    run = start("df-ping", "--peer", "rac2", "--peer", "ssh://rac2:22", "--network", "192.168.10.0/24")
    output, error = run.communicate(timeout=60)
    assert "is another name of rac2" in " ".join(output.split())
    assert (run.returncode, error) == (ExitCode.COULD_NOT_TELL, "")


def test_a_killed_lab_is_reported_as_not_running(practice: racwire_lab.Lab) -> None:
    racwire_lab.down()
    run = start()
    assert "racwire lab up" in run.communicate(timeout=60)[1]
    assert run.returncode == ExitCode.USAGE
