"""The diagnosis: the standing of each cause, what it explains, and what the catalogue may claim."""

import random
import re

import pytest
from checks.diagnosis.effects import EFFECTS
from msgspec.structs import replace

from checks.change.gates import documented
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.cause import Cause
from checks.diagnosis.diagnose import diagnose
from checks.model.facts import PingSeries, Verdict
from checks.model.finding import Finding, Status, Waived
from checks.model.hypothesis import Standing
from checks.plugins.df_ping import df_ping
from checks.plugins.gc_blocks_lost import gc_blocks_lost
from checks.plugins.reassembly import reassembly
from checks.plugins.udp_receive_buffers import udp_receive_buffers
from checks.run.check_discovery import Checks, discover
from tests.fixtures.clusters import cluster, path, with_paths
from tests.fixtures.databases import asked, change, counters, database, losing

NET1, NET2 = "192.168.10.0/24", "192.168.11.0/24"
KINDS = Checks((*discover(), *documented())).kinds()


def finding(code: str, status: Status = Status.FAIL, *, network: str = "", nodes: tuple[str, ...] = ()) -> Finding:
    check = KINDS[code][1].id
    title = f"{code} on {network or 'all'} of {' '.join(nodes) or 'all'}."
    return Finding(code=code, check=check, status=status, title=title, subject=code, network=network, nodes=nodes)


def standings(*findings: Finding, of=None) -> dict[str, Standing]:
    return {h.cause: h.standing for h in diagnose(of or cluster(2), findings).hypotheses}


def test_every_cause_of_the_list_of_oracle_is_in_the_catalogue_once():
    codes = [cause.code for cause in CATALOGUE]
    assert len(set(codes)) == len(codes)
    assert {f"CAUSE-{number:02}" for number in range(1, 27)} <= set(codes)
    for number in range(1, 27):
        assert f"MOS 563566.1, cause {number}" in next(c for c in CATALOGUE if c.code == f"CAUSE-{number:02}").sources


def test_the_catalogue_names_codes_of_findings_that_exist():
    named = {code for cause in CATALOGUE for code in (*cause.proved_by, *cause.supported_by, *cause.excluded_by)}
    assert named | set(EFFECTS) <= set(KINDS)


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.code)
def test_a_cause_is_examined_or_says_how(cause):
    assert cause.other_platform or (cause.look and cause.look[0].text.endswith("."))
    words = [cause.name, cause.covers, *(step.text for step in cause.look)]
    assert not re.search(r"\b(clean|certainly|nothing else|must be|proves that)\b", " ".join(words))


def test_without_findings_no_cause_is_claimed():
    found = standings()
    assert set(found.values()) == {Standing.NOT_EXAMINED, Standing.EXCLUDED}
    # The facts of these nodes show that no private network is on a bond.
    assert {code for code, standing in found.items() if standing is Standing.EXCLUDED} == {
        "CAUSE-11",
        "CAUSE-23",
        "CAUSE-24",
        "CAUSE-25",
    }


def test_a_cause_is_excluded_where_all_its_checks_passed_and_none_was_in_doubt():
    passed = [finding("IC-MTU-001", Status.PASS), finding("IC-PATH-001", Status.PASS)]
    assert standings(*passed)["CAUSE-05"] is Standing.EXCLUDED
    assert standings(passed[0])["CAUSE-05"] is Standing.NOT_EXAMINED
    doubtful = finding("IC-PATH-008", Status.UNKNOWN, nodes=("rac2",))
    assert standings(*passed, doubtful)["CAUSE-05"] is Standing.POSSIBLE


def test_an_observed_value_proves_its_cause_and_explains_the_losses_of_its_network_only():
    small = finding("IC-MTU-002", network=NET1, nodes=("rac2",))
    here = finding("IC-PATH-005", network=NET1)
    lost = finding("IC-LOST-002", nodes=("rac2",))
    elsewhere = finding("IC-LOST-002", nodes=("rac3",))
    found = {h.cause: h for h in diagnose(cluster(3), [lost, elsewhere, here, small]).hypotheses}
    assert found["CAUSE-05"].standing is Standing.PROVED
    assert (found["CAUSE-05"].nodes, found["CAUSE-05"].networks) == (("rac2",), (NET1,))
    assert found["CAUSE-05"].explains == (lost.title,)


