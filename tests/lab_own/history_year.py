"""The two processes of the year-long history: `serve` has the database, `read` has only racwire's modules.

They send lines of JSON to the test on stdout; `serve` ends with its stdin.
"""

from __future__ import annotations

import asyncio
import json
import re
import sys
from datetime import datetime
from pathlib import Path
from typing import Any

PASSWORD = "year-5b1f"
DAYS = 3660


def plan() -> Any:
    """Return hourly snapshots of eight instances: each restarted once, some snapshots missing, and a loss from August
    on."""
    from racwire_lab.history.history_plan import HistoryPlan, MtuChange, PlannedLoss, Restart

    return HistoryPlan(
        seed=20260101,
        first_end=datetime(2025, 11, 1, 0, 0, 4),
        intervals_s=(3600,) * 8760,
        instances=tuple((number, f"prod{number}", f"rac{number}") for number in range(1, 9)),
        restarts=tuple(Restart(number, 731 * number, down=number % 3) for number in range(1, 9)),
        missing=((1, 4000), (3, 7000), (3, 7001)),
        losses=(PlannedLoss(3, 6, first=6600),),
        mtu_changes=(MtuChange(6, 6590, 1500),),
    )


def serve() -> None:
    """Serve Oracle Net until stdin is closed."""
    from racwire_lab.history.source import GeneratedHistory
    from racwire_lab.oracle_net.server import serving
    from racwire_lab.oracle_net.verifier import Verifier
    from racwire_lab.oracle_sql.engine import SqlEngine
    from racwire_lab.oracle_sql.identity import Access, DatabaseIdentity

    class NoConnections:
        def states(self, scope: str, cancellation: object) -> tuple[()]:
            return ()

    year = plan()
    engine = SqlEngine(
        NoConnections(),
        identity=DatabaseIdentity(year.db_name, "prod", year.dbid),
        instance=1,
        access=Access.all("RACWIRE"),
        history=GeneratedHistory(year),
    )
    users = {"RACWIRE": Verifier.of(PASSWORD, vgen_count=16)}
    with serving(engine, users=users, services=("prod",)) as server:
        print(json.dumps({"port": server.port}), flush=True)
        sys.stdin.read()


async def read(port: int) -> dict[str, Any]:
    """Read the history as racwire does. Return it, the number of rows of each statement, and the memory used."""
    import msgspec

    from checks.model.facts import Database, Instance, Parameter
    from checks.model.journal import Journal
    from checks.model.settings import DatabaseSettings
    from checks.sources.database.connection import Connection
    from checks.sources.database.connections import Connections
    from checks.sources.database.history import read_history
    from checks.sources.database.secret import Secret

    settings = DatabaseSettings(
        connect=f"127.0.0.1:{port}/prod", user="racwire", diagnostics_pack=True, history_days=DAYS
    )
    databases = Connections(settings, Secret(PASSWORD), Journal(), lambda: "rac1")
    rows: dict[str, int] = {}
    seconds: dict[str, float] = {}
    ask = Connection.rows

    async def counted(self: Connection, statement: Any, *args: Any, **options: Any) -> Any:
        started = asyncio.get_running_loop().time()
        found = await ask(self, statement, *args, **options)
        rows[statement.name] = len(found.rows)
        seconds[statement.name] = round(asyncio.get_running_loop().time() - started, 3)
        return found

    Connection.rows = counted  # type: ignore[method-assign]
    year = 8
    database = Database(
        name="prod",
        dbid=2718281828,
        version="19.22.0.0.0",
        role="PRIMARY",
        open_mode="READ WRITE",
        reached=settings.connect,
        user="RACWIRE",
        driver="",
        connected_instance=1,
        block_size_bytes=8192,
        instances=tuple(Instance(n, f"prod{n}", f"rac{n}", "19.22.0.0.0", "") for n in range(1, year + 1)),
        parameters=tuple(
            Parameter(n, "control_management_pack_access", "DIAGNOSTIC+TUNING") for n in range(1, year + 1)
        ),
    )
    await databases.get("history")
    before = _kb("VmRSS")
    history = await read_history(databases, database, lambda *_: None)
    grown = _kb("VmHWM") - before
    await databases.close()
    return {
        "history": msgspec.to_builtins(history),
        "rows": rows,
        "seconds": seconds,
        "grown_kb": grown,
        "lab": sorted(name for name in sys.modules if name.startswith(("racwire_lab", "duckdb", "sqlglot"))),
    }


def _kb(what: str) -> int:
    found = re.search(rf"^{what}:\s+(\d+) kB", Path("/proc/self/status").read_text(encoding="ascii"), re.MULTILINE)
    assert found is not None
    return int(found[1])


if __name__ == "__main__":
    if sys.argv[1] == "serve":
        serve()
    else:
        print(json.dumps(asyncio.run(read(int(sys.argv[2])))), flush=True)
