"""The facts of a database and its instances, read by racwire's real statements on the practice database's SQL."""

import asyncio
import io

import pytest

pytest.importorskip("duckdb")
pytest.importorskip("sqlglot")


from checks.model.facts import (
    ActivityGap,
    BlockTransfer,
    InstancePing,
    InterconnectInUse,
    Unknown,
    WaitBucket,
    WaitEvent,
)
from checks.report.html.evidence_sheets import cluster_sheets
from checks.rules import cache_fusion
from checks.sources.database.identity import read_database
from checks.sources.database.sampling import read_activity
from checks.sources.database.statements import statement
from racwire_lab.database.backend import OracleError
from racwire_lab.database.live import Interconnect, Ping, Transfer, Waits
from tests.fixtures.databases import asked
from tests.fixtures.instance_states import STARTED, TWO_WAY, StraightIn, instances, practice
from tests.fixtures.reports import report_of
from tui.cli.text_report import text_report

VERSIONS = ["11.2.0.4.0", "12.1.0.2.0", "12.2.0.1.0", "19.22.0.0.0", "23.9.0.25.07"]
INTERVAL_S = 0.05
COUNTED = (
    "sysstat",
    "system_event",
    "event_histogram_micro",
    "dlm_misc",
    "cr_block_server",
    "current_block_server",
    "cache_transfer",
    "instance_ping",
)
IDENTITY = ("connected", "database", "active_instances", "instances", "interconnects", "parameters")


def quiet(*progress):
    """Ignore the events."""


def meanwhile(happens):
    """Return a callback that runs `happens` between the two samples: progress marks the end of the interval."""

    def progress(group, text, done, total):
        if group == "activity" and done == total:
            happens()

    return progress


async def test_a_warning_of_the_login_is_part_of_the_database_and_shown_with_it():
    warning = "ORA-28002: the password will expire within 3 days."
    databases = StraightIn(practice(instances(2)), login_warning=warning).databases()
    database = await read_database(databases, quiet)
    assert database.login_warning == warning
    report = report_of(asked(2, database=database))
    assert f"The database warned at the login: {warning}" in " ".join(text_report(report, io.StringIO()).split())
    (sheet,) = (s for s in cluster_sheets(report.cluster) if s.title == "Database")
    assert ("Login", warning) in sheet.rows


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_database_and_its_instances_are_read(version):
    database = await read_database(StraightIn(practice(instances(2, version), version)).databases(), quiet)
    assert (database.name, database.role, database.open_mode) == ("prod", "PRIMARY", "READ WRITE")
    assert (database.version, database.block_size_bytes, database.connected_instance) == (version, 8192, 1)
    assert (database.user, database.reached, database.driver) == ("RACWIRE", "rac-scan:1521/prod", "in this process")
    assert [(i.number, i.name, i.host, i.version, i.status) for i in database.instances] == [
        (1, "prod1", "rac1", version, "OPEN"),
        (2, "prod2", "rac2", version, "OPEN"),
    ]
    assert database.interconnects == tuple(
        InterconnectInUse(n, "eth1", f"192.168.10.{n}", False, "Oracle Cluster Repository") for n in (1, 2)
    )
    assert database.parameter(2, "cluster_interconnects") == ""
    assert database.parameter(2, "control_management_pack_access") == "NONE"
    assert (database.unasked, database.is_multitenant, database.in_pluggable) == ((), False, False)


