"""Load the SQL that racwire sends: one file for each statement in `queries/`, with a header that says what it reads.

A header line is `-- key: value`; a value continues in lines that start with `--     `. The keys:

    purpose    one sentence for DBAs, in `racwire plan`
    reads      the views, upper case, comma-separated: `GV$SYSSTAT, V$INSTANCE`
    grants     the objects that a user needs SELECT on: `SYS.GV_$SYSSTAT, SYS.V_$SYSSTAT`
    licence    `none`, or `Diagnostics Pack`
    versions   `11.2-` (11.2 and later), `12.1-`, `11.2-12.1`
    note       optional: what a developer must know about the SQL

The text names every GV$ view as `gv$name alias`, so that `here()` can replace it by the V$ view.

A file whose name starts with `awr_` or `statspack_` is a template. `history_NAME.sql` is the template of two
statements, `awr_NAME` and `statspack_NAME`, which differ in their views and in the columns that mark snapshots. A
header line `-- awr key: value` and a line of text that starts with `awr|` belong to `awr_NAME` only. In a template

    view       a header line in place of reads, grants and licence: the view that is read with its snapshots
    $key       in the text is replaced by the value of a header line, or of `_SOURCES`
    $joined    is the view `v` joined with its snapshots `s`, in the range that is read
    $names     are the names that the header lists under that key, as one literal a line
    $each      repeats its lines for each name under the header's key `columns`, with commas only between them

A template that is only a header has the text of the template that its key `text` names.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
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
        "owner": "SYS",
        "snapshot_view": "DBA_HIST_SNAPSHOT",
        "snapshots": "dba_hist_snapshot",
        "end_time": "s.end_interval_time",
        "in_range": "s.snap_id BETWEEN :from_snap AND :last_snap",
        "after_base": "snap_id > :base_snap",
        "licence": "Diagnostics Pack",
    },
    "statspack": {
        "owner": "PERFSTAT",
        "snapshot_view": "STATS$SNAPSHOT",
        "snapshots": "perfstat.stats$snapshot",
        "end_time": "CAST(s.snap_time AS TIMESTAMP)",
        "in_range": "s.snap_time BETWEEN :from_time AND :last_time",
        "after_base": "end_time > :base_time",
        "licence": "none",
    },
}
"""The value of each key in the statements of a template. AWR takes one snapshot of all instances, and its numbers grow
with time; with Statspack, each instance takes its own snapshots."""
_JOINED = """\
      FROM $snapshots s
      JOIN $values v
        ON v.dbid = s.dbid
       AND v.instance_number = s.instance_number
       AND v.snap_id = s.snap_id
     WHERE s.dbid = :dbid
       AND $in_range
