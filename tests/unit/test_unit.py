"""The units that `racwire unit` prints, as systemd reads them."""

from __future__ import annotations

import os
import re
import shlex
import shutil
import subprocess
import time
from pathlib import Path

import pytest

from tui.cli.main import main

FORBIDDEN = (
    "PrivateTmp", "NoNewPrivileges", "ProtectHome", "PrivateNetwork", "PrivateDevices", "RestrictAddressFamilies",
    "ProtectKernel", "SystemCall", "RestrictNamespaces", "LockPersonality", "MemoryDenyWriteExecute",
)  # fmt: skip
NEWER = {"MemoryMax": 231, "RandomizedDelaySec": 229, "ProtectControlGroups": 232}


def units(capsys: pytest.CaptureFixture[str], *words: str) -> dict[str, str]:
    """Return the printed files by name."""
    assert main(["unit", *words]) == 0
    parts = re.split(r"^# --- (\S+)$", capsys.readouterr().out, flags=re.M)
    return {Path(name).name: text for name, text in zip(parts[1::2], parts[2::2], strict=True)}


def directives(text: str) -> dict[str, str]:
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line and not line.startswith("#"))


@pytest.mark.parametrize("kind", ["check", "compare", "record", "watch"])
@pytest.mark.parametrize("version", [219, 239, 252])
def test_a_unit_takes_nothing_away_that_racwire_needs(
    kind: str, version: int, capsys: pytest.CaptureFixture[str]
) -> None:
    found = units(capsys, kind, "--systemd", str(version), "--host", "rac1.example.com", "--account", "grid")
    assert set(found) == {f"racwire-{kind}.service", *([f"racwire-{kind}.timer"] if kind[0] == "c" else [])}
    for text in found.values():
        own = directives(text)
        assert not [name for name in own if name.startswith(FORBIDDEN)]
        assert not [name for name, since in NEWER.items() if name in own and since > version]
        assert re.findall("ConditionHost=(.*)", text) == ["|rac1", "|rac1.*"]
    assert directives(found[f"racwire-{kind}.service"])["User"] == "grid"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
@pytest.mark.parametrize(
    "words", [["check"], ["compare"], ["record"], ["watch"], ["check", "--systemd", "252", "--every", "15m"]]
)
def test_systemd_finds_nothing_wrong_with_them(
    words: list[str], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    for name, text in units(capsys, *words, "--directory", "/var/lib/a b%c").items():
        (tmp_path / name).write_text(text)
    ran = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", *map(str, tmp_path.iterdir())], capture_output=True, text=True,
        timeout=60, check=False,
    )  # fmt: skip
    said = [line for line in ran.stderr.splitlines() if "racwire" in line]
    assert [line for line in said if "MemoryLimit" not in line] == []  # what version 219 has, newer ones rename


def test_the_line_of_a_unit_is_the_command_with_each_word_whole(capsys: pytest.CaptureFixture[str]) -> None:
    found = units(capsys, "check", "--directory", "/var/lib/a b%c")
    saved = directives(found["racwire-check.service"])["ExecStart"]
    assert saved.endswith('save --quiet --force --mode 0640 "/var/lib/a b%%c/check.racwire"')


def test_a_recording_that_is_started_again_does_not_fill_the_disk(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    """Each start begins a file; those of which every sample is older than what is kept go."""
    for name, age_h in (("traffic-1.rec", 25), ("traffic-2.rec", 23), ("mine.rec", 25)):
        (tmp_path / name).touch()
        os.utime(tmp_path / name, times=(then := time.time() - age_h * 3600, then))
    found = units(capsys, "record", "--directory", str(tmp_path))
    subprocess.run(shlex.split(directives(found["racwire-record.service"])["ExecStartPre"].lstrip("-")), check=True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.rec", "traffic-2.rec"]


@pytest.mark.parametrize(
    "words", [["check", "--every", "often"], ["check", "--systemd", "200"], ["check", "--directory", "here"],
              ["record", "--keep", "x"], ["check", "--user", "--account", "grid"], ["chek"],
              ["check", "--host", "rac1 rac2"], ["check", "--host", "10.0.0.1"]],
)  # fmt: skip
def test_a_wrong_option_is_one_sentence(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    try:
        code = main(["unit", *words])
    except SystemExit as ended:
        code = int(ended.code or 0)
    said = capsys.readouterr()
    assert (code, said.out, said.err.count("\n")) == (64, "", 1)


def test_a_bundle_runs_from_its_file_which_unpacks_itself_again(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bundle = tmp_path / "racwire.run"
    bundle.touch()
    monkeypatch.setenv("RACWIRE_BUNDLE", str(bundle))
    (service,) = units(capsys, "watch").values()
    assert directives(service)["ExecStart"].startswith(f"{bundle} watch ")
