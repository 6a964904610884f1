"""Draw an asciicast as one animated SVG picture, which plays in a browser without a script, and on GitHub.

The frames stand below each other, and the picture moves from one to the next without steps between them. A line of the
terminal that stands in several frames is in the file once.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from html import escape
from itertools import groupby
from pathlib import Path

from recorded_screen import Look, Row, Shown, screens_of

MOST_BYTES = 2_000_000
"""The largest file: a page with it must open quickly."""
LEAST_FRAME_S = 0.25
"""The shortest time of a frame: what comes sooner is shown with it."""
SPEED = 1.4
"""How much faster than the recording the animation runs."""
LONGEST_PAUSE_S = 2.4
"""Longer times of a frame are cut to this: a viewer has read what changed."""
LAST_S = 4.0
"""The time of the last frame before the first one comes again."""
_FORE, _GROUND, _FRAME = "#cfd4db", "#15181d", "#3a4048"
_WIDE, _HIGH, _SIZE = 12.2, 24.4, 20
"""Columns, lines and font in pixels, as in the other pictures."""
_MARGIN, _TOP, _NOTE = 12, 34, 34
"""Around the screen, above it with the title, and below it with the note."""


@dataclass(frozen=True)
class Frame:
    """A picture, and for how long it stands."""

    shown: Shown
    seconds: float


def frames_of(screens: Sequence[Shown]) -> list[Frame]:
    """Return the frames of a recording: one for each change that stands long enough to be seen."""
    changes = [next(same) for _, same in groupby(screens, key=lambda shown: (shown.rows, shown.note))]
    kept: list[Shown] = []
    for change in changes:
        if kept and change.at_s - kept[-1].at_s < LEAST_FRAME_S:
            change = replace(change, at_s=kept.pop().at_s)
        kept.append(change)
    kept = [next(same) for _, same in groupby(kept, key=lambda shown: (shown.rows, shown.note))]
    ends = [shown.at_s for shown in kept[1:]]
    times = [min((end - shown.at_s) / SPEED, LONGEST_PAUSE_S) for shown, end in zip(kept, ends, strict=False)]
    return [Frame(shown, seconds) for shown, seconds in zip(kept, [*times, LAST_S], strict=True)]


def animate(cast: Path, target: Path) -> None:
    """Write the animation of an asciicast, from its first marker on. Raises ValueError where it is too large, or cannot
    be drawn."""
    frames = frames_of([shown for shown in screens_of(cast) if shown.note and _is_drawn(shown)])
    picture = animation(frames)
    if len(picture.encode()) > MOST_BYTES:
        raise ValueError(f"{target.name} would have more than {MOST_BYTES:,} bytes")
    target.write_text(picture, encoding="utf-8")


def _is_drawn(shown: Shown) -> bool:
    return any(sign.strip() for row in shown.rows for sign, _ in row)


def animation(frames: Sequence[Frame], title: str = "racwire") -> str:
    """Return the picture. A reader who wants no motion gets the last frame."""
    lines, columns = len(frames[0].shown.rows), len(frames[0].shown.rows[0])
    wide, high = columns * _WIDE, lines * _HIGH
    drawing = _Drawing()
    strip = "\n".join(drawing.frame(frame.shown, number * high) for number, frame in enumerate(frames))
    notes = "\n".join(_note(frames, wide))
    whole_s = sum(frame.seconds for frame in frames)
    width, height = wide + 2 * _MARGIN, high + _TOP + (_NOTE if notes else _MARGIN)
    return f"""\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" width="{width:g}" height="{height:g}">
