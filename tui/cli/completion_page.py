"""`racwire explain completion`: where the files of the shells and the man pages are, and how each shell finds them."""

from __future__ import annotations

import sysconfig
from collections.abc import Iterator
from pathlib import Path

COMPLETION = "completion"
ABOUT_COMPLETION = "The TAB key in bash, zsh and fish, and man pages"


def completion_page() -> Iterator[str]:
    """Yield the lines of the page for this installation: pip and the bundle leave the files below `share`."""
    yield f"{COMPLETION}: {ABOUT_COMPLETION}"
    yield ""
    places = (Path(sysconfig.get_path("data", scheme)) / "share" for scheme in _schemes())
    share = next((place for place in places if (place / "bash-completion/completions/racwire").exists()), None)
    if share is None:
        yield "This installation has neither: it is one for development. In the checkout,"
        yield "`.ci/share DIRECTORY` writes them below a directory such as /usr/local/share."
        return
    for shell, file, line in (
        ("bash", "~/.bashrc", f". {share}/bash-completion/completions/racwire"),
        ("zsh", "~/.zshrc, before its line with compinit", f"fpath=({share}/zsh/site-functions $fpath)"),
        ("", "~/.zshrc, if compinit is not in it yet", "autoload -Uz compinit && compinit"),
        ("fish", "~/.config/fish/config.fish", f"source {share}/fish/vendor_completions.d/racwire.fish"),
        ("man", "the file of your shell; the colon keeps the other pages", f"export MANPATH={share}/man:"),
    ):
        yield f"{shell:<6}in {file}:"
        yield f"      {line}"
    yield ""
    yield "Then `racwire check --f` and TAB, and `man racwire-check`. A shell whose own"
    yield f"directories include {share} needs no line."


def _schemes() -> tuple[str, str]:
    """The usual scheme of pip, and that of `pip install --user`."""
    return sysconfig.get_default_scheme(), sysconfig.get_preferred_scheme("user")
