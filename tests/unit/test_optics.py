"""The transceivers of private NICs: what `ethtool -m` prints of each kind of module, and where it cannot read one."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from checks.model.facts import NodeOptics, OpticalLane, OpticalLimits, UnreadNode
from checks.model.facts.transceivers import UnreadModule
from checks.rules.optical_power import decibels
from checks.sources.nic_drivers import OPTICS
from checks.sources.nodes.transceiver_text import parse_optics

KEPT = re.compile(re.search(r"grep -i -m \d+ -E '(.+)'", OPTICS.text)[1], re.IGNORECASE)  # type: ignore[index]
LIMITS = """\
        Laser output power high alarm threshold   : 0.8318 mW / -0.80 dBm
        Laser output power low alarm threshold    : 0.2512 mW / -6.00 dBm
        Laser output power high warning threshold : 0.6607 mW / -1.80 dBm
        Laser output power low warning threshold  : 0.3162 mW / -5.00 dBm
        Module temperature high alarm threshold   : 78.00 degrees C / 172.40 degrees F
        Module temperature low alarm threshold    : -13.00 degrees C / 8.60 degrees F
        Module temperature high warning threshold : 73.00 degrees C / 163.40 degrees F
        Module temperature low warning threshold  : -8.00 degrees C / 17.60 degrees F
        Laser rx power high alarm threshold       : 1.0000 mW / 0.00 dBm
        Laser rx power low alarm threshold        : 0.0100 mW / -20.00 dBm
        Laser rx power high warning threshold     : 0.7943 mW / -1.00 dBm
        Laser rx power low warning threshold      : 0.0158 mW / -18.01 dBm
"""
SFP = f"""\
        Identifier                                : 0x03 (SFP)
        Connector                                 : 0x07 (LC)
        Transceiver type                          : 10G Ethernet: 10G Base-SR
        Length (Copper)                           : 0m
        Vendor SN                                 : AX1234
        Optical diagnostics support               : Yes
        Laser bias current                        : 6.104 mA
        Laser output power                        : 0.5623 mW / -2.50 dBm
        Receiver signal average optical power     : 0.4074 mW / -3.90 dBm
        Module temperature                        : 34.62 degrees C / 94.31 degrees F
        Alarm/warning flags implemented           : Yes
        Laser output power low alarm              : Off
        Laser rx power low alarm                  : On
{LIMITS}"""
QSFP = """\
        Identifier                                : 0x0d (QSFP+)
        Connector                                 : 0x0c (MPO Parallel Optic)
        Transmitter technology                    : 0x00 (850 nm VCSEL)
        Length (Copper or Active cable)           : 0m
        Module temperature                        : 42.17 degrees C / 107.90 degrees F
        Laser tx bias current (Channel 1)         : 6.662 mA
        Transmit avg optical power (Channel 1)    : 0.7119 mW / -1.48 dBm
        Transmit avg optical power (Channel 2)    : 0.0000 mW / -inf dBm
        Transmit avg optical power (Channel 3)    : 0.7111 mW / -1.48 dBm
        Transmit avg optical power (Channel 4)    : 0.7222 mW / -1.41 dBm
        Rcvr signal avg optical power(Channel 1)  : 0.7682 mW / -1.15 dBm
        Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
        Rcvr signal avg optical power(Channel 3)  : 0.7001 mW / -1.55 dBm
        Rcvr signal avg optical power(Channel 4)  : 0.0001 mW / -40.00 dBm
        Laser tx power low alarm    (Channel 1)   : Off
        Laser output power high alarm threshold   : 0.0000 mW / -inf dBm
        Laser output power low alarm threshold    : 0.0000 mW / -inf dBm
        Laser output power high warning threshold : 0.0000 mW / -inf dBm
        Laser output power low warning threshold  : 0.0000 mW / -inf dBm
        Laser rx power high alarm threshold       : 2.1878 mW / 3.40 dBm
        Laser rx power low alarm threshold        : 0.0446 mW / -13.51 dBm
        Laser rx power high warning threshold     : 1.7378 mW / 2.40 dBm
        Laser rx power low warning threshold      : 0.1122 mW / -9.50 dBm
