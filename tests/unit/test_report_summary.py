"""The plain sentences of a report."""

from datetime import datetime

import msgspec
import pytest

from checks.model.check import Kind
from checks.model.facts import Cluster, NotAsked, UnaskedInstance, Unknown, UnreadNode
from checks.model.finding import Finding, NextStep, Status, Waived
from checks.model.report import Report, Rerun, WaiverStanding
from checks.model.sanitize import sanitize
from checks.report.folding import grouped_by_reason
from checks.report.summary import counts, facts, first_steps, headline, problems, sentences
from tests.fixtures.clusters import cluster, clusterware, node
from tests.fixtures.databases import asked, database
from tests.fixtures.reports import black_hole, report_of

LATER = datetime.fromisoformat("2026-11-23T14:02:31+01:00")
WAIVED = Waived("The switch is replaced in January.", "Ann Lee", "2027-01-31")


def finding(status: Status, title: str = "?", **more: object) -> Finding:
    fields = {"code": "T-SUM-001", "check": "df-ping", "status": status, "title": title, **more}
    return Finding(**fields)  # type: ignore[arg-type]


def with_findings(*findings: Finding, **more: object) -> Report:
    return msgspec.structs.replace(report_of(cluster(2)), findings=findings, **more)


def test_the_headline_is_the_worst_finding():
    assert headline(report_of(black_hole(3))) == (
        "Jumbo frames vanish on 192.168.11.0/24 between rac1 and rac2, both ways. At most 1500 bytes pass."
    )
    fail, warn = finding(Status.FAIL, "Blocks get lost."), finding(Status.WARN, "Blocks are late.")
    assert headline(with_findings(fail, finding(Status.UNKNOWN), warn)) == "Blocks get lost."
    assert headline(with_findings(warn)) == "Blocks are late."


def test_a_report_without_a_problem_says_so_with_its_scope():
    passed = finding(Status.PASS, code="T-SUM-002", check="mtu-consistency")
    skipped = [finding(Status.SKIPPED, code="T-SUM-003", check=check) for check in ("bonding", "bond-balance")]
    report = with_findings(passed, finding(Status.INFO), *skipped)
    assert headline(report) == "No problem was found: 2 nodes, 4 paths, 2 checks; 2 skipped."
    alone = msgspec.structs.replace(report.cluster, paths=Unknown("not probed"), nodes=report.cluster.nodes[:1])
    assert headline(with_findings(passed, cluster=alone)) == "No problem was found: 1 node, 1 check."


def test_what_is_not_known_any_longer_forbids_that_no_problem_was_found():
    report = with_findings(finding(Status.PASS))
    assert headline(report, 1) == "1 result is not known any longer, of 2 nodes, 4 paths, 1 check."
    assert headline(report, 3) == "3 results are not known any longer, of 2 nodes, 4 paths, 1 check."


def test_an_unknown_result_is_never_reported_as_passed():
    one = finding(Status.UNKNOWN, "rac3 could not be read.")
    assert headline(with_findings(one)) == "rac3 could not be read."
    other = finding(Status.UNKNOWN, "No statistics were granted.")
    assert headline(with_findings(one, other, finding(Status.PASS))) == (
        "The state of the private interconnect of prodrac is not known: 2 unknown results."
    )
    assert headline(with_findings()) == "No check ran on prodrac."
    assert headline(with_findings(finding(Status.SKIPPED))) == "No check ran on prodrac."


def test_checks_that_lack_the_same_facts_share_one_sentence():
    lacking = [
        finding(
            Status.UNKNOWN,
            f"{check} could not tell: No listener answers.",
            code="RW-ENGINE-001",
            check=check,
            lacks=(Unknown("No listener answers."),),
        )
        for check in ("gc-blocks-lost", "gc-receive-time")
    ]
    assert headline(with_findings(*lacking)) == "2 checks could not tell: no listener answers."


def unread(check: str, *steps: NextStep):
    text = "Fix the cause named above, then run this check again."
    again = NextStep(text, (f"racwire check {check}",))
    return finding(Status.UNKNOWN, check=check, seen=("rac2 accepts no key.",), nodes=("rac2",), next=(*steps, again))


def test_checks_that_could_not_read_the_same_node_speak_once_with_all_steps():
    by_hand = NextStep("Try the connection by hand.", ("ssh rac2 true",))
    (first,) = grouped_by_reason([unread("interfaces", by_hand), unread("df-ping"), unread("rp-filter")])
    assert [other.check for other in first.others] == ["df-ping", "rp-filter"]
    again = "Fix the cause named above, then run these checks again."
    assert first.next == (by_hand, NextStep(again, ("racwire check interfaces df-ping rp-filter",)))
    elsewhere = msgspec.structs.replace(unread("df-ping"), nodes=("rac3",))
    assert len(list(grouped_by_reason([unread("interfaces"), elsewhere]))) == 2


