"""btop, to hold racwire against: the same terminal, the same pace, the same node."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

COMMAND = ["btop"]


def why_no_btop() -> str:
    """Why btop cannot be measured; nothing when it can."""
    return "" if shutil.which("btop") else "btop is not installed here (apt-get install btop)"


def once_a_second(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment of a btop that draws once a second and is else as it comes."""
    directory = Path(environment["HOME"]) / "btop-config"
    (directory / "btop").mkdir(parents=True, exist_ok=True)
    (directory / "btop" / "btop.conf").write_text("update_ms = 1000\n", encoding="ascii")
    return {**environment, "XDG_CONFIG_HOME": str(directory)}
