"""Puts the completion and the man pages into the wheel; hatchling loads this file by its path."""

from __future__ import annotations

import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ShareHook(BuildHookInterface[Any]):
    """Makes the files for the wheel, which installs them below the `share` of its environment.

    An installation for development has none: they would not follow the source.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Make the files, and name them to the wheel."""
        if version == "editable":
            return
        self._made = TemporaryDirectory()
        sys.path[:0] = [self.root, f"{self.root}/lab"]
        from docs.share.__main__ import write

        write(Path(self._made.name))
        build_data["shared_data"][self._made.name] = "share"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the files, which the wheel has by now."""
        if version != "editable":
            self._made.cleanup()
