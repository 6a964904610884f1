"""A fleet as one page of HTML, in the style of the report: it loads nothing and runs no script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from markupsafe import Markup

from checks.fleet.cluster_history import DAYS, ClusterHistory
from checks.fleet.fleet_overview import Fleet, clusters_by_day
from checks.fleet.fleet_words import age, cause, commands_of, headline, notes, remarks, since, title
from checks.model.finding import Status
from checks.model.wording import counted
from checks.report import svg
from checks.report.html.html_page import template_of

_DAY_PX, _STRIP_PX, _FIGURE_PX = 10, 16, 90
_GAP_PX = 2
_HEIGHTS = {Status.FAIL: 1.0, Status.UNKNOWN: 0.75, Status.WARN: 0.5, Status.PASS: 0.25}
"""The height of a day in a strip: the colour only repeats it."""


def to_html(fleet: Fleet) -> bytes:
    """Return the whole page in UTF-8."""
    days = fleet.last_days()
    counts = [(status, fleet.count(status)) for status in sorted(Status, key=lambda one: one.gravity)]
    page = template_of("fleet.html.j2").render(
        fleet=fleet,
        title=title(fleet),
        headline=headline(fleet),
        counts=[(status, number) for status, number in counts if number],
        notes=tuple(notes(fleet)),
        figure=_figure(fleet, days),
        days=days,
        age=age,
        cause=cause,
        since=since,
        commands=commands_of,
        remarks=lambda cluster: tuple(remarks(cluster, fleet)),
        strip=lambda cluster: _strip(cluster, days),
    )
    return page.encode() + b"\n"


def _strip(cluster: ClusterHistory, days: tuple[str, ...]) -> Markup:
    """The worst status of each day, as bars; a day without a file has none."""
    worst = {day.day: day.status for day in cluster.days}
    told = ", ".join(f"{day[5:]} {worst[day]}" for day in days if day in worst)
    bars = (
        _bar(number, 0.0, _HEIGHTS.get(worst[day], 0.25), _STRIP_PX, worst[day])
        for number, day in enumerate(days)
        if day in worst
    )
    width = DAYS * _DAY_PX
    ground = svg.line(0, _STRIP_PX, width, _STRIP_PX, "rule")
    return Markup(svg.picture(width, _STRIP_PX, "Worst of each day", told, (ground, *bars), class_="days"))  # noqa: S704 - escaped by svg


def _figure(fleet: Fleet, days: tuple[str, ...]) -> Markup:
    """The clusters by day, one bar a day: what was worst in their files of that day."""
    numbers = dict(clusters_by_day(fleet.clusters))
    most = max((sum(numbers[day].values()) for day in days if day in numbers), default=0)
    bars = [bar for place, day in enumerate(days) for bar in _stacked(place, numbers.get(day, {}), most)]
    told = "; ".join(f"{day[5:]}: {_told(numbers[day])}" for day in days if day in numbers)
    width = DAYS * _DAY_PX
    ground = svg.line(0, _FIGURE_PX, width, _FIGURE_PX, "rule")
    return Markup(svg.picture(width, _FIGURE_PX, "Clusters by day", told, (ground, *bars), class_="days"))  # noqa: S704 - escaped by svg


def _stacked(place: int, numbers: Mapping[Status, int], most: int) -> Iterator[svg.Markup]:
    below = 0.0
    for status in sorted(numbers, key=lambda one: one.gravity):
        share = numbers[status] / most
        yield _bar(place, below, share, _FIGURE_PX, status, f"{counted(numbers[status], 'cluster')} {status}")
        below += share


def _told(numbers: Mapping[Status, int]) -> str:
    return ", ".join(f"{numbers[status]} {status}" for status in sorted(numbers, key=lambda one: one.gravity))


def _bar(place: int, below: float, share: float, height: int, status: Status, tip: str = "") -> svg.Markup:
    tips = (svg.element("title", svg.text(tip)),) if tip else ()
    top, size = height * (1 - below - share), height * share
    return svg.element(
        "rect", *tips, x=place * _DAY_PX, y=top, width=_DAY_PX - _GAP_PX, height=size, class_=status.lower()
    )
