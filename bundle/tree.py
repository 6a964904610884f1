"""The directory that the bundle unpacks to: CPython without what racwire does not use, the wheels, a command, licences.

python -m bundle.tree PYTHON SOURCES WHEELS TREE
"""

from __future__ import annotations

import shutil
import stat
import subprocess
import sys
import zipfile
from pathlib import Path, PurePosixPath

from bundle.sources import COPYRIGHT, packages

LIBRARY = "lib/python3.13"
LEFT_OUT = (
    "include", "share", "lib/pkgconfig", "lib/libpython3.13.a",
    "bin/idle3*", "bin/pydoc3*", "bin/python3", "bin/python3*-config",
    *(f"{LIBRARY}/{name}" for name in (
        "config-3.13-*", "ensurepip", "idlelib", "pydoc_data", "site-packages/*", "tkinter", "turtle.py", "turtledemo",
        "venv",
    )),
)  # fmt: skip
"""Of CPython. Its tests were not installed."""
NOT_THE_SAME_TWICE = ("RECORD", "INSTALLER", "REQUESTED", "direct_url.json")
"""Of a wheel's metadata: what only an installer needs."""
RACWIRE = """\
#!/bin/sh
'''exec' "$(dirname "$(readlink -f "$0")")/python3.13" -I "$0" "$@"
' '''
import sys

from racwire import main

sys.exit(main())
"""
"""For a shell, since a shebang cannot name an interpreter beside it; to the interpreter, `exec` is a text."""


def main(python: Path, sources: Path, wheels: Path, tree: Path) -> None:
    """Make the tree anew."""
    shutil.rmtree(tree, ignore_errors=True)
    shutil.copytree(python, tree, symlinks=True, ignore=shutil.ignore_patterns("__pycache__"))
    for pattern in LEFT_OUT:
        for path in tree.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for wheel in sorted(wheels.glob("*.whl")):
        _install(wheel, tree)
    for name in packages():
        licence = tree / "share/doc" / name / "copyright"
        licence.parent.mkdir(parents=True)
        shutil.copyfile(sources / name / COPYRIGHT, licence)
    racwire = tree / "bin/racwire"
    racwire.write_text(RACWIRE)
    racwire.chmod(0o755)
    _hide_the_machine(python, tree)
    _compile(tree)


def _install(wheel: Path, tree: Path) -> None:
    """Unpack a wheel; its scripts are left out."""
    with zipfile.ZipFile(wheel) as archive:
        for member in archive.infolist():
            target = _target(PurePosixPath(member.filename))
            if target is None or member.is_dir():
                continue
            path = tree / target
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(archive.read(member))


def _target(name: PurePosixPath) -> PurePosixPath | None:
    """Return the place of a wheel's file, None where it is left out. Raises ValueError for one outside of the tree."""
    if name.is_absolute() or ".." in name.parts:
        raise ValueError(f"{name} in a wheel leads out of it.")
    if not name.parts[0].endswith(".data"):
        metadata = name.parts[0].endswith(".dist-info")
        return None if metadata and name.name in NOT_THE_SAME_TWICE else PurePosixPath(LIBRARY, "site-packages", name)
    kind, rest = name.parts[1], name.parts[2:]
    places = {"data": "", "purelib": f"{LIBRARY}/site-packages", "platlib": f"{LIBRARY}/site-packages"}
    return PurePosixPath(places[kind], *rest) if kind in places else None


def _hide_the_machine(python: Path, tree: Path) -> None:
    """Replace the directory in which CPython was compiled."""
    for data in tree.glob(f"{LIBRARY}/_sysconfigdata_*.py"):
        data.write_text(data.read_text().replace(str(python.absolute().parent), "/bundle"))


def _compile(tree: Path) -> None:
    """Compile all modules. The bundle is verified by its hash, so no start looks at the time of a source."""
    for path in tree.rglob("*"):
        executable = path.stat().st_mode & stat.S_IXUSR
        path.chmod(0o755 if path.is_dir() or (executable and path.parent.name == "bin") else 0o644)
    subprocess.run(
        [
            tree / "bin/python3.13", "-B", "-s", "-P", "-m", "compileall", "-f", "-q",
            "--invalidation-mode", "unchecked-hash", "-s", tree, "-p", "/racwire", tree / "lib",
        ],
        check=True, env={"PYTHONHASHSEED": "0"},
    )  # fmt: skip


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:5]))
