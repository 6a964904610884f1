"""Replace every name and address in a text.

A text is split at blanks into words, and each different word is searched once: the outputs of tools are long, but have
few different words.
"""

from __future__ import annotations

import ipaddress
import re
from urllib.parse import unquote

from checks.redact.addresses import Addresses
from checks.redact.free_text import reduced, reduced_in_output
from checks.redact.names import NamePseudonyms
from checks.redact.network_pseudonyms import SHORTEST
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.spellings import Spellings
from checks.redact.well_known import is_well_known

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"[\d.,:;()%+-]{1,7}")
_LENGTH = re.compile(r"/(\d{1,3})(?!\d)")
_LIKE_AN_ADDRESS = re.compile(r"[:@]|\..*\.|-.*-.*-.*-")
"""Matches every word that contains an address in one of the forms below."""
_ENCODED = re.compile(r"%(?:2E|3A)", re.IGNORECASE)
"""The dot and the colon in a web address."""
_DOTS_IN_ADDRESS = 3
_CACHE_SIZE = 500_000
"""Words. When the cache has more, it is cleared."""
_UNITS = frozenset({"service", "socket", "device", "target", "timer", "mount", "scope", "slice", "path"})
"""Suffixes of systemd units, which can follow an `@` and a name: not domains of e-mail addresses."""

_FORMS = r"""
    (?P<code>   (?<!\w) IC-[A-Z]+-\d{3} (?!\w) )
  | (?P<time>   \d{4}-\d\d-\d\d (?: T\d\d:\d\d (?: :\d\d (?:\.\d+)? )? (?: Z | [+-]\d\d:?\d\d )? )? (?!\d) )
  | (?P<socket> (?<!\w) (?: [0-9A-F]{32} | [0-9A-F]{8} ) :[0-9A-F]{4} (?!\w) )
  | (?P<uuid>   (?<![0-9A-F]) [0-9A-F]{8} (?: -[0-9A-F]{4} ){3} -[0-9A-F]{12} (?![0-9A-F]) )
  | (?P<key>  (?<!\w) SHA256:[A-Za-z0-9+/]{43} )
  | (?P<mail>   (?<![\w.+-]) (?P<local> [\w.+-]+ ) @ (?P<domain> (?: [\w-]+\. )+ [a-z]{2,} ) (?![\w-]) )
  | (?P<mac>    (?<! [0-9A-F][:-] ) (?<!\w)
                (?: [0-9A-F]{2} (?P<separator>[:-]) (?: [0-9A-F]{2} (?P=separator) ){4,18}
                    [0-9A-F]{2} (?! \w | (?P=separator)[0-9A-F] )
                  | [0-9A-F]{4} \. [0-9A-F]{4} \. [0-9A-F]{4} (?! \w | \.\w ) ) )
  | (?P<ip6>    (?<![\w.]) (?: [0-9A-F]{0,4}: ){2,8} (?: \d{1,3} (?: \.\d{1,3} ){3} | [0-9A-F]{0,4} ) (?!\w) )
  | (?P<ip4>    (?<!\d) (?<!\d\.) \d{1,3} (?: \.\d{1,3} ){3} (?!\d) (?!\.\d) )
"""


