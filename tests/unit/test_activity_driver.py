"""The same facts over Oracle Net: the real driver, the practice server, racwire's statements."""

import contextlib

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.model.facts import ActivityGap, BlockTransfer, UnaskedInstance, Unknown
from checks.model.finding import Status
from checks.model.journal import Journal
from checks.plugins.interconnect_in_use import interconnect_in_use
from checks.sources.database.connections import Connections
from checks.sources.database.identity import read_database
from checks.sources.database.sampling import read_activity
from checks.sources.database.secret import Secret
from checks.sources.database.statements import statement
from racwire_lab.database.backend import OracleError
from racwire_lab.database.live import Transfer
from racwire_lab.oracle_net.releases import release_of
from tests.fixtures.databases import asked
from tests.fixtures.instance_states import STARTED, instances, practice
from tests.fixtures.oracle import PASSWORD, serve, settings
from tests.support.sampling import sampled

VERSIONS = ["12.1.0.2.0", "19.22.0.0.0", "23.7.0.25.1"]
INTERVAL_S = 0.05


def quiet(*progress):
    """Ignore the events."""


def meanwhile(happens):
    """Run this between the two samples."""
    return lambda group, text, done, total: happens() if (group, done) == ("activity", total) else None


@contextlib.asynccontextmanager
async def connected(source, version="19.22.0.0.0", granted=None, **limits):
    """Connections to a practice database of these instances, and their journal."""
    journal = Journal()
    with serve(practice(source, version, granted=granted), profile=release_of(version)) as server:
        databases = Connections(settings(server, **limits), Secret(PASSWORD), journal, lambda: "rac1")
        try:
            yield databases, journal
        finally:
            await databases.close()


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_driver_reads_the_database_and_its_activity(version):
    source = instances(2, version)

    def work():
        source.grow(2, {"gc blocks lost": 37, "gc cr blocks received": 12_400})
        source.change(2, transfers={"1": Transfer(42, 990, 12_500, 9_005_000, 50, 2500)}, current_flushes=67)

    async with connected(source, version) as (databases, journal):
        database = await read_database(databases, quiet)
        activity = await read_activity(databases, database, INTERVAL_S, meanwhile(work))
    assert (database.version, database.user, database.block_size_bytes) == (version, "RACWIRE", 8192)
    assert database.driver.startswith("python-oracledb")
    assert [i.startup_time for i in database.instances] == [database.instances[0].startup_time] * 2
    assert activity.unread == ()
    assert activity.of(2).statistics["gc blocks lost"] == 37
    assert activity.of(2).current_flushes == 7
    assert BlockTransfer(2, 1, 12_400, 0, 37, 9_000_000, 0, 90) in activity.transfers
    entries = [entry for entry in journal.entries if entry.topic == "sql sysstat"]
    assert [(entry.node, entry.outcome) for entry in entries] == [("rac1", "ok")] * 2
    assert "gc blocks lost" in entries[0].text


async def test_an_instance_that_hangs_costs_one_call_timeout():
    source = instances(2)
    source.hangs = True
    # Other statements must answer within the time limit, on a busy machine too.
    async with connected(source, call_timeout_s=3) as (databases, journal):
        database = await read_database(databases, quiet)
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    why = "GV$INSTANCE did not answer in time: an instance hangs, or has no free parallel query process."
    assert database.unasked == (UnaskedInstance(2, "prod2", why, host="rac2", is_late=True),)
    assert activity.of(1) is not None
    assert activity.instances[1] == ActivityGap(2, why)
    assert source.asked_all == 1
    assert [entry.topic for entry in journal.entries if entry.outcome != "ok"] == ["sql instances"]


@pytest.mark.parametrize(
    ("code", "text", "why"),
    sampled(
        [
            (
                12850,
                "Could not allocate slaves on all specified instances: 2 needed, 1 allocated",
                "(ORA-12850): parallel_",
            ),
            (
                12853,
                "insufficient memory for PX buffers",
                "(ORA-12853): parallel_max_servers is 0 on an instance, or no",
            ),
            (12805, "parallel query server died unexpectedly", "(ORA-12805): an instance failed during the query."),
            (
                12801,
                "error signaled in parallel query server PZ98, instance rac2.example.com:prod2 (2)\n"
                "ORA-00600: internal error code, arguments: [kjbrchkpkeywait:timeout], [], []",
                "(ORA-12801): prod2 failed during the query with ORA-00600.",
            ),
            (
                12801,
                "error signaled in parallel query server PZ99",
                "(ORA-12801): an instance failed during the query.",
            ),
            (
                12801,
                "error signaled in parallel query server PZ99, instance prod2 (2)\n"
                "ORA-04031: unable to allocate memory",
                "(ORA-12801): prod2 failed during the query with ORA-04031.",
            ),
        ]
    ),
)
async def test_a_gv_query_that_another_instance_fails_is_repeated_for_the_connected_one(code, text, why):
    source = instances(3)
    source.fails = OracleError(code, text)
    async with connected(source) as (databases, journal):
        database = await read_database(databases, quiet)
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert [i.name for i in database.instances] == ["prod1"]
    assert [u.name for u in database.unasked] == ["prod2", "prod3"]
    assert why in database.why_alone
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity", "ActivityGap", "ActivityGap"]
    assert source.asked_all == 1
    assert [e.topic for e in journal.entries if e.outcome != "ok"] == ["sql instances"]


