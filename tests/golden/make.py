"""Write the golden files of one version with the `racwire` of that version, on its own practice cluster.

    mkdir -p /tmp/racwire-golden && cd /tmp/racwire-golden
    PATH=/opt/racwire/bin:$PATH python3 .../tests/golden/make.py artefacts
    PATH=/opt/racwire/bin:$PATH python3 .../tests/golden/make.py expected

PATH names the `racwire` that writes the files. Install it in a path that reveals nothing about the machine. README.md
explains the files.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from datetime import date, timedelta
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1]))

from tests.golden.outcomes import CASES, copied, outcome  # noqa: E402

LAB = Path("/tmp/racwire-practice")
SETTINGS = LAB / "settings.toml"
OPERATOR = "Ann Lee"
WIDTH = 160
WAIVER = """
[[waivers]]
code = "IC-USE-004"
subject = "prac2: cluster_interconnects set"
reason = "The parameter goes with the next patch."
by = "Ann Lee"
expires = 2026-12-31
status = "FAIL"
"""
"""For a fault that is put into a saved file."""
OUTAGE = "survives-boot"
"""Step at which the open change stops: Clusterware is down everywhere, and rac2 has its MTU at run time only."""


def run(*words: str, codes: tuple[int, ...] = (0,)) -> str:
    """Run `racwire` and return its stdout. Exits where it ends with any other code than these."""
    done = subprocess.run(["racwire", *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    if done.returncode not in codes:
        raise SystemExit(f"racwire {' '.join(words)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return done.stdout


def any_code(*words: str) -> str:
    """Run `racwire` and return its stdout, with any verdict of the checks as its exit code."""
    return run(*words, codes=(0, 1, 2, 3))


def later(seconds: float, *commands: tuple[str, ...]) -> threading.Thread:
    """Start a thread that waits before each of these `racwire` commands and runs it."""

    def work() -> None:
        for command in commands:
            time.sleep(seconds)
            run(*command)

    thread = threading.Thread(target=work)
    thread.start()
    return thread


# --- reports, saved files, recordings ---------------------------------------------------------------------------------


def evidence(to: Path) -> None:
    """Write the reports, saved files, recordings and the redaction map."""
    lean = ("--settings", "lean.toml")
    run("lab", "up", "--nodes", "2")
    lab = SETTINGS.read_text()
    pack = "diagnostics_pack = true"
    Path("lean.toml").write_text(lab.replace(pack, "diagnostics_pack = false") + WAIVER)
    Path("history.toml").write_text(lab.replace(pack, f"{pack}\nhistory_days = 1"))

    any_code("save", "--lab", "-q", "--settings", "history.toml", "--record", "5s", str(to / "healthy.racwire"))
    run("record", "--lab", "-q", "--for", "14s", "--label", "before", str(to / "before.rec"))
    run("lab", "break", "loss")
    run("record", "--lab", "-q", "--for", "14s", "--label", "loss", str(to / "loss.rec"))
    run("lab", "mend")
    restart = later(4, ("lab", "reboot", "rac2"))
    run("record", "--lab", "-q", "--for", "14s", "--probe", "--label", "reboot", str(to / "reboot.rec"))
    restart.join()

    run("lab", "break", "switch-mtu")
    paths = ("clusterware", "interfaces", "mtu-consistency", "df-ping")
    any_code("check", "--lab", "-q", *lean, *paths, "--format", "json", "-o", str(to / "switch-mtu.json"))
    run("lab", "mend")
    run("lab", "break", "hung-instance")
    requested = ("clusterware", "gc-receive-time", "instance-ping", "interconnect-in-use", "device-mtu")
    any_code("check", "--lab", "-q", *lean, *requested, "--format", "json", "-o", str(to / "hung-instance.json"))
    run("lab", "down")

    fragments = ("--fragment-time", "2")  # 0.2.0 does not have the option, and always waits 2 s
    fragments = fragments if fragments[0] in run("lab", "up", "--help") else ()
    run("lab", "up", "--nodes", "3", "--mtu", "1500", *fragments)
    for fault in ("drop-fragments", "switch-mtu", "small-receive-buffer", "cluster-interconnects-set", "loss"):
        run("lab", "break", fault)
    any_code("save", "--lab", "-q", "--settings", "lean.toml", "--record", "10s", str(to / "faults.racwire"))
    # On a node, since the name of the host that redacts is in the map too.
    racwire = ("lab", "shell", "rac1", "racwire")
    redact = ("--redact", "--redaction-map", str(to / "redaction.json"))
    for file in ("faults.racwire", "switch-mtu.json"):
        any_code(*racwire, "check", "-q", "--from", str(to / file), *redact)
    (to / "redaction.json.lock").unlink(missing_ok=True)
    run("lab", "down")


# --- the change -------------------------------------------------------------------------------------------------------


def document(*words: str) -> Any:
    """Run a `racwire change` and return the JSON that it prints."""
    return json.loads(run("change", "--lab", *words, "--format", "json", codes=(0, 2, 3)))


def operate(step: dict[str, Any], *, but: str = "") -> None:
    """Run the commands of a step on every node; on the node `but` only set the MTU at run time."""
    for block in step["commands"]:
        if block["optional"] or not block["lines"]:
            continue
        if any(line.startswith("racwire lab") for line in block["lines"]):
            for line in block["lines"]:
                words = line.split("#")[0].split()[1:]
                if words:
                    run(*words)
            continue
        node = block["node"] or "rac1"
        if node == but:
            run("lab", "shell", node, "sh", "-e", "-c", "ip link set eth1 mtu 9000; ip link set eth2 mtu 9000")
            continue
        done = subprocess.run(
            ["racwire", "lab", "shell", node, "sh", "-e", "-c", "\n".join(block["lines"])],
            capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        if "reboot" in block["lines"]:
            while subprocess.run(["racwire", "lab", "shell", node, "true"], capture_output=True).returncode:
                time.sleep(0.1)
        elif done.returncode and "racwire compare" not in "".join(block["lines"]):
            raise SystemExit(f"{step['id']} on {node}: {block['lines']}\n{done.stdout}{done.stderr}")


def by(reason: str) -> tuple[str, ...]:
    """Return the options that name the operator and a reason."""
    return ("--by", OPERATOR, "--reason", reason)


def walk(until: str = "", *, look_first: bool = False, sloppy: bool = False) -> None:
    """Do each step and verify its gate, up to the step `until`, or to the end."""
    while True:
        status = document("status")
        current = status["current"]
        if not current or current == until:
            return
        step = document("next")["steps"][0]
        gated = "its gate" in step["waits_for"]
        if not (look_first and gated and document("verify")["passed"]):
            operate(step, but="rac2" if sloppy and current == "set-mtu" else "")
            if gated and not document("verify")["passed"]:
                run("change", "--lab", "override", *by("Only a rehearsal: it is looked at again after the boot."))
        if "an attestation" in step["waits_for"] and document("status")["current"] == current:
            run("change", "--lab", "attest", "--by", OPERATOR, "--note", "Rehearsed on the practice cluster.")
        print(current, file=sys.stderr)


def journal() -> Path:
    """Return the journal that was written last."""
    return max((LAB / "changes").glob("*.change"), key=lambda path: path.stat().st_mtime)


def changes(to: Path) -> None:
    """Write journals of changes: one in the middle of its outage, one rolled back from there, one signed off."""
    run("lab", "up", "--nodes", "2", "--mtu", "1500", "--switch-mtu", "1500", "--no-database")
    SETTINGS.write_text(SETTINGS.read_text().replace("record_s = 15", "record_s = 6"))
    run("change", "--lab", "new", "--to", "9000", "-q")
    walk(OUTAGE, sloppy=True)
    run("change", "--lab", "note", "The second switch was raised by the network team.")
    shutil.copy(journal(), to / "outage.change")
    run("change", "--lab", "rollback", *by("The window ends."))
    walk(look_first=True)
    shutil.copy(journal(), to / "rolled-back.change")
    run("lab", "down")

    run("lab", "up", "--nodes", "2", "--mtu", "1500", "--switch-mtu", "1500", "--no-database")
    SETTINGS.write_text(SETTINGS.read_text().replace("record_s = 15", "record_s = 6"))
    run("change", "--lab", "new", "--to", "9000", "-q")
    walk()
    shutil.copy(journal(), to / "done.change")
    run("lab", "down")


# --- the outcomes of that version -------------------------------------------------------------------------------------


def called(argv: list[str]) -> tuple[int, str]:
    """Run `racwire` as a process and return its exit code and stdout."""
    done = subprocess.run(["racwire", *argv], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    return done.returncode, done.stdout


def expected(of: Path) -> None:
    """Write the answers of this version to each question."""
    shutil.rmtree(of / "expected", ignore_errors=True)
    (of / "expected").mkdir()
    version = run("--version").split()[1]
    if f"v{version.replace('.', '_')}" != of.name:
        raise SystemExit(f"These are the files of {of.name}, and this is racwire {version}.")
    here = Path.cwd()
    for name, case in CASES.items():
        with tempfile.TemporaryDirectory() as directory:
            copied(of, Path(directory))
            os.chdir(directory)
            write(of / "expected" / f"{name}.json", outcome(case, called, str(date.today() + timedelta(30))))
            os.chdir(here)


def write(path: Path, document: Any) -> None:
    """Write JSON that reads well in a diff."""
    path.write_text(laid_out(document) + "\n")


def laid_out(document: Any, indent: str = "") -> str:
    """Return JSON with each part that fits into one line on one line."""
    flat = json.dumps(document, ensure_ascii=False)
    if len(indent + flat) <= WIDTH or not isinstance(document, dict | list):
        return flat
    deeper = indent + " "
    if isinstance(document, dict):
        items = [f"{json.dumps(key)}: {laid_out(value, deeper)}" for key, value in document.items()]
    else:
        items = [laid_out(value, deeper) for value in document]
    begin, end = "{}" if isinstance(document, dict) else "[]"
    return f"{begin}\n" + ",\n".join(deeper + item for item in items) + f"\n{indent}{end}"


def main() -> None:
    """`artefacts [evidence|changes]`, or `expected`."""
    os.environ["RACWIRE_LAB_DIR"] = str(LAB)
    os.environ["HOME"] = "/tmp/racwire-golden"
    to = HERE / f"v{run('--version').split()[1].replace('.', '_')}"
    to.mkdir(exist_ok=True)
    match sys.argv[1:]:
        case ["artefacts", *only]:
            try:
                if "evidence" in only or not only:
                    for path in to.iterdir():
                        if path.suffix in (".rec", ".racwire", ".json") and path.is_file():
                            path.unlink()
                    evidence(to)
                if "changes" in only or not only:
                    changes(to)
            finally:
                subprocess.run(["racwire", "lab", "down"], check=False)
            (to / "template.toml").write_text(run("settings"))
            (to / "schema.json").write_text(run("schema"))
            for path in to.iterdir():
                if path.is_file():
                    path.chmod(0o644)
        case ["expected"]:
            expected(to)
        case _:
            raise SystemExit(__doc__)


if __name__ == "__main__":
    main()