def test_a_check_without_facts_joins_the_finding_that_has_their_reason():
    reason = "`oifcfg getif` failed. Clusterware is down."
    silent = finding(Status.UNKNOWN, check="clusterware", seen=(reason,), lacks=(Unknown(reason),))
    lacking = finding(
        Status.UNKNOWN, "df-ping could not tell: `oifcfg getif` failed.", code="RW-ENGINE-001", check="df-ping",
        seen=("Clusterware is down.",), lacks=(Unknown(reason),),
    )  # fmt: skip
    for findings in ([silent, lacking], [lacking, silent]):
        (first,) = grouped_by_reason(findings)
        assert (first.finding.check, [other.check for other in first.others]) == ("clusterware", ["df-ping"])


def test_waived_findings_are_not_grouped_with_others():
    one = finding(Status.UNKNOWN, seen=("prod2 hangs.",))
    known = msgspec.structs.replace(one, waived=WAIVED)
    assert [len(alike.others) for alike in grouped_by_reason([one, one, known])] == [1, 0]


@pytest.mark.parametrize(
    ("statuses", "besides"),
    [
        ("FAIL", ()),
        ("FAIL FAIL", ("There is also 1 more failure.",)),
        ("FAIL FAIL FAIL WARN", ("There are also 2 more failures and 1 warning.",)),
        ("FAIL UNKNOWN", ("There is also 1 unknown result.",)),
        ("FAIL UNKNOWN UNKNOWN WARN", ("There is also 1 warning and 2 unknown results.",)),
        ("UNKNOWN WARN WARN", ("There are also 2 warnings.",)),
        ("WARN WARN", ("There is also 1 more warning.",)),
        ("PASS INFO", ()),
    ],
)
def test_findings_other_than_the_headline_are_counted(statuses, besides):
    assert sentences(with_findings(*(finding(Status(s)) for s in statuses.split()))) == besides


def test_a_waived_problem_is_not_the_headline_and_not_counted_but_mentioned():
    known, fail = finding(Status.FAIL, "Known.", waived=WAIVED), finding(Status.FAIL, "Unheard of.")
    assert headline(with_findings(known, fail)) == "Unheard of."
    assert problems(with_findings(known, fail)) == (fail,)
    alone = with_findings(known, finding(Status.PASS))
    assert headline(alone) == "No other problem was found: 2 nodes, 4 paths, 1 check."
    assert counts(alone) == ((Status.PASS, 1),)
    assert sentences(alone) == ("1 known problem is waived by Ann Lee: listed below, and not counted.",)


def test_waivers_that_no_longer_apply_are_mentioned():
    def standing(how: str) -> WaiverStanding:
        return WaiverStanding(code="A-B-001", subject="", reason="", by="Ann", expires="2027-01-31", standing=how)

    report = with_findings(waivers=tuple(map(standing, ("lifted", "expired", "expired", "in force"))))
    assert sentences(report) == (
        "1 waiver is lifted, since the finding is worse than the waiver allows.",
        "2 waivers have expired.",
    )


def test_missing_facts_are_mentioned_first():
    built = cluster([node(1), UnreadNode("rac2", "ssh asked for a password.")], clusterware(2))
    report = with_findings(finding(Status.FAIL), finding(Status.WARN), cluster=built, interrupted=True)
    assert sentences(report) == (
        "The run was interrupted before all checks had finished. The report has the results up to that time.",
        "rac2 could not be read: ssh asked for a password.",
        "There is also 1 warning.",
    )


def test_left_out_saved_redacted_and_rerun_are_mentioned():
    report = with_findings(
        *(finding(Status.SKIPPED, "No database connection is set.", check=check) for check in ("a", "b")),
        saved_at="2026-11-20T18:00:00.000+01:00",
        is_redacted=True,
        reruns=(Rerun(check="df-ping", started_at="2026-11-20T14:03:00+01:00", duration_s=1.0, entries=0),),
    )
    assert sentences(report, LATER) == (
        "2 checks were skipped: No database connection is set.",
        "The check df-ping was run again at 2026-11-20 14:03:00 +01:00.",
        "This is not the cluster as it is now, but a saved state of 2026-11-20 14:02:31 +01:00, in part of "
        "2026-11-20 14:03:00 +01:00, saved 2026-11-20 18:00:00 +01:00; this output was written "
        "2026-11-23 14:02:31 +01:00, 3 d after the check.",
        "Names and addresses are pseudonyms. One name has the same pseudonym everywhere.",
    )


