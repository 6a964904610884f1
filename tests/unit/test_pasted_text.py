"""What terminals and mails add to a pasted output, what is not understood, and any text."""

from collections.abc import Callable
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from checks.investigate.outputs.pastes import understand
from checks.model.pasted import (
    Counter,
    Note,
    Pasted,
    PastedOutput,
)
from tests.unit.test_pasted_outputs import SAMPLES, pasted

# --- what a terminal and a mail add -----------------------------------------------------------------------------------

PAGER = " --More-- \b\b\b\b\b\b\b\b\b\b          \b\b\b\b\b\b\b\b\b\b"


def paged(text: str) -> str:
    """With the pager of a switch, and what it prints to erase itself, before each tenth line."""
    return "\n".join(f"{PAGER if at % 10 == 9 else ''}{line}" for at, line in enumerate(text.split("\n")))


ADDED: dict[str, Callable[[str], str]] = {
    "CRLF": lambda text: text.replace("\n", "\r\n"),
    "colours": lambda text: "\n".join(f"\x1b[1;32m{line}\x1b[0m\x1b[K" for line in text.split("\n")),
    "pager": paged,
    "blanks at the end": lambda text: text.replace("\n", "   \n"),
    "quoted in a mail": lambda text: "\n".join(f"> {line}" for line in text.rstrip("\n").split("\n")),
    "fenced": lambda text: f"```\n{text}```\n",
    "no-break spaces": lambda text: text.replace("  ", "\u00a0 "),
    "byte order mark": lambda text: f"\ufeff{text}",
}


WHOLE = "\n".join(SAMPLES[name] for name in sorted(SAMPLES))


@pytest.mark.parametrize("added", ADDED)
def test_what_terminals_and_mails_add_changes_nothing(added: str) -> None:
    assert understand(ADDED[added](WHOLE)) == whole()


@cache
def whole() -> Pasted:
    return understand(WHOLE)


def test_all_samples_in_one_paste() -> None:
    """Several outputs of several devices: nothing of one is taken for another's."""
    found = whole()
    assert set(found.outputs) == set(PastedOutput)
    assert found.not_understood == ()
    for name in ("nxos-mac", "junos-outputs", "sonic-outputs"):
        assert set(pasted(name).macs) <= set(found.macs)
    crc = {(p.device, p.name): p.counters.get(Counter.CRC) for p in found.ports}
    assert (crc["sw-priv-a", "Ethernet1/12"], crc["leaf-1", "Ethernet5/1"], crc["rac1", "ens2f0"]) == (4407, 143, 6)


def test_ports_of_two_switches_with_one_name_stay_apart() -> None:
    text = SAMPLES["nxos-counters-errors"]
    found = understand(text + text.replace("sw-priv-a", "sw-priv-b").replace("4407", "11"))
    assert [(p.device, p.counters[Counter.CRC]) for p in found.ports if p.name == "Ethernet1/12"] == [
        ("sw-priv-a", 4407),
        ("sw-priv-b", 11),
    ]
    assert found.notes == ()


def test_one_port_twice_is_said() -> None:
    text = SAMPLES["nxos-interface"]
    found = understand(text + text.replace("4407 CRC", "4409 CRC"))
    assert found.notes == (Note.REPEATED,)
    assert found.ports[1].counters[Counter.CRC] == 4409


def test_what_is_not_understood_is_kept() -> None:
    found = understand(f"sw-priv-a# show clock\n14:02:11.123 UTC Sat Nov 29 2025\n{SAMPLES['nxos-mac']}")
    assert found.outputs == (PastedOutput.MACS,)
    assert found.not_understood == ("show clock\n14:02:11.123 UTC Sat Nov 29 2025",)


def test_an_unknown_output_behind_a_known_one_is_kept_without_prompts() -> None:
    unknown = "Logging of level 5\nServer one is up\nServer two is up\nServer three answers\n"
    found = understand(SAMPLES["nxos-mac"].partition("\n")[2] + "\n" + unknown)
    assert found.not_understood == (unknown.strip(),)


def test_a_refused_command_is_said() -> None:
    found = understand(
        "sw-priv-a# show queuing interfac eth1/1\n                          ^\n% Invalid command at '^' marker.\n"
    )
    assert (found.outputs, found.notes) == ((), (Note.REFUSED,))


def test_an_output_that_names_no_port_has_that_of_the_printed_command() -> None:
    text = SAMPLES["node-ethtool-statistics"].partition("\n")[2]
    assert [p.name for p in understand(text).ports] == [""]
    assert [p.name for p in understand(text, ("ethtool -S ens2f0",)).ports] == ["ens2f0"]


def test_a_cut_end_is_no_counter_of_zero() -> None:
    """The last number can be a part of one: what the cut leaves of a line is read as little as possible."""
    text = SAMPLES["nxos-interface"]
    whole = text.index("  TX\n", text.index("Ethernet1/12 is up"))
    found = understand(text[:whole])
    assert Counter.OUTPUT_DISCARDS not in found.ports[1].counters


@settings(max_examples=40, deadline=None)
@given(st.data())
def test_nothing_raises(data: st.DataObject) -> None:
    """Lines of all samples, mixed, cut and damaged."""
    lines = data.draw(st.lists(st.sampled_from(ALL_LINES), max_size=30))
    damaged = data.draw(st.lists(st.tuples(st.integers(0, 200), st.text(max_size=4)), max_size=8))
    text = "\n".join(lines)
    for at, inserted in damaged:
        text = text[: at * 5] + inserted + text[at * 5 + len(inserted) * 2 :]
    found = understand(text)
    assert all(value >= 0 for p in found.ports for value in p.counters.values())


ALL_LINES = sorted({line for text in SAMPLES.values() for line in text.split("\n")})


@given(st.text(max_size=300))
@settings(max_examples=40, deadline=None)
def test_no_text_raises(text: str) -> None:
    understand(text)
