"""The report of a change as one page of HTML, for the screen and for print. The page loads nothing and runs no script."""

from __future__ import annotations

from checks.change.board_page import page_of
from checks.change.change_report import ChangeReport
from checks.report.html.html_page import template_of


def to_html(report: ChangeReport) -> bytes:
    """Return the whole page in UTF-8."""
    page = template_of("change.html.j2").render(page=page_of(report), report=report)
    return page.encode() + b"\n"
