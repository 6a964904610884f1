"""The limits that the checks measure against: names, defaults, bounds, and where each comes from."""

from __future__ import annotations

from typing import Annotated

from msgspec import Meta

from checks.model.facts.base import Fact


class Thresholds(Fact, frozen=True, kw_only=True):
    """What the checks measure against; each is a setting of the section `thresholds`.

    Only `checks.rules` reads them.
    """

    loss_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Lost packets on a path, in percent, from which it is a failure and not a warning. MOS "
            "563566.1 calls any lost block a problem; 1 % of packets at MTU 1500 is some 6 % of 8 KB blocks.",
        ),
    ] = 1.0
    lost_blocks_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Lost blocks, in percent of those received or lost, above which it is a failure and not a "
            "warning. MOS 563566.1 has any lost block investigated; the 0.1 % are ours.",
        ),
    ] = 0.1
    few_blocks: Annotated[
        int,
        Meta(
            ge=1,
            description="Blocks received in the interval below which an instance is taken for idle: averages of fewer "
            "say little, since the database counts their times in hundredths of a second.",
        ),
    ] = 100
    receive_attention_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Milliseconds for a block to arrive, on average, above which the report says that it is more "
            "than usual: on 10 Gbit/s under 1 ms is (current practice).",
        ),
    ] = 1.0
    receive_warn_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="The same for a warning. Enterprise Manager warns at 1 cs (metric help of 10.2 to 11.2); 10 ms "
            "is also the rule of thumb for CR blocks.",
        ),
    ] = 10.0
    receive_fail_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="The same for a failure. Enterprise Manager is critical at 2 cs; 20 ms is also the rule of "
            "thumb for current blocks.",
        ),
    ] = 20.0
    receive_tail_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Waits for blocks, in percent, that may take longer than receive_fail_ms while the average is "
            "good: above that it is a warning. Ours.",
        ),
    ] = 2.0
    gc_wait_share_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Share of an event that is no plain transfer (congested, retry, ...) in the waits for the "
            "cluster, in percent, from which it is told: as a warning, unless blocks are but busy. Ours.",
        ),
    ] = 10.0
    recent_loss_h: Annotated[
        float,
        Meta(
            gt=0,
            le=87_840,
            description="Hours before the end of the history within which a loss of the past is a warning though "
            "nothing is lost now; an older one is only told. A day, so that every hour's load is in it once. Ours.",
        ),
    ] = 24.0
    ping_warn_ms: Annotated[
        float,
        Meta(
            gt=0,
            description="Milliseconds of an instance's ping to another (500 bytes or 8 KB), on average, above which it "
            "is a warning. Tools of the field take over 1 ms for bad.",
        ),
    ] = 1.0
    ping_fail_ms: Annotated[
        float,
        Meta(gt=0, description="The same for a failure. Above 10 ms two-way messages count as severe in the field."),
    ] = 10.0
    ping_8k_warn_ratio: Annotated[
        float,
        Meta(
            gt=1,
            description="How many times as long as one of 500 bytes a ping of 8 KB may take, on average, before it is "
            "a warning. Cut into six fragments at MTU 1500 it takes several times as long. Ours.",
        ),
    ] = 3.0
    few_pings: Annotated[
        int,
        Meta(
            ge=1,
            description="Pings of a pair in the interval below which their average is not judged: one late answer "
            "would make it. Ours.",
        ),
    ] = 3
    reassembly_fail_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Fragments, in percent, whose packets could not be put together, above which it is a failure "
            "and not a warning. MOS 563566.1, cause 3, shows 9 %; the 1 % are ours.",
        ),
    ] = 1.0
    device_drop_warn_percent: Annotated[
        float,
        Meta(
            gt=0,
            le=100,
            description="Packets, in percent, that a NIC dropped over the history, from which it is a warning. Linux "
            "also counts packets there that it has no use for, so that a few are normal. Ours.",
        ),
    ] = 0.01