@pytest.mark.parametrize("version", VERSIONS)
async def test_the_activity_between_two_samples_is_read(version):
    source = instances(2, version)
    databases = StraightIn(practice(source, version)).databases()

    def work():
        source.grow(2, {"gc blocks lost": 37, "gc cr blocks received": 12_400, "gc cr block receive time": 5_208})
        source.change(
            2,
            messages={"gcs msgs received": 70_300, "ges msgs received": 7_000},
            events={TWO_WAY: Waits(530, 215_360, "Cluster", {"256": 100, "512": 420, "16384": 10})},
            transfers={"1": Transfer(42, 990, 12_500, 9_005_000, 50, 2500)},
            pings={"1": Ping(90, 400, 206, 18_600, 250, 900, 206, 52_400)},
            cr_flushes=44,
            current_flushes=67,
        )

    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, meanwhile(work))
    two = activity.of(2)
    assert activity.unread == ()
    assert INTERVAL_S <= two.seconds == activity.seconds
    assert (two.statistics["gc blocks lost"], two.statistics["gc current blocks received"]) == (37, 0)
    assert cache_fusion.average_cr_receive_ms(two.statistics) == 4.2
    assert two.messages["gcs msgs received"] == 300
    assert (two.cr_flushes, two.current_flushes) == (4, 7)
    in_milliseconds = (WaitBucket(1000, 20), WaitBucket(16_000, 10))
    in_microseconds = (WaitBucket(512, 20), WaitBucket(16_384, 10))
    buckets = in_milliseconds if version.startswith("11") else in_microseconds
    assert two.events == (WaitEvent(TWO_WAY, 30, 15_360, buckets),)
    assert BlockTransfer(2, 1, 12_400, 0, 37, 9_000_000, 0, 90) in activity.transfers
    assert BlockTransfer(1, 2, 0, 0, 0) in activity.transfers
    assert InstancePing(2, 1, 6, 600, 6, 2400) in activity.pings
    assert not any(p.instance == p.target for p in activity.pings)
    assert not any(activity.of(1).statistics.values())


class Probing:
    """Probes that end, at which something happens, and something else in the quiet time; or that never end."""

    def __init__(self, *, ends: bool | None = True, until_s=None, happens=lambda: None, meanwhile=lambda: None):
        self.ends, self.until_s, self.happens, self.meanwhile = ends, until_s, happens, meanwhile

    async def quiet_begins(self, end_s, interval_s):
        self.happens()
        return self.ends

    @property
    def quiet_until_s(self):
        self.meanwhile()  # asked for after the statistics were read
        return self.until_s


@pytest.mark.parametrize(("until_s", "read"), [(None, 3), (0.0, 4)], ids=["probes end", "probes go on"])
async def test_blocks_lost_in_the_quiet_time_are_known_apart(until_s, read):
    source = instances(2)
    wire = StraightIn(practice(source))
    databases = wire.databases()
    database = await read_database(databases, quiet)
    probing = Probing(
        until_s=until_s,
        happens=lambda: source.grow(2, {"gc blocks lost": 7}),
        meanwhile=lambda: source.grow(2, {"gc blocks lost": 30}),
    )
    activity = await read_activity(databases, database, INTERVAL_S, quiet, probing)
    assert activity.of(2).statistics["gc blocks lost"] == 37
    assert activity.quiet.lost == {1: 0, 2: 30}
    assert activity.quiet.seconds <= activity.seconds
    assert wire.sent.count("sysstat") == read


@pytest.mark.parametrize(("ends", "known"), [(None, None), (False, Unknown)])
async def test_without_a_quiet_time_its_losses_are_not_known(ends, known):
    databases = StraightIn(practice(instances(2))).databases()
    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, quiet, Probing(ends=ends))
    assert activity.quiet is None if known is None else isinstance(activity.quiet, known)


async def test_an_instance_that_hangs_costs_one_timeout_and_is_named():
    source = instances(3)
    source.hangs = True
    wire = StraightIn(practice(source), limit_s=1)
    database = await read_database(wire.databases(), quiet)
    why = "GV$INSTANCE did not answer in time: an instance hangs, or has no free parallel query process."
    assert [i.number for i in database.instances] == [1]
    assert [(one.number, one.name, one.host, one.is_late, one.reason) for one in database.unasked] == [
        (2, "prod2", "rac2", True, why),
        (3, "prod3", "rac3", True, why),
    ]

    def work():
        source.grow(1, {"gc blocks lost": 3})

    activity = await read_activity(wire.databases(), database, INTERVAL_S, meanwhile(work))
    assert activity.of(1).statistics["gc blocks lost"] == 3
    assert activity.instances[1:] == (ActivityGap(2, why), ActivityGap(3, why))
    assert {t.receiver for t in activity.transfers} == {1}
    assert source.asked_all == 1


