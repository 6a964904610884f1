"""`racwire measure storage` on a practice node: its figures, and that nothing is left of the file."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from checks.model.measurement import MeasuredStorage, Measurement
from tests.lab.lab_support import needs_namespaces, run, until
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, needs_namespaces]
beyond = pytest.mark.beyond_sample


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("storage") / "lab", 2, 1500, database=True)
    yield one
    one.down()


def measure(practice: Practice, directory: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return practice.racwire("measure", "storage", "--lab", str(directory), *words)


def decoded(text: str) -> Measurement:
    import msgspec

    return msgspec.json.decode(text.encode(), type=Measurement)


@pytest.mark.beyond_sample
def test_a_file_is_written_and_read_and_nothing_is_left(practice: Practice, tmp_path: Path) -> None:
    planned = measure(practice, tmp_path, "--format", "json")
    assert planned.returncode == 0, planned.stderr
    plan = json.loads(planned.stdout)
    assert (plan["kind"], plan["paths"]) == ("storage", [])
    assert plan["blocks_per_s"] > 0
    small = ("--bytes", "4m", "--request", "64k", "--rounds", "2")
    ran = measure(practice, tmp_path, *small, "--go", "practice", "--format", "json")
    assert ran.returncode == 0, ran.stderr
    found = decoded(ran.stdout)
    assert isinstance(found.result, MeasuredStorage)
    assert [(one.round, one.is_write, one.transferred) for one in found.result.rounds] == [
        (number, is_write, 4 << 20) for number in range(2) for is_write in (True, False)
    ]
    assert all(one.p50_us and one.p99_us for one in found.result.rounds)
    assert found.result.directory == str(tmp_path)
    assert list(tmp_path.iterdir()) == []


def with_file_in(directory: Path) -> list[int]:
    """The processes that have a file of a directory open, also one without a name."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            if process.name.isdigit() and any(
                os.readlink(one).startswith(f"{directory}/") for one in (process / "fd").iterdir()
            ):
                found.append(int(process.name))
        except OSError:
            continue  # it has ended
    return found


@pytest.mark.beyond_sample
@pytest.mark.parametrize("dies", ["interrupted", *(pytest.param(one, marks=beyond) for one in ("killed", "sender"))])
def test_no_file_and_no_process_is_left_in_whatever_way_it_ends(practice: Practice, tmp_path: Path, dies: str) -> None:
    process = subprocess.Popen(
        [
            sys.executable, "-P", "-m", "racwire", "measure", "storage", "--lab", str(tmp_path), "--bytes", "64m",
            "--rounds", "20", "--go", "practice", "--format", "json",
        ],
        env=practice.environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )  # fmt: skip
    try:
        until(lambda: with_file_in(tmp_path) or process.poll() is not None, "no file is written")
        assert list(tmp_path.iterdir()) == []
        (sender,) = with_file_in(tmp_path)
        status = Path(f"/proc/{sender}/status").read_text()
        racwire = int(status.partition("PPid:")[2].split()[0])
        if dies == "sender":
            os.kill(sender, signal.SIGKILL)
        else:
            os.kill(racwire, signal.SIGKILL if dies == "killed" else signal.SIGINT)
        out, err = process.communicate(timeout=60)
    finally:
        process.kill()
    if dies == "killed":
        assert process.returncode != 0
    else:
        assert process.returncode == (130 if dies == "interrupted" else 3), err
        assert decoded(out).stopped
    until(lambda: not with_file_in(tmp_path), "the file is left")
    locks = [run(practice.cluster, node, "cat", "/proc/net/unix").stdout for node in practice.cluster.nodes]
    assert "racwire-measure" not in "".join(locks)
    assert list(tmp_path.iterdir()) == []


@beyond
def test_a_directory_with_names_of_a_database_is_refused(practice: Practice, tmp_path: Path) -> None:
    (tmp_path / "system01.dbf").write_bytes(b"")
    refused = measure(practice, tmp_path, "--go", "practice")
    assert (refused.returncode, refused.stdout) == (64, "")
    assert "ME-STORE-004" in refused.stderr
    gone = measure(practice, tmp_path / "missing", "--go", "practice")
    assert (gone.returncode, gone.stdout) == (64, "")
    assert "No such file or directory" in gone.stderr
