"""STATS$ tables: Statspack, owned by PERFSTAT, from the install script spctab.sql."""

from __future__ import annotations

from racwire_lab.oracle_sql.dictionary import View, define
from racwire_lab.oracle_sql.dictionary_live import CR_BLOCK_SERVER

_CURRENT = ", ".join(f"{what}{limit} N" for what in ("PIN", "FLUSH", "WRITE") for limit in (1, 10, 100, 1000, 10000))


def _kept(name: str, columns: str) -> View:
    return define(f"STATS${name}", f"SNAP_ID N, DBID N, INSTANCE_NUMBER N, {columns}", owner="PERFSTAT")


VIEWS: tuple[View, ...] = (
    _kept(
        "SNAPSHOT",
        """SNAP_TIME D, STARTUP_TIME D, SESSION_ID N, SERIAL# N, SNAP_LEVEL N, UCOMMENT V160, EXECUTIONS_TH N,
        PARSE_CALLS_TH N, DISK_READS_TH N, BUFFER_GETS_TH N, SHARABLE_MEM_TH N, VERSION_COUNT_TH N,
        SEG_PHY_READS_TH N, SEG_LOG_READS_TH N, SEG_BUFF_BUSY_TH N, SEG_ROWLOCK_W_TH N, SEG_ITL_WAITS_TH N,
        SEG_CR_BKS_SD_TH N, SEG_CU_BKS_SD_TH N, SEG_CR_BKS_RC_TH N, SEG_CU_BKS_RC_TH N, SNAPSHOT_EXEC_TIME_S N2,
        ALL_INIT V5, BASELINE V1""",
    ),
    define(
        "STATS$DATABASE_INSTANCE",
        """DBID N, INSTANCE_NUMBER N, STARTUP_TIME D, SNAP_ID N, PARALLEL V3, VERSION V17, DB_NAME V9,
        INSTANCE_NAME V16, HOST_NAME V64, PLATFORM_NAME V101""",
        owner="PERFSTAT",
    ),
    _kept("SYSSTAT", "STATISTIC# N, NAME V64, VALUE N"),
    _kept(
        "SYSTEM_EVENT",
        """EVENT V64, TOTAL_WAITS N, TOTAL_TIMEOUTS N, TIME_WAITED_MICRO N, TOTAL_WAITS_FG N, TOTAL_TIMEOUTS_FG N,
        TIME_WAITED_MICRO_FG N, EVENT_ID N""",
    ),
    _kept("DLM_MISC", "STATISTIC# N, NAME V38, VALUE N"),
    _kept(
        "INSTANCE_CACHE_TRANSFER",
        """INSTANCE N, CLASS V18, CR_BLOCK N, CR_BUSY N, CR_CONGESTED N, CURRENT_BLOCK N, CURRENT_BUSY N,
        CURRENT_CONGESTED N""",
    ),
    _kept(
        "INTERCONNECT_PINGS",
        "TARGET_INSTANCE N, ITER_500B N, WAIT_500B N, WAITSQ_500B N, ITER_8K N, WAIT_8K N, WAITSQ_8K N",
    ),
    _kept("CR_BLOCK_SERVER", CR_BLOCK_SERVER.format("", "")),
    _kept("CURRENT_BLOCK_SERVER", _CURRENT),
    _kept("PARAMETER", "NAME V64, VALUE V4000, ISDEFAULT V9, ISMODIFIED V10"),
)
