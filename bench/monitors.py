"""Run btop, htop and top for a comparison with racwire: the same terminal, the same interval, the same node."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Monitor:
    """Another program that displays a node once a second."""

    name: str
    command: tuple[str, ...]
    package: str

    @property
    def why_not(self) -> str:
        """Why it cannot be measured; empty when it can."""
        return "" if shutil.which(self.name) else f"{self.name} is not installed here (apt-get install {self.package})"


BTOP = Monitor("btop", ("btop",), "btop")
MONITORS = (BTOP, Monitor("htop", ("htop", "-d", "10"), "htop"), Monitor("top", ("top", "-d", "1"), "procps"))


def once_a_second(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the environment of a btop that draws once a second and has its default settings otherwise."""
    directory = Path(environment["HOME"]) / "btop-config"
    (directory / "btop").mkdir(parents=True, exist_ok=True)
    (directory / "btop" / "btop.conf").write_text("update_ms = 1000\n", encoding="ascii")
    return {**environment, "XDG_CONFIG_HOME": str(directory)}
