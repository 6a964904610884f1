"""A paste as blocks of plain lines: without colours, pagers and prompts, each block with its device and command."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from checks.model.sanitize import sanitize

_ESCAPE = re.compile(
    r"\x1b\[[0-9;?]{0,40}[ -/]{0,4}[@-~]|\x1b\][^\x07\x1b\n]{0,500}(?:\x07|\x1b\\)|\x1b[()][0-9A-B]|\x1b[=>A-Z\\^_]"
)
_PAGER = re.compile(
    r"(?:^ {1,8})?(?:<-{1,3} ?[Mm]ore ?-{1,3}>|-{2,4} ?\(?[Mm]ore(?: ?[0-9]{1,3} ?%)?\)? ?-{2,4}"
    r"|-- MORE --[^\n\r\x08]{0,120}"
    r"|^lines [0-9]{1,7}-[0-9]{1,7}[^\n\r]{0,30}(?=[\r\x08]))(?: *[\r\x08]+)*",
    re.MULTILINE,
)
_SPACES = str.maketrans({"\u00a0": " ", "\u2007": " ", "\u202f": " ", "\u3000": " ", "\ufeff": "", "\x0c": "\n"})
_QUOTED = re.compile(r"^(?:> ?)+")
_HOST = r"[A-Za-z][\w.-]{0,62}"
_PROMPT = re.compile(
    rf"(?:\[?[\w.-]{{1,32}}@(?P<user_host>{_HOST})[^#$%>\n]{{0,80}}[#$%>]"
    rf"|(?:RP/[\w/]{{1,12}}:)?(?P<host>{_HOST})(?:\([\w./-]{{1,30}}\))?[#>])(?P<command>(?:[ \t].*|[a-z].*)?)",
    re.ASCII,
)
_BARE_PROMPT = re.compile(r"(?:[#$%>]|[\w.-]{1,32}:[^#$%\n]{0,80}[#$]) +(?P<command>.+)", re.ASCII)
_COMMAND = re.compile(
    r"(?:do |run |sudo (?:-n )?|timeout [0-9]{1,5} )*(?:/\S{1,40}/)?(?:sh|sho|show|ethtool|tcpdump|tc|nft"
    r"|iptables(?:-save)?"
    r"|dmesg|journalctl|ip|bridge|nv|net|cl-netstat|portstat|queuestat|fdbshow|teamshow|clagctl|mstpctl|cat)"
    r"(?: [^\n]{1,200})?|dmesg|iptables-save|portstat|cl-netstat|teamshow|fdbshow|queuestat",
    re.ASCII,
)
_ALONE = re.compile(
    r"(?:do |run |sudo (?:-n )?|timeout [0-9]{1,5} )*(?:(?:sh|sho|show|nv show|net show|nft list) \S.{0,200}"
    r"|(?:ethtool|tcpdump|tc|ip|bridge|iptables-save|dmesg|journalctl) -\S.{0,200}|bridge fdb\b.{0,80}"
    r"|dmesg|iptables-save)",
    re.ASCII,
)
"""A command on a line without a prompt."""
_RAN = re.compile(r"\+{3} (?P<host>\S{1,63}): executing command '(?P<command>[^'\n]{1,200})' \+{3}")
_REFUSED = re.compile(
    r"\s*(?:% ?(?:Invalid|Incomplete|Ambiguous|Unknown|Permission|Unrecognized|Authorization)|\^ *$|"
    r"syntax error|unknown command|error: (?:syntax|command)|Error: No such command|-?bash: |sudo: a"
    r" password is required)",
    re.IGNORECASE,
)
_MOST_OF_A_LINE = 2_000
_RULER = re.compile(r"[\s=+|*_-]*")


@dataclass(frozen=True)
class PasteBlock:
    """What one command printed, or all where the paste has no prompts."""

    lines: tuple[str, ...]
    """Without trailing blanks."""
    device: str = ""
    command: str = ""
    """Without the prompt; empty where the paste does not have it."""

    def words(self) -> tuple[str, ...]:
        """Return the words of the command."""
        return tuple(self.command.split())


@dataclass
class _Open:
    device: str = ""
    command: str = ""
    lines: list[str] = field(default_factory=list)

    def closed(self) -> PasteBlock:
        return PasteBlock(tuple(self.lines), self.device, self.command)


def plain_lines(paste: str) -> list[str]:
    """Return the lines of a paste as a terminal has them in the end; what is left of control characters is escaped."""
    text = _ESCAPE.sub("", paste.translate(_SPACES))
    text = _PAGER.sub("", text).replace("\r\n", "\n")
    lines = [
        _overwritten(line).expandtabs(8)[:_MOST_OF_A_LINE].rstrip()
        for line in re.split("[\n\x0b\x85\u2028\u2029]", text)
    ]
    filled = [line for line in lines if line]
    if filled and 10 * sum(line.startswith(">") for line in filled) >= 9 * len(filled):
        lines = [_QUOTED.sub("", line) for line in lines]
    return [sanitize(line) for line in lines if not line.startswith("```")]


def _overwritten(line: str) -> str:
    """A line after its carriage returns and backspaces."""
    if "\r" in line:
        line = next((part for part in reversed(line.split("\r")) if part.strip()), "")
    if "\x08" not in line:
        return line
    kept: list[str] = []
    for character in line:
        if character != "\x08":
            kept.append(character)
        elif kept:
            kept.pop()
    return "".join(kept)


def blocks(lines: Sequence[str]) -> Iterator[PasteBlock]:
    """Divide the lines of a paste at its prompts, and at commands without one; no block is empty."""
    block = _Open()
    for line in lines:
        found = _prompted(line, block.device)
        if found is None:
            block.lines.append(line)
            continue
        if any(map(str.strip, block.lines)):
            yield block.closed()
        device, command = found
        block = _Open(device or block.device, command)
    if any(map(str.strip, block.lines)):
        yield block.closed()


def _prompted(line: str, device: str) -> tuple[str, str] | None:
    """The host and the command of a line with a prompt; the host is empty where the line has none. After the prompt of
    `device`, whose lines these are, any command is one."""
    stripped = line.strip()
    if found := _RAN.fullmatch(stripped):
        return found["host"], found["command"]
    if len(stripped) > 400:
        return None
    if found := _PROMPT.fullmatch(stripped):
        command = found["command"].strip()
        if not command or _COMMAND.fullmatch(command) or found["user_host"] or found["host"] == device:
            return found["user_host"] or found["host"], command
    if (found := _BARE_PROMPT.fullmatch(stripped)) and _COMMAND.fullmatch(found["command"].strip()):
        return "", found["command"].strip()
    if _ALONE.fullmatch(stripped) and not stripped.endswith((":", ".")) and " is " not in stripped:
        return "", stripped
    return None


def is_refused(block: PasteBlock) -> bool:
    """Return whether the device printed an error in place of an output."""
    filled = [line for line in block.lines if line.strip()]
    return len(filled) <= 4 and any(_REFUSED.match(line) for line in filled)


def is_ruler(line: str) -> bool:
    """Return whether a line is blank, or has only dashes and the like."""
    return _RULER.fullmatch(line) is not None


_NUMBER = re.compile(r"[0-9]{1,20}|[0-9]{1,3}(?:,[0-9]{3}){1,6}|[0-9]{1,3}(?:\.[0-9]{3}){2,6}", re.ASCII)


def count(text: str) -> int | None:
    """Return a count, `1,234` too; None for `N/A`, `--` and whatever else is none."""
    return int(text.replace(",", "").replace(".", "")) if _NUMBER.fullmatch(text) else None


_MAC = re.compile(
    r"(?:[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}\.[0-9A-Fa-f]{4}|[0-9A-Fa-f]{2}(?:[:-][0-9A-Fa-f]{2}){5}|[0-9A-Fa-f]{4}(?:-[0-9A-Fa-f]{4}){2})",
    re.ASCII,
)


def mac_address(text: str) -> str:
    """Return a MAC address of any form in lower case with colons; empty where the text is none."""
    return bytes.fromhex(re.sub("[.:-]", "", text)).hex(":") if _MAC.fullmatch(text) else ""
