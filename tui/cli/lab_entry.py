"""`--lab`: run this same command again inside the first node of the practice cluster, as it would run on a real one."""

from __future__ import annotations

import os
import sys

from racwire_lab import LabError, find
from tui.cli.common_options import ENTERED
from tui.cli.errors import UsageError


def enter_lab(words: list[str]) -> None:
    """Replace this process by `racwire` inside the lab's first node; in the shell of a node one is there already.

    Raises UsageError when there is no lab.
    """
    if "RACWIRE_LAB" in os.environ:
        return
    try:
        os.getcwd()
    except FileNotFoundError:
        raise UsageError("The current directory is gone; change to one that is there.") from None
    try:
        lab = find()
        if lab is None:
            raise UsageError("No practice cluster is running; `racwire lab up` builds one in seconds.")
        node = lab.nodes[0]
        command = lab.enter(node, [sys.executable, "-P", "-m", "tui", *(w for w in words if w != "--lab")])
        os.execvpe(command[0], command, {**os.environ, **lab.environment(node), ENTERED: "1"})
    except LabError as error:
        raise UsageError(str(error)) from error
