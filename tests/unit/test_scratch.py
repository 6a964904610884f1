"""Temporary directories: none is left of a racwire that was killed, and none is taken from one that runs."""

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from tui.cli.scratch import ScratchDirectory

HOLDER = """
from tui.cli.scratch import ScratchDirectory
with ScratchDirectory() as directory:
    (directory / "load.rec").write_bytes(b"x")
    print(directory, flush=True)
    input()
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


def test_a_directory_is_of_its_owner_alone_and_removed_at_the_end(place: Path) -> None:
    with ScratchDirectory() as directory:
        assert directory.parent == place
        assert directory.stat().st_mode & 0o777 == 0o700
        (directory / "file").write_text("x")
    assert not list(place.iterdir())


def test_the_directory_of_a_racwire_that_runs_stays_and_that_of_a_killed_one_goes(place: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", HOLDER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        cwd=Path(__file__).parents[2],
    ) as holder:  # fmt: skip
        assert holder.stdout is not None
        held = Path(holder.stdout.readline().strip())
        with ScratchDirectory():
            assert (held / "load.rec").exists()
        holder.send_signal(signal.SIGKILL)
        holder.wait()
    assert held.exists()
    with ScratchDirectory():
        assert not held.exists()
    assert not list(place.iterdir())


def test_nothing_else_is_removed(place: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "kept").write_text("x")
    (place / "racwire-run-link").symlink_to(elsewhere)
    (place / "racwire-run-file").write_text("x")
    (place / "racwire-other").mkdir()
    left = place / "racwire-run-left"
    left.mkdir()
    (left / "link").symlink_to(elsewhere)
    with ScratchDirectory():
        assert sorted(path.name for path in place.iterdir() if not path.name.startswith("racwire-run-")) == [
            "racwire-other"
        ]
    assert sorted(path.name for path in place.iterdir()) == ["racwire-other", "racwire-run-file", "racwire-run-link"]
    assert (elsewhere / "kept").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a directory to another user")
def test_the_directory_of_another_user_stays(place: Path) -> None:
    other = place / "racwire-run-other"
    other.mkdir()
    os.chown(other, 65534, 65534)
    with ScratchDirectory():
        assert other.exists()
