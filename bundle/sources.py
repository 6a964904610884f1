"""The sources of the bundle's CPython: fetched with this machine's own apt, verified, unpacked, and described.

    python -m bundle.sources DOWNLOADS SOURCES

DOWNLOADS keeps the archives; what is there already, by hand or from an earlier run, is not fetched. SOURCES gets a
directory for each. Ends with exit code 1 and one sentence where a file cannot be had, or is not what sources.toml says.
"""

from __future__ import annotations

import hashlib
import re
import shutil
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path
from typing import Any

COPYRIGHT = "debian/copyright"
"""The licences of a package, in its directory too."""
TABLE = Path(__file__).with_name("sources.toml")
_CVE = re.compile(r"CVE-\d{4}-\d+")
_SINCE = "CVE-2025"
_SIGNED = "[signed-by=/usr/share/keyrings/debian-archive-keyring.gpg]"


class SourceError(Exception):
    """A source cannot be had. The text says which, and what to do."""


def table() -> dict[str, Any]:
    """Return sources.toml."""
    return tomllib.loads(TABLE.read_text())


def packages() -> dict[str, dict[str, Any]]:
    """Return the source packages, by the name that compile.sh has for them."""
    return {name: value for name, value in table().items() if isinstance(value, dict) and "package" in value}


def main(downloads: Path, sources: Path) -> None:
    """Fetch, verify, unpack and describe. Raises SourceError."""
    downloads.mkdir(parents=True, exist_ok=True)
    apt = _Apt(downloads.absolute() / "apt")
    for name, package in packages().items():
        if any(not _is_right(downloads / file, digest) for file, digest in package["files"].items()):
            apt.download(package, downloads)
        for file, digest in package["files"].items():
            if not _is_right(downloads / file, digest):
                raise SourceError(
                    f"{file} with SHA-256 {digest} cannot be had from this machine's Debian mirror: put it into "
                    f"{downloads}, or name in {TABLE.name} a version that can be had."
                )
        _unpack(package, downloads, sources / name)
        print(_described(package, downloads, apt))


class _Apt:
    """apt with the sources of Debian's suites, from the mirror that this machine uses, and nothing of it changed."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory
        self._options: list[str] = []

    def download(self, package: dict[str, Any], directory: Path) -> None:
        """Fetch what can be had of a source package. A .dsc that the mirror does not have makes apt fail; no matter."""
        source = f"{package['package']}={package['version']}"
        subprocess.run(
            ["apt-get", *self._ready(), "source", "--download-only", "-qq", source],
            cwd=directory, check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip

    def newer(self, package: dict[str, Any]) -> list[str]:
        """Return the versions of a package that Debian lists and that are newer; none where nothing was fetched."""
        if not self._options:
            return []
        shown = subprocess.run(
            ["apt-cache", *self._options, "showsrc", "--only-source", package["package"]],
            check=False, capture_output=True, text=True,
        )  # fmt: skip
        versions = sorted(set(re.findall(r"^Version: (\S+)", shown.stdout, re.M)))
        return [version for version in versions if self._is_newer(version, package["version"])]

    @staticmethod
    def _is_newer(version: str, than: str) -> bool:
        return subprocess.run(["dpkg", "--compare-versions", version, "gt", than], check=False).returncode == 0

    def _ready(self) -> list[str]:
        if self._options:
            return self._options
        for part in ("lists/partial", "cache/archives/partial"):
            (self._directory / part).mkdir(parents=True, exist_ok=True)
        listed = self._directory / "sources.list"
        suites = table()["suites"]
        listed.write_text(
            "".join(f"deb-src {_SIGNED} {mirror} {suite} main\n" for mirror in mirrors() for suite in suites)
        )
        options = {
            "Dir::Etc::sourcelist": listed, "Dir::Etc::sourceparts": "-", "APT::Sandbox::User": "root",
            "Dir::State::lists": self._directory / "lists", "Dir::Cache": self._directory / "cache",
        }  # fmt: skip
        self._options = [word for name, value in options.items() for word in ("-o", f"{name}={value}")]
        if subprocess.run(["apt-get", *self._options, "update", "-qq"], check=False).returncode:
            raise SourceError("apt-get update failed for the source packages: the sentence above says why.")
        return self._options


def mirrors() -> list[str]:
    """Return the addresses of the Debian mirrors of this machine."""
    form = "$(LABEL)|$(REPO_URI)"
    shown = subprocess.run(
        ["apt-get", "indextargets", "--format", form, "Created-By: Packages"],
        check=False, capture_output=True, text=True,
    )  # fmt: skip
    found = sorted({line.partition("|")[2] for line in shown.stdout.splitlines() if line.startswith("Debian|")})
    if not found:
        raise SourceError("apt knows no Debian mirror here: run apt-get update, or put the archives there by hand.")
    return found


def _is_right(file: Path, digest: str) -> bool:
    return file.exists() and hashlib.sha256(file.read_bytes()).hexdigest() == digest


def _archives(package: dict[str, Any], downloads: Path) -> tuple[Path, Path]:
    """Return the archive of the upstream source, and that of Debian's changelog and patches."""
    source, debian = (downloads / file for file in package["files"])
    return source, debian


def _unpack(package: dict[str, Any], downloads: Path, target: Path) -> None:
    """Unpack a source with the patches that it is compiled with."""
    source, debian = _archives(package, downloads)
    shutil.rmtree(target, ignore_errors=True)
    with tarfile.open(source) as archive:
        archive.extractall(target.with_name(f"{target.name}.all"), filter="tar")
    (top,) = target.with_name(f"{target.name}.all").iterdir()
    top.rename(target)
    top.parent.rmdir()
    with tarfile.open(debian) as archive:
        (target / "debian").mkdir(exist_ok=True)
        (target / COPYRIGHT).write_bytes(_read(archive, COPYRIGHT))
        for patch in _patches(package, archive):
            subprocess.run(["patch", "-sp1"], cwd=target, input=_read(archive, f"debian/patches/{patch}"), check=True)


def _patches(package: dict[str, Any], debian: tarfile.TarFile) -> list[str]:
    named: list[str] = package.get("patches", [])
    if named != ["series"]:
        return named
    series = _read(debian, "debian/patches/series").decode().splitlines()
    return [line.split()[0] for line in series if line.strip() and not line.startswith("#")]


def _read(archive: tarfile.TarFile, name: str) -> bytes:
    member = archive.extractfile(name)
    assert member is not None
    return member.read()


def _described(package: dict[str, Any], downloads: Path, apt: _Apt) -> str:
    """Return what is known of a package's security: no more than its changelog, and Debian's list of versions, say."""
    with tarfile.open(_archives(package, downloads)[1]) as archive:
        changelog = _read(archive, "debian/changelog").decode()
    named = sorted(set(_CVE.findall(changelog)), key=lambda cve: (cve[4:8], int(cve[9:])))
    lines = [f"{package['package']} {package['version']}: Debian's changelog names {len(named)} CVEs"]
    if package.get("patches"):
        lines.append(f"  Debian's patches in it: {' '.join(package['patches'])}")
    recent = [cve for cve in named if cve >= _SINCE]
    lines += [f"  from {_SINCE} on: {' '.join(recent)}"] if recent else []
    if newer := apt.newer(package):
        lines.append(f"  newer in Debian's list, and not used: {' '.join(newer)}")
    return "\n".join(lines)


if __name__ == "__main__":
    try:
        main(Path(sys.argv[1]), Path(sys.argv[2]))
    except SourceError as error:
        sys.exit(f"bundle: {error}")
