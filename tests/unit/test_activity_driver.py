"""The same facts over Oracle Net: the real driver, the practice server, racwire's statements."""

import contextlib

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")

from checks.model.facts import ActivityGap, BlockTransfer, UnaskedInstance, Unknown
from checks.model.journal import Journal
from checks.sources.database.connections import Connections
from checks.sources.database.identity import read_database
from checks.sources.database.sampling import read_activity
from checks.sources.database.secret import Secret
from racwire_lab.database.live import Transfer
from racwire_lab.oracle_net.releases import release_of
from tests.fixtures.instance_states import STARTED, instances, practice
from tests.fixtures.oracle import PASSWORD, serve, settings

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
    assert database.unasked == (UnaskedInstance(2, "prod2", why),)
    assert activity.of(1) is not None
    assert activity.instances[1] == ActivityGap(2, why)
    assert source.asked_all == 1
    assert [entry.topic for entry in journal.entries if entry.outcome != "ok"] == ["sql instances"]


async def test_a_missing_grant_makes_only_its_own_view_unknown():
    granted = {"SYS.V_$INSTANCE", "SYS.V_$DATABASE", "SYS.GV_$INSTANCE", "SYS.GV_$SYSSTAT", "SYS.GV_$PARAMETER"}
    async with connected(instances(2), granted=granted) as (databases, _):
        database = await read_database(databases, quiet)
        activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert isinstance(database.interconnects, Unknown)
    assert "GRANT SELECT ON SYS.GV_$CLUSTER_INTERCONNECTS TO RACWIRE;" in database.interconnects.reason
    assert database.parameter(1, "db_block_size") == "8192"
    assert isinstance(activity.transfers, Unknown)
    assert "GRANT SELECT ON SYS.GV_$INSTANCE_CACHE_TRANSFER TO RACWIRE;" in activity.transfers.reason
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