class TextReplacer:
    """Replace addresses, and the names that have a pseudonym when the object is created.

    Every method that replaces addresses raises RedactionError where no pseudonym is free.
    """

    def __init__(
        self, pseudonyms: Pseudonyms, spellings: Spellings, addresses: Addresses, names: NamePseudonyms
    ) -> None:
        self._pseudonyms = pseudonyms
        self._spellings = spellings
        self._addresses = addresses
        self._names = names
        self._pattern = re.compile(rf"{_FORMS} | (?P<name> (?-x:{names.pattern}) )", re.IGNORECASE | re.VERBOSE)
        phrases = {name: p for name, p in names.pseudonyms.items() if re.search(r"\s", name)}
        self._phrases = NamePseudonyms(phrases) if phrases else None
        self._words: dict[str, str] = {}

    def replaced(self, text: str) -> str:
        """Return the text with every name and address replaced, and what a site wrote itself reduced."""
        return self._names_replaced(reduced_in_output(text, self._names_replaced))

    def free_text(self, text: str) -> str:
        """Return a text that a site wrote itself, without what no list of names has."""
        return self._names_replaced(reduced(text, self._names_replaced))

    def _names_replaced(self, text: str) -> str:
        if self._phrases is not None:
            text = self._phrases.replaced(text)
        return _WORD.sub(self._word, text)

    def interface_name(self, name: str) -> str:
        """Return the name of an interface, with pseudonyms for the names that it contains."""
        return self._names.replaced_in_interface(name)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        replaced = self._words.get(word)
        if replaced is None:
            if _NUMBER.fullmatch(word) and "::" not in word and word.count(".") < _DOTS_IN_ADDRESS:
                return word
            if len(self._words) > _CACHE_SIZE:
                self._words.clear()
            replaced = self._words[word] = self._in_any_form(word)
        return replaced

    def _in_any_form(self, word: str) -> str:
        plain = _ENCODED.sub(lambda found: unquote(found[0]), word)
        needs_search = _LIKE_AN_ADDRESS.search(plain) or self._names.may_occur_in(word)
        if plain != word and (replaced := self._searched(plain)) != plain:
            return replaced.replace(":", "%3A") if ":" not in word else replaced
        return (self._searched if needs_search else self._spellings.replaced)(word)

    def _searched(self, word: str) -> str:
        pieces: list[str] = []
        at = 0
        for found in self._pattern.finditer(word):
            pieces += (self._spellings.replaced(word[at : found.start()]), self._replace(found))
            at = found.end()
        return "".join((*pieces, self._spellings.replaced(word[at:])))

    def _replace(self, found: re.Match[str]) -> str:
        text = found[0]
        match found.lastgroup:
            case "name":
                return self._names.replace(found)
            case "code" | "time":
                return text
            case "socket":
                return self._addresses.socket_text(text)
            case "uuid":
                return self._pseudonyms.uuid(text)
            case "key":
                return self._pseudonyms.name("key", text)
            case "mail":
                return self._mail(text, found["local"], found["domain"])
            case "mac":
                return self._addresses.hardware_text(text)
            case "ip6" | "ip4" if self._is_part_of_internet(found):
                return text
            case "ip6":
                replaced = self._addresses.ip6_text(text)
                return self._names.replaced(self._spellings.replaced(text)) if replaced is None else replaced
            case _:
                return self._ip4(found)

    @staticmethod
    def _is_part_of_internet(found: re.Match[str]) -> bool:
        """Whether the text is a network that is too large for a site, as in the routes of a tunnel: `128.0.0.0/1`.

        The address of a host with such a prefix length is replaced.
        """
        length = _LENGTH.match(found.string, found.end())
        if length is None or int(length[1]) >= SHORTEST[6 if ":" in found[0] else 4]:
            return False
        try:
            ipaddress.ip_network(f"{found[0]}/{length[1]}")
        except ValueError:  # there are host bits
            return False
        return True

    def _ip4(self, found: re.Match[str]) -> str:
        text = found[0]
        if found.string[found.end() :].lower().startswith(".in-addr.arpa"):
            return ".".join(self._addresses.ip4_text(".".join(text.split(".")[::-1])).split(".")[::-1])
        return self._addresses.ip4_text(text)

    def _mail(self, text: str, local: str, domain: str) -> str:
        """Return the pseudonym of a login on a known node, or of an e-mail address."""
        replaced = self._names.replaced(text)
        if domain.rpartition(".")[2] in _UNITS or is_well_known("domain", domain):
            return replaced
        parts = [part for part in re.split(r"[._+-]", local) if part]
        known = all(is_well_known("user", part) or self._names.replaced(part) != part for part in parts)
        if known and replaced.rpartition("@")[2] != domain:
            return replaced
        return f"{self._pseudonyms.name('mail', text)}@mail.invalid"
