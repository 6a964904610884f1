"""The header of the bundle, and what it does around a payload, here a small one. `make bundle` tries the real one."""

from __future__ import annotations

import os
import pwd
import shlex
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from bundle.pack import header, tar

UNXZ = """\
#!/bin/sh
[ "$1" = --version ] && exit
[ -z "$TEST_KILL" ] || kill -9 0
exec cat
"""
PYTHON = """\
#!/bin/sh
shift 2
echo "$*: $RACWIRE_BUNDLE $(umask)"
exit 7
"""
MEGABYTE = "x" * 1_000_000
SHELLS = [["dash"], ["bash"], ["busybox", "sh"], ["ksh"]]
IN_A_NAMESPACE = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c"]


@pytest.fixture
def run_file(tmp_path: Path) -> Path:
    """Make a bundle, and the home of its user."""
    tree = tmp_path / "tree"
    for name, text in {"bin/python3.13": PYTHON, "bin/racwire": "", "share/man/racwire.1": MEGABYTE}.items():
        path = tree / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        path.chmod(0o755)
    files, unxz = tmp_path / "files", tmp_path / "unxz"
    files.write_bytes(tar([(path, str(path.relative_to(tree))) for path in sorted(tree.rglob("*"))], 0))
    unxz.write_text(UNXZ)
    unxz.chmod(0o755)
    payload = tar([(unxz, "unxz"), (files, "files")], 0)
    (tmp_path / "home").mkdir()
    made = tmp_path / "racwire.run"
    made.write_bytes(header("0.0", payload, 2) + payload)
    return made


def start(
    file: Path, *words: str, shell: list[str] = SHELLS[0], **environment: str
) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [*shell, str(file), *words], capture_output=True, text=True, check=False, start_new_session=True,
        cwd=file.parent, env={"PATH": os.environ["PATH"], "HOME": str(file.parent / "home")} | environment,
    )  # fmt: skip


def in_cache(file: Path) -> list[str]:
    return [path.name.partition("-")[0] for path in (file.parent / "home/.cache/racwire").glob("*")]


def refusal(ran: subprocess.CompletedProcess[str]) -> str:
    assert (ran.returncode, ran.stdout) == (3, "")
    (line,) = ran.stderr.splitlines()
    assert line.startswith("racwire: ")
    assert line.endswith(".")
    return line


@pytest.mark.parametrize("shell", SHELLS, ids=" ".join)
def test_it_unpacks_once_and_runs_racwire(run_file: Path, shell: list[str]) -> None:
    if shutil.which(shell[0]) is None:
        pytest.skip(f"{shell[0]} is not installed")
    old = os.umask(0o027)
    try:
        first = start(run_file, "check", "-v", shell=shell)
    finally:
        os.umask(old)
    assert (first.returncode, first.stdout, first.stderr) == (7, f"check -v: {run_file} 0027\n", "")
    where = Path(start(run_file, "--where", shell=shell).stdout.strip())
    assert where.parent == run_file.parent / "home/.cache/racwire"
    assert stat.S_IMODE(where.stat().st_mode) == 0o700
    assert sorted(path.name for path in where.iterdir()) == ["bin", "share"]
    (where / "mark").touch()
    assert start(run_file, shell=shell).returncode == 7
    assert (where / "mark").exists()
    assert in_cache(run_file) == ["bundle"]


def test_several_first_starts_at_once_all_run(run_file: Path) -> None:
    environment = {"PATH": os.environ["PATH"], "HOME": str(run_file.parent / "home")}
    started = [subprocess.Popen(["sh", run_file], env=environment, stdout=subprocess.DEVNULL) for _ in range(4)]
    assert [process.wait() for process in started] == [7] * 4
    assert in_cache(run_file) == ["bundle"]


