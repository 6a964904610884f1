"""Backups of Clusterware's registries: what is asked of ocrconfig, and its answers. Text in, facts out.

Clusterware Administration Guide, appendix on OCRCONFIG.
"""

from __future__ import annotations

import re

from checks.model.facts import OcrBackup, Unknown
from checks.sources.clusterware.oracle_text import no_known_shape, printed_lines, read_messages
from checks.sources.grid_commands import MANUAL_BACKUPS

_BACKUP = re.compile(r"(\S+)\s+(\d{4})/(\d\d)/(\d\d)\s+(\d\d:\d\d:\d\d)\s+([/+]\S+)(?:\s+\d+)?")
# No manual backup of the OCR, and none of the OLR.
_NONE = frozenset({"PROT-25", "PROTL-25"})


def parse_manual_backups(text: str, command: str = MANUAL_BACKUPS.command) -> OcrBackup | Unknown | None:
    """The newest of the lines `<node>  <date> <time>  <file>  [<patch level>]`; None where it says that there is none.

    Lines of messages may stand before them: PROT-26 says that they come from a local copy, since CRSD does not run.
    """
    found = [match for line in printed_lines(text) if (match := _BACKUP.fullmatch(line))]
    if found:
        newest = max(found, key=lambda match: (*match.groups()[1:4], match[5]))
        return OcrBackup(newest[1], f"{newest[2]}-{newest[3]}-{newest[4]}T{newest[5]}", newest[6])
    if _NONE & {message.code for message in read_messages(text)}:
        return None
    return no_known_shape(command, text)
