"""Write the completion and the man pages below a directory, `python -m docs.share DIRECTORY`."""

from __future__ import annotations

import sys
from pathlib import Path

from docs.share.completion import SHELLS, completion
from docs.share.man_pages import man_pages


def write(directory: Path) -> None:
    """Write all files where shells and `man` look for them below a directory such as /usr/share."""
    texts = {path: completion(shell) for shell, path in SHELLS.items()}
    texts |= {f"man/man1/{name}.1": page for name, page in man_pages()}
    for path, text in texts.items():
        file = directory / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("python -m docs.share DIRECTORY")
    write(Path(sys.argv[1]))
