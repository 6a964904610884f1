"""The page about safety names tests that exist, and the limits and effects that the code has."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from checks.measure.deep_check import EVERY_S
from checks.measure.load_limits import FRAGMENT_STOP_SHARE, HARD, LoadLimits
from checks.model.effect import Effect
from checks.model.fragment_memory import FRAGMENT_SHARE
from checks.model.settings import InvestigateSettings, ProbeSettings
from checks.rules.sampling_pace import PX_PER_S
from checks.sources.alert_logs import LOGS_LIMIT_S, MOST_FILES, TAIL_BYTES
from checks.sources.nodes.considerate_ssh import GUEST_SESSIONS, LOGINS_AT_ONCE
from checks.sources.nodes.niceness import NICE
from checks.sources.probes import counted_rows, port_turns
from checks.sources.probes.limits import PING_WAIT_S, GentlePace

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs/safety.md").read_text(encoding="utf-8")


def test_each_limit_names_a_test_that_exists() -> None:
    named = re.findall(r"`(tests/\S+\.py)(?:::(\w+))?`", PAGE)
    assert len(named) > 10
    for path, function in named:
        tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
        defined = {one.name for one in ast.walk(tree) if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef)}
        assert not function or function in defined, f"{path} has no {function}"


def test_the_limits_are_those_of_the_code() -> None:
    probe = ProbeSettings()
    for text in (
        f"| {FRAGMENT_SHARE * 100:.0f} % in datagrams without an answer",
        "stops where a quarter is in use" if FRAGMENT_STOP_SHARE == 0.25 else "",
        f"a check: {probe.max_packets_per_path} for a path, {probe.max_packets_per_second:,} a second",
        f"; {port_turns.ROW * port_turns.PORTS * port_turns.TURNS} more on a path that loses a part",
        f"last {TAIL_BYTES // 10**6} MB of {MOST_FILES} alert logs and of the traces of ocssd, gipcd and ohasd, within "
        f"{LOGS_LIMIT_S} s",
        f"lost, {GentlePace.BYTES_PER_S // 1000} kB/s",
        f"`measure`: {LoadLimits().packets_per_s:,} a second, up to {HARD.packets_per_s:,}",
        f"at most {counted_rows.CUT_PER_SECOND} datagrams in fragments a second to one receiver, none where a quarter",
        f"and reads that every {counted_rows.MEMORY_EVERY_S} s" if counted_rows.STOP_SHARE == 0.25 else "",
        f"once an hour: {counted_rows.PER_SECOND} a second on all nodes together" if EVERY_S == 3600 else "",
        f"on all nodes together, {InvestigateSettings().datagrams:,} in all",
        f"| {LOGINS_AT_ONCE} to a peer |",
        f"| {GUEST_SESSIONS} to a peer |",
        f"live samples: {PX_PER_S:g} a second on all instances",
        f"at nice {NICE} on every node",
        f"delays them by {PING_WAIT_S:.0f} seconds",
    ):
        assert text
        assert text in PAGE


def test_each_effect_of_a_command_is_explained_with_its_sentence() -> None:
    rows = dict(re.findall(r"^\| `([\w-]+)` \| (.+?) \|", PAGE, re.MULTILINE))
    for effect in set(Effect) - {Effect.NOT_JUDGED}:
        assert effect.sentence.startswith(rows[effect.value].rstrip(".").replace("none", "")), effect
