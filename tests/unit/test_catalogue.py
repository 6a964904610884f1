"""The catalogue of causes: Oracle's list, codes that exist, and how to examine each cause."""

import re

import pytest

from checks.change.gates import documented
from checks.diagnosis.catalogue import CATALOGUE
from checks.diagnosis.diagnose import diagnose
from checks.diagnosis.sign_words import SIGN_WORDS
from checks.model.hypothesis import Certainty
from checks.model.signs import Sign
from checks.run.check_discovery import Checks, discover
from tests.fixtures.clusters import cluster
from tests.fixtures.databases import asked, database

KINDS = Checks((*discover(), *documented())).kinds()


def test_every_cause_of_the_list_of_oracle_is_in_the_catalogue_once():
    assert len({cause.code for cause in CATALOGUE}) == len(CATALOGUE)
    by_code = {cause.code: cause for cause in CATALOGUE}
    for number in range(1, 27):
        assert f"MOS 563566.1, cause {number}" in by_code[f"CAUSE-{number:02}"].sources


def test_the_catalogue_names_codes_and_checks_that_exist():
    for cause in CATALOGUE:
        assert {*cause.shown_by, *cause.hinted_by, *cause.excluded_by, *cause.moves} <= set(KINDS), cause.code
        assert set(cause.cleared_by) <= {check.id for _, check in KINDS.values()}, cause.code


@pytest.mark.parametrize("cause", [c for c in CATALOGUE if c.patterns or c.kinds], ids=lambda cause: cause.code)
def test_a_cause_with_a_pattern_declares_its_forms_and_what_each_shows(cause):
    assert cause.kinds
    assert len({kind.name for kind in cause.kinds}) == len(cause.kinds)
    silent = {kind.name for kind in cause.kinds if not (kind.signs or kind.may_show)}
    assert silent <= {"on the way"}
    # Wherever the cause is looked for, it has a form.
    assert set(cause.at) <= {at for kind in cause.kinds for at in kind.at or cause.at}
    for kind in cause.kinds:
        assert kind.at or cause.at or cause.is_link_of_aggregation
        assert kind.patterns or cause.patterns


def test_each_sign_has_words_and_is_of_a_cause():
    of_causes = {s for cause in CATALOGUE for kind in cause.kinds for s in (*kind.signs, *kind.may_show)}
    assert set(SIGN_WORDS) == set(Sign)
    assert set(Sign) - of_causes == {Sign.PAUSED}


@pytest.mark.parametrize("cause", CATALOGUE, ids=lambda cause: cause.code)
def test_a_cause_is_examined_or_says_how(cause):
    assert cause.other_platform or (cause.look and cause.look[0].text.endswith("."))
    words = [cause.name, cause.covers, *(step.text for step in cause.look)]
    assert not re.search(r"\b(clean|certainly|nothing else|must be|proves that)\b", " ".join(words))


@pytest.mark.parametrize(("version", "standing"), [("19.22.0.0.0", "excluded"), ("12.1.0.2.0", "not examined")])
def test_the_bug_of_12_1_0_2_is_excluded_for_other_releases(version, standing):
    built = asked(2, database=database(2, version=version))
    assert {h.cause: h.standing for h in diagnose(built, []).hypotheses}["CAUSE-26"] == standing


def test_without_findings_no_cause_is_claimed():
    # The facts of these nodes show that no private network is on a bond.
    standings = {h.cause: h.standing for h in diagnose(cluster(3), []).hypotheses}
    excluded = {code for code, standing in standings.items() if standing is Certainty.EXCLUDED}
    assert excluded == {"CAUSE-11", "CAUSE-23", "CAUSE-24", "CAUSE-25"}
    assert set(standings.values()) == {Certainty.NOT_EXAMINED, Certainty.EXCLUDED}
