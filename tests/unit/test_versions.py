"""Which statement suits which version: headers name the first and the last, each with all of its updates."""

import pytest

from checks.model.facts import release
from checks.sources.database.release_columns import statement_for, suits
from checks.sources.database.statements import statement, statements


@pytest.mark.parametrize(
    ("version", "name"),
    [
        ("11.2.0.4.0", "event_histogram"),
        ("12.1.0.1.0", "event_histogram"),
        ("12.1.0.2.0", "event_histogram_micro"),
        ("12.2.0.1.0", "event_histogram_micro"),
        ("19.0.0.0.0", "event_histogram_micro"),
        ("23.26.1.0.0", "event_histogram_micro"),
    ],
)
def test_microsecond_views_are_used_from_12_1_0_2_on(version: str, name: str):
    names = ("event_histogram_micro", "event_histogram")
    assert statement_for(version, names).name == name
    assert [suits(statement(each), version) for each in names].count(True) == 1


@pytest.mark.parametrize(("version", "name"), [("12.2.0.1.0", "instances_before_18c"), ("18.0.0.0.0", "instances")])
def test_the_last_version_of_a_range_includes_all_of_its_updates(version: str, name: str):
    assert statement_for(version, ("instances", "instances_before_18c")).name == name


def test_every_statement_without_an_upper_version_supports_the_newest_version():
    newest = [s for s in statements().values() if s.versions.endswith("-")]
    assert newest
    assert all(suits(each, "23.26.1.0.0") for each in newest)


def test_versions_compare_as_numbers():
    assert release("12.1.0.2.0") == (12, 1, 0, 2, 0)
    assert release("9.2.0.8.0") < release("11.2") < release("11.2.0.4.0") < release("19.0.0.0.0")


def test_a_version_without_a_statement_is_reported():
    with pytest.raises(LookupError, match=r"No statement of event_histogram_micro supports Oracle 11\.2\.0\.4"):
        statement_for("11.2.0.4.0", ("event_histogram_micro",))
