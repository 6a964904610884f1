"""The SQL that racwire sends: one file a statement in `queries/`, with a header that says what it reads.

A header line is `-- key: value`; a value goes on in lines that begin with `--     `. The keys:

    purpose    what it is for, one sentence
    reads      the views, upper case, comma-separated: `GV$SYSSTAT, V$INSTANCE`
    grants     the objects that a user needs SELECT on: `SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT`
    licence    `none`, or `Diagnostics Pack`
    versions   `11.2-` (all of them from 11.2 on), `12.1-`, `11.2-12.1`

Every GV$ view stands in the text as `gv$name alias`, so that `here()` can put the V$ view in its place.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache
from importlib.resources import files

_KEYS = ("purpose", "reads", "grants", "licence", "versions")
_HEADER = re.compile(r"-- (\w+): (.*)")
_GLOBAL_VIEW = re.compile(r"\bgv\$(\w+)\s+(\w+)", re.IGNORECASE)
_HERE = " (this instance)"
_ONE_INSTANCE = "(SELECT me.instance_number AS inst_id, v.* FROM v${0} v CROSS JOIN v$instance me) {1}"


@dataclass(frozen=True)
class Statement:
    """A statement and what its header says."""

    name: str
    text: str
    """The SQL alone, without header and final semicolon, as it is sent."""
    purpose: str
    reads: tuple[str, ...]
    grants: tuple[str, ...]
    licence: str
    versions: str

    @property
    def topic(self) -> str:
        """How the journal and findings call it: alike whether all instances were asked or one."""
        return f"sql {self.name.removesuffix(_HERE)}"

    @property
    def is_global(self) -> bool:
        """Whether it asks all instances (GV$)."""
        return _GLOBAL_VIEW.search(self.text) is not None

    @property
    def needs_licence(self) -> bool:
        """Whether it reads what only the Diagnostics Pack allows."""
        return self.licence != "none"

    def here(self) -> Statement:
        """The same for the connected instance alone: V$ views in place of GV$, with INST_ID added."""
        text = _GLOBAL_VIEW.sub(lambda view: _ONE_INSTANCE.format(view[1], view[2]), self.text)
        reads = dict.fromkeys((*(re.sub(r"^GV\$", "V$", view) for view in self.reads), "V$INSTANCE"))
        return Statement(
            f"{self.name}{_HERE}", text, self.purpose, tuple(reads), self.grants, self.licence, self.versions
        )


def parse_statement(name: str, source: str) -> Statement:
    """A statement from its file. Raises ValueError where the header lacks a key."""
    header: dict[str, str] = {}
    lines = source.splitlines()
    key = ""
    while lines and lines[0].startswith("--"):
        line = lines.pop(0)
        if matched := _HEADER.fullmatch(line.rstrip()):
            key = matched[1]
            header[key] = matched[2].strip()
        elif key and line.startswith("--     "):
            header[key] += " " + line[2:].strip()
        else:
            raise ValueError(f"{name}.sql: the header line {line!r} is not `-- key: value`.")
    for wanted in _KEYS:
        if not header.get(wanted):
            raise ValueError(f"{name}.sql: the header does not say {wanted!r}.")
    return Statement(
        name=name,
        text="\n".join(lines).strip().removesuffix(";").rstrip(),
        purpose=header["purpose"],
        reads=_words(header["reads"]),
        grants=_words(header["grants"]),
        licence=header["licence"],
        versions=header["versions"],
    )


@cache
def statements() -> dict[str, Statement]:
    """Every statement by name."""
    found = sorted((f for f in files("checks.sources.database").joinpath("queries").iterdir()), key=lambda f: f.name)
    texts = {f.name.removesuffix(".sql"): f.read_text(encoding="utf-8") for f in found if f.name.endswith(".sql")}
    return {name: parse_statement(name, text) for name, text in texts.items()}


def statement(name: str) -> Statement:
    """The statement of that name; KeyError when there is none."""
    return statements()[name]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
