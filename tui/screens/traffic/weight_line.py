"""How heavy the load of a node's private links is: a line among the blocks, the verdict with its figures alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from checks.model.interconnect_load import LoadWeight, Queueing
from checks.model.wording import span
from checks.rules.load_weight import load_weight_text
from tui.screens.traffic.rows import Columns, DrawingStyle, merged
from tui.text.line import Line, fitted, sanitize_line, wrapped
from tui.widgets import units as units

_MOST_LETTERS = 320
"""The longest verdict with its reason."""


@dataclass(frozen=True)
class WeightBlock:
    """How heavy the load is, over the time of the graphs."""

    weight: LoadWeight
    title: str = "load"

    @property
    def only_now(self) -> WeightBlock:
        """The block: it has no graph."""
        return self

    def lines(self, columns: Columns, look: DrawingStyle) -> Iterator[Line]:
        """Yield one line with the verdict, the share each way, and the pings at quiet and busy times."""
        found = self.weight
        text = (
            f"{found.weight}  {sanitize_line(found.place)} in {units.share(found.received_percent).strip()} "
            f"out {units.share(found.sent_percent).strip()} over {span(found.seconds)}"
        )
        if isinstance(found.queueing, Queueing):
            text += f"  ping quiet {found.queueing.quiet_ms:.2g} ms, busy {found.queueing.busy_ms:.2g} ms"
        yield merged([(" " + fitted(self.title, columns.name) + " ", ""), (text, "")], look.width)

    def alone(self, look: DrawingStyle) -> Iterator[Line]:
        """Yield the verdict with its reason, in as many lines at any moment: what is below stays in its place."""
        width = look.width - 1
        parts = [*wrapped(sanitize_line(load_weight_text(self.weight)), width)]
        for part in [*parts, *[""] * (-(-_MOST_LETTERS // width) - len(parts))]:
            yield [(f" {fitted(part, width)}", "")]
