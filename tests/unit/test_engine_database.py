"""The engine where a database is one of the sources: rights that are missing, queries that hang."""

import asyncio

import pytest

from checks import Status, check
from checks.model.exit_codes import ExitCode
from checks.model.facts import NotAsked
from checks.model.report import exit_code
from checks.model.settings import Settings
from checks.run.engine import Engine
from checks.run.events import Gathered, GatherProgress
from checks.run.gathering import Gatherer
from checks.sources.database.errors import DatabaseError
from checks.sources.database.secret import Secret
from tests.fixtures.oracle import PASSWORD, Witness, query, serve
from tests.fixtures.oracle import settings as database_settings
from tests.unit.test_engine import ALL, FACTS, FINE, concluded, giving, make, run

# --- the database -----------------------------------------------------------------------------------------------------


async def test_a_group_that_was_not_requested_is_skipped_and_does_not_change_the_exit_code():
    left_out = NotAsked("No database connection is set; prod1 runs here.", ("racwire check --connect X",))
    gatherers = (ALL[0], giving("database", value=left_out))
    events = await run([make("a", ["clusterware"]), make("b", ["database"])], gatherers)
    (finding,) = concluded(events)["b"]
    assert (finding.code, finding.status, finding.title) == ("RW-ENGINE-005", Status.SKIPPED, left_out.reason)
    assert finding.next[0].commands == left_out.commands
    assert next(e for e in events if isinstance(e, Gathered) and e.group == "database").problem == ""
    assert exit_code(events[-1].report) is ExitCode.PASS


async def test_a_check_runs_without_an_optional_group_that_was_not_requested():
    def judging(known):
        assert isinstance(known.database, NotAsked)
        yield FINE.finding("?", status=Status.PASS)

    using = check("a", question="?", needs=["clusterware"], uses=["database"], kinds=(FINE,))(judging)
    events = await run([using], (ALL[0], giving("database", value=NotAsked("left out"))))
    assert concluded(events)["a"][0].status is Status.PASS


def needing_grants(text, grants, name="asked"):
    """A gatherer that queries the database as the real ones do."""

    async def gather(session, known):
        try:
            connection = await session.databases.get()
            await connection.rows(query("SELECT username FROM sessions", "fine"))
            await connection.rows(query(text, name, grants))
        except DatabaseError as error:
            return error.unknown
        return FACTS.database

    return Gatherer("database", (), gather, 30)


@pytest.mark.parametrize(
    ("name", "grants", "user", "script"),
    [
        ("asked", ("SYS.GV_$SYSSTAT",), "RACWIRE", "racwire grants"),
        ("awr_asked", ("SYS.DBA_HIST_SYSSTAT",), "RACWIRE", "racwire grants --awr"),
        ("statspack_asked", ("PERFSTAT.STATS$SYSSTAT",), "RACWIRE", "racwire grants --statspack"),
    ],
)
async def test_a_missing_grant_is_unknown_with_the_grant_the_script_and_the_failed_query(name, grants, user, script):
    with serve(Witness()) as server:
        settings = Settings(database=database_settings(server, user=user))
        engine = Engine(
            [make("a", ["database"])],
            settings,
            gatherers=[needing_grants("SELECT x FROM refused", grants, name)],
            password=Secret(PASSWORD),
        )
        events = [event async for event in engine.events()]
    (finding,) = concluded(events)["a"]
    assert finding.title == f"a could not tell: {user} may not read GV$SYSSTAT (ORA-00942)."
    (lacked,) = finding.lacks
    assert (lacked.right.needed, lacked.right.script) == (f"SELECT on {grants[0]} for {user}", script)
    (step,) = finding.next
    assert (step.commands, step.where) == ((f"GRANT SELECT ON {grants[0]} TO {user};",), "a DBA, AS SYSDBA")
    assert f"`{script}`" in step.text
    assert [reference.topic for reference in finding.evidence] == [f"sql {name}"]


async def test_cancelling_during_a_hung_query_does_not_wait():
    witness = Witness()
    with serve(witness) as server:
        engine = Engine(
            [make("a", ["database"])],
            Settings(database=database_settings(server, call_timeout_s=60)),
            gatherers=[needing_grants("SELECT x FROM hanging", ())],
            password=Secret(PASSWORD),
        )
        events = engine.events()
        waiting = asyncio.create_task(anext(events))
        while not witness.hanging.is_set():
            if waiting.done():
                waiting = asyncio.create_task(anext(events))
            await asyncio.sleep(0.01)
        waiting.cancel()
        await asyncio.gather(waiting, return_exceptions=True)
        await asyncio.wait_for(events.aclose(), 30)
        assert await asyncio.to_thread(witness.broken_off.wait, 30)
    assert engine.report(interrupted=True).journal[-1].outcome == "interrupted"


async def test_of_two_waiting_gatherers_only_one_reports_progress():
    both = asyncio.Barrier(2)

    def waiting(group):
        async def gather(session, known):
            await both.wait()
            session.progress(group, "waiting", 1, 30)
            await both.wait()
            return getattr(FACTS, group)

        return Gatherer(group, (), gather, 30)

    events = await run([make("a", ["activity", "counters"])], (waiting("activity"), waiting("counters")))
    assert [e.measure for e in events if isinstance(e, GatherProgress)] == ["1 of 30 s"]
