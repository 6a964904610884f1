"""The SQL that racwire sends: one file a statement in `queries/`, with a header that says what it reads.

A header line is `-- key: value`; a value goes on in lines that begin with `--     `. The keys:

    purpose    what it is for, one sentence
    reads      the views, upper case, comma-separated: `GV$SYSSTAT, V$INSTANCE`
    grants     the objects that a user needs SELECT on: `SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT`
    licence    `none`, or `Diagnostics Pack`
    versions   `11.2-` (all of them from 11.2 on), `12.1-`, `11.2-12.1`

Every GV$ view stands in the text as `gv$name alias`, so that `here()` can put the V$ view in its place.

`history_NAME.sql` is the template of two statements, `awr_NAME` and `statspack_NAME`, which differ in their views and
in how those mark snapshots. A header line `-- awr key: value` and a line of text that begins with `awr|` stand in
`awr_NAME` alone. In the text `$key` stands for the value of a header line or of `_SOURCES`, and `$names` for the names
that the header lists under that key, as literals below each other.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from string import Template

_KEYS = ("purpose", "reads", "grants", "licence", "versions")
_HEADER = re.compile(r"-- ((?:(?:awr|statspack) )?\w+): (.*)")
_GLOBAL_VIEW = re.compile(r"\bgv\$(\w+)\s+(\w+)", re.IGNORECASE)
_TEMPLATE = "history_"
_SOURCES = {
    "awr": {
        "snapshots": "dba_hist_snapshot",
        "end_time": "s.end_interval_time",
        "in_range": "s.snap_id BETWEEN :from_snap AND :last_snap",
        "after_base": "snap_id > :base_snap",
    },
    "statspack": {
        "snapshots": "perfstat.stats$snapshot",
        "end_time": "CAST(s.snap_time AS TIMESTAMP)",
        "in_range": "s.snap_time BETWEEN :from_time AND :last_time",
        "after_base": "end_time > :base_time",
    },
}
"""What stands for a key in each statement of a template: of all instances AWR takes one snapshot, whose number follows
time; of Statspack each instance takes its own."""
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
    return _statement(name, *_split(name, source))


def parse_template(name: str, source: str) -> Iterator[Statement]:
    """The statements of a template. Raises ValueError where a header lacks a key, KeyError where the text does."""
    header, text = _split(name, source)
    for of, values in _SOURCES.items():
        own = {key.removeprefix(f"{of} "): value for key, value in header.items() if key.startswith(f"{of} ")}
        own |= {key: value for key, value in header.items() if " " not in key}
        lines = [line.removeprefix(f"{of}|") for line in text.splitlines() if _belongs(line, of)]
        filled = _filled("\n".join(lines), values | own)
        yield _statement(f"{of}_{name.removeprefix(_TEMPLATE)}", own, filled)


def _belongs(line: str, source: str) -> bool:
    return not any(line.startswith(f"{other}|") for other in _SOURCES if other != source)


def _filled(text: str, values: dict[str, str]) -> str:
    names = [f"'{name}'" for name in _words(values.get("names", ""))]
    text = Template(text).substitute(values | {"names": "$names"})
    return re.sub(
        r"^(.*)\$names", lambda line: line[1] + f",\n{' ' * len(line[1])}".join(names), text, flags=re.MULTILINE
    )


def _split(name: str, source: str) -> tuple[dict[str, str], str]:
    """The header and the SQL of a file."""
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
    return header, "\n".join(lines).strip().removesuffix(";").rstrip()


def _statement(name: str, header: dict[str, str], text: str) -> Statement:
    for wanted in _KEYS:
        if not header.get(wanted):
            raise ValueError(f"{name}.sql: the header does not say {wanted!r}.")
    return Statement(
        name=name,
        text=text,
        purpose=header["purpose"],
        reads=_words(header["reads"]),
        grants=_words(header["grants"]),
        licence=header["licence"],
        versions=header["versions"],
    )


@cache
def statements() -> dict[str, Statement]:
    """Every statement by name."""
    found: list[Statement] = []
    for file in files("checks.sources.database").joinpath("queries").iterdir():
        name, _, suffix = file.name.rpartition(".")
        if suffix == "sql":
            text = file.read_text(encoding="utf-8")
            found += parse_template(name, text) if name.startswith(_TEMPLATE) else [parse_statement(name, text)]
    return {statement.name: statement for statement in sorted(found, key=lambda statement: statement.name)}


def statement(name: str) -> Statement:
    """The statement of that name; KeyError when there is none."""
    return statements()[name]


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())
