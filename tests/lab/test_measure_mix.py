"""`racwire measure mix` on four nodes behind slow switch ports: small flows next to large ones, and priorities."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from checks.model.flow_bound import FlowBound
from checks.model.measurement import MeasuredMix, Measurement
from tests.lab.lab_support import needs_namespaces, needs_nft
from tests.lab.practice_command import Practice

pytestmark = [pytest.mark.lab, pytest.mark.beyond_sample, needs_namespaces, needs_nft]
TOWARDS_HERE = ("--towards-here", "--packets", "20000", "--whole", "15m")
FIRST_PACKETS = "20"


@pytest.fixture(scope="module")
def practice(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Practice]:
    one = Practice(tmp_path_factory.mktemp("mix") / "lab", 4, 1500, rate="50m")
    yield one
    one.down()


def prioritised(practice: Practice, file: Path, *words: str) -> tuple[Measurement, list[str]]:
    """Measure, set the switch whenever racwire asks for it, and return the result and what it asked for."""
    asked = []
    with subprocess.Popen(
        [sys.executable, "-P", "-m", "racwire", "measure", "mix", "--lab", "--priorities", *TOWARDS_HERE, *words,
         "--go", "practice", "--format", "json", "-o", str(file)],
        env=practice.environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as process:  # fmt: skip
        assert process.stdin
        assert process.stderr
        for line in process.stderr:
            if found := re.search(r"Set the priorities of the switch (on|off)", line):
                asked.append(found[1])
                practice.lab("switch", "--prioritise", FIRST_PACKETS if found[1] == "on" else "off")
                process.stdin.write("\n")
                process.stdin.flush()
    assert process.returncode in (0, 3)
    return msgspec.json.decode(file.read_bytes(), type=Measurement), asked


def test_the_switch_is_set_when_asked_for_and_the_flows_fill_the_port(practice: Practice, tmp_path: Path) -> None:
    found, asked = prioritised(
        practice,
        tmp_path / "mix.json",
        "--classes",
        "block,large",
        "--turns",
        "2",
        "--rounds",
        "1",
        "--share",
        "80",
        "--gap",
        "12",
    )
    assert asked == ["off", "on"]
    assert not found.stopped
    assert isinstance(found.result, MeasuredMix)
    assert {(one.turn, one.prioritised, one.company) for one in found.result.rounds} == {
        (0, False, "together"), (1, True, "together"),
    }  # fmt: skip
    assert {one.verdict for one in found.result.effects} == {"cannot tell"}
    assert found.result.gap_ms == 12
    for fill in found.result.fills:
        assert (fill.link_bps, fill.most_bps) == (50e6, 40e6)
        assert 0 < fill.delivered_bps <= fill.mean_bps
        # On a machine that others use, this node's program may be what held the flows back.
        assert fill.bound in ("", FlowBound.LATE, FlowBound.ANSWERS, FlowBound.CPU_HERE, FlowBound.LIMITS)


def test_priorities_help_small_flows_next_to_large_ones_and_cost_these_nothing(
    practice: Practice, tmp_path: Path
) -> None:
    found, asked = prioritised(practice, tmp_path / "mix.json", "--flows", "4", "--rounds", "6", "--share", "95")
    assert asked == ["off", "on", "off"]
    assert isinstance(found.result, MeasuredMix)
    effects = {one.flow_class: one for one in found.result.effects}
    assert effects["block"].verdict == effects["message"].verdict == "less"
    large = effects["large"].change
    assert large is not None
    assert abs(large) < 0.15
    for fill in found.result.fills:
        assert fill.link_bps
        assert fill.delivered_bps > 0.8 * fill.link_bps, fill
