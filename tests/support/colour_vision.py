"""How colours look to people who are colour-blind: dichromats, after Machado, Oliveira and Fernandes (2009).

Colours are sRGB triples from 0 to 255. Differences are CIE 1976 (L*a*b*, white point D65): about 2 is just noticeable.
"""

from __future__ import annotations

from collections.abc import Sequence

Colour = tuple[int, int, int]
Matrix = Sequence[Sequence[float]]

VISION: dict[str, Matrix] = {
    "normal": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": (
        (0.152286, 1.052583, -0.204868),
        (0.114503, 0.786281, 0.099216),
        (-0.003882, -0.048116, 1.051998),
    ),
    "deuteranopia": (
        (0.367322, 0.860646, -0.227968),
        (0.280085, 0.672501, 0.047413),
        (-0.011820, 0.042940, 0.968881),
    ),
    "tritanopia": (
        (1.255528, -0.076749, -0.178779),
        (-0.078411, 0.930809, 0.147602),
        (0.004733, 0.691367, 0.303900),
    ),
}
"""By kind of vision, the matrix for linear RGB, for a severity of 1."""

_TO_XYZ: Matrix = (
    (0.4124564, 0.3575761, 0.1804375),
    (0.2126729, 0.7151522, 0.0721750),
    (0.0193339, 0.1191920, 0.9503041),
)
_WHITE = (0.95047, 1.0, 1.08883)


def hex_colour(text: str) -> Colour:
    """Return the colour of `#rrggbb`."""
    return int(text[1:3], 16), int(text[3:5], 16), int(text[5:7], 16)


def lab(colour: Colour, vision: str) -> tuple[float, float, float]:
    """Return L*, a* and b* of a colour as it looks with that vision."""
    seen = [min(max(part, 0.0), 1.0) for part in _times(VISION[vision], [_linear(part / 255) for part in colour])]
    x, y, z = (_curve(part / white) for part, white in zip(_times(_TO_XYZ, seen), _WHITE, strict=True))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def difference(one: Colour, other: Colour, vision: str) -> float:
    """Return the CIE 1976 difference of two colours as they look with that vision."""
    pairs = zip(lab(one, vision), lab(other, vision), strict=True)
    return float(sum((a - b) ** 2 for a, b in pairs) ** 0.5)


def contrast(one: Colour, other: Colour) -> float:
    """Return the contrast of two colours after WCAG 2: from 1 to 21."""
    high, low = sorted(_times(_TO_XYZ, [_linear(part / 255) for part in colour])[1] for colour in (one, other))[::-1]
    return (high + 0.05) / (low + 0.05)


def _times(matrix: Matrix, vector: Sequence[float]) -> list[float]:
    return [sum(a * b for a, b in zip(row, vector, strict=True)) for row in matrix]


def _linear(part: float) -> float:
    return part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4


def _curve(ratio: float) -> float:
    return ratio ** (1 / 3) if ratio > 216 / 24389 else (24389 / 27 * ratio + 16) / 116