awr|       AND v.dbid = :dbid
awr|       AND v.snap_id BETWEEN :from_snap AND :last_snap
"""
_HERE = " (this instance)"
_TOPIC = "sql "
_ONE_INSTANCE = "(SELECT me.instance_number AS inst_id, v.* FROM v${0} v CROSS JOIN v$instance me) {1}"


@dataclass(frozen=True)
class SqlStatement:
    """A statement, and the values of its header."""

    name: str
    text: str
    """The SQL as it is sent, without header and final semicolon."""
    purpose: str
    reads: tuple[str, ...]
    grants: tuple[str, ...]
    licence: str
    versions: str

    @property
    def topic(self) -> str:
        """Its topic in the journal and in findings: the same for all instances (GV$) and for one."""
        return f"{_TOPIC}{self.name.removesuffix(_HERE)}"

    @property
    def is_global(self) -> bool:
        """Whether it queries all instances (GV$)."""
        return _GLOBAL_VIEW.search(self.text) is not None

    @property
    def needs_licence(self) -> bool:
        """Whether it reads views that need the Diagnostics Pack."""
        return self.licence != "none"

    def here(self) -> SqlStatement:
        """The same statement for the connected instance only: V$ views instead of GV$, with INST_ID added."""
        text = _GLOBAL_VIEW.sub(lambda view: _ONE_INSTANCE.format(view[1], view[2]), self.text)
        reads = dict.fromkeys((*(re.sub(r"^GV\$", "V$", view) for view in self.reads), "V$INSTANCE"))
        return SqlStatement(
            f"{self.name}{_HERE}", text, self.purpose, tuple(reads), self.grants, self.licence, self.versions
        )


def parse_statement(name: str, source: str) -> SqlStatement:
    """Parse the file of a statement. Raises ValueError where the header lacks a key."""
    return _statement(name, *_split(name, source))


def parse_template(name: str, source: str, others: Mapping[str, str]) -> Iterator[SqlStatement]:
    """Yield the statements of a template, which may have the text of one of the others.

    Raises ValueError where a header lacks a key, KeyError where the text names an unknown key.
    """
    header, text = _split(name, source)
    if same := header.pop("text", None):
        _, text = _split(same, others[same])
    text = text.replace("$joined\n", _JOINED)
    for of, values in _SOURCES.items():
        if name.startswith((_TEMPLATE, f"{of}_")):
            own = {key.removeprefix(f"{of} "): value for key, value in header.items() if key.startswith(f"{of} ")}
            own |= {key: value for key, value in header.items() if " " not in key}
            known = values | _of_view(own.get("view", ""), values) | own
            lines = [line.removeprefix(f"{of}|") for line in text.splitlines() if _belongs(line, of)]
            full_name = f"{of}_{name.removeprefix(_TEMPLATE).removeprefix(f'{of}_')}"
            yield _statement(full_name, known, _filled("\n".join(lines), known))


def _of_view(view: str, values: Mapping[str, str]) -> dict[str, str]:
    """The header of a statement that reads a view of snapshots, and the view's name in the text."""
    if not view:
        return {}
    owner, views = values["owner"], (values["snapshot_view"], view)
    table = values["snapshots"].replace(values["snapshot_view"].lower(), view.lower())
    return {"reads": ", ".join(views), "grants": ", ".join(f"{owner}.{name}" for name in views), "values": table}


def _belongs(line: str, source: str) -> bool:
    return not any(line.startswith(f"{other}|") for other in _SOURCES if other != source)


def _filled(text: str, values: Mapping[str, str]) -> str:
    columns = _list_items(values.get("columns", ""))
    text = re.sub(r"(?:^.*\$each.*\n)+", lambda lines: _repeated(lines[0], columns), text, flags=re.MULTILINE)
    names = [f"'{name}'" for name in _list_items(values.get("names", ""))]
    text = Template(text).substitute({**values, "names": "$names"})
    return re.sub(
        r"^(.*)\$names", lambda line: line[1] + f",\n{' ' * len(line[1])}".join(names), text, flags=re.MULTILINE
    )


def _repeated(lines: str, columns: Iterable[str]) -> str:
    repeated = "".join(lines.replace("$each", column) for column in columns)
    return f"{repeated[:-2]}\n" if repeated.endswith(",\n") else repeated


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


def _statement(name: str, header: dict[str, str], text: str) -> SqlStatement:
    for wanted in _KEYS:
        if not header.get(wanted):
            raise ValueError(f"{name}.sql: the header lacks the key {wanted!r}.")
    return SqlStatement(
        name=name,
        text=text,
        purpose=header["purpose"],
        reads=_list_items(header["reads"]),
        grants=_list_items(header["grants"]),
        licence=header["licence"],
        versions=header["versions"],
    )


@cache
def statements() -> dict[str, SqlStatement]:
    """Every statement by name."""
    found: list[SqlStatement] = []
    folder = files("checks.sources.database").joinpath("queries").iterdir()
    sources = {f.name[:-4]: f.read_text(encoding="utf-8") for f in folder if f.name.endswith(".sql")}
    for name, text in sources.items():
        is_template = name.startswith((_TEMPLATE, *(f"{of}_" for of in _SOURCES)))
        found += parse_template(name, text, sources) if is_template else [parse_statement(name, text)]
    return {statement.name: statement for statement in sorted(found, key=lambda statement: statement.name)}


def is_of_database(topic: str) -> bool:
    """Return whether a topic of the journal is that of a statement, or of the login."""
    return topic.startswith(_TOPIC)


def statement(name: str) -> SqlStatement:
    """The statement of that name. Raises KeyError where none has it."""
    return statements()[name]


def _list_items(text: str) -> tuple[str, ...]:
    return tuple(item.strip() for item in text.split(",") if item.strip())
