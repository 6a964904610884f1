"""Replace names everywhere, also in other names that contain them."""

from __future__ import annotations

import html
import json
import re
from collections.abc import Iterable, Mapping
from enum import Enum
from urllib.parse import quote

from checks.redact.well_known import INTERFACE_NAME, VOCABULARY, is_in_vocabulary


class MatchScope(Enum):
    """Where an occurrence of a name counts as the name."""

    ANYWHERE = 1
    """Also as part of a word: `prodrac` in `ora.prodrac.db` and in `xprodracx`."""
    NOT_NEXT_TO_LETTER = 2
    """Where no letter is next to the name: `prod` in `PROD_1` and `ora_pmon_prod1`, not in `product`."""
    WHOLE_WORD = 3
    """As a separate word: `up`, `node`, `a`."""


_SHORTEST_ANYWHERE = 5
_SHORTEST_WITH_DIGIT = 3
_ADDITION = (
    r"(?:[-_]?\d++"
    r"|[-_](?:vip|priv|pub|scan|ib|ic|asm|hb|mgmt|adm|admin|ilom|ilo|idrac|bmc|oob|svc|cdb|db|tns|lsnr)\d*+)"
)
_ADDITIONS = re.compile(rf"{_ADDITION}++")


def key_of(name: str) -> str:
    """Return the key of a name: in lower case, where a search that ignores case finds the same name."""
    return name.lower() if re.fullmatch(re.escape(name.lower()), name, re.IGNORECASE) else name


def match_scope_of(name: str, vocabulary: Iterable[str] = ()) -> MatchScope:
    """Return where to search for a name without damage to other words. `vocabulary` has the words of the report."""
    bare = key_of(name)
    if bare in VOCABULARY or bare in vocabulary or INTERFACE_NAME.fullmatch(bare) or len(bare) < _SHORTEST_WITH_DIGIT:
        return MatchScope.WHOLE_WORD
    if is_in_vocabulary(bare):
        return MatchScope.NOT_NEXT_TO_LETTER
    shortest = _SHORTEST_WITH_DIGIT if re.search(r"[^a-z]", bare) else _SHORTEST_ANYWHERE
    return MatchScope.ANYWHERE if len(bare) >= shortest else MatchScope.NOT_NEXT_TO_LETTER


def is_derived(name: str, known: Iterable[str], vocabulary: Iterable[str] = ()) -> bool:
    """Whether a name is a known name with a usual addition: `rac1-vip`, `prod1` of `prod`.

    Such a name needs no pseudonym of its own.
    """
    bare = key_of(name)
    return any(
        len(other) < len(bare)
        and bare.startswith(other)
        and _ADDITIONS.fullmatch(bare, len(other))
        and not (other[-1].isdigit() and bare[len(other)].isdigit())
        and match_scope_of(other, vocabulary) is not MatchScope.WHOLE_WORD
        for other in known
    )


class NamePseudonyms:
    """Replace a fixed set of names."""

    def __init__(self, pseudonyms: Mapping[str, str], vocabulary: Iterable[str] = ()) -> None:
        """`pseudonyms` has the pseudonym of each name, by `key_of` the name."""
        words = frozenset(vocabulary)
        self.pseudonyms = pseudonyms
        self._by_form: dict[str, str] = {}
        parts, anywhere = [], []
        for name, pseudonym in sorted(pseudonyms.items(), key=lambda pair: (-len(pair[0]), pair[0])):
            scope = match_scope_of(name, words)
            for form in _forms(name):
                self._by_form.setdefault(form.lower(), pseudonym)
                pattern = _pattern(form, scope)
                parts.append(pattern)
                if scope is MatchScope.ANYWHERE:
                    anywhere.append(pattern)
        self._folded = {form.casefold(): pseudonym for form, pseudonym in self._by_form.items()}
        self._search_texts = tuple(sorted(self._folded, key=len))
        self.pattern = "|".join(parts) or r"(?!)"
        """A regular expression for use in a larger one. Compile it with IGNORECASE."""
        self._everywhere = re.compile(self.pattern, re.IGNORECASE)
        self._anywhere = re.compile("|".join(anywhere) or r"(?!)", re.IGNORECASE)

    def may_occur_in(self, text: str) -> bool:
        """Whether a search can find a name. This test is fast, and nearly all words of long outputs contain no name."""
        folded = text.casefold()
        return any(name in folded for name in self._search_texts)

    def replaced(self, text: str) -> str:
        """Return the text with every name replaced."""
        return self._everywhere.sub(self.replace, text)

    def replaced_in_interface(self, name: str) -> str:
        """Return the name of an interface, with only the names replaced that count at any place.

        The checks need the rest of the name to recognise the kind of interface.
        """
        return self._anywhere.sub(self.replace, name)

    def replace(self, found: re.Match[str]) -> str:
        """Return the pseudonym of a found name, in the same case."""
        text = found[0]
        pseudonym = self._by_form.get(text.lower()) or self._folded.get(text.casefold(), "name")
        return _in_case_of(text, pseudonym)


def _forms(name: str) -> set[str]:
    """Return the name itself, and its form in HTML, in JSON and in web addresses."""
    return {name, html.escape(name), json.dumps(name)[1:-1], quote(name, safe="", errors="surrogatepass")}


def _pattern(name: str, scope: MatchScope) -> str:
    text = re.escape(name)
    before, after = "", ""
    match scope:
        case MatchScope.WHOLE_WORD:
            return rf"(?<!\w){text}(?!\w)"
        case MatchScope.NOT_NEXT_TO_LETTER:
            before, after = r"(?<![^\W\d_])", r"(?![^\W\d_])"
    if name[0].isdigit():
        before += r"(?<!\d)"
    if name[-1].isdigit():
        after += r"(?!\d)"
    return f"{before}{text}{after}"


def _in_case_of(text: str, pseudonym: str) -> str:
    letters = [char for char in text if char.isalpha()]
    if len(letters) > 1 and all(char.isupper() for char in letters):
        return pseudonym.upper()
    if letters and letters[0].isupper() and not any(char.isupper() for char in letters[1:]) and text[0].isupper():
        return pseudonym.capitalize()
    return pseudonym
