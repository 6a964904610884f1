"""The nice values of racwire's processes."""

import os
import subprocess
import sys

GIVING_WAY = """
import asyncio, os, sys
from checks.sources.nodes import niceness
from checks.sources.nodes.process import TalkingProcess

niceness.NICE = int(sys.argv[1])
niceness.give_way()

async def nice_of(kind):
    said, ended = [], asyncio.Event()
    process = kind(on_stdout=said.append, on_stderr=said.append, on_exit=lambda status: ended.set())
    await process.start(["sh", "-c", "read line; nice; echo $line"], os.environ)
    process.write(b"answered\\n")
    await ended.wait()
    await process.close()
    await process.close()
    return b"".join(said).decode().split()

async def main():
    print(*await nice_of(TalkingProcess), *await nice_of(niceness.QuickProcess))
    try:
        await nice_of_missing()
    except FileNotFoundError:
        print("not found")

async def nice_of_missing():
    process = niceness.QuickProcess(on_stdout=print, on_stderr=print, on_exit=print)
    try:
        await process.start(["racwire-no-such-program"], os.environ)
    finally:
        await process.close()

asyncio.run(main())
"""


def test_what_reads_gives_way_and_what_measures_does_not() -> None:
    here = os.getpriority(os.PRIO_PROCESS, 0)
    wanted = min(19, here + 5)
    ran = subprocess.run(
        [sys.executable, "-c", GIVING_WAY, str(wanted)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.splitlines() == [f"{wanted} answered {here} answered", "not found"], ran.stderr
    ran = subprocess.run(
        [sys.executable, "-c", GIVING_WAY, str(here - 5)], capture_output=True, text=True, timeout=60, check=True
    )
    assert ran.stdout.splitlines()[0] == f"{here} answered {here} answered", "a higher nice of the user remains"
