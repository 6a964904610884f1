"""The views of the practice database, with the columns of each version of Oracle Database.

Each column has a short notation: `MTU N`, `CON_ID N 12.1-`, `WRITE1 N -21`. The types: `N` a whole number, `N2` a
number with two decimals, `V30` VARCHAR2(30), `D` DATE, `T3` TIMESTAMP(3), `Z` TIMESTAMP WITH TIME ZONE, `I` INTERVAL
DAY TO SECOND, `R8` RAW(8). Source: "Database Reference" of each version.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from racwire_lab.oracle_sql.kinds import BYTES, DATE, INTERVAL, TIMESTAMP, TIMESTAMP_TZ, ColumnKind, number, text
from racwire_lab.oracle_sql.restore_points import AREA_COLUMNS, POINT_COLUMNS
from racwire_lab.oracle_sql.storage_views import STORAGE_VIEWS

Version = tuple[int, int]

VERSIONS: tuple[Version, ...] = ((11, 2), (12, 1), (12, 2), (18, 0), (19, 0), (21, 0), (23, 0), (23, 26))
"""The releases whose views differ; 23.26 is 26ai."""

FREE_HISTORY = frozenset(
    f"DBA_HIST_{name}"
    for name in ("SNAPSHOT", "DATABASE_INSTANCE", "SNAP_ERROR", "SEG_STAT", "SEG_STAT_OBJ", "UNDOSTAT")
)
"""Views of AWR that need no Diagnostics Pack (Licensing Information User Manual, "Oracle Diagnostics Pack")."""


def parse_version(text_: str) -> Version:
    """Return `12.1` or `12.1.0.2.0` as numbers. From 18c on only the first counts, except for 26ai (23.26)."""
    major, _, rest = text_.strip().partition(".")
    minor = rest.partition(".")[0]
    if int(major) < 18:
        return int(major), int(minor or 0)
    return int(major), 26 if (int(major), int(minor or 0)) >= (23, 26) else 0


@dataclass(frozen=True)
class VersionRange:
    """A range of versions: `12.1-`, `-12.1`, `11.2-12.1` or empty; both ends are included."""

    since: Version = (0, 0)
    until: Version = (999, 0)

    @classmethod
    def parse(cls, text_: str) -> VersionRange:
        """Return the range from its text. Raises ValueError when the text has no `-`."""
        if not text_:
            return cls()
        since, dash, until = text_.partition("-")
        if not dash:
            raise ValueError(f"{text_!r} is not a range of versions such as `12.1-` or `11.2-12.1`.")
        return cls(parse_version(since) if since else (0, 0), parse_version(until) if until else (999, 0))

    def __contains__(self, version: object) -> bool:
        return isinstance(version, tuple) and self.since <= version <= self.until

    def known(self) -> tuple[Version, ...]:
        """Return the releases of `VERSIONS` within the range."""
        return tuple(version for version in VERSIONS if version in self)


@dataclass(frozen=True)
class ViewColumn:
    """A column, and the versions that have it."""

    name: str
    kind: ColumnKind
    versions: VersionRange


@dataclass(frozen=True)
class View:
    """A view, and the versions that have it."""

    name: str
    owner: str
    columns: tuple[ViewColumn, ...]
    versions: VersionRange
    is_public: bool = False
    """Whether all users may read it."""

    def of(self, version: Version) -> dict[str, ColumnKind]:
        """Return the columns in that version, in order."""
        return {column.name: column.kind for column in self.columns if version in column.versions}

    @property
    def is_live(self) -> bool:
        """Whether its rows come from the running instances."""
        return self.name.startswith(("V$", "GV$")) or self.name == IC_CLIENTS

    @property
    def is_history(self) -> bool:
        """Whether it is a table of AWR or Statspack."""
        return self.name.startswith(("DBA_HIST_", "STATS$"))

    @property
    def needs_licence(self) -> bool:
        """Whether only the Diagnostics Pack permits to read it."""
        return self.name.startswith("DBA_HIST_") and self.name not in FREE_HISTORY

    @property
    def grant(self) -> str:
        """The object for GRANT SELECT: `SYS.GV_$SYSSTAT`; empty for a view that all users may read."""
        if self.is_public:
            return ""
        return f"{self.owner}.{self.name.replace('V$', 'V_$', 1) if self.is_live else self.name}"


def _define(
    name: str, columns: str, *, owner: str = "SYS", versions: str = "", is_public: bool = False, con_id: bool = False
) -> View:
    """Return a view from its text: columns separated by commas, each `NAME TYPE [VERSIONS]`."""
    texts = [column.strip() for column in columns.replace("\n", " ").split(",") if column.strip()]
    if con_id:
        texts.append("CON_ID N 12.1-")
    return View(name, owner, tuple(_column(column) for column in texts), VersionRange.parse(versions), is_public)


def _on_every_instance(one: Iterable[View]) -> Iterator[View]:
    """Yield the V$ views, and the GV$ view of each: with INST_ID before the other columns."""
    inst_id = _column("INST_ID N")
    for view in one:
        yield view
        yield View(f"G{view.name}", view.owner, (inst_id, *view.columns), view.versions, view.is_public)


_TYPE = re.compile(r"([NVDTZIR])(\d*)")


def _column(column: str) -> ViewColumn:
    name, type_, *versions = column.split()
    matched = _TYPE.fullmatch(type_)
    if matched is None:
        raise ValueError(f"{column!r}: the type {type_!r} is unknown.")
    letter, size = matched[1], int(matched[2] or 0)
    kinds = {"D": DATE, "T": TIMESTAMP, "Z": TIMESTAMP_TZ, "I": INTERVAL, "R": BYTES, "N": number(size)}
    kind = text(size) if letter == "V" else kinds[letter]
    return ViewColumn(name, kind, VersionRange.parse(versions[0] if versions else ""))


_PING = "CURRENT_{0} N, AVERAGE_{0} N, MAX_{0} N, COUNT_{0} N, WAIT_TIME_{0} N, WAIT_TIME_SQUARED_{0} N"

_TRANSFER = ", ".join(
    f"{kind}_{way} N, {kind}_{way}_TIME N"
    for kind in ("CR", "CURRENT")
    for way in ("BLOCK", "2HOP", "3HOP", "BUSY", "CONGESTED")
)

_PARAMETER = """NUM N, NAME V80, TYPE N, VALUE V4000, DISPLAY_VALUE V4000, DEFAULT_VALUE V255 12.2-, ISDEFAULT V9,
    ISSES_MODIFIABLE V5, ISSYS_MODIFIABLE V9, ISPDB_MODIFIABLE V5 12.1-, ISINSTANCE_MODIFIABLE V5, ISMODIFIED V10,
    ISADJUSTED V5, ISDEPRECATED V5, ISBASIC V5, DESCRIPTION V255, UPDATE_COMMENT V255, HASH N"""

_PINS_AND_FLUSHES = """
    PINUNDER N 23-, PIN0 N 12.2-, PIN1 N, PIN10 N, PIN100 N, PIN1000 N, PIN10000 N, PINOVER N 23-,
    FLUSHUNDER N 23-, FLUSH0 N 12.2-, FLUSH1 N, FLUSH10 N, FLUSH100 N, FLUSH1000 N, FLUSH10000 N, FLUSHOVER N 23-"""
_CR_BLOCK_SERVER = """CR_REQUESTS N, CURRENT_REQUESTS N, DATA_REQUESTS N, UNDO_REQUESTS N, TX_REQUESTS N,
    {0}CURRENT_RESULTS N, PRIVATE_RESULTS N, ZERO_RESULTS N, DISK_READ_RESULTS N, FAIL_RESULTS N,
    {1}FAIRNESS_DOWN_CONVERTS N, FAIRNESS_CLEARS N, FREE_GC_ELEMENTS N, FLUSHES N, FLUSHES_QUEUED N,
    FLUSH_QUEUE_FULL N, FLUSH_MAX_TIME N, LIGHT_WORKS N, ERRORS N"""
"""AWR and Statspack lack the two columns that are left out here."""

_ONE = (
    _define(
        "V$INSTANCE",
        """INSTANCE_NUMBER N, INSTANCE_NAME V16, HOST_NAME V64, VERSION V17, VERSION_LEGACY V17 18-,
        VERSION_FULL V17 18-, STARTUP_TIME D, STATUS V12, PARALLEL V3, THREAD# N, ARCHIVER V7, LOG_SWITCH_WAIT V15,
        LOGINS V10, SHUTDOWN_PENDING V3, DATABASE_STATUS V17, INSTANCE_ROLE V18, ACTIVE_STATE V9, BLOCKED V3,
        CON_ID N 12.1-, INSTANCE_MODE V11 12.1-, EDITION V7 12.1-, FAMILY V80 12.1-, DATABASE_TYPE V15 12.2-""",
    ),
    _define(
        "V$DATABASE",
        """DBID N, NAME V9, CREATED D, RESETLOGS_CHANGE# N, RESETLOGS_TIME D, LOG_MODE V12, OPEN_MODE V20,
        PROTECTION_MODE V20, PROTECTION_LEVEL V20, REMOTE_ARCHIVE V8, ACTIVATION# N, SWITCHOVER# N, DATABASE_ROLE V16,
        GUARD_STATUS V7, SWITCHOVER_STATUS V20, DATAGUARD_BROKER V8, FORCE_LOGGING V39, PLATFORM_ID N,
        PLATFORM_NAME V101, CURRENT_SCN N, FLASHBACK_ON V18, DB_UNIQUE_NAME V30, CDB V3 12.1-, CON_ID N 12.1-,
        CON_DBID N 12.1-""",
    ),
    _define("V$RESTORE_POINT", POINT_COLUMNS, con_id=True),
    _define("V$RECOVERY_FILE_DEST", AREA_COLUMNS, con_id=True),
    _define("V$VERSION", "BANNER V80, BANNER_FULL V160 18-, BANNER_LEGACY V80 18-", is_public=True, con_id=True),
    _define("V$ACTIVE_INSTANCES", "INST_NUMBER N, INST_NAME V60", is_public=True, con_id=True),
    _define("V$SYSSTAT", "STATISTIC# N, NAME V64, CLASS N, VALUE N, STAT_ID N", con_id=True),
    _define("V$STATNAME", "STATISTIC# N, NAME V64, CLASS N, STAT_ID N, DISPLAY_NAME V64 12.1-", con_id=True),
    _define(
        "V$SYSTEM_EVENT",
        """EVENT V64, TOTAL_WAITS N, TOTAL_TIMEOUTS N, TIME_WAITED N, AVERAGE_WAIT N2, TIME_WAITED_MICRO N,
        TOTAL_WAITS_FG N, TOTAL_TIMEOUTS_FG N, TIME_WAITED_FG N, AVERAGE_WAIT_FG N2, TIME_WAITED_MICRO_FG N,
        EVENT_ID N, WAIT_CLASS_ID N, WAIT_CLASS# N, WAIT_CLASS V64""",
        con_id=True,
    ),
    _define(
        "V$EVENT_HISTOGRAM", "EVENT# N, EVENT V64, WAIT_TIME_MILLI N, WAIT_COUNT N, LAST_UPDATE_TIME V64", con_id=True
    ),
    _define(
        "V$EVENT_HISTOGRAM_MICRO",
        "EVENT# N, EVENT V64, WAIT_TIME_FORMAT V30, WAIT_TIME_MICRO N, WAIT_COUNT N, LAST_UPDATE_TIME V64",
        versions="12.1-",
        con_id=True,
    ),
    _define("V$DLM_MISC", "STATISTIC# N, NAME V38, VALUE N", con_id=True),
    _define("V$CR_BLOCK_SERVER", _CR_BLOCK_SERVER.format("OTHER_REQUESTS N, ", "STALE N, "), con_id=True),
    _define(
        "V$CURRENT_BLOCK_SERVER",
        f"""{_PINS_AND_FLUSHES}, WRITE1 N -21, WRITE10 N -21, WRITE100 N -21, WRITE1000 N -21, WRITE10000 N -21,
        CLEANDC N, RCVDC N, QUEUEDC N, EVICTDC N, WRITEDC N""",
        con_id=True,
    ),
    _define(
        "V$INSTANCE_CACHE_TRANSFER",
        f"INSTANCE N, CLASS V18, LOST N, LOST_TIME N, {_TRANSFER}, CR_RDMA N 23-, CURRENT_RDMA N 23-",
        con_id=True,
    ),
    _define("V$INSTANCE_PING", f"INSTANCE N, {_PING.format('500B')}, {_PING.format('8K')}", con_id=True),
    _define(
        "V$CLUSTER_INTERCONNECTS",
        "NAME V15, IP_ADDRESS V46, IS_PUBLIC V4, SOURCE V31, PNAME V15 23-, TRANSPORT V45 23.26-",
        con_id=True,
    ),
    _define("V$CONFIGURED_INTERCONNECTS", "NAME V15, IP_ADDRESS V64, IS_PUBLIC V3, SOURCE V31", con_id=True),
    *(_define(name, _PARAMETER, con_id=True) for name in ("V$PARAMETER", "V$SYSTEM_PARAMETER")),
    _define("V$SERVICE_STATS", "SERVICE_NAME_HASH N, SERVICE_NAME V64, STAT_ID N, STAT_NAME V64, VALUE N", con_id=True),
    *(_define(name, columns, con_id=True) for name, columns in STORAGE_VIEWS.items()),
    _define("V$OSSTAT", "STAT_NAME V64, VALUE N, OSSTAT_ID N, COMMENTS V64, CUMULATIVE V3", con_id=True),
    _define(
        "V$CONTAINERS",
        """CON_ID N, DBID N, CON_UID N, GUID R16, NAME V128, OPEN_MODE V10, RESTRICTED V3, OPEN_TIME Z,
        TOTAL_SIZE N, BLOCK_SIZE N, RECOVERY_STATUS V8, APPLICATION_ROOT V3 12.2-, APPLICATION_PDB V3 12.2-""",
        versions="12.1-",
    ),
    _define(
        "V$PDBS",
        """CON_ID N, DBID N, CON_UID N, GUID R16, NAME V128, OPEN_MODE V10, RESTRICTED V3, OPEN_TIME Z,
        CREATE_SCN N, TOTAL_SIZE N, BLOCK_SIZE N, RECOVERY_STATUS V8""",
        versions="12.1-",
    ),
    _define(
        "V$SESSION", "SID N, SERIAL# N, USERNAME V128, MODULE V64, ACTION V64, PROGRAM V48, STATUS V8", con_id=True
    ),
)

