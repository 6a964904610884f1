"""The distributions: their wheels, their source archives, and racwire installed without the practice cluster."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import sysconfig
import tarfile
import tomllib
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from email import message_from_bytes
from email.message import Message
from pathlib import Path, PurePosixPath
from typing import Any

import pytest
from trove_classifiers import classifiers, deprecated_classifiers

from docs.share.completion import SHELLS
from tui import __version__

ROOT = Path(__file__).parents[2]
IGNORED = {"__pycache__", ".mypy_cache", ".ruff_cache", ".pytest_cache"}


@dataclass(frozen=True)
class Built:
    """The archives of one distribution."""

    sources: Path
    wheel: Path

    def in_sources(self) -> dict[str, bool]:
        """Files of the source archive below its own directory; whether each is executable."""
        with tarfile.open(self.sources) as archive:
            return {
                str(PurePosixPath(*PurePosixPath(member.name).parts[1:])): bool(member.mode & 0o100)
                for member in archive.getmembers()
                if member.isfile()
            }

    def in_wheel(self) -> dict[str, bool]:
        """Files of the wheel; whether each is executable."""
        with zipfile.ZipFile(self.wheel) as archive:
            return {entry.filename: bool(entry.external_attr >> 16 & 0o100) for entry in archive.infolist()}

    def metadata(self) -> Message:
        """METADATA of the wheel."""
        with zipfile.ZipFile(self.wheel) as archive:
            (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
            return message_from_bytes(archive.read(name))


def build(project: Path, into: Path) -> Built:
    """Build a distribution with the installed backend: no network, no environment of its own."""
    subprocess.run(
        [sys.executable, "-P", "-m", "hatchling", "build", "-d", str(into)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (sources,), (wheel,) = into.glob("*.tar.gz"), into.glob("*.whl")
    return Built(sources, wheel)


@pytest.fixture(scope="module")
def racwire(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(ROOT, tmp_path_factory.mktemp("racwire"))


@pytest.fixture(scope="module")
def racwire_lab(tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build(ROOT / "lab", tmp_path_factory.mktemp("racwire_lab"))


@pytest.fixture(scope="module")
def both(racwire: Built, racwire_lab: Built) -> tuple[Built, Built]:
    return racwire, racwire_lab


def files_below(*directories: Path, base: Path) -> Iterator[str]:
    """Return the files of the checkout without those that tools make."""
    for directory in directories:
        for path in sorted(directory.rglob("*")):
            if path.is_file() and not IGNORED & set(path.parts):
                yield path.relative_to(base).as_posix()


def project(path: Path) -> dict[str, Any]:
    return tomllib.loads(path.read_text(encoding="utf-8"))


def names(requirements: list[str]) -> set[str]:
    """Names of distributions, normalised as an index does it."""
    return {re.split(r"[^A-Za-z0-9._-]", one)[0].lower().replace("_", "-") for one in requirements}


def test_the_wheel_of_racwire_has_its_entry_and_all_of_checks_and_tui_and_nothing_else(racwire: Built) -> None:
    installed = [name for name in racwire.in_wheel() if ".dist-info/" not in name]
    shared = {name for name in installed if name.startswith(f"racwire-{__version__}.data/data/share/")}
    names = {name.partition("/data/share/")[2] for name in shared}
    assert {*SHELLS.values(), "man/man1/racwire.1", "man/man1/racwire-lab-break.1"} <= names
    inside = {*installed} - shared
    assert inside == {"racwire.py", *files_below(ROOT / "checks", ROOT / "tui", base=ROOT)}
    assert {PurePosixPath(name).suffix for name in inside} >= {".py", ".sql", ".j2", ".css", ".tcss", ".typed"}
    assert f"racwire-{__version__}.dist-info/licenses/LICENSE" in racwire.in_wheel()


def test_the_wheel_of_the_lab_has_all_of_the_lab_and_nothing_else(racwire_lab: Built) -> None:
    inside = {name for name in racwire_lab.in_wheel() if ".dist-info/" not in name}
    assert inside == set(files_below(ROOT / "lab/racwire_lab", base=ROOT / "lab"))
    programs = {name: executable for name, executable in racwire_lab.in_wheel().items() if "/grid/" in name}
    assert {name for name, executable in programs.items() if executable} == {
        f"racwire_lab/grid/{tool}" for tool in ("crsctl", "lsnrctl", "ocrconfig", "oifcfg", "olsnodes", "srvctl")
    }


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="not a git checkout: what belongs to the sources is not known")
def test_the_source_archive_of_racwire_has_all_files_in_git(racwire: Built) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", "--cached", "-z"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split("\0")[:-1]
    inside = racwire.in_sources()
    there = {name for name in tracked if (ROOT / name).exists()}
    assert there - inside.keys() == set()
    wrong = {name for name in there if inside[name] != os.access(ROOT / name, os.X_OK)}
    assert wrong == set()


def test_make_works_in_the_unpacked_source_archive(racwire: Built, tmp_path: Path) -> None:
    with tarfile.open(racwire.sources) as archive:
        archive.extractall(tmp_path, filter="data")
    (root,) = tmp_path.iterdir()
    assert {"requirements.lock", "requirements-dev.lock", ".ci", "bench", "docs", "screenshots", "tests", "lab"} <= {
        path.name for path in root.iterdir()
    }
    assert list((root / "screenshots").glob("*.svg"))
    for target in ("demo", "test", "lint", "bench", "screenshots", "docs", "site", "lock", "wheels", "bundle"):
        # What is missing (a file that a rule needs) is an error here, too; nothing is run.
        planned = subprocess.run(["make", "-n", target], cwd=root, capture_output=True, text=True, check=False)
        assert planned.returncode == 0, planned.stderr
        for script in re.findall(r"\bsh ((?:\.ci|bundle)/\S+)", planned.stdout):
            assert (root / script).is_file()
    assert build(root, tmp_path / "again").in_wheel() == racwire.in_wheel()


def test_the_metadata_is_valid(both: tuple[Built, Built]) -> None:
    for one in both:
        metadata = one.metadata()
        named = metadata.get_all("Classifier", [])
        # `Private ::` is no classifier: a package index refuses it, which is its purpose.
        assert {
            name for name in named if not name.startswith("Private ::")
        } <= classifiers - deprecated_classifiers.keys()
        assert (metadata["License-Expression"], metadata.get_all("License-File")) == ("MIT", ["LICENSE"])
        assert not any(name.startswith("License ::") for name in named), "the SPDX expression says it"
        assert metadata["Requires-Python"] == ">=3.11"
        assert metadata["Summary"]
        assert metadata.get_payload()
        for url in metadata.get_all("Project-URL", []):
            assert re.fullmatch(r"[^,]+, https://\S+", url)


def test_racwire_depends_on_nothing_of_the_lab() -> None:
    """A name that racwire's authors do not own on an index must not be installed from there, not even by an extra."""
    document = project(ROOT / "pyproject.toml")["project"]
    extras = [name for extra in document["optional-dependencies"].values() for name in extra]
    assert not [name for name in names([*document["dependencies"], *extras]) if name.startswith("racwire")]
    needed = project(ROOT / "lab/pyproject.toml")["project"]["dependencies"]
    assert not [name for name in names(needed) if name.startswith("racwire")]


