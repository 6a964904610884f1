"""A screen, a report and a check state the same about the same thing, whatever the facts are."""

from __future__ import annotations

import io
import json
from itertools import permutations

import msgspec
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from checks.model.facts import (
    ActivityGap,
    BlockTransfer,
    Cluster,
    InstancePing,
    PingSeries,
    Unknown,
    UnreadView,
    Verdict,
    WaitEvent,
)
from checks.model.finding import FAULTS, Status
from checks.model.packet_sizes import SMALL_PAYLOAD
from checks.model.report import make_report
from checks.plugins.df_ping import df_ping
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.gc_receive_time import gc_receive_time
from checks.plugins.instance_ping import instance_ping
from checks.report.html.matrix_section import matrices
from checks.report.json_report import from_json, to_json
from checks.rules.path_matrix import OWN, path_matrices
from checks.traffic.samples import InstanceSample, PairsSample
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import activity, asked, change, counters, database, history, own_activity, past_loss
from tui.cli.text_report import text_report
from tui.screens.database.lines import DatabaseFacts, sections_of
from tui.screens.database.live_source import LiveFigures
from tui.screens.paths.matrix import matrix_lines

INSTANCES = 3
NAMES = [f"prod{n}" for n in range(1, INSTANCES + 1)]
LETTERS = {status.letter: status for status in Status}
FALSE_COUNTS = "12.1.0.2.0"
WIDE = 240
quick = settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large]
)


# --- clusters ---------------------------------------------------------------------------------------------------------


class Case:
    """A cluster; a failed test prints only its drawn values."""

    def __init__(self, built: Cluster) -> None:
        self.built = built

    def __repr__(self) -> str:
        paths = () if isinstance(self.built.paths, Unknown) else self.built.paths
        drawn = [(p.from_node, p.to_node, p.verdict, p.hops, p.reason) for p in paths]
        return f"{self.built.activity}"[:9_000] + f"{drawn}"[:3_000]


@st.composite
def activities(draw, number):
    """An instance in the interval: restarted, idle, slow, with impossible times, with or without lost blocks."""
    if draw(st.integers(0, 8)) == 0:
        return ActivityGap(number, f"prod{number} was restarted.")
    statistics = {"gc blocks lost": draw(st.sampled_from([0, 0, 1, 12, 13, 37, 5_000]))}
    events = []
    for word in ("cr", "current"):
        blocks = draw(st.sampled_from([0, 49, 50, 60, 99, 8_400]))
        average_ms = draw(st.sampled_from([0.4, 9.9, 10, 10.1, 20, 20.1, 25, 999, 1_001, 40_000]))
        statistics[f"gc {word} blocks received"] = blocks
        statistics[f"gc {word} block receive time"] = round(blocks * average_ms / 10)
        if waited_us := draw(st.sampled_from([0, 300, 20_000, 1_500_000])):
            events.append(WaitEvent(f"gc {word} block 2-way", max(blocks, 1), max(blocks, 1) * waited_us))
    if draw(st.booleans()):
        events.append(WaitEvent("gc cr block lost", 2, draw(st.sampled_from([10, 90_000_000_000]))))
    if draw(st.integers(0, 8)) == 0:
        del statistics["gc blocks lost"]
    return own_activity(number, statistics, events=tuple(events))


