"""Make the pictures of the README from the running console: on a practice cluster before and after this program breaks
it, and on another one whose MTU is being changed; and the recording of an incident.

Run it with `make screenshots`. It starts itself again inside the first node of the practice cluster, where the console
works as on a real node.
"""

from __future__ import annotations

import asyncio
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import msgspec
from page import picture_of, print_of

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from tui.console.app import ConsoleApp

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent
INSIDE, HEALTHY, CAUSE, CHANGING, MEASURING = "--inside", "--healthy", "--cause", "--changing", "--measuring"
PAGE = HERE / "report-html.png"
"""The first screenful of the HTML report that the console writes."""
SHEET = HERE / "report-print.png"
"""The first printed sheet of the same report."""
CAST = HERE / "incident.cast"
"""The recording of an incident."""
ANIMATION = HERE / "incident.svg"
"""The same incident as an animated picture."""
SIZES = ((60, 16), (80, 24), (120, 40), (200, 50))
SCREENS = {"1": "checks", "2": "paths", "3": "traffic", "4": "database", "exclamation_mark": "events"}
FAULTS = (("switch-mtu", "rac2"), ("small-receive-buffer", "rac3"))
SHORT_FAULT = ("node-mtu", "rac3")
"""A fault whose cause is whole in one screen of 120x40, with its reasons and what it explains."""
LIVE = "34v"
LOOK = "v"
"""The key that verifies the gate of a change's step."""
SIZES_MEASURED = 30
"""Steps of a measurement after which its picture is taken: every size has figures by then."""
SAMPLED_S = 12
"""Seconds before a picture of a live screen, or of the verification of a gate."""


def main() -> None:
    """Build the practice cluster, break it, take the pictures in it, and remove it."""
    sys.path.insert(0, str(ROOT))
    if sys.argv[1:] == [INSIDE]:
        asyncio.run(take_pictures({**SCREENS, "6": "report"}))
        return
    if sys.argv[1:] == [HEALTHY]:
        asyncio.run(take_pictures(SCREENS, folder="healthy"))
        return
    if sys.argv[1:] == [CAUSE]:
        asyncio.run(take_pictures({"right": "cause"}, sizes=((120, 40),)))
        return
    if sys.argv[1:] == [CHANGING]:
        asyncio.run(take_pictures({LOOK: "change"}, first="change"))
        return
    if sys.argv[1:] == [MEASURING]:
        asyncio.run(take_picture_of_measuring())
        return
    of_a_cluster()
    of_a_change()
    of_a_measurement()
    of_an_incident()


def of_a_cluster() -> None:
    """Take the pictures of a healthy cluster, of one with two faults, of the HTML report, and of one cause."""
    with tempfile.TemporaryDirectory(prefix="racwire-screenshots-") as directory:
        os.environ["RACWIRE_LAB_DIR"] = str(Path(directory) / "lab")
        import racwire_lab

        cluster = racwire_lab.up(nodes=3)
        try:
            for stage, faults in ((HEALTHY, FAULTS), (INSIDE, (SHORT_FAULT,)), (CAUSE, ())):
                node = cluster.nodes[0]
                command = cluster.enter(node, [sys.executable, str(Path(__file__).resolve()), stage])
                environment = {**os.environ, **cluster.environment(node)}
                subprocess.run(command, env=environment, cwd=directory, check=True)
                cluster = cluster.mend()
                for fault, broken in faults:
                    cluster = cluster.break_(fault, node=broken)
        finally:
            racwire_lab.down()
        [*_, page] = sorted(Path(directory).glob("racwire-*.html"))
        for take, target in ((picture_of, PAGE), (print_of, SHEET)):
            if take(page, target):
                print(target.relative_to(ROOT))


def of_a_change() -> None:
    """Take the picture of a change halfway: on one node the new MTU is in the files, and not yet in the kernel."""
    from tests.lab.rehearsal import Rehearsal

    with tempfile.TemporaryDirectory(prefix="racwire-screenshots-") as directory:
        rehearsal = Rehearsal(Path(directory), nodes=3, keeper="mixed")
        try:
            rehearsal.begin(9000)
            for stopping in ("stack-down", "set-mtu"):
                rehearsal.walk(stopping)
                rehearsal.change("begin")
            step = rehearsal.step()
            rehearsal.operate(step, ["rac1", "rac3"])
            rehearsal.operate(step, ["rac2"], but="ip link")
            command = rehearsal.lab.enter("rac1", [sys.executable, str(Path(__file__).resolve()), CHANGING])
            environment = {**os.environ, **rehearsal.lab.environment("rac1"), **rehearsal.environment}
            subprocess.run(command, env=environment, check=True)
        finally:
            rehearsal.end()


def of_a_measurement() -> None:
    """Take the picture of a measurement that is being sent, on a cluster whose ports have 1 Gbit/s."""
    with tempfile.TemporaryDirectory(prefix="racwire-screenshots-") as directory:
        os.environ["RACWIRE_LAB_DIR"] = str(Path(directory) / "lab")
        import racwire_lab

        cluster = racwire_lab.up(nodes=2, rate="1g")
        try:
            command = cluster.enter(cluster.nodes[0], [sys.executable, str(Path(__file__).resolve()), MEASURING])
            environment = {**os.environ, **cluster.environment(cluster.nodes[0]), "XDG_STATE_HOME": directory}
            subprocess.run(command, env=environment, check=True)
        finally:
            racwire_lab.down()


