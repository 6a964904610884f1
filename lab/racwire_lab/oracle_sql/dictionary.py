"""The views of the practice database, with the columns that each version of Oracle Database gives them.

The views are written down in `dictionary_live`, `dictionary_awr`, `dictionary_statspack` and `dictionary_catalog`, each
column in a few words: `MTU N`, `CON_ID N 12.1-`, `WRITE1 N -21`. The types: `N` a whole number, `N2` one with two
decimals, `V30` VARCHAR2(30), `D` DATE, `T3` TIMESTAMP(3), `Z` TIMESTAMP WITH TIME ZONE, `I` INTERVAL DAY TO SECOND,
`R8` RAW(8).

From the documentation, "Database Reference" of each version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache

from racwire_lab.oracle_sql.kinds import BYTES, DATE, INTERVAL, TIMESTAMP, TIMESTAMP_TZ, Kind, number, text

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = ((11, 2), (12, 1), (12, 2), (18, 0), (19, 0), (21, 0), (23, 0), (23, 26))
"""The releases whose views differ; 23.26 is 26ai."""

FREE_HISTORY = frozenset(
    {
        "DBA_HIST_SNAPSHOT",
        "DBA_HIST_DATABASE_INSTANCE",
        "DBA_HIST_SNAP_ERROR",
        "DBA_HIST_SEG_STAT",
        "DBA_HIST_SEG_STAT_OBJ",
        "DBA_HIST_UNDOSTAT",
    }
)
"""Views of AWR that need no Diagnostics Pack (Licensing Information User Manual, "Oracle Diagnostics Pack")."""


def parse_version(text_: str) -> Version:
    """`12.1` or `12.1.0.2.0` as numbers. From 18c on the first number tells, but for 26ai, which is 23.26."""
    major, _, rest = text_.strip().partition(".")
    minor = rest.partition(".")[0]
    if int(major) < 18:
        return int(major), int(minor or 0)
    return int(major), 26 if (int(major), int(minor or 0)) >= (23, 26) else 0


@dataclass(frozen=True)
class VersionRange:
    """`12.1-`, `-12.1`, `11.2-12.1` or empty: from and to, both included."""

    since: Version = (0, 0)
    until: Version = (999, 0)

    @classmethod
    def parse(cls, text_: str) -> VersionRange:
        """From its text. Raises ValueError when there is no `-` in it."""
        if not text_:
            return cls()
        since, dash, until = text_.partition("-")
        if not dash:
            raise ValueError(f"{text_!r} is no range of versions such as `12.1-` or `11.2-12.1`.")
        return cls(parse_version(since) if since else (0, 0), parse_version(until) if until else (999, 0))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, tuple) and self.since <= version <= self.until

    def known(self) -> tuple[Version, ...]:
        """The releases of `VERSIONS` within it."""
        return tuple(version for version in VERSIONS if version in self)


@dataclass(frozen=True)
class ViewColumn:
    """A column, and the versions that have it."""

    name: str
    kind: Kind
    versions: VersionRange


@dataclass(frozen=True)
class View:
    """A view, and the versions that have it."""

    name: str
    owner: str
    columns: tuple[ViewColumn, ...]
    versions: VersionRange
    is_public: bool = False
    """Everybody may read it."""

    def of(self, version: Version) -> dict[str, Kind]:
        """Its columns in that version, in order."""
        return {column.name: column.kind for column in self.columns if version in column.versions}

    @property
    def is_live(self) -> bool:
        """Made from the living instances."""
        return self.name.startswith(("V$", "GV$"))

    @property
    def is_history(self) -> bool:
        """A table of AWR or Statspack."""
        return self.name.startswith(("DBA_HIST_", "STATS$"))

    @property
    def needs_licence(self) -> bool:
        """Whether only the Diagnostics Pack allows to read it."""
        return self.name.startswith("DBA_HIST_") and self.name not in FREE_HISTORY

    @property
    def grant(self) -> str:
        """What SELECT has to be granted on: `SYS.GV_$SYSSTAT`; empty for what everybody may read."""
        if self.is_public:
            return ""
        return f"{self.owner}.{self.name.replace('V$', 'V_$', 1) if self.is_live else self.name}"


@cache
def views() -> dict[str, View]:
    """Every view of every version by name, `GV$SYSSTAT`."""
    from racwire_lab.oracle_sql import dictionary_awr, dictionary_catalog, dictionary_live, dictionary_statspack

    found: dict[str, View] = {}
    for view in (
        *dictionary_live.VIEWS,
        *dictionary_awr.VIEWS,
        *dictionary_statspack.VIEWS,
        *dictionary_catalog.VIEWS,
    ):
        found[view.name] = view
    return found


def find_view(name: str, schema: str = "") -> View | None:
    """The view that a statement means by `gv$sysstat`, `sys.gv_$sysstat` or `perfstat.stats$snapshot`."""
    name, schema = name.upper(), schema.upper()
    view = views().get(re.sub(r"^(G?)V_\$", r"\1V$", name))
    if view is None or (schema and schema != view.owner) or (schema == "PUBLIC"):
        return None
    return view


def define(
    name: str, columns: str, *, owner: str = "SYS", versions: str = "", is_public: bool = False, con_id: bool = False
) -> View:
    """A view from its text: columns separated by commas, each `NAME TYPE [VERSIONS]`."""
    texts = [column.strip() for column in columns.replace("\n", " ").split(",") if column.strip()]
    if con_id:
        texts.append("CON_ID N 12.1-")
    return View(name, owner, tuple(_column(column) for column in texts), VersionRange.parse(versions), is_public)


def on_every_instance(one: Iterable[View]) -> Iterator[View]:
    """The V$ views and the GV$ view of each: with INST_ID before the rest."""
    inst_id = _column("INST_ID N")
    for view in one:
        yield view
        yield View(f"G{view.name}", view.owner, (inst_id, *view.columns), view.versions, view.is_public)


_TYPE = re.compile(r"([NVDTZIR])(\d*)")


def _column(column: str) -> ViewColumn:
    name, type_, *versions = column.split()
    matched = _TYPE.fullmatch(type_)
    if matched is None:
        raise ValueError(f"{column!r}: the type {type_!r} is not known.")
    letter, size = matched[1], int(matched[2] or 0)
    kinds = {"D": DATE, "T": TIMESTAMP, "Z": TIMESTAMP_TZ, "I": INTERVAL, "R": BYTES, "N": number(size)}
    kind = text(size) if letter == "V" else kinds[letter]
    return ViewColumn(name, kind, VersionRange.parse(versions[0] if versions else ""))
