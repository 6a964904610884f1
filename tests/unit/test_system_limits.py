"""Small limits of a user, and places that cannot be written: one sentence, and no traceback."""

from __future__ import annotations

import errno
import os
import resource
import subprocess
import sys
from argparse import Namespace
from pathlib import Path

import pytest

from checks.model.broken_dependency import error_text
from checks.model.exit_codes import ExitCode
from checks.model.system_limits import limit_reached
from tui.cli import main as main_module
from tui.cli.document import output_file
from tui.cli.errors import UsageError

ROOT = Path(__file__).parents[2]
NO_THREAD = RuntimeError("can't start new thread")


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (NO_THREAD, "check `ulimit -u`"),
        (OSError(errno.EAGAIN, "Resource temporarily unavailable"), "check `ulimit -u`"),
        (OSError(errno.EMFILE, "Too many open files"), "check `ulimit -n`"),
        (OSError(errno.ENFILE, "Too many open files in system"), "check fs.file-max"),
        (OSError(errno.ENOMEM, "Cannot allocate memory"), "too little memory"),
        (OSError(errno.ENOENT, "No such file or directory"), ""),
        (OSError(), ""),
        (RuntimeError("another"), ""),
        (ValueError(), ""),
    ],
)
def test_a_limit_is_named(error: Exception, expected: str) -> None:
    assert expected in limit_reached(error)
    assert bool(limit_reached(error)) == bool(expected)


def test_python_reports_a_refused_thread_in_these_words() -> None:
    """CPython's text is all that distinguishes this RuntimeError."""
    script = (
        "import resource, threading; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); "
        "threading.stack_size(1 << 30); threading.Thread(target=print).start()"
    )
    done = subprocess.run([sys.executable, "-S", "-c", script], capture_output=True, text=True, check=False, timeout=30)
    assert f"RuntimeError: {NO_THREAD}" in done.stderr


def test_reasons_of_facts_name_the_limit() -> None:
    assert error_text(NO_THREAD).endswith("check `ulimit -u`")


def test_a_command_ends_with_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))  # the error goes into its log

    def run(_arguments: list[str], *, is_own_process: bool) -> int:
        raise NO_THREAD

    monkeypatch.setattr(main_module, "_run", run)
    assert main_module.main(["check"]) == ExitCode.COULD_NOT_TELL
    assert capsys.readouterr().err == (
        "racwire: this user may start no more processes and threads on this node: check `ulimit -u`.\n"
    )
    monkeypatch.setattr(main_module, "_run", lambda *_, **__: (_ for _ in ()).throw(RuntimeError("a bug")))
    assert main_module.main(["check"]) == ExitCode.COULD_NOT_TELL
    assert "RuntimeError: a bug\nracwire: this is an internal error of racwire" in capsys.readouterr().err


def test_few_open_files_make_facts_unknown_and_no_traceback(tmp_path: Path) -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (11, 11))

    done = subprocess.run(
        [sys.executable, "-P", "-m", "racwire", "check", "interfaces", "--network", "192.0.2.0/24", "--peer", "rac9"],
        env={"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(ROOT), "RACWIRE_RSH": "true"},
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False, preexec_fn=limit,
    )  # fmt: skip
    assert "Traceback" not in done.stderr, done.stderr
    assert done.returncode == ExitCode.COULD_NOT_TELL
    assert "`ulimit -n`" in " ".join(done.stdout.split())


def test_a_read_only_file_system_is_not_a_missing_right(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "access", lambda *_args, **_options: False)
    with pytest.raises(UsageError, match="you may not write to"):
        output_file(str(tmp_path / "page.html"), Namespace(force=False, mode=0o600))
    found = os.statvfs(tmp_path)
    read_only = os.statvfs_result((*found[:8], found.f_flag | os.ST_RDONLY, found.f_namemax))
    monkeypatch.setattr(os, "statvfs", lambda _: read_only)
    with pytest.raises(UsageError, match=r"the file system of .* is read-only; name another place"):
        output_file(str(tmp_path / "page.html"), Namespace(force=False, mode=0o600))