@pytest.mark.parametrize("sample", [1, 2])
async def test_an_instance_that_starts_to_hang_between_two_samples_is_a_gap(sample):
    source = instances(2)
    wire = StraightIn(practice(source), limit_s=1)
    database = await read_database(wire.databases(), quiet)

    def hang():
        source.hangs = True
        source.asked_all = 0

    if sample == 1:
        hang()
    activity = await read_activity(wire.databases(), database, INTERVAL_S, meanwhile(hang if sample == 2 else quiet))
    one, two = activity.instances
    assert one.statistics["gc blocks lost"] == 0
    assert two == ActivityGap(
        2,
        "prod2 could not be queried: GV$INSTANCE did not answer in time: an instance hangs, or has no free parallel "
        "query process.",
    )
    assert source.asked_all == 1


async def test_a_hang_during_a_sample_restarts_the_sample_for_one_instance():
    """A GV$ statement that hangs after others have answered: the sample then has one instance only."""
    source = instances(2)
    wire = StraightIn(practice(source), limit_s=1)
    database = await read_database(wire.databases(), quiet)
    wire.before = {"cache_transfer": lambda: setattr(source, "hangs", True)}
    activity = await read_activity(wire.databases(), database, INTERVAL_S, quiet)
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity", "ActivityGap"]
    assert "GV$INSTANCE_CACHE_TRANSFER did not answer" in activity.instances[1].reason
    assert wire.sent.count("sysstat") == 1
    assert wire.sent.count("sysstat (this instance)") == 2


async def test_an_instance_restarted_between_two_samples_is_a_gap():
    source = instances(2)
    databases = StraightIn(practice(source)).databases()

    def restart():
        source.change(
            2, startup_time=STARTED + 1010, statistics=dict.fromkeys(source.states_by_number[2].statistics, 0)
        )

    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, meanwhile(restart))
    assert activity.of(1) is not None
    assert isinstance(activity.instances[1], ActivityGap)
    assert "prod2 was restarted within the interval" in activity.instances[1].reason


async def test_an_instance_that_went_down_between_two_samples_is_a_gap():
    source = instances(3)
    databases = StraightIn(practice(source)).databases()
    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, meanwhile(lambda: source.states_by_number.pop(3)))
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity", "InstanceActivity", "ActivityGap"]


@pytest.mark.parametrize("missing", [name for name in COUNTED if name != "sysstat"])
async def test_a_missing_grant_makes_only_its_own_view_unknown(missing):
    granted = {grant for name in (*COUNTED, *IDENTITY) if name != missing for grant in statement(name).grants}
    databases = StraightIn(practice(instances(2), granted=granted)).databases()
    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, quiet)
    (view,) = statement(missing).reads
    pairs = {"GV$INSTANCE_CACHE_TRANSFER": activity.transfers, "GV$INSTANCE_PING": activity.pings}
    refused = {name: fact for name, fact in pairs.items() if isinstance(fact, Unknown)}
    right = (refused.get(view) or activity.unread_view(view)).right
    assert f"GRANT SELECT ON SYS.{view.replace('V$', 'V_$')} TO RACWIRE;" in right.commands
    assert len(activity.unread) + len(refused) == 1
    assert all(a.statistics for a in activity.instances)


async def test_without_the_grant_on_statistics_the_transfers_are_still_read():
    granted = {grant for name in (*COUNTED, *IDENTITY) if name != "sysstat" for grant in statement(name).grants}
    databases = StraightIn(practice(instances(2), granted=granted)).databases()
    database = await read_database(databases, quiet)
    activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert all("GRANT SELECT ON SYS.GV_$SYSSTAT TO RACWIRE;" in gap.right.commands for gap in activity.instances)
    assert {(t.receiver, t.sender) for t in activity.transfers} == {(1, 2), (2, 1)}


async def test_without_grants_on_parameters_and_interconnects_the_database_is_known():
    needed = ("connected", "database", "active_instances", "instances")
    granted = {grant for name in needed for grant in statement(name).grants}
    database = await read_database(StraightIn(practice(instances(2), granted=granted)).databases(), quiet)
    assert isinstance(database.parameters, Unknown)
    assert isinstance(database.interconnects, Unknown)
    assert "GRANT SELECT ON SYS.GV_$PARAMETER TO RACWIRE;" in database.parameters.right.commands
    assert (database.name, database.block_size_bytes) == ("prod", None)


async def test_without_any_grant_the_reason_names_the_first_grant():
    unknown = await read_database(StraightIn(practice(instances(2), granted=set())).databases(), quiet)
    assert isinstance(unknown, Unknown)
    assert "GRANT SELECT ON SYS.V_$INSTANCE TO RACWIRE;" in unknown.right.commands