LIVE: tuple[View, ...] = tuple(_on_every_instance(_ONE))
"""V$ and GV$ views: the state of the instances, without a licence."""

IC_CLIENTS = "RACWIRE_IC_CLIENTS"
"""The view that a DBA of the practice database has created over X$KSXPCLIENT: the connected instance's state."""
DBA_VIEWS = (_define(IC_CLIENTS, "INST_ID N, NAME V9, BYTES_SENT N, BYTES_RECEIVED N"),)

_TABLE = "TABLE_NAME V128, TABLESPACE_NAME V30, STATUS V8"
_VIEW = "VIEW_NAME V128, TEXT_LENGTH N"
_OBJECT = "OBJECT_NAME V128, SUBOBJECT_NAME V128, OBJECT_ID N, OBJECT_TYPE V23, STATUS V7"
_PRIVILEGE = "GRANTEE V128, OWNER V128, TABLE_NAME V128, GRANTOR V128, PRIVILEGE V40, GRANTABLE V3"

CATALOG: tuple[View, ...] = (
    _define("DUAL", "DUMMY V1", is_public=True),
    _define("ALL_TABLES", f"OWNER V128, {_TABLE}", is_public=True),
    _define("ALL_VIEWS", f"OWNER V128, {_VIEW}", is_public=True),
    _define("ALL_OBJECTS", f"OWNER V128, {_OBJECT}", is_public=True),
    _define("ALL_TAB_COLUMNS", "OWNER V128, TABLE_NAME V128, COLUMN_NAME V128, COLUMN_ID N", is_public=True),
    _define("USER_TABLES", _TABLE, is_public=True),
    _define("USER_VIEWS", _VIEW, is_public=True),
    _define("USER_OBJECTS", _OBJECT, is_public=True),
    _define("USER_TAB_PRIVS", _PRIVILEGE, is_public=True),
    _define("SESSION_PRIVS", "PRIVILEGE V40", is_public=True),
    _define("SESSION_ROLES", "ROLE V128", is_public=True),
    _define("USER_USERS", "USERNAME V128, USER_ID N, ACCOUNT_STATUS V32, CREATED D", is_public=True),
)
"""DUAL, and the views of the catalogue."""


