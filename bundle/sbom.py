"""What the bundle is made of, as CycloneDX 1.6: racwire, the wheels, and what its CPython was compiled from.

    python -m bundle.sbom WHEELS SOURCES OUTPUT VERSION EPOCH

What a wheel has compiled in is the wheel's own to list: its metadata, in the bundle, may have an SBOM.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zipfile
from datetime import UTC, datetime
from email.parser import Parser
from pathlib import Path
from typing import Any

from bundle.sources import packages, table

_BUNDLED = {"expat", "hacl-star", "mpdecimal"}
"""What CPython's own list has and the bundle uses."""


def main(wheels: Path, sources: Path, output: Path, version: str, epoch: int) -> None:
    """Write the SBOM."""
    components = [_of_wheel(wheel) for wheel in sorted(wheels.glob("*.whl")) if not wheel.name.startswith("racwire-")]
    components += [_of_source(name, package) for name, package in packages().items()]
    components += _in_cpython(sources / "python/Misc/sbom.spdx.json")
    compiler = table()["compiler"]
    racwire = {"type": "application", "name": "racwire", "version": version, "bom-ref": "racwire"}
    racwire |= {"licenses": [{"license": {"id": "MIT"}}]}  # type: ignore[dict-item]
    tools = {"components": [{"type": "application", "name": compiler["name"], "version": compiler["version"]}]}
    bom = {
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"timestamp": datetime.fromtimestamp(epoch, UTC).isoformat(), "tools": tools, "component": racwire},
        "components": components,
        "dependencies": [{"ref": "racwire", "dependsOn": sorted(each["bom-ref"] for each in components)}],
    }  # fmt: skip
    output.write_text(json.dumps(bom, indent=1, sort_keys=True) + "\n")


def _component(name: str, version: str, purl: str, licence: str, digest: str = "") -> dict[str, Any]:
    component: dict[str, Any] = {"type": "library", "name": name, "version": version, "bom-ref": purl, "purl": purl}
    if licence:
        component["licenses"] = [{"license": {"name": licence}}]
    if digest:
        component["hashes"] = [{"alg": "SHA-256", "content": digest}]
    return component


def _of_wheel(wheel: Path) -> dict[str, Any]:
    with zipfile.ZipFile(wheel) as archive:
        (name,) = (name for name in archive.namelist() if name.endswith(".dist-info/METADATA") and name.count("/") == 1)
        metadata = Parser().parsestr(archive.read(name).decode(), headersonly=True)
    named = [name.rpartition(" :: ")[2] for name in metadata.get_all("Classifier", []) if name.startswith("License ::")]
    licence = metadata["License-Expression"] or (metadata["License"] or "").partition("\n")[0] or " OR ".join(named)
    digest = hashlib.sha256(wheel.read_bytes()).hexdigest()
    purl = f"pkg:pypi/{metadata['Name'].lower().replace('_', '-')}@{metadata['Version']}"
    return _component(metadata["Name"], metadata["Version"], purl, licence, digest)


def _of_source(name: str, package: dict[str, Any]) -> dict[str, Any]:
    digest = next(iter(package["files"].values()))
    purl = f"pkg:deb/debian/{package['package']}@{package['version'].replace('+', '%2B').replace('~', '~')}?arch=source"
    component = _component(package["package"], package["version"], purl, package["licence"], digest)
    patches = [{"type": "backport", "diff": {"text": {"content": patch}}} for patch in package.get("patches", ())]
    return component | ({"pedigree": {"patches": patches}} if patches else {})


def _in_cpython(listed: Path) -> list[dict[str, Any]]:
    """Return what CPython's own list says that its source has in it."""
    in_source = json.loads(listed.read_text())["packages"]
    named = [(package["name"], package["versionInfo"]) for package in in_source if package["name"] in _BUNDLED]
    return [_component(name, version, f"pkg:generic/{name}@{version}", "") for name, version in named]


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5]))
