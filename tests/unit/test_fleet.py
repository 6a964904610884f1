"""Which files are of one cluster, and what their history says: on summaries of files, without files."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from checks.fleet.cluster_history import ClusterHistory, SavedFile, history_of
from checks.fleet.file_summary import FileSummary, Problem, packed
from checks.fleet.fleet_overview import FilesRead, PackedFile, UnreadFile, exit_code, fleet_of
from checks.fleet.fleet_words import headline, remarks
from checks.fleet.same_cluster import FileIdentity, clusters_of
from checks.model.finding import Finding, Status, Waived

DAY_S = 86_400.0
NODES = ("rac1", "rac2")
NOW = datetime(2026, 11, 29, 12, tzinfo=UTC)


def finding(status: Status = Status.FAIL, check: str = "df-ping", **more: object) -> Finding:
    return Finding(code=f"IC-{check}", check=check, status=status, title=f"{check} says so.", nodes=("rac1",), **more)


def told(days_ago: float, *findings: Finding, **more: object) -> FileSummary:
    """What a file says whose checks df-ping and loss ran, with these findings; FAIL means CAUSE-12."""
    at = NOW.timestamp() - days_ago * DAY_S
    worst = min((f.status for f in findings if not f.waived), key=lambda s: s.gravity, default=Status.PASS)
    problems = [
        Problem(headline=f.title, status=f.status, causes="CAUSE-12" * (f.status is Status.FAIL), shown_by=f)
        for f in findings
        if not f.waived
    ]
    fields = {
        "at": at,
        "moment": datetime.fromtimestamp(at, UTC).isoformat(timespec="seconds"),
        "cluster": "prod",
        "nodes": NODES,
        "status": worst,
        "headline": problems[0].headline if problems else "No problem was found.",
        "problems": tuple(problems),
        "findings": findings,
        "ran": ("df-ping", "loss"),
        "digest": f"{days_ago} {more}",
        "racwire_version": "0.2.0",
        **more,
    }
    return FileSummary(**fields)


def history(*files: FileSummary, old_s: float | None = 2 * DAY_S) -> ClusterHistory:
    return history_of([SavedFile(f"{f.at:.0f}", f) for f in files], NOW.timestamp(), old_s)


def fleet(*files: FileSummary, unread: tuple[UnreadFile, ...] = ()):
    of = [
        PackedFile(
            f"{n}", f.at, f.digest, FileIdentity(f.cluster, f.nodes, tuple(f.nics.items()), f.is_redacted), packed(f)
        )
        for n, f in enumerate(files)
    ]
    read = FilesRead(named=("d",), files=len(of), unread=unread)
    return fleet_of(of, read=read, now=NOW, old_s=2 * DAY_S, racwire_version="0.2.0")


def identity(name: str = "prod", nodes: tuple[str, ...] = NODES, *, redacted: bool = False, **nics: str):
    return FileIdentity(name, nodes, tuple((node, tuple(own.split())) for node, own in nics.items()), redacted)


@pytest.mark.parametrize(
    ("files", "groups"),
    [
        ([identity(rac1="a", rac2="b"), identity(rac1="a", rac2="c")], [[0, 1]]),
        ([identity(rac1="a"), identity("renamed", rac1="a")], [[0, 1]]),
        ([identity(rac1="a"), identity(rac1="x")], [[0], [1]]),
        ([identity(rac1="a"), identity(rac2="b")], [[0, 1]]),  # each could read itself alone
        ([identity(rac1="a"), identity()], [[0, 1]]),  # no node could be read
        ([identity(rac1="a"), identity(rac1="x"), identity()], [[0], [1], [2]]),  # it may be of either
        ([identity(), identity("other")], [[0], [1]]),
        ([identity(), identity(nodes=("rac7",))], [[0], [1]]),
        ([identity(rac1="a"), identity(redacted=True, rac1="a")], [[0], [1]]),
        ([identity(nodes=("old1",), old1="a"), identity(nodes=("new1",), new1="a")], [[0], [1]]),
    ],
)
def test_files_are_of_one_cluster_by_their_nics_then_by_name_and_node(files, groups):
    assert clusters_of(files) == groups


def test_since_is_the_first_of_the_consecutive_files_that_have_the_cause():
    bad, well = finding(), ()
    assert history(told(3, bad), told(2, *well), told(1, bad), told(0, bad)).since.moment[:10] == "2026-11-28"
    since = history(told(3), told(2, bad), told(1, finding(Status.UNKNOWN)), told(0, bad)).since
    assert (since.moment[:10], since.not_known, since.is_oldest) == ("2026-11-27", 1, False)
    assert history(told(1, bad), told(0, bad)).since.is_oldest
    assert history(told(2, bad), told(1), told(0)).since.moment[:10] == "2026-11-28"


@pytest.mark.parametrize(
    ("newest", "status", "was"),
    [
        (told(0), Status.PASS, None),
        (told(0, finding(Status.UNKNOWN)), Status.UNKNOWN, Status.FAIL),
        (told(0, ran=("loss",)), Status.UNKNOWN, Status.FAIL),
        (told(0, finding(Status.WARN, "loss"), ran=("loss",)), Status.UNKNOWN, Status.FAIL),
        (told(0, finding(Status.FAIL, "loss"), ran=("loss",)), Status.FAIL, None),
        (told(0, unread=("rac1",)), Status.UNKNOWN, Status.FAIL),
        (told(0, finding(waived=Waived("known", "Ann Lee", "2027-01-31"))), Status.PASS, None),
    ],
)
def test_what_no_later_file_looked_at_is_not_known_any_more(newest, status, was):
    found = history(told(2, finding()), told(1, finding()), newest)
    assert (found.status, found.was) == (status, was)
    assert [lost.moment[:10] for lost in found.lost] == ["2026-11-28"] * ("Not known any more" in said(found))


def said(cluster: ClusterHistory) -> str:
    return " ".join(remarks(cluster, fleet(told(0))))


def test_a_problem_stays_not_known_over_many_files_until_one_looks():
    blind = [told(day, finding(Status.UNKNOWN)) for day in (3, 2, 1)]
    assert history(told(4, finding()), *blind).was is Status.FAIL
    assert history(told(4, finding()), *blind, told(0)).status is Status.PASS


def test_an_old_file_says_nothing_of_now():
    assert (history(told(9)).status, history(told(9)).was) == (Status.UNKNOWN, Status.PASS)
    assert "No file for 9 d: how it is now is not known. It was PASS then." in said(history(told(9)))
    assert history(told(9), old_s=None).status is Status.PASS


def test_what_changed_is_said_as_diff_says_it():
    assert history(told(1), told(0, finding())).changed == "Worse: 1 failure is new."
    assert history(told(1, finding()), told(0)).changed == "Better: 1 failure is gone, no problem is left."
    assert "1 finding is no longer known" in history(told(1, finding()), told(0, finding(Status.UNKNOWN))).changed
    assert "1 problem was not checked again" in history(told(1, finding()), told(0, ran=("loss",))).changed


def test_the_worst_comes_first_and_unknown_is_not_better_than_failed():
    made = fleet(
        told(0, cluster="well"),
        told(0, finding(Status.WARN), cluster="warned"),
        told(0, finding(Status.UNKNOWN), cluster="dark"),
        told(1, finding(), cluster="lost"),
        told(0, finding(Status.UNKNOWN), cluster="lost"),
        told(0, finding(), cluster="failed"),
        told(9, finding(), cluster="old"),
    )
    assert [cluster.name for cluster in made.clusters] == ["failed", "lost", "old", "dark", "warned", "well"]
    assert headline(made) == "1 of 6 clusters fails, 3 are not known, 1 has warnings."


@pytest.mark.parametrize(
    ("made", "code"),
    [
        (fleet(told(0)), 0),
        (fleet(told(0, finding(Status.WARN))), 1),
        (fleet(told(0, finding()), told(0, finding(Status.UNKNOWN), cluster="other")), 2),
        (fleet(told(1, finding()), told(0)), 0),
        (fleet(told(9, finding())), 2),
        (fleet(told(9)), 3),
        (fleet(told(0), unread=(UnreadFile("a", "a is damaged."),)), 3),
        (fleet(), 3),
    ],
)
def test_the_exit_code_is_that_of_the_worst_newest_file(made, code):
    assert exit_code(made) == code


@pytest.mark.parametrize(
    ("files", "sentence"),
    [
        ([told(-1)], "in the future by this clock"),
        ([told(0, has_zone=False)], "names no zone"),
        ([told(1, cluster="before", nics={"rac1": ("a",)}), told(0, nics={"rac1": ("a",)})], "Its name was before"),
        ([told(0, nics={"rac1": ("a",)}), told(0, nics={"rac1": ("b",)}, digest="b")], "Other clusters have this name"),
        ([told(0, is_redacted=True)], "Its names are pseudonyms"),
        ([told(0, racwire_version="0.1.0")], "Judged by racwire 0.1.0 then; `racwire open 0` judges again."),
        ([told(0, interrupted=True)], "was interrupted"),
        ([told(0, unread=("rac2",))], "rac2 could not be read."),
    ],
)
def test_a_reader_is_told_what_is_odd(files, sentence):
    made = fleet(*files)
    assert sentence in " ".join(remarks(made.clusters[0], made))


def test_a_copy_counts_once_and_days_have_the_worst_of_their_files():
    made = fleet(told(0, digest="a"), told(0, digest="a"), told(0.1, finding()), told(1))
    (cluster,) = made.clusters
    assert (made.read.copies, cluster.files) == (1, 3)
    assert [(day.day[8:], day.status) for day in cluster.days] == [("28", Status.PASS), ("29", Status.FAIL)]


def test_of_a_cluster_with_very_many_files_the_newest_are_considered(monkeypatch):
    monkeypatch.setattr("checks.fleet.fleet_overview.MOST_OF_CLUSTER", 2)
    made = fleet(told(0), told(2, finding()), told(1), told(3))
    (cluster,) = made.clusters
    assert (cluster.files, cluster.left_out, cluster.since.moment[:10]) == (2, 2, "2026-11-28")
    assert "2 older files are not considered." in " ".join(remarks(cluster, made))