def test_what_a_killed_start_left_is_removed(run_file: Path) -> None:
    assert start(run_file, TEST_KILL="yes").returncode == -9
    (left,) = (run_file.parent / "home/.cache/racwire").iterdir()
    assert ".new." in left.name
    assert start(run_file).returncode == 7
    assert not left.exists()
    assert in_cache(run_file) == ["bundle"]


@pytest.mark.parametrize(
    ("options", "said"),
    [("noexec", "runs no programs (mount option noexec)"), ("size=600k", "no space left")],
)
def test_a_cache_that_cannot_hold_it_gets_one_sentence(run_file: Path, options: str, said: str) -> None:
    home = shlex.quote(str(run_file.parent / "home"))
    left = run_file.parent / "left"
    script = (
        f"mount -t tmpfs -o mode=0755,{options} none {home} || exit 77\n"
        f"sh {run_file}; status=$?; ls -A {home}/.cache/racwire >{left}; exit $status"
    )
    ran = subprocess.run(
        [*IN_A_NAMESPACE, script], capture_output=True, text=True, check=False,
        env={"PATH": os.environ["PATH"], "HOME": str(run_file.parent / "home")},
    )  # fmt: skip
    if ran.returncode in (1, 77):
        pytest.skip("no user namespaces here")
    assert said in refusal(ran)
    assert left.read_text() == ""


def test_a_directory_that_another_user_can_write_is_refused(run_file: Path) -> None:
    home = run_file.parent / "home"
    assert start(run_file).returncode == 7
    where = Path(start(run_file, "--where").stdout.strip())
    for path in (home, home / ".cache", where.parent, where):
        was = path.stat().st_mode
        path.chmod(0o770)
        line = refusal(start(run_file))
        assert f"{path}: of another user, or others can write there" in line
        path.chmod(was)
    if os.getuid() == 0:
        os.chown(where, 65534, 65534)
        assert f"{where}: of another user" in refusal(start(run_file))


def test_a_link_in_the_place_of_its_directory_is_refused(run_file: Path) -> None:
    where = Path(start(run_file, "--where").stdout.strip())
    where.parent.mkdir(parents=True)
    (run_file.parent / "theirs").mkdir(mode=0o777)
    (run_file.parent / "theirs").chmod(0o777)
    where.symlink_to(run_file.parent / "theirs")
    assert f"{run_file.parent}/theirs: " in refusal(start(run_file))


def test_a_damaged_file_unpacks_nothing(run_file: Path) -> None:
    run_file.write_bytes(run_file.read_bytes()[:-1] + b"x")
    assert "is damaged" in refusal(start(run_file))
    assert in_cache(run_file) == []


@pytest.mark.parametrize("environment", [{"HOME": "/proc"}, {"XDG_CACHE_HOME": "/dev/null/x"}])
def test_a_home_in_which_nothing_can_be_made_gets_one_sentence(run_file: Path, environment: dict[str, str]) -> None:
    assert "Set XDG_CACHE_HOME" in refusal(start(run_file, **environment))


@pytest.mark.parametrize("home", ["", "relative"])
def test_without_a_home_it_takes_that_of_the_user_database(run_file: Path, home: str) -> None:
    where = start(run_file, "--where", HOME=home).stdout
    assert where.startswith(f"{pwd.getpwuid(os.getuid()).pw_dir}/.cache/racwire/bundle-0.0-")


def test_it_extracts_into_a_new_directory_for_everyone(run_file: Path) -> None:
    target = run_file.parent / "opt"
    ran = start(run_file, "--extract-only", "opt")
    assert (ran.returncode, ran.stdout) == (0, f"{target}/bin/racwire\n")
    assert f"man pages and completion of shells are in {target}/share." in ran.stderr
    assert stat.S_IMODE(target.stat().st_mode) == 0o755
    again = start(run_file, "--extract-only", str(target))
    assert (again.returncode, again.stdout) == (64, "")
    assert "name a new directory" in again.stderr
    assert start(run_file, "--extract-only").stdout == f"{start(run_file, '--where').stdout.strip()}/bin/racwire\n"
