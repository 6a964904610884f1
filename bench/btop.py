"""Run btop for a comparison with racwire: the same terminal, the same interval, the same node."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

COMMAND = ["btop"]


def why_no_btop() -> str:
    """Return why btop cannot be measured; empty when it can."""
    return "" if shutil.which("btop") else "btop is not installed here (apt-get install btop)"


def once_a_second(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a btop that draws once a second and has its default settings otherwise."""
    directory = Path(environment["HOME"]) / "btop-config"
    (directory / "btop").mkdir(parents=True, exist_ok=True)
    (directory / "btop" / "btop.conf").write_text("update_ms = 1000\n", encoding="ascii")
    return {**environment, "XDG_CONFIG_HOME": str(directory)}
