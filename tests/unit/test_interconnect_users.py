"""Who uses the interconnect: the users that an instance counts, estimates, and reports of both."""

import msgspec
import pytest

from checks.model.facts import (
    ActivityGap,
    ClientTraffic,
    NotAsked,
    ServiceActivity,
    Unknown,
    WaitEvent,
)
from checks.report.json_report import from_json, to_json
from checks.report.load_section import load_section
from checks.report.markdown import to_markdown
from checks.report.pictures_facts import user_figures
from checks.rules.cache_fusion import user_counter
from checks.rules.load_of_run import interconnect_load
from checks.traffic.compare.metrics import INSTANCE_METRICS
from checks.traffic.compare.recorded_run import runs_of
from checks.traffic.samples import InstanceSample
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import database, history, own_activity
from tests.fixtures.hostile import hostile_report
from tests.fixtures.reports import report_of
from tests.unit.compare_support import BEGIN, FakeRecording
from tests.unit.test_interconnect_load import BUSY, busy, known

EXCHANGED = {
    "gc cr blocks received": 300,
    "gc current blocks received": 0,
    "gc cr blocks served": 600,
    "gc current blocks served": 0,
    "gcs messages sent": 3_000,
    "ges messages sent": 0,
    "PX remote messages sent": 90,
    "PX remote messages recv'd": 60,
}


def of_users(cluster_, how):
    tables = [table for title, table in load_section(cluster_).tables if title.startswith("Users") and how(title)]
    assert len(tables) == 1
    return tables[0].rows


def test_an_instance_that_counts_its_users_has_their_bytes_and_messages_and_the_others_have_an_estimate():
    clients = (ClientTraffic(1, "dlm", 30_000, 30_000), ClientTraffic(1, "cache", 120_000, 120_000))
    messages = {"gcs msgs received": 6_000, "ges msgs received": 0}
    both = [msgspec.structs.replace(own_activity(n, {**BUSY, **EXCHANGED}), messages=messages) for n in (1, 2)]
    facts = known(*both, clients=clients)
    assert of_users(facts, lambda title: "estimated" not in title) == (
        ("prod1", "cache", "10", "20", "4 kB/s", "4 kB/s", "80 %"),
        ("prod1", "dlm", "200", "100", "1 kB/s", "1 kB/s", "20 %"),
        ("prod1", "ipq", "2", "3", "?", "?", "-"),
    )
    assert of_users(facts, lambda title: "blocks of 8,192 B, messages of 200 B" in title) == (
        ("prod2", "cache", "10", "20", "81.9 kB/s", "164 kB/s", "80.4 %"),
        ("prod2", "dlm", "200", "100", "40 kB/s", "20 kB/s", "19.6 %"),
        ("prod2", "ipq", "2", "3", "?", "?", "-"),
    )
    figure = {strip.name: strip.caption for strip in user_figures(facts)[0].strips}
    assert figure["prod2 dlm"] == "19.6 %, 60 kB/s, estimated, 300 messages/s"
    assert figure["prod1 cache"] == "80 %, 8 kB/s, 30 blocks/s"
    assert "prod2 ipq" not in figure


def test_without_the_view_the_bytes_are_an_estimate_with_its_reason():
    why = Unknown("The optional view SYS.RACWIRE_IC_CLIENTS is not there.")
    load = interconnect_load(known(own_activity(1, {**BUSY, **EXCHANGED}), clients=why))
    assert load.clients == why
    by_user = {user.client: user for user in load.estimated_clients if user.instance == "prod1"}
    assert by_user["cache"].bytes_per_s == pytest.approx(900 * 8192 / 30)
    assert (by_user["dlm"].messages_sent, by_user["dlm"].messages_received) == (100, None), "DLM_MISC was not read"
    assert by_user["dlm"].bytes_per_s is None
    assert by_user["ipq"].bytes_per_s is None, "messages of parallel query have any size"
    notes = load_section(known(own_activity(1, {**BUSY, **EXCHANGED}), clients=why)).notes
    assert any("users of the interconnect are an estimate: the optional view" in note for note in notes)
    unknown = known(ActivityGap(1, "It was restarted."), ActivityGap(2, "It hangs."), clients=why)
    assert any("users of the interconnect are not known: the optional view" in n for n in load_section(unknown).notes)