def _awr(name: str, columns: str) -> View:
    """Return a view of AWR, with the columns of its snapshots."""
    keys = "SNAP_ID N, DBID N, INSTANCE_NUMBER N"
    return _define(f"DBA_HIST_{name}", f"{keys}, {columns}, CON_DBID N 12.1-, CON_ID N 12.1-")


AWR: tuple[View, ...] = (
    _define(
        "DBA_HIST_SNAPSHOT",
        """SNAP_ID N, DBID N, INSTANCE_NUMBER N, STARTUP_TIME T3, BEGIN_INTERVAL_TIME T3, END_INTERVAL_TIME T3,
        FLUSH_ELAPSED I, SNAP_LEVEL N, ERROR_COUNT N, SNAP_FLAG N, SNAP_TIMEZONE I,
        BEGIN_INTERVAL_TIME_TZ Z 19-, END_INTERVAL_TIME_TZ Z 19-, CON_ID N 12.1-""",
    ),
    _define(
        "DBA_HIST_DATABASE_INSTANCE",
        """DBID N, INSTANCE_NUMBER N, STARTUP_TIME T3, PARALLEL V3, VERSION V17, DB_NAME V9, INSTANCE_NAME V16,
        HOST_NAME V64, LAST_ASH_SAMPLE_ID N, PLATFORM_NAME V101, CDB V3 12.2-, EDITION V7 12.2-,
        DB_UNIQUE_NAME V30 12.2-, DATABASE_ROLE V16 12.2-, CDB_ROOT_DBID N 12.2-, CON_ID N 12.1-,
        STARTUP_TIME_TZ Z 19-""",
    ),
    _define(
        "DBA_HIST_SNAP_ERROR",
        "SNAP_ID N, DBID N, INSTANCE_NUMBER N, TABLE_NAME V128, ERROR_NUMBER N, CON_DBID N 12.1-, CON_ID N 12.1-",
    ),
    _define(
        "DBA_HIST_WR_CONTROL",
        """DBID N, SNAP_INTERVAL I, RETENTION I, TOPNSQL V10, CON_ID N 12.1-, SRC_DBID N 18-, SRC_DBNAME V30 18-,
        TABLESPACE_NAME V128 18-""",
    ),
    _awr("SYSSTAT", "STAT_ID N, STAT_NAME V64, VALUE N"),
    _awr(
        "SYSTEM_EVENT",
        """EVENT_ID N, EVENT_NAME V64, WAIT_CLASS_ID N, WAIT_CLASS V64, TOTAL_WAITS N, TOTAL_TIMEOUTS N,
        TIME_WAITED_MICRO N, TOTAL_WAITS_FG N, TOTAL_TIMEOUTS_FG N, TIME_WAITED_MICRO_FG N""",
    ),
    _awr(
        "EVENT_HISTOGRAM",
        "EVENT_ID N, EVENT_NAME V64, WAIT_CLASS_ID N, WAIT_CLASS V64, WAIT_TIME_MILLI N, WAIT_COUNT N",
    ),
    _awr("DLM_MISC", "STATISTIC# N, NAME V38, VALUE N"),
    _awr(
        "INST_CACHE_TRANSFER",
        f"INSTANCE N, CLASS V18, {_TRANSFER}, LOST N, LOST_TIME N, CR_RDMA N 23-, CURRENT_RDMA N 23-",
    ),
    _awr(
        "INTERCONNECT_PINGS",
        "TARGET_INSTANCE N, CNT_500B N, WAIT_500B N, WAITSQ_500B N, CNT_8K N, WAIT_8K N, WAITSQ_8K N",
    ),
    _awr(
        "IC_DEVICE_STATS",
        """IF_NAME V256, IP_ADDR V64, NET_MASK V16, FLAGS V32, MTU N, BYTES_RECEIVED N, PACKETS_RECEIVED N,
        RECEIVE_ERRORS N, RECEIVE_DROPPED N, RECEIVE_BUF_OR N, RECEIVE_FRAME_ERR N, BYTES_SENT N, PACKETS_SENT N,
        SEND_ERRORS N, SENDS_DROPPED N, SEND_BUF_OR N, SEND_CARRIER_LOST N""",
    ),
    _awr("IC_CLIENT_STATS", "NAME V9, BYTES_SENT N, BYTES_RECEIVED N"),
    _awr(
        "CLUSTER_INTERCON",
        "NAME V256, PNAME V256 23.26-, TRANSPORT V256 23.26-, IP_ADDRESS V64, IS_PUBLIC V3, SOURCE V31",
    ),
    _awr("PARAMETER", "PARAMETER_HASH N, PARAMETER_NAME V64, VALUE V512, ISDEFAULT V9, ISMODIFIED V10"),
    _awr("CR_BLOCK_SERVER", _CR_BLOCK_SERVER.format("", "")),
    _awr(
        "CURRENT_BLOCK_SERVER",
        f"""{_PINS_AND_FLUSHES}, WRITE1 N -12.2, WRITE10 N -12.2, WRITE100 N -12.2, WRITE1000 N -12.2,
        WRITE10000 N -12.2""",
    ),
)
"""DBA_HIST views: all except `FREE_HISTORY` need the Diagnostics Pack."""


