"""The report of a change as one page of HTML, for screen and print. The page loads nothing and runs no script."""

from __future__ import annotations

import re

from markupsafe import Markup

from checks.change.board.board_page import page_of
from checks.change.board.change_report import ChangeReport
from checks.model.sanitize import sanitize
from checks.report.html.html_page import template_of

_TIME = re.compile(r"(\b\d{4}-\d\d-\d\d \d\d:\d\d:\d\d(?: [+-]\d\d:\d\d)?)", re.ASCII)


def to_html(report: ChangeReport) -> bytes:
    """Return the whole page in UTF-8."""
    page = template_of("change.html.j2").render(page=page_of(report), report=report, text=_with_whole_times)
    return page.encode() + b"\n"


def _with_whole_times(text: str) -> Markup:
    """Return text on one line, escaped; a line of the page does not end within a time."""
    parts = _TIME.split(sanitize(text))  # every second part is a time
    whole = Markup('<span class="time">{}</span>')
    return Markup("").join(whole.format(part) if number % 2 else part for number, part in enumerate(parts))
