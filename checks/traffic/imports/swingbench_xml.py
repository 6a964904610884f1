"""Reads the elements of a Swingbench results.xml without trusting the file: no DOCTYPE, no entities, limited depth.

Versions differ in the outer elements and in the namespace; the names of the inner elements are the same. So an element
with a text is identified by its own name and by its transaction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from xml.parsers import expat

from checks.traffic.compare.run import ImportProblem

DEEPEST = 30
_MOST_BEFORE_DECLARATION = 20_000


@dataclass(slots=True)
class Elements:
    """The texts of a results.xml by element name."""

    root: str = ""
    overall: dict[str, str] = field(default_factory=dict)
    transactions: dict[str, dict[str, str]] = field(default_factory=dict)
    """The texts of each transaction by its id, such as `Customer Registration`."""


class _Reader:
    """Receives expat's events."""

    def __init__(self, name: str) -> None:
        self.found = Elements()
        self._name = name
        self._open: list[str] = []
        self._transaction: tuple[int, str] | None = None
        self._text: list[str] = []

    def refuse_doctype(self, *_: object) -> None:
        raise ImportProblem(f"{self._name} declares a DOCTYPE, which no result of Swingbench does: it is not read.")

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(" ")[2]
        self._open.append(name)
        if len(self._open) > DEEPEST:
            raise ImportProblem(f"{self._name} is nested too deeply to be a result of Swingbench.")
        self.found.root = self.found.root or name
        if name == "Result" and self._transaction is None and attributes.get("id"):
            self._transaction = (len(self._open), attributes["id"])
            self.found.transactions.setdefault(attributes["id"], {})
        self._text.clear()

    def data(self, text: str) -> None:
        self._text.append(text)

    def end(self, _: str) -> None:
        text = "".join(self._text).strip()
        self._text.clear()
        if text:
            into = self.found.transactions[self._transaction[1]] if self._transaction else self.found.overall
            into.setdefault(self._open[-1], text)
        if self._transaction and self._transaction[0] == len(self._open):
            self._transaction = None
        self._open.pop()


def elements(text: str, name: str) -> Elements:
    """Read a results.xml. Raises ImportProblem where it is no valid XML, has a DOCTYPE, or is nested too deeply."""
    reader = _Reader(name)
    # With a separator, a namespace stands before the name and a blank; its prefix may be any.
    parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
    parser.buffer_text = True
    parser.StartDoctypeDeclHandler = reader.refuse_doctype
    parser.StartElementHandler = reader.start
    parser.EndElementHandler = reader.end
    parser.CharacterDataHandler = reader.data
    try:
        parser.Parse(_from_declaration(text).encode("utf-8", errors="replace"), True)
    except expat.ExpatError as error:
        raise ImportProblem(f"{name} is no whole XML file: {error}.") from error
    return reader.found


def _from_declaration(text: str) -> str:
    """The text from the XML declaration on: a comment in front of the declaration would make the text invalid XML."""
    return text[max(0, text.find("<?xml ", 0, _MOST_BEFORE_DECLARATION)) :].lstrip()