def test_unqueried_instances_are_the_headline_before_other_doubts():
    """This doubt is the headline, or the first sentence when a failure is the headline."""
    doubt = "PROD does not answer for all its instances; racwire could query only prod3."
    hung = tuple(UnaskedInstance(n, f"prod{n}", "GV$INSTANCE did not answer in time.") for n in (1, 2))
    facts_ = database(3)
    alone = msgspec.structs.replace(facts_, instances=facts_.instances[2:], unasked=hung)
    built = msgspec.structs.replace(asked(3), database=alone)
    side, warn = finding(Status.UNKNOWN, "The interconnect in use is not known."), finding(Status.WARN, "Late.")
    unsure = with_findings(side, side, warn, cluster=built)
    assert headline(unsure) == doubt
    assert sentences(unsure) == ("There is also 1 warning and 2 unknown results.",)
    failed = with_findings(finding(Status.FAIL, "Jumbo frames vanish."), side, cluster=built)
    assert headline(failed) == "Jumbo frames vanish."
    assert sentences(failed) == (doubt, "There is also 1 unknown result.")
    assert sentences(with_findings(finding(Status.PASS), cluster=built)) == (doubt,)


def test_repeating_the_run_is_not_the_first_step():
    again, inspect = NextStep("Run this check again.", ("racwire check df-ping",)), NextStep("Look.", ("ip link",))
    assert first_steps(with_findings(finding(Status.FAIL, next=(again, inspect)))) == (inspect,)
    lone = with_findings(finding(Status.FAIL, next=(again,)), finding(Status.WARN, next=(NextStep("Ask."),)))
    assert first_steps(lone) == (NextStep("Ask."),)


@pytest.mark.parametrize(
    ("fact", "expected"),
    [
        (NotAsked("No database connection is set."), "not queried. No database connection is set."),
        (Unknown("No listener answers."), "not known. No listener answers."),
        (Cluster("rac1", "").database, "not queried, since no check that ran needs it"),
    ],
)
def test_the_reason_why_no_database_was_queried_is_a_fact_too(fact, expected):
    assert dict(facts(report_of(Cluster("rac1", "", database=fact))))["Database"] == expected


def test_a_change_is_never_the_only_first_step():
    change = NextStep("Raise the MTU.", is_change=True)
    inspect = NextStep("Look.", ("ip link",))
    lone, good = finding(Status.FAIL, next=(change,)), finding(Status.WARN, next=(inspect, change))
    assert first_steps(with_findings(lone)) == ()
    assert first_steps(with_findings(lone, good)) == (inspect, change)
    assert first_steps(with_findings(finding(Status.FAIL, next=(inspect,) * 5))) == (inspect,) * 3


def test_the_facts_name_the_checked_nodes_networks_and_database():
    shown = dict(facts(report_of(asked(2))))
    assert shown["Nodes"] == "rac1 (this one), rac2"
    assert shown["Private networks"] == "192.168.10.0/24 (MTU 9000), 192.168.11.0/24 (MTU 9000)"
    assert shown["Database"] == "PROD 19.22.0.0.0, 2 instances"
    assert shown["Started"] == "2026-11-20 14:02:31 +01:00, took 1.2 s"
    bare = report_of(Cluster("rac1", "", database=NotAsked("not asked")))
    assert [name for name, _ in facts(bare)] == ["Nodes", "Database", "Started", "Made by"]


def test_the_headline_has_no_doubt_if_checks_only_passed_or_were_skipped():
    kind = Kind("T-SUM-002", "?")
    report = with_findings(
        kind.finding("All there.", status=Status.PASS), kind.finding("Not asked.", status=Status.SKIPPED)
    )
    assert headline(report).startswith("No problem was found")


@pytest.mark.parametrize(
    ("text", "harmless"),
    [
        ("\x1b]0;owned\x07", "\\x1b]0;owned\\x07"),
        ("\x9b2J\x7f", "\\x9b2J\\x7f"),
        ("\u202eevil\u061c", "\\x202eevil\\x61c"),
        ("\udcff\uffff\U0010fffe", "\\xdcff\\xffff\\x10fffe"),
        ("a\u2028b\ufeff", "a\\x2028b\\xfeff"),
        ("naïve 中文 עברית 👍", "naïve 中文 עברית 👍"),
    ],
)
def test_control_characters_are_escaped(text, harmless):
    assert sanitize(text) == sanitize(text, keep_lines=True) == harmless


def test_line_ends_stay_only_if_requested():
    assert sanitize("a\n\tb\r", keep_lines=True) == "a\n\tb\\x0d"
    assert sanitize("a\n\tb") == "a\\x0a\\x09b"