@st.composite
def databases(draw):
    """Three instances, of a release that counts falsely or not; unread views; counters, paths, history."""
    numbers = range(1, INSTANCES + 1)
    version = draw(st.sampled_from(["19.22.0.0.0", FALSE_COUNTS]))
    views = draw(st.lists(st.sampled_from(["GV$SYSTEM_EVENT", "GV$INSTANCE_CACHE_TRANSFER"]), unique=True))
    own = [draw(activities(n)) for n in numbers]
    if "GV$SYSTEM_EVENT" in views:
        own = [msgspec.structs.replace(one, events=()) if hasattr(one, "events") else one for one in own]
    pairs = list(permutations(numbers, 2))
    transfers = tuple(
        BlockTransfer(
            a,
            b,
            draw(st.sampled_from([0, 4_200])),
            4_000,
            draw(st.sampled_from([0, 0, 0, 12])),
            cr_time_us=draw(st.sampled_from([400, 90_000_000, 8_400_000_000])),
        )
        for a, b in pairs
    )
    sent, times = st.sampled_from([0, 2, 3, 10]), st.sampled_from([180, 1_000, 1_001, 3_200, 10_000, 10_001])
    pings = tuple(
        InstancePing(a, b, small, small * draw(times), large, large * draw(times))
        for a, b in pairs
        for small, large in [(draw(sent), draw(sent))]
    )
    past = tuple(
        past_loss(n, last_end=draw(st.sampled_from(["2026-11-20T13:00:00", "2026-11-18T13:00:00", "yesterday"])))
        for n in draw(st.lists(st.sampled_from(list(numbers)), unique=True))
    )
    nodes = tuple(change(f"rac{n}", Ip_ReasmFails=draw(st.sampled_from([0, 0, 0, 12]))) for n in numbers)
    kernels = counters(INSTANCES, *nodes, begun_at=draw(st.sampled_from(["2026-11-20T14:02:01.000+01:00", ""])))
    built = asked(
        INSTANCES,
        database=database(INSTANCES, version),
        activity=activity(
            INSTANCES,
            *own,
            transfers=draw(st.sampled_from([transfers, transfers, Unknown("no grant")])),
            pings=pings,
            unread=tuple(UnreadView(view, "The grant is missing.") for view in views),
        ),
        history=history(INSTANCES, past, transfers=draw(st.sampled_from([(), Unknown("not kept")]))),
        counters=draw(st.sampled_from([kernels, Unknown("not read")])),
        paths=draw(st.sampled_from([asked(INSTANCES).paths, Unknown("not probed")])),
    )
    return Case(built)


@st.composite
def path_clusters(draw):
    """Two networks of three nodes; loss near the threshold, routers, packets lost once, missing paths."""
    built = cluster(3)
    found = []
    for probe in built.paths:
        if draw(st.integers(0, 9)) == 0:
            continue
        verdict = draw(st.sampled_from([*[Verdict.PASSES] * 6, *[Verdict.LOSS] * 3, *Verdict]))
        lost = draw(st.sampled_from([0, 1, 2, 30])) if verdict is Verdict.LOSS else 0
        of_full = draw(st.sampled_from([0, min(lost, 1)]))
        series = tuple(msgspec.structs.replace(s, received=s.sent - of_full) for s in probe.series)
        small = PingSeries(SMALL_PAYLOAD, 200, 200 - lost)
        found.append(
            msgspec.structs.replace(
                probe,
                verdict=verdict,
                hops=draw(st.sampled_from([None, None, None, 1])),
                reason=draw(st.sampled_from(["", "2 packets got lost once."])) if verdict is Verdict.PASSES else "",
                series=(small, *series[1:]),
            )
        )
    return Case(msgspec.structs.replace(built, paths=tuple(found)))


# --- texts of the screens ---------------------------------------------------------------------------------------------


def section(built, title, live=None):
    known = DatabaseFacts(built.database, built.activity, built.history, built, live or LiveFigures())
    return next((s.lines for s in sections_of(known, WIDE) if s.title == title), ())


def status_of(span):
    """The status of a figure in a table; None for a figure without a status."""
    text, role = span
    *figure, last = text.split() or [""]
    if figure and last in LETTERS and LETTERS[last].value.lower() == role:
        return LETTERS[last]
    assert role in ("", "unknown", "faint"), span
    return None


def instance_rows(built, live=None):
    """The statuses of lost blocks and of both receive times, by instance."""
    found = {}
    for line in section(built, "Instances", live):
        name = line[0][0].strip() if line else ""
        if name in NAMES and len(line) > 5:
            found[name] = [status_of(line[2 + 3 * column]) for column in (2, 3, 4)]
    return found


def table_statuses(lines):
    """The statuses in a table of pairs."""
    rows = [line for line in lines if line and line[0][0].strip() in NAMES]
    return [status_of(span) for line in rows for span in line[2::3]]


