"""The arithmetic of silences: as long as the interruption, whatever the phase of the probes and their lateness."""

from __future__ import annotations

import itertools

from hypothesis import given
from hypothesis import strategies as st

from checks.measure.near_end.silences import MOST_SILENCES, Lateness, SilenceBook, SilentTime

MS = 1_000_000
INTERVAL = 10 * MS
RTT = MS // 5


def probed(
    cut: tuple[int, int] | None,
    *,
    end: int,
    late: dict[int, int] | None = None,
    interval: int = INTERVAL,
    waits: bool = False,
) -> list[SilentTime]:
    """The silences that a prober finds, in ns from the first probe. `cut`: from and to; `late` by number of the probe.

    `waits`: whether what was sent in the cut is answered at its end, as while the kernel waits for ARP.
    """
    book = SilenceBook(interval, -interval)
    answers = []
    for number in itertools.count():
        sent = number * interval + (late or {}).get(number, 0)
        if sent >= end:
            break
        is_cut = cut is not None and cut[0] <= sent < cut[1]
        events = [at for at in answers if at <= sent]
        answers = [at for at in answers if at > sent]
        for at in events:
            book.came(at)
        book.sent(sent - number * interval)
        if not is_cut:
            answers.append(sent + RTT)
        elif waits and cut is not None:
            answers.append(cut[1] + RTT)
    for at in answers:
        book.came(at)
    book.ended(end)
    return book.silences


@given(
    begin=st.integers(20 * MS, 500 * MS),
    length=st.integers(50 * MS, 10_000 * MS),
    interval=st.sampled_from([INTERVAL, MS]),
)
def test_a_silence_is_as_long_as_the_interruption_to_an_interval(begin: int, length: int, interval: int) -> None:
    (one,) = probed((begin, begin + length), end=begin + length + 500 * MS, interval=interval)
    assert one.is_over
    assert length - interval <= one.length_ns <= length + interval
    assert abs(one.began_ns - begin) <= interval + RTT


@given(
    begin=st.integers(30 * MS, 300 * MS),
    length=st.integers(50 * MS, 2_000 * MS),
    late=st.dictionaries(st.integers(0, 300), st.integers(0, 9 * MS), max_size=60),
)
def test_own_lateness_never_shortens_it_and_is_told(begin: int, length: int, late: dict[int, int]) -> None:
    found = probed((begin, begin + length), end=begin + length + 500 * MS, late=late)
    (one,) = [one for one in found if one.length_ns >= 40 * MS]
    assert length - INTERVAL - max(late.values(), default=0) <= one.length_ns <= length + INTERVAL + one.late_ns


def test_late_probes_alone_are_no_silence() -> None:
    assert probed(None, end=3_000 * MS, late={100: 9 * MS, 101: 9 * MS, 150: 9 * MS}) == []
    book = SilenceBook(INTERVAL, -INTERVAL)
    book.sent(0)
    book.came(RTT)
    book.sent(90 * MS)  # the prober itself did not run
    assert book.came(100 * MS + RTT) is None


def test_what_waits_for_arp_is_silence_although_it_is_answered_in_the_end() -> None:
    (one,) = probed((100 * MS, 1_100 * MS), end=2_000 * MS, waits=True)
    assert 980 * MS < one.length_ns < 1_020 * MS


def test_a_silence_at_the_end_is_at_least_that_long() -> None:
    (one,) = probed((200 * MS, 9_000 * MS), end=3_000 * MS)
    assert not one.is_over
    assert 2_780 * MS < one.length_ns <= 2_800 * MS
    (never,) = probed((-MS, 9_000 * MS), end=3_000 * MS)
    assert (never.length_ns, never.began_ns, never.is_over) == (3_000 * MS, 0, False)


def test_a_path_that_answers_has_no_silence_and_the_present_one_is_known() -> None:
    assert probed(None, end=1_000 * MS) == []
    book = SilenceBook(INTERVAL, -INTERVAL)
    book.sent(0)
    book.came(RTT)
    assert book.silent_ns(INTERVAL) == 0
    assert book.silent_ns(5_000 * MS + RTT) == 4_990 * MS
    assert book.came(RTT - 1) is None  # the order in which answers were read is not that of their arrival
    assert book.silent_ns(5_000 * MS + RTT) == 4_990 * MS


def test_the_longest_silences_are_kept() -> None:
    book = SilenceBook(INTERVAL, 0)
    at = 0
    for number in range(1, 2 * MOST_SILENCES + 1):
        at += (number + 3) * INTERVAL
        book.came(at)
    kept = book.silences
    assert len(kept) == MOST_SILENCES
    assert min(one.length_ns for one in kept) == (MOST_SILENCES + 3) * INTERVAL
    assert kept == sorted(kept, key=lambda one: one.began_ns)


@given(st.lists(st.integers(0, 50 * MS), max_size=150))
def test_the_percentile_of_the_lateness_is_one_of_its_values(values: list[int]) -> None:
    lateness = Lateness()
    for value in values:
        lateness.add(value)
    found = lateness.percentile_us(0.99)
    assert (found is None) == (len(values) < 100)
    assert found is None or found in {value // 10_000 * 10.0 for value in values}
    assert lateness.percentile_us(1.0) == (max(values) // 10_000 * 10.0 if values else None)
