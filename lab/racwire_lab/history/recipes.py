"""Recipes that compute every value of AWR and Statspack from a few counts.

Each recipe is a sum of whole multiples of an instance's counts, or of the counts of a pair of instances:

    received, sent      units (`HistoryPlan.units_moved`); a unit is 200 consistent-read and 300 current blocks
    lost                blocks
    pings               pings, of each size
    dropped             packets dropped by the first NIC
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

Recipe = Mapping[str, int]

PING_EVERY_S = 12

LOST_WAIT_US = 500_000
"""The wait of an instance for a block that is lost."""

STATISTICS: Mapping[str, Recipe] = {
    "gc blocks lost": {"lost": 1},
    "gc claim blocks lost": {},
    "gc blocks corrupt": {},
    "gc cr blocks received": {"received": 200},
    "gc cr block receive time": {"received": 9, "lost": 50},
    "gc current blocks received": {"received": 300},
    "gc current block receive time": {"received": 17},
    "gc cr blocks served": {"sent": 200},
    "gc cr block build time": {"sent": 1},
    "gc cr block flush time": {"sent": 4},
    "gc cr block send time": {"sent": 1},
    "gc current blocks served": {"sent": 300},
    "gc current block pin time": {"sent": 2},
    "gc current block flush time": {"sent": 5},
    "gc current block send time": {"sent": 1},
    "gc local grants": {"received": 40},
    "gc remote grants": {"received": 60},
    "gcs messages sent": {"received": 700, "sent": 510},
    "ges messages sent": {"received": 90},
    "consistent gets from cache": {"received": 60_000},
    "db block gets from cache": {"received": 9_000},
    "physical reads cache": {"received": 800},
    "DBWR fusion writes": {"received": 5},
}
"""SYSSTAT; times in centiseconds."""

STATISTIC_IDS = {"gc blocks lost": 500461751}
"""STAT_ID where it is documented; other statistics get a generated number."""

MESSAGES: Mapping[str, Recipe] = {
    "gcs msgs received": {"received": 510, "sent": 700},
    "ges msgs received": {"received": 85},
    "gcs msgs process time(ms)": {"received": 6, "sent": 7},
    "ges msgs process time(ms)": {"received": 1},
    "msgs sent queued": {"received": 400},
    "msgs sent queue time (ms)": {"received": 3},
    "msgs sent queued on ksxp": {"received": 600},
    "msgs sent queue time on ksxp (ms)": {"received": 11},
    "msgs received queued": {"received": 500},
    "msgs received queue time (ms)": {"received": 2},
    "messages sent directly": {"received": 300},
    "messages sent indirectly": {"received": 110},
    "messages flow controlled": {},
}
"""DLM_MISC."""


@dataclass(frozen=True)
class EventRecipe:
    """An event: it has a row in SYSTEM_EVENT after its first wait."""

    name: str
    waits: Recipe
    time_us: Recipe
    wait_class: str = "Cluster"


EVENTS = (
    EventRecipe("gc cr block 2-way", {"received": 180}, {"received": 72_000}),
    EventRecipe("gc current block 2-way", {"received": 270}, {"received": 121_500}),
    EventRecipe("gc cr block busy", {"received": 15}, {"received": 19_000}),
    EventRecipe("gc cr grant 2-way", {"received": 60}, {"received": 12_000}),
    EventRecipe("gc buffer busy acquire", {"received": 3}, {"received": 4_500}),
    EventRecipe("gc cr block lost", {"lost": 1}, {"lost": LOST_WAIT_US}),
    EventRecipe("gcs remote message", {"received": 900}, {"received": 5_000_000}, "Other"),
    EventRecipe("log file sync", {"received": 11}, {"received": 17_000}, "Commit"),
)

TRANSFERS: Mapping[str, Mapping[str, Recipe]] = {
    "data block": {
        "cr_block": {"received": 180},
        "cr_block_time": {"received": 91_000},
        "cr_busy": {"received": 12},
        "cr_busy_time": {"received": 14_000},
        "cr_congested": {"received": 3},
        "cr_congested_time": {"received": 5_000},
        "current_block": {"received": 280},
        "current_block_time": {"received": 136_700},
        "current_busy": {"received": 9},
        "current_busy_time": {"received": 9_000},
        "current_congested": {"received": 1},
        "current_congested_time": {"received": 1_700},
        "lost": {"lost": 1},
        "lost_time": {"lost": LOST_WAIT_US},
    },
    "undo header": {
        "cr_block": {"received": 5},
        "cr_block_time": {"received": 1_900},
        "cr_busy": {},
        "cr_busy_time": {},
        "cr_congested": {},
        "cr_congested_time": {},
        "current_block": {"received": 10},
        "current_block_time": {"received": 4_100},
        "current_busy": {},
        "current_busy_time": {},
        "current_congested": {},
        "current_congested_time": {},
        "lost": {},
        "lost_time": {},
    },
}
"""INST_CACHE_TRANSFER, by class; times in microseconds. CR_BLOCK_TIME and CURRENT_BLOCK_TIME include the other times
(Database Reference), unlike the counts."""

PINGS: Mapping[str, Recipe] = {
    "cnt_500b": {"pings": 1},
    "wait_500b": {"pings": 280, "received": 2},
    "cnt_8k": {"pings": 1},
    "wait_8k": {"pings": 510, "received": 5},
}
"""INTERCONNECT_PINGS; times in microseconds."""

CLIENTS: Mapping[str, Mapping[str, Recipe]] = {
    "cache": {"bytes_sent": {"sent": 4_200_000}, "bytes_received": {"received": 4_200_000}},
    "dlm": {"bytes_sent": {"received": 158_000}, "bytes_received": {"sent": 161_000}},
    "ipq": {"bytes_sent": {"sent": 900}, "bytes_received": {"received": 850}},
}
"""IC_CLIENT_STATS."""

DEVICE: Mapping[str, Recipe] = {
    "bytes_received": {"received": 2_300_000},
    "packets_received": {"received": 1_100},
    "bytes_sent": {"sent": 2_300_000},
    "packets_sent": {"sent": 1_100},
    "receive_errors": {},
    "receive_dropped": {},
    "receive_buf_or": {},
    "receive_frame_err": {},
    "send_errors": {},
    "sends_dropped": {},
    "send_buf_or": {},
    "send_carrier_lost": {},
}
"""IC_DEVICE_STATS of each NIC; the first one also drops packets."""


def amount(recipe: Recipe, counts: Mapping[str, int]) -> int:
    """Return the value that a recipe computes from counts."""
    return sum(factor * counts[count] for count, factor in recipe.items())


def expression(recipe: Recipe) -> str:
    """Return the recipe as SQL, on columns with the names of the counts."""
    return " + ".join(f"{factor} * {count}" for count, factor in recipe.items()) or "0"
