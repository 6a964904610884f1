"""Replace names everywhere, also within other names that contain them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from urllib.parse import quote

from checks.redact.well_known import INTERFACE_NAME, VOCABULARY, is_in_vocabulary


class Reach(Enum):
    """How far a name is looked for."""

    ANYWHERE = 1
    """Within words as well: `prodrac` in `ora.prodrac.db` and in `xprodracx`."""
    BETWEEN_LETTERS = 2
    """Where no letter is next to the name: `prod` in `PROD_1` and `ora_pmon_prod1`, not in `product`."""
    WORD = 3
    """As a separate word: `up`, `node`, `a`."""


_SHORTEST_ANYWHERE = 5
_SHORTEST_WITH_DIGIT = 3
_ADDED = (
    r"(?:[-_]?\d++"
    r"|[-_](?:vip|priv|pub|scan|ib|ic|asm|hb|mgmt|adm|admin|ilom|ilo|idrac|bmc|oob|svc|cdb|db|tns|lsnr)\d*+)"
)
_MADE_OF = re.compile(rf"{_ADDED}++")


def key_of(name: str) -> str:
    """A name as it is known by: in lower case, where that is the same name to a search that ignores case."""
    return name.lower() if re.fullmatch(re.escape(name.lower()), name, re.IGNORECASE) else name


def reach_of(name: str, vocabulary: Iterable[str] = ()) -> Reach:
    """How far to search for a name without damage to other words. `vocabulary` has the words of the report."""
    bare = key_of(name)
    if bare in VOCABULARY or bare in vocabulary or INTERFACE_NAME.fullmatch(bare) or len(bare) < _SHORTEST_WITH_DIGIT:
        return Reach.WORD
    if is_in_vocabulary(bare):
        return Reach.BETWEEN_LETTERS
    shortest = _SHORTEST_WITH_DIGIT if re.search(r"[^a-z]", bare) else _SHORTEST_ANYWHERE
    return Reach.ANYWHERE if len(bare) >= shortest else Reach.BETWEEN_LETTERS


def is_derived(name: str, known: Iterable[str], vocabulary: Iterable[str] = ()) -> bool:
    """Whether a name is a known name with a usual addition: `rac1-vip`, `prod1` of `prod`.

    Such a name needs no pseudonym of its own."""
    bare = key_of(name)
    return any(
        len(other) < len(bare)
        and bare.startswith(other)
        and _MADE_OF.fullmatch(bare, len(other))
        and not (other[-1].isdigit() and bare[len(other)].isdigit())
        and reach_of(other, vocabulary) is not Reach.WORD
        for other in known
    )


class NamePseudonyms:
    """Replace a fixed set of names."""

    def __init__(self, pseudonyms: Mapping[str, str], vocabulary: Iterable[str] = ()) -> None:
        """`pseudonyms`: by `key_of` the name."""
        words = frozenset(vocabulary)
        self.pseudonyms = pseudonyms
        self._by_form: dict[str, str] = {}
        parts, far = [], []
        for name, pseudonym in sorted(pseudonyms.items(), key=lambda pair: (-len(pair[0]), pair[0])):
            reach = reach_of(name, words)
            for form in _forms(name):
                self._by_form.setdefault(form.lower(), pseudonym)
                pattern = _pattern(form, reach)
                parts.append(pattern)
                if reach is Reach.ANYWHERE:
                    far.append(pattern)
        self._folded = {form.casefold(): pseudonym for form, pseudonym in self._by_form.items()}
        self._signs = tuple(sorted(self._folded, key=len))
        self.pattern = "|".join(parts) or r"(?!)"
        """For use in a larger one; to be compiled with IGNORECASE."""
        self._everywhere = re.compile(self.pattern, re.IGNORECASE)
        self._within = re.compile("|".join(far) or r"(?!)", re.IGNORECASE)

    def may_be_in(self, text: str) -> bool:
        """Whether it is worth a search: of all words of long outputs, nearly none has a name in it."""
        folded = text.casefold()
        return any(sign in folded for sign in self._signs)

    def replaced(self, text: str) -> str:
        """The text with every name replaced."""
        return self._everywhere.sub(self.replace, text)

    def replaced_within(self, word: str) -> str:
        """A word that must stay what it is for the checks, such as the name of an interface: only such names are
        replaced that can be meant."""
        return self._within.sub(self.replace, word)

    def replace(self, found: re.Match[str]) -> str:
        """The pseudonym of a found name, in the same case."""
        text = found[0]
        pseudonym = self._by_form.get(text.lower()) or self._folded.get(text.casefold(), "name")
        return _in_case_of(text, pseudonym)


def _forms(name: str) -> set[str]:
    """A name as it is, and as HTML, JSON and web addresses have it."""
    return {name, html.escape(name), json.dumps(name)[1:-1], quote(name, safe="", errors="surrogatepass")}


def _pattern(name: str, reach: Reach) -> str:
    text = re.escape(name)
    before, after = "", ""
    match reach:
        case Reach.WORD:
            return rf"(?<!\w){text}(?!\w)"
        case Reach.BETWEEN_LETTERS:
            before, after = r"(?<![^\W\d_])", r"(?![^\W\d_])"
    if name[0].isdigit():
        before += r"(?<!\d)"
    if name[-1].isdigit():
        after += r"(?!\d)"
    return f"{before}{text}{after}"


def _in_case_of(text: str, pseudonym: str) -> str:
    letters = [sign for sign in text if sign.isalpha()]
    if len(letters) > 1 and all(sign.isupper() for sign in letters):
        return pseudonym.upper()
    if letters and letters[0].isupper() and not any(sign.isupper() for sign in letters[1:]) and text[0].isupper():
        return pseudonym.capitalize()
    return pseudonym