def test_the_locks_cover_all_requirements() -> None:
    document, lab = project(ROOT / "pyproject.toml")["project"], project(ROOT / "lab/pyproject.toml")["project"]
    pinned = {}
    for lock in ("requirements.lock", "requirements-dev.lock"):
        text = (ROOT / lock).read_text(encoding="utf-8")
        pinned[lock] = {
            name.replace("_", "-"): version
            for name, version in re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", text, re.MULTILINE)
        }
        assert not re.search(r"^--(extra-)?index-url|https?://", text, re.MULTILINE)
    assert names(document["dependencies"]) <= pinned["requirements.lock"].keys()
    assert not {"duckdb", "sqlglot"} & pinned["requirements.lock"].keys()
    everything = [*document["dependencies"], *document["optional-dependencies"]["dev"], *lab["dependencies"]]
    assert names(everything) <= pinned["requirements-dev.lock"].keys()
    for name, version in pinned["requirements.lock"].items():
        assert pinned["requirements-dev.lock"][name] == version


def empty_wheel(directory: Path, name: str, version: str, tag: str, requires: str) -> None:
    """Make a wheel without files: pip decides by its name and its metadata."""
    stem = f"{name.replace('-', '_')}-{version}"
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    with zipfile.ZipFile(directory / f"{stem}-{tag}.whl", "w") as archive:
        inside = f"{stem}.dist-info"
        archive.writestr(f"{inside}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{needs}")
        archive.writestr(f"{inside}/WHEEL", f"Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: {tag}\n")
        archive.writestr(f"{inside}/RECORD", "")


