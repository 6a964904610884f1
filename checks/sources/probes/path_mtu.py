"""Find the largest packet that passes, to the byte, where small packets pass and full-size packets do not.

Sans-I/O: the search yields the packets to send next, and receives their outcomes. An answered packet proves that its
size passes; a lost packet proves nothing yet, because packets also get lost by chance. So the search narrows the
boundary with single packets of many sizes at once, and then tests both sides of the boundary several times.

Two rounds of 32 sizes close any gap of the ladder up to 9216: 33 x 33 = 1089 bytes, and its largest gap is 1000. One
more round confirms. Behind a silent black hole each costs one time-out, since the sizes of a round are sent in
ascending order and no larger ones are tried after a run of lost ones.
"""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass

LADDER = (
    576,  # RFC 791: what every host must take
    1006, 1280,  # SLIP, IPv6 minimum
    1400, 1450, 1492, 1500,  # tunnels, VXLAN, PPPoE, Ethernet
    2044, 2300,  # IPoIB datagram mode, Exadata RoCE
    3000, 3900, 4092, 4352,  # Azure, IPoIB, FDDI
    5000, 6000, 7000, 8000,
    8896, 8951, 9000, 9216,  # Google Cloud, jumbo less VXLAN, jumbo, jumbo of switches
    16_384, 32_768, 65_520,  # IPoIB connected mode
)  # fmt: skip
"""MTUs of real networks, with rungs between them; each is tried together with one byte more."""

SIZES_PER_ROUND = 32
RUN_OF_LOST = 3
"""After so many lost sizes in a row, larger sizes are not tried in this round."""

HINT_COPIES = 3
CONFIRMATION_COPIES = 6
CONFIRMATIONS = 3
CHANCE = 1e-5
"""A boundary counts where chance would lose every packet above it with a probability below this."""


@dataclass(frozen=True, slots=True)
class Trial:
    """Packets to send: so many copies of one size, in bytes of IP packet."""

    packet: int
    copies: int


@dataclass(frozen=True, slots=True)
class Outcome:
    """The outcome of a trial."""

    packet: int
    sent: int
    answered: int


@dataclass(frozen=True, slots=True)
class Found:
    """The largest packet that passes, and the outcomes on both sides of the boundary."""

    mtu: int
    below: Outcome
    above: Outcome


@dataclass(frozen=True, slots=True)
class NotFound:
    """The search found no path MTU, and why."""

    reason: str
    no_sharp_limit: bool = False
    """Whether packets are lost at every size, not only above one size: then the cause is loss, not an MTU."""


Batch = tuple[Trial, ...]
Search = Generator[Batch, Sequence[Outcome], Found | NotFound]


def search_path_mtu(
    *, passes: int, fails: int, max_bytes_in_flight: int, max_packets: int, hint: int | None = None
) -> Search:
    """Search between a packet size that passes and one that does not; send the outcomes of each batch back in.

    A hint, the answer of another path of the same network, is tried first, with two sizes only. A batch never holds
    more than `max_bytes_in_flight`, unless a single trial does.
    """
    known = _Known(passes, fails, max_bytes_in_flight, max_packets)
    try:
        if hint is not None and passes <= hint < fails:
            hinted = yield from known.try_hint(hint)
            if hinted is not None:
                return hinted
        points = _rungs(known.passes, known.fails)
        while known.passes < fails:
            if known.fails - known.passes == 1:
                confirmed = yield from known.confirm()
                if confirmed is not None:
                    return confirmed
            else:
                yield from known.ask(Trial(p, 1) for p in points or _spread(known.passes, known.fails))
            points = ()
    except _SpentError:
        return NotFound(
            f"the packet limit of the path was reached (probe.max_packets_per_path): packets of {known.passes} bytes "
            f"were answered, packets of {known.fails} bytes were lost"
        )
    return NotFound(
        f"packets of {fails} bytes were lost at first and answered later: loss, not an MTU", no_sharp_limit=True
    )


class _SpentError(Exception):
    """The packet limit is reached."""