def worst(statuses):
    return min((s for s in statuses if s), key=lambda s: s.gravity, default=None)


def of_instances(findings, *codes):
    """The status and the instances of each finding with such a code."""
    return [(f.status, f.data["instances"].split(", ")) for f in findings if f.code in codes]


# --- the database -----------------------------------------------------------------------------------------------------


@given(databases())
@quick
def test_the_database_screen_judges_lost_blocks_as_the_check_does(case):
    built = case.built
    rows = {name: statuses[0] for name, statuses in instance_rows(built).items()}
    statuses = of_instances(gc_blocks_lost.run(built), "IC-LOST-002", "IC-LOST-006")
    for status, names in statuses:
        assert worst(rows[name] for name in names if rows[name]) in (status, None)
        assert any(rows[name] for name in names) or all("gc blocks lost" not in statistics_of(built, n) for n in names)
    losing = {name for _, names in statuses for name in names}
    assert {name for name, status in rows.items() if status in (*FAULTS, Status.INFO)} <= losing
    for line in section(built, "Lost blocks"):
        receiver = line[0][0].strip() if line else ""
        pairs = {status_of(span) for span in line[2::3]} if receiver in NAMES else set()
        assert pairs <= {None, rows[receiver] or Status.UNKNOWN if receiver in rows else Status.UNKNOWN}


def statistics_of(built, name):
    return built.activity.of(NAMES.index(name) + 1).statistics


@given(databases())
@quick
def test_the_database_screen_judges_receive_times_as_the_check_does(case):
    built = case.built
    findings = gc_receive_time.run(built)
    rows = {name: statuses[1:] for name, statuses in instance_rows(built).items()}
    slow, doubtful = of_instances(findings, "IC-TIME-002"), of_instances(findings, "IC-TIME-004")
    for status, names in slow:
        assert worst(s for name in names for s in rows[name] if s in FAULTS) is status
        assert all(any(s in FAULTS for s in rows[name]) for name in names)
    for _, names in doubtful:
        assert all(Status.UNKNOWN in rows[name] for name in names)
    for name, statuses in rows.items():
        assert any(s in FAULTS for s in statuses) == any(name in names for _, names in slow)
        assert (Status.UNKNOWN in statuses) == any(name in names for _, names in doubtful)


@given(databases())
@quick
def test_the_database_screen_judges_pings_as_the_check_does(case):
    built = case.built
    cells = table_statuses(section(built, "Pings between instances"))
    faults = [f for f in instance_ping.run(built) if f.status in FAULTS]
    assert worst(cells) is worst(f.status for f in faults)
    assert bool(faults) == any(cells)
    missing = [f.data["pairs"] for f in faults if f.code == "IC-PING-005"]
    assert cells.count(Status.FAIL) >= sum(missing)


@given(databases())
@quick
def test_the_database_screen_judges_losses_of_the_history_as_the_check_does(case):
    built = case.built
    trends = {}
    for line in section(built, "History"):
        name = line[0][0].strip() if line else ""
        if name in NAMES and name not in trends:
            words, role = line[-1]
            trends[name] = LETTERS[words[0]] if role else None
    for status, names in of_instances(gc_blocks_lost.run(built), "IC-LOST-009"):
        assert {trends[name] for name in names} == {status}


# --- paths ------------------------------------------------------------------------------------------------------------


@given(path_clusters())
@quick
def test_the_paths_screen_and_the_html_report_judge_paths_as_the_check_does(case):
    built = case.built
    findings = df_ping.run(built)
    for grid in path_matrices(built):
        own = [f for f in findings if f.network == grid.network.name]
        probed = [cell for cell in grid.ways if cell.probe]
        assert worst(cell.status for cell in probed) is worst(f.status for f in own)
        for cell in grid.cells.values():
            assert (cell.status is None) == (cell.letter == OWN)
        drawn = [span for line in matrix_lines(grid, WIDE, None)[1:] for span in line[2::3]]
        assert [role for _, role in drawn] == [cell.role for cell in grid.cells.values()]
        for finding in own:
            rows = {row[0]: dict(zip(finding.table.columns[1:], row[1:], strict=True)) for row in finding.table.rows}
            for cell in probed:
                assert rows[cell.from_node][cell.to_node][0] == cell.letter.replace("R", "P")
    assert [s.grid for s in matrices(path_matrices(built))] == [grid for grid in path_matrices(built) if grid.ways]