_CURRENT = ", ".join(f"{what}{limit} N" for what in ("PIN", "FLUSH", "WRITE") for limit in (1, 10, 100, 1000, 10000))


def _statspack(name: str, columns: str) -> View:
    return _define(f"STATS${name}", f"SNAP_ID N, DBID N, INSTANCE_NUMBER N, {columns}", owner="PERFSTAT")


STATSPACK: tuple[View, ...] = (
    _statspack(
        "SNAPSHOT",
        """SNAP_TIME D, STARTUP_TIME D, SESSION_ID N, SERIAL# N, SNAP_LEVEL N, UCOMMENT V160, EXECUTIONS_TH N,
        PARSE_CALLS_TH N, DISK_READS_TH N, BUFFER_GETS_TH N, SHARABLE_MEM_TH N, VERSION_COUNT_TH N,
        SEG_PHY_READS_TH N, SEG_LOG_READS_TH N, SEG_BUFF_BUSY_TH N, SEG_ROWLOCK_W_TH N, SEG_ITL_WAITS_TH N,
        SEG_CR_BKS_SD_TH N, SEG_CU_BKS_SD_TH N, SEG_CR_BKS_RC_TH N, SEG_CU_BKS_RC_TH N, SNAPSHOT_EXEC_TIME_S N2,
        ALL_INIT V5, BASELINE V1""",
    ),
    _define(
        "STATS$DATABASE_INSTANCE",
        """DBID N, INSTANCE_NUMBER N, STARTUP_TIME D, SNAP_ID N, PARALLEL V3, VERSION V17, DB_NAME V9,
        INSTANCE_NAME V16, HOST_NAME V64, PLATFORM_NAME V101""",
        owner="PERFSTAT",
    ),
    _statspack("SYSSTAT", "STATISTIC# N, NAME V64, VALUE N"),
    _statspack(
        "SYSTEM_EVENT",
        """EVENT V64, TOTAL_WAITS N, TOTAL_TIMEOUTS N, TIME_WAITED_MICRO N, TOTAL_WAITS_FG N, TOTAL_TIMEOUTS_FG N,
        TIME_WAITED_MICRO_FG N, EVENT_ID N""",
    ),
    _statspack("DLM_MISC", "STATISTIC# N, NAME V38, VALUE N"),
    _statspack(
        "INSTANCE_CACHE_TRANSFER",
        """INSTANCE N, CLASS V18, CR_BLOCK N, CR_BUSY N, CR_CONGESTED N, CURRENT_BLOCK N, CURRENT_BUSY N,
        CURRENT_CONGESTED N""",
    ),
    _statspack(
        "INTERCONNECT_PINGS",
        "TARGET_INSTANCE N, ITER_500B N, WAIT_500B N, WAITSQ_500B N, ITER_8K N, WAIT_8K N, WAITSQ_8K N",
    ),
    _statspack("CR_BLOCK_SERVER", _CR_BLOCK_SERVER.format("", "")),
    _statspack("CURRENT_BLOCK_SERVER", _CURRENT),
    _statspack("PARAMETER", "NAME V64, VALUE V4000, ISDEFAULT V9, ISMODIFIED V10"),
)
"""STATS$ tables: Statspack, owned by PERFSTAT, from the install script spctab.sql."""

_VIEWS = {view.name: view for view in (*LIVE, *DBA_VIEWS, *CATALOG, *AWR, *STATSPACK)}


def views() -> dict[str, View]:
    """Return every view of every version by name, `GV$SYSSTAT`."""
    return _VIEWS


def find_view(name: str, schema: str = "") -> View | None:
    """Return the view called `gv$sysstat`, `sys.gv_$sysstat` or `perfstat.stats$snapshot`; None if unknown."""
    name, schema = name.upper(), schema.upper()
    view = _VIEWS.get(re.sub(r"^(G?)V_\$", r"\1V$", name))
    if view is None or (schema and schema != view.owner) or (schema == "PUBLIC"):
        return None
    return view
