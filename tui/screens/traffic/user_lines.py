"""The users of the interconnect of a node's instances, from the newest sample with messages: a line among the blocks, a
table alone."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import tzinfo

from checks.model.interconnect_load import ClientRates
from checks.model.wording import span
from checks.report.load_section import estimate_basis
from checks.report.quantities import byte_rate
from checks.rules.interconnect_users import CACHE, counted_bytes, shares, users_of
from checks.traffic.samples import Event, InstanceSample
from checks.traffic.source_id import SourceId
from tui.screens.traffic.rate_history import RateWindow
from tui.screens.traffic.rows import Columns, DrawingStyle, merged
from tui.text.line import Line, Span, fitted, sanitize_line
from tui.widgets import units as units

TITLE = "users"
_BYTES, _MOST_BAR, _LEAST_BAR = 10, 40, 5


@dataclass(frozen=True)
class UsersBlock:
    """The users of the interconnect of one instance in one sample."""

    instance: str
    users: tuple[ClientRates, ...]
    seconds: float
    ended_at: str
    """The time of day at the end of the sample."""
    block_bytes: int | None
    title: str = TITLE

    @property
    def only_now(self) -> UsersBlock:
        """The block: it has no graph."""
        return self

    @property
    def _is_estimate(self) -> bool:
        return any(user.is_estimate for user in self.users)

    def lines(self, columns: Columns, look: DrawingStyle) -> Iterator[Line]:
        """Yield one line: the share of each user in the bytes, or its messages where no bytes are known."""
        percent = shares(self.users)
        known = [value for user in self.users if (value := user.bytes_per_s) is not None]
        texts = []
        for user in self.users:
            share = units.share(percent.get((user.instance, user.client)))
            text = share if known else units.rate(user.messages_per_s)
            texts.append(f"{sanitize_line(user.client)} {text.strip()}")
        if known:
            texts.append(f"of {'about ' if self._is_estimate else ''}{byte_rate(sum(known))}")
        text = "  ".join([*texts, f"at {self.ended_at}"])
        yield merged([(" " + fitted(sanitize_line(self.title), columns.name) + " ", ""), (text, "")], look.width)

    def alone(self, look: DrawingStyle) -> Iterator[Line]:
        """Yield a row for each user."""
        about = f" users of the interconnect on {sanitize_line(self.instance)}"
        yield [(fitted(f"{about}, in {span(self.seconds)} until {self.ended_at}", look.width), "title")]
        name = max([4, *(len(sanitize_line(user.client)) for user in self.users)])
        bar = look.width - 1 - name - 2 * (2 + units.RATE) - 2 * (1 + _BYTES) - 2 - units.SHARE - 1
        bar = min(bar, _MOST_BAR) if bar >= _LEAST_BAR else 0
        heads = (
            f"  {'msgs in':<{units.RATE}}  {'msgs out':<{units.RATE}} {'bytes in':>{_BYTES}} {'bytes out':>{_BYTES}}"
        )
        yield [(fitted(f" {'':<{name}}{heads}  {'share':>{units.SHARE}}", look.width), "faint")]
        percent = shares(self.users)
        for user in self.users:
            value = percent.get((user.instance, user.client))
            line: list[Span] = [
                (f" {fitted(sanitize_line(user.client), name)}", ""),
                (f"  {units.rate(user.messages_received)}  {units.rate(user.messages_sent)}", ""),
                (f" {byte_rate(user.received):>{_BYTES}} {byte_rate(user.sent):>{_BYTES}}", ""),
                (f"  {units.share(value):>{units.SHARE}} ", ""),
                (_bar(value, bar, look), "accent"),
            ]
            yield merged(line, look.width)
        for text in self._notes():
            yield [(fitted(f" {text}", look.width), "faint")]

    def _notes(self) -> Iterator[str]:
        if any(user.client == CACHE for user in self.users):
            yield "Messages of cache are blocks."
        if self._is_estimate:
            yield f"Bytes are an estimate: {estimate_basis(self.block_bytes)}."
            yield "Bytes of parallel query (ipq) are not estimated, and not in the shares."


def _bar(percent: float | None, width: int, look: DrawingStyle) -> str:
    sign = "#" if look.style == "ascii" else "█"
    return sign * max(round((percent or 0.0) * width / 100), 1 if percent and width else 0)


def user_blocks(
    window: RateWindow, instances: Iterable[str], block_bytes: int | None, zone: tzinfo | None
) -> list[UsersBlock]:
    """Return the blocks of instances whose newest event is a sample, from their newest sample with messages."""
    names, found = list(instances), []
    for instance in names:
        sample = _with_messages(window.events.get(SourceId.instance(instance), ()))
        if sample is None:
            continue
        counted, seconds = counted_bytes(sample.messages), sample.seconds
        users = users_of(
            instance, sample.statistics, sample.messages, seconds, block_bytes=block_bytes, counted=counted
        )
        if users:
            at = units.clock(sample.at, zone, has_zone=False)
            title = TITLE if len(names) == 1 else f"{instance} {TITLE}"
            found.append(UsersBlock(instance, users, seconds, at, block_bytes, title))
    return found


def _with_messages(events: Iterable[Event]) -> InstanceSample | None:
    """The newest sample with messages since the last gap."""
    for event in reversed(list(events)):
        if not isinstance(event, InstanceSample):
            return None
        if event.messages:
            return event
    return None