# --- reports ----------------------------------------------------------------------------------------------------------


@given(databases())
@settings(quick, max_examples=15)
def test_every_report_gives_each_finding_the_status_of_the_check(case):
    built = case.built
    checks = (gc_blocks_lost, gc_receive_time, instance_ping)
    findings = [f for check in checks for f in check.run(built)]
    report = make_report(version="", started_at="", duration_s=0, cluster=built, findings=findings, journal=())
    reported = sorted((f.code, f.status, f.subject) for f in findings)
    assert sorted((f.code, f.status, f.subject) for f in from_json(to_json(report)).findings) == reported
    written = json.loads(to_json(report))["findings"]
    assert sorted((f["code"], f["status"], f["subject"]) for f in written) == reported
    assert all(f.get("data") for f in written if f["status"] in ("FAIL", "WARN", "INFO"))
    text = text_report(report, io.StringIO(), full=True)
    for finding in findings:
        folded = f"{finding.check} ({finding.code})" in text  # with another that could not tell for the same reason
        assert f"{finding.status:<8}{finding.code}" in text or (finding.status is Status.UNKNOWN and folded)


# --- earlier disagreements --------------------------------------------------------------------------------------------


def false_count():
    """37 lost blocks without other evidence, on the release that counts falsely."""
    return asked(2, database=database(2, FALSE_COUNTS), activity=activity(2, own_activity(2, {"gc blocks lost": 37})))


def impossible_time():
    """4 s for a block by the statistics, 0.4 ms by the waits of the same time."""
    return asked(2, activity=activity(2, own_activity(2, {"gc cr block receive time": 8_400 * 400})))


def test_a_count_that_is_probably_false_is_not_a_failure_anywhere():
    (finding,) = [f for f in gc_blocks_lost.run(false_count()) if f.data.get("lost_blocks")]
    assert finding.status is Status.INFO
    assert finding.data["likely_false"] is True
    assert instance_rows(false_count())["prod2"][0] is Status.INFO
    assert instance_rows(false_count())["prod1"][0] is None


def test_a_live_count_without_confirmation_is_a_warning_at_most():
    sample = InstanceSample("prod2", 2, "rac2", 0.0, 1.0, {"gc blocks lost": 37, "gc cr blocks received": 300})
    pairs = PairsSample(0.0, 10.0, (BlockTransfer(2, 1, 300, 0, 0),), ())
    live = LiveFigures({"prod2": sample}, pairs=pairs)
    assert instance_rows(false_count(), live)["prod2"][0] is Status.WARN
    assert table_statuses(section(false_count(), "Lost blocks", live)).count(None) == 4


def test_an_impossible_time_is_unknown_everywhere():
    codes = {f.code: f.status for f in gc_receive_time.run(impossible_time())}
    assert codes["IC-TIME-004"] is Status.UNKNOWN
    assert "IC-TIME-002" not in codes
    assert instance_rows(impossible_time())["prod2"][1] is Status.UNKNOWN
    statistics = {"gc cr blocks received": 300, "gc current blocks received": 0, "gc cr block receive time": 120_000}
    live = LiveFigures({"prod2": InstanceSample("prod2", 2, "rac2", 0.0, 1.0, statistics)})
    assert instance_rows(impossible_time(), live)["prod2"][1] is Status.UNKNOWN


def test_an_average_of_few_blocks_is_not_judged_anywhere():
    few = {"gc cr blocks received": 60, "gc current blocks received": 0, "gc cr block receive time": 60 * 3}
    built = asked(2, activity=activity(2, own_activity(2, few)))
    assert {f.code for f in gc_receive_time.run(built)} == {"IC-TIME-001", "IC-TIME-007"}
    assert instance_rows(built)["prod2"][1:] == [None, None]