class _Known:
    """The sizes that passed and the sizes that were lost in the outcomes so far."""

    def __init__(self, passes: int, fails: int, max_bytes_in_flight: int, max_packets: int) -> None:
        self.passes = passes
        """The largest packet that was answered."""
        self._limit = fails
        self._lost = {fails}
        self._max_bytes_in_flight = max_bytes_in_flight
        self._packets_left = max_packets

    @property
    def fails(self) -> int:
        """The smallest lost packet above the answered packets."""
        return min((p for p in self._lost if p > self.passes), default=self._limit)

    def ask(self, trials: Iterable[Trial]) -> Generator[Batch, Sequence[Outcome], dict[int, Outcome]]:
        """Send trials in ascending order, in batches that fit in flight, until a run of them was lost.

        Raises _SpentError, which the search catches, where the packet limit is reached.
        """
        found: dict[int, Outcome] = {}
        for batch in _batches(sorted(trials, key=lambda t: t.packet), self._max_bytes_in_flight):
            cost = sum(t.copies for t in batch)
            if cost > self._packets_left:
                raise _SpentError
            self._packets_left -= cost
            outcomes = yield batch
            for outcome in outcomes:
                found[outcome.packet] = outcome
                if outcome.answered:
                    self.passes = max(self.passes, outcome.packet)
                elif outcome.sent:
                    self._lost.add(outcome.packet)
            top = [o for o in outcomes if o.sent][-RUN_OF_LOST:]
            if len(top) == RUN_OF_LOST and not any(o.answered for o in top):
                break
        return found

    def try_hint(self, hint: int) -> Generator[Batch, Sequence[Outcome], Found | None]:
        """Test whether the boundary is at the hint; None unless all packets at the hint pass and all above are lost."""
        found = yield from self.ask((Trial(hint, HINT_COPIES), Trial(hint + 1, HINT_COPIES)))
        below, above = found.get(hint), found.get(hint + 1)
        if below and above and below.answered == below.sent and above.sent and not above.answered:
            return Found(hint, below, above)
        return None

    def confirm(self) -> Generator[Batch, Sequence[Outcome], Found | NotFound | None]:
        """Test both sides of the boundary until chance is ruled out; None where the larger packet was answered."""
        mtu = self.passes
        below, above = Outcome(mtu, 0, 0), Outcome(mtu + 1, 0, 0)
        for _ in range(CONFIRMATIONS):
            found = yield from self.ask((Trial(mtu, CONFIRMATION_COPIES), Trial(mtu + 1, CONFIRMATION_COPIES)))
            below, above = _sum(below, found.get(mtu)), _sum(above, found.get(mtu + 1))
            if above.answered:
                return None
            # The chance that one packet of this size gets lost, by the rule of succession.
            loss = (below.sent - below.answered + 1) / (below.sent + 2)
            if above.sent and loss**above.sent < CHANCE:
                return Found(mtu, below, above)
        return NotFound(
            f"packets of {mtu} bytes were answered {below.answered} of {below.sent} times: packets of that size are "
            "lost too, so there is no sharp limit",
            no_sharp_limit=True,
        )


def _sum(one: Outcome, other: Outcome | None) -> Outcome:
    return one if other is None else Outcome(one.packet, one.sent + other.sent, one.answered + other.answered)


def _rungs(passes: int, fails: int) -> tuple[int, ...]:
    """The ladder between two sizes, each rung with one byte more."""
    return tuple(sorted({p for rung in LADDER for p in (rung, rung + 1) if passes < p < fails}))


def _spread(passes: int, fails: int) -> tuple[int, ...]:
    """Sizes that divide a gap evenly."""
    parts = min(SIZES_PER_ROUND + 1, fails - passes)
    return tuple(passes + (fails - passes) * i // parts for i in range(1, parts))


def _batches(trials: Iterable[Trial], max_bytes: int) -> Generator[Batch, None, None]:
    batch: list[Trial] = []
    total = 0
    for trial in trials:
        size = trial.packet * trial.copies
        if batch and total + size > max_bytes:
            yield tuple(batch)
            batch, total = [], 0
        batch.append(trial)
        total += size
    if batch:
        yield tuple(batch)