def test_a_proved_cause_makes_a_supported_one_of_the_same_place_only_possible():
    slow = finding("IC-SPEED-003", network=NET1, nodes=("rac2",))
    found = {h.cause: h for h in diagnose(cluster(2), [slow]).hypotheses}
    assert (found["CAUSE-13"].standing, found["CAUSE-01"].standing) == (Standing.PROVED, Standing.POSSIBLE)
    assert found["CAUSE-01"].because[-1].startswith("Speed or duplex mismatch (CAUSE-13) is enough")
    other = finding("IC-PATH-005", network=NET2)
    assert standings(slow, other)["CAUSE-01"] is Standing.SUPPORTED


def test_counts_of_the_past_make_a_cause_possible_and_never_more():
    past = finding("IC-DEV-004", Status.WARN, nodes=("rac2",))
    found = standings(past, finding("IC-LOST-002", nodes=("rac2",)))
    assert {found[code] for code in ("CAUSE-01", "CAUSE-15", "CAUSE-16")} == {Standing.POSSIBLE}


def test_a_check_that_shows_nothing_clears_a_cause_unless_it_was_in_doubt():
    names = finding("IC-IFACE-008", Status.WARN)
    assert standings(names)["CAUSE-32"] is Standing.EXCLUDED
    assert standings(names, finding("IC-IFACE-010", Status.UNKNOWN))["CAUSE-32"] is Standing.POSSIBLE
    assert standings(finding("IC-IFACE-017", Status.WARN))["CAUSE-32"] is Standing.POSSIBLE


def test_losses_that_no_cause_explains_are_named():
    lost = finding("IC-LOST-002", nodes=("rac2",))
    diagnosis = diagnose(cluster(2), [lost])
    assert diagnosis.unexplained == (lost.title,)


def test_the_order_of_the_findings_has_no_influence():
    findings = [
        finding("IC-LOST-002", nodes=("rac2",)), finding("IC-UDP-002", nodes=("rac2",)),
        finding("IC-PATH-003", network=NET2), finding("IC-RPF-002", nodes=("rac1",)),
        finding("IC-TIME-002", Status.WARN, nodes=("rac2",)), finding("IC-REASM-001", Status.PASS),
    ]  # fmt: skip
    expected = diagnose(cluster(2), findings)
    for seed in range(20):
        random.Random(seed).shuffle(findings)
        assert diagnose(cluster(2), findings) == expected
    assert [h.cause for h in expected.with_standing(Standing.PROVED)] == ["CAUSE-02", "CAUSE-15"]


@pytest.mark.parametrize(("version", "standing"), [("19.22.0.0.0", "excluded"), ("12.1.0.2.0", "not examined")])
def test_the_bug_of_12_1_0_2_is_excluded_for_other_releases(version, standing):
    lost = finding("IC-LOST-002", nodes=("rac2",))
    built = asked(2, database=database(2, version=version))
    assert standings(lost, of=built)["CAUSE-26"] == standing


def test_lost_blocks_are_divided_among_the_causes_and_the_rest_is_named():
    full = change("rac2", Udp_RcvbufErrors=24, Udp_InErrors=24)
    built = asked(2, database=database(2), activity=losing(2, 31, {1: 31}), counters=counters(2, full))
    diagnosis = diagnose(built, [*gc_blocks_lost.run(built), *udp_receive_buffers.run(built)])
    (account,) = diagnosis.accounts
    assert account.text == "31 lost at prod2 = 24 in its receive buffers + 7 not explained."
    assert (account.explained, account.unexplained) == ({"CAUSE-02": 24}, 7)
    assert diagnosis.hypotheses[0].cause == "CAUSE-02"
    assert diagnosis.hypotheses[0].lost_blocks == 24