def of_an_incident() -> None:
    """Record an incident from the alarm to the proof that it is fixed, and draw it as an animation."""
    from animation import animate
    from incident import record_incident

    record_incident(CAST)
    animate(CAST, ANIMATION)
    for target in (CAST, ANIMATION):
        print(target.relative_to(ROOT))


async def take_pictures(
    screens: dict[str, str], first: str = "checks", folder: str = "", sizes: Sequence[tuple[int, int]] = SIZES
) -> None:
    """Run the console at each size, and save the screen after each key."""
    for size in sizes:
        with tempfile.TemporaryDirectory() as state:
            app = console(Path(state), first)
            async with app.run_test(size=size) as pilot:
                await pilot.pause()
                while not has_run(app):
                    await pilot.pause(0.2)
                for key, name in screens.items():
                    await pilot.press(key)
                    await pilot.pause(SAMPLED_S if key in LIVE else 0.5)
                    if name == "report":
                        await write_page(pilot, app)
                    save_picture(app, name, size, folder)
                await app.action_quit()


async def take_picture_of_measuring() -> None:
    """Send as an operator does, and save the screen once every size was measured."""
    for size in SIZES:
        with tempfile.TemporaryDirectory() as state:
            app = console(Path(state), "measure")
            async with app.run_test(size=size) as pilot:
                while not has_run(app) or "sizes" not in app.state.measures.plans:
                    await pilot.pause(0.2)
                await pilot.press("g")
                await pilot.press(*"practice", "enter")
                while app.state.measures.sending is None or app.state.measures.sending.done < SIZES_MEASURED:
                    await pilot.pause(0.2)
                save_picture(app, "measure", size)
                await app.action_quit()


def console(state_directory: Path, first: str) -> ConsoleApp:
    """Return the console of this node. A busy machine must not keep it from measuring."""
    from checks.run.check_discovery import discover
    from checks.run.engine import Engine
    from checks.run.settings_file import load_settings
    from checks.traffic.feed import Feed
    from tui.cli.password import password_for
    from tui.console.app import ConsoleApp
    from tui.console.journal_watcher import ClusterChanges
    from tui.console.measure_worker import ClusterMeasurements

    settings = load_settings(None)
    measure = msgspec.structs.replace(settings.measure, loaded_cpu_percent=100.0, most_cpu_percent=100.0)
    settings = msgspec.structs.replace(settings, measure=measure)
    found = discover()
    password = password_for(settings.database, found.checks)

    def new_engine(names: Sequence[str]) -> Engine:
        return Engine([c for c in found.checks if not names or c.id in names], settings, password=password)

    return ConsoleApp(
        new_engine,
        new_feed=lambda: Feed(settings, password=password),
        state_directory=state_directory,
        changes=ClusterChanges(settings, lambda: found, password),
        measurements=ClusterMeasurements(settings, password),
        first=first,
    )


def has_run(app: ConsoleApp) -> bool:
    """Return whether the first run of the checks counts; keys that send packets are refused before."""
    return app.state.run.is_whole and not app.state.run.running


def save_picture(app: ConsoleApp, name: str, size: tuple[int, int], folder: str = "") -> None:
    """Save the screen as it is now."""
    picture = app.export_screenshot(title="racwire", simplify=True)
    target = HERE / folder / f"{name}-{size[0]}x{size[1]}.svg"
    target.parent.mkdir(exist_ok=True)
    target.write_text(with_spaces_as_places(without_web_fonts(picture)), encoding="utf-8")
    print(target.relative_to(ROOT))


async def write_page(pilot: Pilot[None], app: ConsoleApp) -> None:
    """Write the HTML report from the console, as an operator does; for the picture, into the home directory."""
    from tui.cli.report_formats import FORMATS

    os.environ["HOME"] = str(Path.cwd())
    to_html = ["down"] * list(FORMATS).index("html")
    await pilot.press(*to_html, "enter")
    while not app.state.exports.done:
        await pilot.pause(0.1)
    await pilot.press("home", *to_html)  # the message in the rule has been read by then
    await pilot.pause(0.2)


def without_web_fonts(svg: str) -> str:
    """Return the picture with the reader's own fixed-width font, without a reference to another host."""
    svg = re.sub(r"<!-- Generated with Rich .*? -->\s*", "", svg)
    svg = re.sub(r"@font-face\s*\{.*?\}\s*", "", svg, flags=re.DOTALL)
    return svg.replace("Fira Code", "monospace")


def with_spaces_as_places(svg: str) -> str:
    """Return the picture with an explicit position for each text, since some viewers drop the spaces before a text."""

    def placed(found: re.Match[str]) -> str:
        spaces = found["spaces"].count("&#160;")
        text = found["text"]
        if not text:
            return ""
        columns = spaces + len(re.sub(r"&[^;]+;", "x", text))
        wide = float(found["length"]) / columns
        x, length = float(found["x"]) + spaces * wide, wide * (columns - spaces)
        return f'{found["start"]}x="{x:g}" y="{found["y"]}" textLength="{length:g}"{found["rest"]}>{text}</text>'

    return _TEXT.sub(placed, svg)


_TEXT = re.compile(
    r'(?P<start><text class="[^"]*" )x="(?P<x>[^"]*)" y="(?P<y>[^"]*)" textLength="(?P<length>[^"]*)"(?P<rest>[^>]*)>'
    r"(?P<spaces>(?:&#160;)*)(?P<text>[^<]*)</text>"
)


if __name__ == "__main__":
    main()