def test_the_users_in_awr_are_shown_with_their_time():
    past = history(clients=(ClientTraffic(1, "ipq", 6_048_000, 0),))
    facts = msgspec.structs.replace(busy(), history=past)
    (found,) = ((title, table) for title, table in load_section(facts).tables if "AWR from" in title)
    assert found[1].rows[0][:2] == ("prod1", "ipq")
    assert found[1].rows[0][-1] == "100 %"


def test_the_json_report_has_the_figures_and_is_read_back():
    report = report_of(busy())
    document = msgspec.json.decode(to_json(report))
    assert document["interconnect_load"]["wire"]["fact"] == "WireTime"
    assert document["interconnect_load"]["load_class"]["kind"] == "independent"
    assert from_json(to_json(report)) == report
    assert b"## What this load asks of the interconnect" in to_markdown(report)


def test_figures_that_no_cluster_has_break_no_report():
    huge = 10**400
    own = own_activity(1, dict.fromkeys([*BUSY, "table scan blocks gotten", "PX remote messages sent"], huge))
    facts = known(
        msgspec.structs.replace(own, events=(WaitEvent("gc cr multi block request", 1, huge),)),
        own_activity(2, BUSY),
        clients=(ClientTraffic(1, "cache", huge, 5),),
        services=(ServiceActivity(1, "s", huge, huge),),
        seconds=1e-300,
    )
    assert load_section(facts).headline
    assert load_section(hostile_report().cluster) is not None


def test_without_a_database_there_is_no_section():
    assert load_section(msgspec.structs.replace(cluster(), activity=NotAsked("No connection."))) is None
    assert load_section(cluster()) is None
    assert load_section(msgspec.structs.replace(cluster(), activity=Unknown("The database hangs."))) is None


def test_idle_instances_are_named_as_the_reason():
    idle = {"DB time": 3, "cluster wait time": 0}
    section = load_section(known(*(own_activity(n, idle) for n in (1, 2))))
    assert not section.is_known
    assert section.headline.startswith("Cannot tell what a network could bring: the instances were idle: 0.06 s of DB")
    assert section.headline.endswith(" s.")
    assert "not known" not in section.headline


def sampled_users(*, seconds=120, messages_every=10):
    """Two instances, whose messages are in one sample of ten; the second one counts the bytes of its users."""
    blocks = {"gc cr blocks received": 30, "gc current blocks received": 0, "gc cr blocks served": 60}
    statistics = {**blocks, "gc current blocks served": 0, "gcs messages sent": 100, "ges messages sent": 0}
    own_count = {user_counter("cache", "bytes_sent"): 600_000, user_counter("cache", "bytes_received"): 400_000}
    events = []
    for second in range(1, seconds + 1):
        for number in (1, 2):
            messages = {}
            if second % messages_every == 0:
                messages = {"gcs msgs received": 200, "ges msgs received": 0, **(own_count if number == 2 else {})}
            events.append(
                InstanceSample(f"prod{number}", number, f"rac{number}", BEGIN + second, 1.0, statistics, messages)
            )
    return FakeRecording(events, cluster=msgspec.structs.replace(cluster(), database=database()))


def test_a_comparison_has_the_share_of_the_waits_and_the_users_of_the_interconnect():
    formulas = {metric.name: metric.formula for metric in INSTANCE_METRICS}
    rates = {"DB time": 200.0, "cluster wait time": 5.0, "PX remote messages sent": 3.0}
    assert formulas["DB time per second"](rates) == pytest.approx(2)
    assert formulas["cluster waits of DB time"](rates) == pytest.approx(2.5)
    assert formulas["PX messages to other nodes"](rates) == 3


def test_a_recording_has_the_users_although_one_sample_of_ten_seconds_reads_their_messages():
    (run,), _ = runs_of([("a", sampled_users())])
    found = {measured.name: measured.values for measured in run.measured}
    assert len(found["dlm messages"]) >= 6
    assert set(found["dlm messages"]) == {600.0}
    assert set(found["dlm estimated"]) == {600 * 200 * 8e-6}
    assert found["prod1 cache estimated"][0] == pytest.approx(90 * 8192 * 8e-6)
    assert set(found["prod2 cache on the interconnect"]) == {8.0}
    assert "cache on the interconnect" not in found, "one of two instances counts them"
    assert "prod1 cache on the interconnect" not in found