<title>{escape(title)}</title>
<style>
text {{ font: {_SIZE}px Menlo, Consolas, "DejaVu Sans Mono", monospace; white-space: pre; fill: {_FORE} }}
rect {{ shape-rendering: crispEdges }}
#strip {{ animation: strip {whole_s:.2f}s step-end infinite; transform: translateY({-high * (len(frames) - 1):g}px) }}
@keyframes strip {{ {" ".join(_key_frames(frames, high))} }}
.note {{ fill: #abcdef; visibility: hidden; animation: {whole_s:.2f}s step-end infinite }}
@media (prefers-reduced-motion: reduce) {{ #strip, .note {{ animation: none }} }}
{drawing.styles}
</style>
<defs>
{drawing.rows}
<clipPath id="screen"><rect width="{wide:g}" height="{high:g}"/></clipPath>
</defs>
<rect x="1" y="1" width="{width - 2:g}" height="{height - 2:g}" rx="8" fill="{_GROUND}" stroke="{_FRAME}"/>
<text x="{width / 2:g}" y="23" text-anchor="middle">{escape(title)}</text>
<g transform="translate({_MARGIN} {_TOP})">
<g clip-path="url(#screen)"><g id="strip">
{strip}
</g></g>
{notes}
</g>
</svg>
"""


def _key_frames(frames: Sequence[Frame], high: float) -> Iterator[str]:
    for number, share in enumerate(_shares(frames)[:-1]):
        yield f"{share:.3f}% {{ transform: translateY({-number * high:g}px) }}"


def _shares(frames: Sequence[Frame]) -> list[float]:
    """Return the begin of each frame and the end of the last one, in percent of the whole."""
    ends = [0.0]
    for frame in frames:
        ends.append(ends[-1] + frame.seconds)
    return [100 * end / ends[-1] for end in ends]


def _note(frames: Sequence[Frame], wide: float) -> Iterator[str]:
    """Yield the notes below the screen, each visible in its frames."""
    shares = _shares(frames)
    numbered = enumerate(frames)
    for number, (note, same) in enumerate(groupby(numbered, key=lambda each: each[1].shown.note)):
        places = [place for place, _ in same]
        if not note:
            continue
        begin, end = shares[places[0]], shares[places[-1] + 1]
        keys = f"{begin:.3f}% {{ visibility: visible }}"
        keys = f"0% {{ visibility: hidden }} {keys}" if begin else keys
        keys += f" {end:.3f}% {{ visibility: hidden }}" if places[-1] + 1 < len(frames) else ""
        y = len(frames[0].shown.rows) * _HIGH + 23
        yield f"<style>@keyframes n{number} {{ {keys} }} #n{number} {{ animation-name: n{number} }}</style>"
        yield f'<text id="n{number}" class="note" x="{wide / 2:g}" y="{y:g}" text-anchor="middle">{escape(note)}</text>'


class _Drawing:
    """The lines of all frames, each once, and the classes of their looks."""

    def __init__(self) -> None:
        self._rows: dict[Row, str] = {}
        self._classes: dict[str, str] = {}

    def frame(self, shown: Shown, top: float) -> str:
        """Return a frame as references to its lines."""
        used = ((number, self._name(row)) for number, row in enumerate(shown.rows))
        places = "".join(f'<use href="#{name}" y="{top + number * _HIGH:g}"/>' for number, name in used if name)
        return f"<g>{places}</g>"

    @property
    def rows(self) -> str:
        """The definitions of the lines."""
        return "\n".join(f'<g id="{name}">{"".join(self._drawn(row))}</g>' for row, name in self._rows.items() if name)

    @property
    def styles(self) -> str:
        """The classes of the looks."""
        for row in self._rows:
            list(self._drawn(row))
        return "\n".join(f".{name} {{ {style} }}" for style, name in self._classes.items())

    def _name(self, row: Row) -> str:
        if row not in self._rows:
            self._rows[row] = f"r{len(self._rows)}" if any(self._drawn(row)) else ""
        return self._rows[row]

    def _drawn(self, row: Row) -> Iterator[str]:
        """Yield the grounds and the words of a line; each word has its place, so that no font shifts it."""
        at = 0
        for look, cells in groupby(row, key=lambda cell: cell[1]):
            signs = [sign for sign, _ in cells]
            ground = (look.colour or _FORE) if look.is_reversed else look.ground
            if ground and ground != _GROUND:
                x, wide = at * _WIDE, len(signs) * _WIDE
                yield f'<rect class="{self._class(f"fill: {ground}")}" x="{x:g}" width="{wide:g}" height="{_HIGH:g}"/>'
            name = self._class(_style(look))
            for is_blank, part in groupby(enumerate(signs, at), key=lambda each: each[1] == " "):
                placed = list(part)
                if not is_blank:
                    text = escape("".join(sign for _, sign in placed), quote=False)
                    x, wide = placed[0][0] * _WIDE, len(placed) * _WIDE
                    yield f'<text class="{name}" x="{x:g}" y="{_SIZE - 1}" textLength="{wide:g}">{text}</text>'
            at += len(signs)

    def _class(self, style: str) -> str:
        return self._classes.setdefault(style, f"c{len(self._classes)}")


def _style(look: Look) -> str:
    colour = (look.ground or _GROUND) if look.is_reversed else look.colour or _FORE
    bold = "; font-weight: bold" if look.is_bold else ""
    return f"fill: {colour}{bold}{'; text-decoration: underline' if look.is_underlined else ''}"
