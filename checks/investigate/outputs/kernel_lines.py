"""Lines of the kernel's log about NICs and packets: `dmesg`, `journalctl -k`. Kernels speak English in each locale."""

from __future__ import annotations

import re
from collections.abc import Iterator

from checks.investigate.outputs.found_parts import FoundPart
from checks.investigate.outputs.pasted_text import PasteBlock
from checks.model.pasted import DeviceSystem, KernelEvent, KernelLine, PastedOutput

_FRONT = re.compile(
    r"\s*(?:<[0-9]{1,3}>)?(?:\[[^\[\]]{4,40}\](?: \[[^\[\]]{2,24}\])?:? |[A-Z][a-z]{2} [ 0-9][0-9]"
    r" [0-9:]{8} (?P<host>\S{1,63}) kernel: |"
    r"\S{0,12}[0-9]{4}-[0-9]{2}-[0-9]{2}T\S{8,30} (?P<of>\S{1,63}) kernel: ?|kern  ?:\w{1,8} ?:"
    r" ?\[[^\]]{4,40}\] )(?P<text>.*)"
)
_NIC = r"(?P<nic>[A-Za-z][\w.@-]{1,24})"
_EVENTS: tuple[tuple[KernelEvent, re.Pattern[str]], ...] = tuple(
    (event, re.compile(pattern, re.IGNORECASE))
    for event, pattern in (
        (KernelEvent.SEND_TIMEOUT, rf"NETDEV WATCHDOG: {_NIC}(?: \([^)]{{1,30}}\))?:"),
        (KernelEvent.SEND_TIMEOUT, rf"{_NIC}: (?:Detected (?:Tx|Hardware) Unit Hang|transmit (?:queue|timed out))"),
        (KernelEvent.SEND_TIMEOUT, rf"{_NIC}: (?:TX timeout|initiating reset due to tx timeout)"),
        (KernelEvent.LINK_DOWN, rf"\b{_NIC}(?: \w{{1,12}})?: (?:NIC )?Link (?:is )?Down\b"),
        (KernelEvent.LINK_UP, rf"\b{_NIC}(?: \w{{1,12}})?: (?:NIC )?Link (?:is )?Up\b"),
        (KernelEvent.MARTIAN, r"martian source [0-9.]{7,15} from [0-9.]{7,15}, on dev (?P<nic>[\w.-]{1,15})"),
        (KernelEvent.TABLE_FULL, r"nf_conntrack: (?:nf_conntrack: )?table full"),
        (KernelEvent.NEIGHBOURS_FULL, r"(?:neighbor|neighbour) table overflow"),
        (KernelEvent.DUPLICATE, r"duplicate address.{0,60}\b(?P<nic>[a-z][\w-]{1,14})\b"),
        (KernelEvent.BUS_ERROR, rf"(?:{_NIC}: .{{0,60}})?\b(?:PCIe Bus Error|fatal error detected|firmware hang)"),
        (KernelEvent.MODULE, rf"{_NIC}: .{{0,60}}(?:unsupported SFP|unqualified|module (?:fault|unplugged)|Rx Loss)"),
    )
)


_LEAST_LINES = 9
"""Half of a paste with more lines than these is a log, also where it reports nothing of NICs."""


def kernel_lines(block: PasteBlock) -> Iterator[FoundPart]:
    """Find the lines that report an event of a NIC or the loss of packets, each event of a NIC once, with its count."""
    found: dict[tuple[KernelEvent, str, str], KernelLine] = {}
    fronts: set[int] = set()
    for at, line in enumerate(block.lines):
        front = _FRONT.fullmatch(line)
        if front is None:
            continue
        fronts.add(at)
        if event := _event(front["text"][:400]):
            device = front["host"] or front["of"] or block.device
            key = (event[0], event[1], device)
            before = found[key].count if key in found else 0
            found[key] = KernelLine(
                device=device, event=event[0], nic=event[1], count=before + 1, last=line.strip()[:300]
            )
    asked = block.words()[:1] == ("dmesg",) or "dmesg" in block.words() or "journalctl" in block.words()
    filled = sum(bool(line.strip()) for line in block.lines)
    if found or (fronts and (asked or 2 * len(fronts) > max(filled, _LEAST_LINES))):
        yield FoundPart(
            output=PastedOutput.KERNEL,
            platform=DeviceSystem.LINUX,
            lines=frozenset(fronts),
            kernel=tuple(found.values()),
        )


def _event(text: str) -> tuple[KernelEvent, str] | None:
    for event, pattern in _EVENTS:
        if match := pattern.search(text):
            return event, (match.groupdict().get("nic") or "").removesuffix(":")
    return None
