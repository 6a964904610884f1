"""What grew between two pastes: totals are never shown as growth, and what was cleared is no growth of zero."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.investigate.outputs.paste_difference import difference
from checks.investigate.outputs.pastes import understand
from checks.model.pasted import Counter, Pasted, PortReading
from tests.unit.test_pasted_outputs import SAMPLES

NEXUS = SAMPLES["nxos-interface"]


def later(text: str, **changes: str) -> Pasted:
    for old, new in changes.items():
        assert old.replace("_", " ") in text
        text = text.replace(old.replace("_", " "), new)
    return understand(text)


def test_growth_of_a_port() -> None:
    change = difference(
        understand(NEXUS), later(NEXUS.replace("4407 CRC", "4431 CRC").replace("44 Tx pause", "45 Tx pause"))
    )
    (first, second) = change.ports
    assert first.counters[Counter.CRC] == 0
    assert (second.counters[Counter.CRC], second.counters[Counter.PAUSE_OUT]) == (24, 1)
    assert second.counters[Counter.GIANTS] == 0
    assert change.cleared == ()


def test_a_counter_that_fell_was_cleared() -> None:
    change = difference(understand(NEXUS), understand(NEXUS.replace("4407 CRC", "3 CRC")))
    assert change.cleared == (("sw-priv-a", "Ethernet1/12"),)
    assert change.ports[1].counters == {}
    assert change.ports[0].counters[Counter.CRC] == 0


@pytest.mark.parametrize("cleared", ["00:00:07", "1d04h"])
def test_a_clearing_that_the_switch_reports_counts_though_all_counters_grew(cleared: str) -> None:
    text = NEXUS.replace("counters 2d03h", f"counters {cleared}").replace("1837 output discard", "2000 output discard")
    assert difference(understand(NEXUS), understand(text)).cleared == (("sw-priv-a", "Ethernet1/11"),)


def test_an_older_clearing_is_none() -> None:
    text = NEXUS.replace("counters 2d03h", "counters 2d04h")
    assert difference(understand(NEXUS), understand(text)).cleared == ()


def test_counters_that_were_never_cleared_and_then_were() -> None:
    text = NEXUS.replace("counters never", "counters 00:01:00")
    assert difference(understand(NEXUS), understand(text)).cleared == (("sw-priv-a", "Ethernet1/12"),)


def test_other_ports_and_other_switches_are_not_compared() -> None:
    other = understand(NEXUS.replace("Ethernet1/12", "Ethernet1/13"))
    change = difference(understand(NEXUS), other)
    assert (change.only_before, change.only_after) == (
        (("sw-priv-a", "Ethernet1/12"),),
        (("sw-priv-a", "Ethernet1/13"),),
    )
    elsewhere = difference(understand(NEXUS), understand(NEXUS.replace("sw-priv-a", "sw-priv-b")))
    assert elsewhere.ports == ()
    assert len(elsewhere.only_before) == len(elsewhere.only_after) == 2


def test_a_paste_without_prompts_is_of_the_same_switch() -> None:
    bare = "\n".join(line for line in NEXUS.split("\n") if "sw-priv-a" not in line)
    assert len(difference(understand(NEXUS), understand(bare)).ports) == 2


def test_the_short_and_the_long_name_are_one_port() -> None:
    change = difference(understand(SAMPLES["nxos-counters-errors"]), understand(NEXUS.replace("4407 CRC", "4408 CRC")))
    assert {p.name: p.counters[Counter.CRC] for p in change.ports} == {"Ethernet1/11": 0, "Ethernet1/12": 1}


def test_growth_of_rules_and_queues() -> None:
    rules, nft = SAMPLES["node-iptables"], SAMPLES["node-nft"]
    change = difference(understand(rules), understand(rules.replace("[9012:", "[9100:").replace("[15:", "[3:")))
    grown = {r.rule.text: r.packets for r in change.rules if r.packets != 0}
    assert grown == {
        "-A INPUT -i eth1 -p udp -m length --length 1501:65535 -j DROP": 88,
        "-A INPUT -i eth2 -p icmp -j REJECT --reject-with icmp-port-unreachable": None,  # it fell: set up again
    }
    moved = difference(
        understand(nft), understand(nft.replace("packets 4410 bytes 6614000", "packets 4420 bytes 6629000"))
    )
    assert [r.packets for r in moved.rules if r.packets] == [10]
    queues = SAMPLES["nxos-queuing"]
    inside = difference(
        understand(queues), understand(queues.replace("   612", "   700").replace("  1837|", "  1840|"))
    )
    assert inside.inside == {"ingress overflow, in": 88}
    assert inside.ports[0].queue_drops["qos group 0"] == 3


_COUNTS = st.dictionaries(st.sampled_from(list(Counter)), st.integers(0, 10), max_size=4)


@given(_COUNTS, _COUNTS)
def test_growth_is_never_negative(before: dict[Counter, int], after: dict[Counter, int]) -> None:
    pastes = [Pasted(ports=(PortReading(name="Ethernet1/1", counters=counts),)) for counts in (before, after)]
    change = difference(*pastes)
    assert all(number >= 0 for port in change.ports for number in port.counters.values())
    fell = any(after.get(name, number) < number for name, number in before.items())
    assert bool(change.cleared) is fell