"""
CMIS = """\
\tIdentifier                                : 0x18 (QSFP-DD Double Density 8X Pluggable Transceiver (INF-8628))
\tModule temperature                        : 70.49 degrees C / 158.89 degrees F
\tTransmit avg optical power (Channel 1)    : 1.5975 mW / 2.03 dBm
\tRcvr signal avg optical power (Channel 1) : 2.2489 mW / 3.52 dBm
"""
DACS = (
    "Identifier : 0x03 (SFP)\nConnector : 0x21 (Copper pigtail)\nTransceiver type : Passive Cable\n"
    "Length (Copper or Active cable) : 1m\nPassive Cu cmplnce. : 0x01 (SFF-8431 appendix E)\n",
    "Identifier : 0x11 (QSFP28)\nConnector : 0x23 (No separable connector)\n"
    "Transmitter technology : 0xa0 (Copper cable unequalized)\nModule temperature : 0.00 degrees C / 32.00 degrees F\n",
    "Identifier : 0x03 (SFP)\nTransceiver type : 10G Ethernet: 10G Base-CR\nOptical diagnostics support : No\n",
    "Identifier : 0x03 (SFP)\nConnector : 0x23 (No separable connector)\nLength (Copper) : 3m\n",
)


def printed(text: str, nic: str = "eth1", code: int = 0) -> str:
    """What the program prints of one NIC: the lines that it keeps."""
    lines = [line for line in text.splitlines() if KEPT.search(line)]
    return "\n".join((f"nic {nic}", *lines, f"exit {code}"))


def read(text: str, code: int = 0) -> NodeOptics:
    found = parse_optics(printed(text, code=code), "rac1")
    assert isinstance(found, NodeOptics)
    return found


def test_one_lane_with_the_limits_of_its_module():
    (module,) = read(SFP).modules
    assert (module.interface, module.kind, module.is_copper) == ("eth1", "SFP", False)
    assert module.lanes == (OpticalLane(1, 0.5623, 0.4074),)
    assert module.temperature_c == 34.62
    assert module.sent_limits == OpticalLimits(0.2512, 0.3162, 0.6607, 0.8318)
    assert module.received_limits == OpticalLimits(0.01, 0.0158, 0.7943, 1.0)
    assert module.temperature_limits == OpticalLimits(-13.0, -8.0, 73.0, 78.0)


def test_four_lanes_of_which_one_is_not_in_use_and_limits_of_zero_are_none():
    (module,) = read(QSFP).modules
    assert module.kind == "QSFP+"
    assert [lane.number for lane in module.lanes] == [1, 2, 3, 4]
    assert module.lanes[1] == OpticalLane(2, 0.0, 0.0)
    assert module.lanes[3].received_mw == 0.0001
    assert module.sent_limits is None
    assert module.received_limits is not None


def test_modules_of_cmis_and_values_without_milliwatts():
    assert read(CMIS).modules[0].kind == "QSFP-DD"
    assert read(CMIS).modules[0].lanes == (OpticalLane(1, 1.5975, 2.2489),)
    only_dbm = SFP.replace("0.5623 mW / -2.50 dBm", "-2.5 dBm").replace("0.4074 mW / -3.90 dBm", "-inf dBm")
    assert decibels(read(only_dbm).modules[0].lanes[0].sent_mw or 0) == pytest.approx(-2.5, abs=0.01)
    assert read(only_dbm).modules[0].lanes[0].received_mw == 0.0
    assert not read(SFP.replace("signal average optical power", "signal OMA")).modules[0].is_average


@pytest.mark.parametrize("text", DACS)
def test_copper_is_copper_and_has_no_light(text: str):
    (module,) = read(text).modules
    assert module.is_copper
    assert module.lanes == ()


def test_a_nic_without_a_module_is_no_fault():
    (without,) = read("", 1).without
    assert without == UnreadModule("eth1", "no module that its driver can read")


def test_a_module_that_does_not_answer_and_a_user_who_may_not_ask():
    assert read("", 124).without[0].reason == "did not answer in time"
    found = parse_optics("user 1000\n" + printed("", code=1), "rac1")
    assert isinstance(found, UnreadNode)
    assert found.right is not None
    assert "root" in found.right.needed
    assert isinstance(parse_optics("user 1000\n" + printed(SFP), "rac1"), NodeOptics)
    missing = parse_optics("no ethtool\nuser 0\nnic eth1\n", "rac1")
    assert isinstance(missing, UnreadNode)
    assert "ethtool" in missing.reason


@given(
    st.lists(
        st.sampled_from([*SFP.splitlines(), *QSFP.splitlines(), "nic eth1", "nic ", "exit 0", "no ethtool"])
        | st.text(max_size=60),
        max_size=40,
    )
)
def test_the_parser_never_raises(lines: list[str]):
    found = parse_optics("\n".join(lines), "rac1")
    for module in found.modules if isinstance(found, NodeOptics) else ():
        assert all(0 <= (power or 0) <= 100 for lane in module.lanes for power in (lane.sent_mw, lane.received_mw))