@pytest.mark.parametrize(
    ("glibc", "refused"), [("2_28", ""), ("2_34", "No matching distribution found for cryptography")]
)
def test_make_wheels_refuses_a_wheel_that_oracle_linux_8_cannot_use(
    racwire: Built, tmp_path: Path, glibc: str, refused: str
) -> None:
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for name, version in re.findall(r"^([a-z0-9._-]+)==([^\s;\\]+)", lock, re.MULTILINE):
        tag = f"cp311-abi3-manylinux_{glibc}_x86_64" if name == "cryptography" else "py3-none-any"
        empty_wheel(tmp_path, name, version, tag, "cryptography" if name == "oracledb" else "")
    shutil.copy(racwire.wheel, tmp_path)
    done = subprocess.run(
        ["sh", ".ci/wheels", "--check", str(tmp_path)], cwd=ROOT, capture_output=True, text=True, check=False
    )
    assert done.returncode == (1 if refused else 0), done.stderr
    assert refused in done.stderr


def test_make_wheels_says_which_machines_have_none(tmp_path: Path) -> None:
    argv = ["sh", ".ci/wheels", str(tmp_path), "3.12", "s390x"]
    done = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith(
        "racwire has no wheels for s390x: those of msgspec, oracledb and psutil are for x86_64 "
    )
    assert not [*tmp_path.iterdir()]


class TestInstalledWithoutTheLab:
    """racwire from its wheel, together with its dependencies, where no module of the lab or of the checkout can be
    imported."""

    @pytest.fixture(scope="class")
    @staticmethod
    def installed(racwire: Built, tmp_path_factory: pytest.TempPathFactory) -> Path:
        target = tmp_path_factory.mktemp("installed")
        with zipfile.ZipFile(racwire.wheel) as archive:
            archive.extractall(target)
        return target

    @staticmethod
    def run(installed: Path, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
        # -S: without the site module, nothing reads the .pth files by which the checkout is importable here.
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("RACWIRE", "XDG"))},
            "PYTHONPATH": f"{installed}:{sysconfig.get_path('purelib')}",
            "HOME": str(tmp_path),
        }
        argv = [sys.executable, "-S", "-P", *words]
        return subprocess.run(
            argv, cwd=tmp_path, env=environment, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )

    def test_no_module_of_the_lab_can_be_imported_and_racwire_comes_from_the_wheel(
        self, installed: Path, tmp_path: Path
    ) -> None:
        code = "import importlib.util as u, tui; print(u.find_spec('racwire_lab'), u.find_spec('lab'), tui.__file__)"
        done = self.run(installed, tmp_path, "-c", code)
        assert done.stdout.split() == ["None", "None", f"{installed}/tui/__init__.py"], done.stderr

    def test_a_saved_file_is_checked_and_reported(self, installed: Path, tmp_path: Path) -> None:
        saved = ROOT / "tests/fixtures/saved/first.racwire"
        shutil.copy(saved, tmp_path / "cluster.racwire")
        checked = self.run(
            installed, tmp_path, "-m", "racwire", "check", "--from", "cluster.racwire", "--format", "json"
        )
        assert checked.returncode in (0, 1, 2), checked.stderr
        assert '"findings"' in checked.stdout
        report = ["report", "--from", "cluster.racwire", "--format", "html", "--output", "report.html"]
        reported = self.run(installed, tmp_path, "-m", "racwire", *report)
        assert reported.returncode == checked.returncode, reported.stderr
        assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")

    def test_every_module_except_the_lab_command_can_be_imported(self, installed: Path, tmp_path: Path) -> None:
        code = (
            "import importlib, pkgutil, checks, tui\n"
            "for package in (checks, tui):\n"
            "    for found in pkgutil.walk_packages(package.__path__, f'{package.__name__}.'):\n"
            "        if not found.name.startswith('tui.cli.lab') and not found.name.endswith('__main__'):\n"
            "            importlib.import_module(found.name)\n"
        )
        done = self.run(installed, tmp_path, "-c", code)
        assert done.returncode == 0, done.stderr