async def test_an_instance_without_parallel_query_processes_is_named():
    """GV$ answers without the instance (parallel_max_servers = 0), while V$ACTIVE_INSTANCES lists it."""
    source = instances(3)
    del source.states_by_number[3]
    databases = StraightIn(practice(source)).databases()
    database = await read_database(databases, quiet)
    (unasked,) = database.unasked
    assert (unasked.number, unasked.name, database.why_alone) == (3, "prod3", "")
    assert not unasked.is_late
    assert "GV$INSTANCE has no row for this instance: it was starting or stopping" in unasked.reason
    activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert [a.instance for a in activity.instances if a == activity.of(a.instance)] == [1, 2]
    assert activity.instances[2] == ActivityGap(3, unasked.reason)


async def test_after_ora_12850_gv_views_are_not_queried_again():
    source = instances(2)
    source.fails = OracleError(12850, "Could not allocate slaves on all specified instances")
    wire = StraightIn(practice(source))
    database = await read_database(wire.databases(), quiet)
    assert "(ORA-12850): parallel_max_servers is 0 on an instance" in database.why_alone
    activity = await read_activity(wire.databases(), database, INTERVAL_S, quiet)
    assert [type(a).__name__ for a in activity.instances] == ["InstanceActivity", "ActivityGap"]
    assert source.asked_all == 1


async def test_a_pluggable_database_is_recognized():
    engine = practice(instances(2), is_multitenant=True, container="SALES", container_id=3)
    database = await read_database(StraightIn(engine).databases(), quiet)
    assert (database.is_multitenant, database.container, database.in_pluggable) == (True, "SALES", True)
    root = practice(instances(2), is_multitenant=True)
    database = await read_database(StraightIn(root).databases(), quiet)
    assert (database.container, database.in_pluggable) == ("CDB$ROOT", False)


async def test_a_mounted_standby_is_read():
    source = instances(2)
    for number in (1, 2):
        source.change(number, status="MOUNTED")
    engine = practice(source, role="PHYSICAL STANDBY", open_mode="MOUNTED", unique_name="prod_dr")
    databases = StraightIn(engine, user="SYS").databases()
    database = await read_database(databases, quiet)
    assert (database.name, database.role, database.open_mode) == ("prod_dr", "PHYSICAL STANDBY", "MOUNTED")
    assert {i.status for i in database.instances} == {"MOUNTED"}
    activity = await read_activity(databases, database, INTERVAL_S, quiet)
    assert [a.instance for a in activity.instances if a == activity.of(a.instance)] == [1, 2]


async def test_an_interconnect_without_a_public_flag_is_read():
    source = instances(1)
    source.change(1, interconnects=[Interconnect("eth1:1", "169.254.10.1", "", "")])
    database = await read_database(StraightIn(practice(source)).databases(), quiet)
    assert database.interconnects == (InterconnectInUse(1, "eth1:1", "169.254.10.1", None, ""),)


async def test_an_unsupported_release_is_reported():
    unknown = await read_database(StraightIn(practice(instances(1, "10.2.0.5.0"), "11.2.0.4.0")).databases(), quiet)
    assert unknown == Unknown("prod1 is Oracle 10.2.0.5.0; racwire supports 11.2 and later.")


async def test_progress_reports_the_seconds():
    reports = []
    databases = StraightIn(practice(instances(1))).databases()
    database = await read_database(databases, lambda *progress: reports.append(progress))
    await read_activity(databases, database, 1.1, lambda *progress: reports.append(progress))
    assert reports[0] == ("database", "connecting", 0, 8)
    done = [progress[2] for progress in reports if progress[0] == "activity"]
    assert {progress for progress in reports if progress[0] == "activity"} <= {
        ("activity", "sampling the instances", second, 2) for second in range(3)
    }
    assert (done[0], done[-1], done) == (0, 2, sorted(done))


async def test_reading_the_activity_can_be_cancelled():
    databases = StraightIn(practice(instances(1))).databases()
    database = await read_database(databases, quiet)
    waits = asyncio.Event()
    task = asyncio.create_task(read_activity(databases, database, 600.0, lambda *progress: waits.set()))
    await waits.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
