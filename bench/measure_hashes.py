"""Hold `racwire measure hashes` against links of which one member is dead, and against healthy ones."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from bench.instruments import demand, near
from bench.instruments import measure as racwire
from bench.pace import Pace
from bench.practice import practice_cluster
from bench.rows import Row

MEMBERS = {2: "lag-member-mtu", 4: "lag-member-mtu-of-4"}
"""The faults: a member that loses full-size packets, by the number of members."""
_FULL_SIZE = "some source ports lose every full-size datagram"


def measure(pace: Pace) -> Iterator[Row]:
    """Yield a row for each number of members, and one for healthy links."""
    demand("nft")
    with practice_cluster(2, database=False) as lab:
        for members, fault in MEMBERS.items():
            broken = lab.break_(fault, network=1)
            found = [_directions(racwire(broken, "hashes", "--on", "192.168.10.0/24")[1]) for _ in range(pace.finds)]
            broken.mend()
            yield _found(members, [one for run in found for one in run])
        healthy = near(lab, "hash_runs", runs=pace.healthy)
    false = [one["verdict"] for run in healthy["runs"] for one in run if one["verdict"] != "passes"]
    note = f"both directions of one path in each run{f'; {false[0]}' if false else ''}"
    yield Row(
        f"measure hashes, healthy: false findings in {len(healthy['runs'])} runs", "", len(false), 0, notes=(note,)
    )


def _found(members: int, directions: list[dict[str, Any]]) -> Row:
    right = [
        one
        for one in directions
        if one["verdict"] == _FULL_SIZE and one["least_members"] <= members <= one["most_members"]
    ]
    exact = sum(one["members"] == members for one in right)
    dead = ", ".join(f"{one['dead']} of {one['of']}" for one in directions)
    note = f"dead ports: {dead}; the likeliest number of members was {members} in {exact} of {len(directions)}"
    return Row(
        f"measure hashes, one dead member of {members}: found, with {members} among its numbers", "directions",
        len(right), len(directions), is_least=True, notes=(note,),
    )  # fmt: skip


def _directions(found: dict[str, Any]) -> list[dict[str, Any]]:
    return list(found["result"]["directions"])