@pytest.mark.parametrize(
    "name", sampled(["instance_ping", "cache_transfer", "system_event", "dlm_misc", "cr_block_server"], 2)
)
async def test_an_instance_that_answers_all_views_but_one_is_named(name):
    """A shortage of parallel query processes: GV$ has no rows of an instance, and no error says so."""
    source = instances(2)
    (view,) = statement(name).reads
    async with connected(source) as (databases, _):
        database = await read_database(databases, quiet)
        source.without_rows[view] = {2}
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity"] * 2
    assert f"prod2 did not answer the query of {view}." in [unread.reason for unread in activity.unread]


async def test_an_instance_without_a_row_of_its_interconnect_is_named():
    source = instances(2)
    async with connected(source) as (databases, _):
        source.without_rows |= {"GV$PARAMETER": {2}, "GV$CLUSTER_INTERCONNECTS": {2}}
        database = await read_database(databases, quiet)
    found = list(interconnect_in_use.run(asked(2, database=database)))
    unknown = [finding.title for finding in found if finding.status is Status.UNKNOWN]
    assert unknown == ["The interconnect of prod2 is not known: GV$CLUSTER_INTERCONNECTS has no row for this instance."]
    assert not [finding.title for finding in found if "prod2" in finding.title and finding.status is Status.PASS]


async def test_a_view_with_an_internal_error_leaves_the_others():
    """ORA-00600 ends the session in the driver: the next statement logs in again."""
    source = instances(2)
    async with connected(source) as (databases, journal):
        database = await read_database(databases, quiet)
        source.raises["GV$INSTANCE_PING"] = OracleError(600, "internal error code, arguments: [1], [2]")
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert isinstance(activity.pings, Unknown)
    assert "internal error of the database (ORA-00600)" in activity.pings.reason
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity"] * 2
    assert [e.topic for e in journal.entries].count("sql connect") == 2


async def test_a_missing_grant_makes_only_its_own_view_unknown():
    granted = {"SYS.V_$INSTANCE", "SYS.V_$DATABASE", "SYS.GV_$INSTANCE", "SYS.GV_$SYSSTAT", "SYS.GV_$PARAMETER"}
    async with connected(instances(2), granted=granted) as (databases, _):
        database = await read_database(databases, quiet)
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert isinstance(database.interconnects, Unknown)
    assert "GRANT SELECT ON SYS.GV_$CLUSTER_INTERCONNECTS TO RACWIRE;" in database.interconnects.right.commands
    assert database.parameter(1, "db_block_size") == "8192"
    assert isinstance(activity.transfers, Unknown)
    assert "GRANT SELECT ON SYS.GV_$INSTANCE_CACHE_TRANSFER TO RACWIRE;" in activity.transfers.right.commands
    assert [a.statistics["gc blocks lost"] for a in activity.instances] == [0, 0]


async def test_a_restart_between_the_samples_is_a_gap():
    source = instances(2)
    async with connected(source) as (databases, _):
        database = await read_database(databases, quiet)
        restart = meanwhile(lambda: source.change(2, startup_time=STARTED + 5000))
        activity = await read_activity(databases, database, INTERVAL_S, restart)
    assert "prod2 was restarted within the interval" in activity.instances[1].reason
    assert {t.receiver for t in activity.transfers} == {1}


async def test_a_database_that_is_not_there_is_unknown():
    connections = Connections(settings_without_listener(), Secret(PASSWORD), Journal(), lambda: "rac1")
    unknown = await read_database(connections, quiet)
    await connections.close()
    assert isinstance(unknown, Unknown)
    assert "No listener answers at 127.0.0.1:1/prod" in unknown.reason


def settings_without_listener():
    class NoListener:
        dsn = "127.0.0.1:1/prod"

    return settings(NoListener())