def test_failed_reassemblies_count_for_the_cause_that_loses_the_fragments():
    failed = change("rac2", Ip_ReasmFails=40, Ip_ReasmTimeout=40)
    base = asked(2, database=database(2), activity=losing(2, 31, {1: 31}), counters=counters(2, failed))
    assert isinstance(base.networks, tuple)
    lossy = (PingSeries(56, 20, 18), PingSeries(8972, 20, 17))
    built = with_paths(base, path(base.networks[0], "rac1", "rac2", Verdict.LOSS, series=lossy))
    checks = (gc_blocks_lost, reassembly, df_ping)
    diagnosis = diagnose(built, [f for check in checks for f in check.run(built)])
    assert diagnosis.accounts[0].text == "31 lost at prod2 = 31 in reassembly."
    assert "CAUSE-03" not in [h.cause for h in diagnosis.with_standing(Standing.PROVED, Standing.SUPPORTED)]
    assert diagnosis.unexplained == ()


def test_two_causes_at_one_place_stay_two_where_neither_leads_to_the_other():
    hole = finding("IC-PATH-003", network=NET1, nodes=("rac2",))
    slow = finding("IC-SPEED-003", network=NET1, nodes=("rac2",))
    found = [h.cause for h in diagnose(cluster(3), [hole, slow]).with_standing(Standing.PROVED, Standing.SUPPORTED)]
    assert found == ["CAUSE-13", "CAUSE-12"]


def test_an_effect_never_stands_before_its_cause():
    down = replace(finding("IC-IFACE-004", network=NET1, nodes=("rac2",)), data={"peers": 2})
    silent = finding("IC-PATH-006", network=NET1, nodes=("rac2",))
    other = finding("IC-USE-006", Status.WARN, nodes=("rac2",))
    first = diagnose(cluster(3), [silent, other, down]).hypotheses[0]
    assert (first.cause, first.headline, first.data) == ("CAUSE-37", down.title, {"peers": 2})
    assert set(first.explains) == {silent.title, other.title}


def test_a_cause_is_waived_where_all_that_it_shows_and_explains_is_waived():
    small = finding("IC-MTU-002", network=NET1, nodes=("rac2",))
    lost = finding("IC-LOST-002", nodes=("rac2",))
    waived = Waived("known", "dba", "2026-12-31")
    assert not diagnose(cluster(2), [lost, replace(small, waived=waived)]).hypotheses[0].is_waived
    both = [replace(small, waived=waived), replace(lost, waived=waived)]
    assert diagnose(cluster(2), both).hypotheses[0].is_waived


def a_cause(number: int, shown_by: str, *leads_to: str) -> Cause:
    return Cause(code=f"CAUSE-{number}", name=f"Made cause {number}", proved_by=(shown_by,), leads_to=leads_to)


def made_roots(*causes: Cause) -> list[str]:
    shown = [finding(cause.proved_by[0], network=NET1, nodes=("rac2",)) for cause in causes]
    return [h.cause for h in diagnose(cluster(2), shown, causes).with_standing(Standing.PROVED, Standing.SUPPORTED)]


def test_a_cause_that_is_an_effect_itself_is_not_enough_for_another():
    first = a_cause(201, "IC-MTU-002", "IC-SPEED-003")
    second = a_cause(202, "IC-SPEED-003", "IC-RPF-002")
    third = a_cause(203, "IC-RPF-002")
    assert set(made_roots(first, second, third)) == {"CAUSE-201", "CAUSE-203"}
    assert made_roots(second, third) == ["CAUSE-202"]


def test_of_causes_that_lead_to_each_other_in_a_circle_the_first_remains():
    circle = (
        a_cause(201, "IC-MTU-002", "IC-SPEED-003"),
        a_cause(202, "IC-SPEED-003", "IC-RPF-002"),
        a_cause(203, "IC-RPF-002", "IC-MTU-002"),
    )
    assert made_roots(*circle) == ["CAUSE-201", "CAUSE-203"]
