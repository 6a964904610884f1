"""The colours of the themes for people who are colour-blind, by simulation; and letters, which need no colour."""

from __future__ import annotations

from itertools import combinations

import pytest

from checks.model.finding import Status
from tests.support.colour_vision import VISION, Colour, contrast, difference, hex_colour, lab
from tui.console.theme import DARK, TERMINAL

LEAST_DIFFERENCE = 12
"""Six times the least noticeable difference: text has thin strokes."""
LEAST_CONTRAST = 4.5
"""WCAG 2, level AA, for text."""
XTERM = {
    "ansi_red": (205, 0, 0),
    "ansi_yellow": (205, 205, 0),
    "ansi_magenta": (205, 0, 205),
    "ansi_cyan": (0, 205, 205),
    "ansi_green": (0, 205, 0),
}
"""The sixteen colours are those of the terminal; most have about these."""


def dark() -> dict[str, Colour]:
    """Return the colours of the roles on the dark theme."""
    named = {
        "fail": DARK.error,
        "warn": DARK.warning,
        "unknown": DARK.secondary,
        "info": DARK.primary,
        "pass": DARK.success,
        "faint": DARK.variables["faint"],
        "text": DARK.foreground,
    }
    return {role: hex_colour(colour) for role, colour in named.items() if colour}


@pytest.mark.parametrize("vision", VISION)
def test_any_two_roles_of_the_dark_theme_differ(vision: str) -> None:
    """The least difference is 15: FAIL and PASS with deuteranopia."""
    roles = dark()
    assert len(roles) == 7
    for one, other in combinations(roles, 2):
        assert difference(roles[one], roles[other], vision) >= LEAST_DIFFERENCE, (one, other)


def test_text_is_readable_on_the_dark_theme() -> None:
    background = hex_colour(DARK.background or "")
    assert {role for role, colour in dark().items() if contrast(colour, background) < LEAST_CONTRAST} == set()


@pytest.mark.parametrize("vision", VISION)
def test_losses_in_graphs_differ_in_lightness_from_traffic(vision: str) -> None:
    roles = dark()
    pairs = [(roles["fail"], roles["info"]), (XTERM[TERMINAL.error or ""], XTERM[TERMINAL.accent or ""])]
    for loss, traffic in pairs:
        assert abs(lab(loss, vision)[0] - lab(traffic, vision)[0]) >= 10
    assert difference(roles["warn"], roles["info"], vision) >= 4 * LEAST_DIFFERENCE


def test_with_the_terminals_own_colours_a_letter_tells_statuses_apart() -> None:
    """With protanopia, xterm's yellow and green differ by 6 only, on a dark background and on a light one."""
    assert len({status.letter for status in Status}) == len(Status)
    theme = (TERMINAL.error, TERMINAL.warning, TERMINAL.secondary, TERMINAL.primary, TERMINAL.success)
    assert set(theme) == set(XTERM)
    pairs = [(XTERM[one], XTERM[other]) for one, other in combinations(XTERM, 2)]
    assert 5 < min(difference(*pair, vision) for vision in VISION for pair in pairs) < 7
