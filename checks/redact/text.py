"""Replace every name and address in a text.

A text is taken word by word (what stands between blanks), and each different word is looked through once: outputs of
tools are long, and their words few.
"""

from __future__ import annotations

import ipaddress
import re

from checks.redact.addresses import Addresses
from checks.redact.blocks import SHORTEST
from checks.redact.names import NamePseudonyms
from checks.redact.pseudonyms import Pseudonyms
from checks.redact.spellings import Spellings
from checks.redact.well_known import stays

_WORD = re.compile(r"\S+")
_NUMBER = re.compile(r"[\d.,:;()%+-]{1,7}")
_LENGTH = re.compile(r"/(\d{1,3})(?!\d)")
_LIKE_AN_ADDRESS = re.compile(r"[:@]|\..*\.|-.*-.*-.*-.*-")
"""A character that every form below has."""
_DOTS_OF_AN_ADDRESS = 3
_KEPT_WORDS = 500_000
"""Words that are remembered: beyond that, all are forgotten and learnt again."""
_UNITS = frozenset({"service", "socket", "device", "target", "timer", "mount", "scope", "slice", "path"})
"""Suffixes of systemd units after an `@` and a name: no domains of e-mail addresses."""

_SHAPES = r"""
    (?P<code>   (?<!\w) IC-[A-Z]+-\d{3} (?!\w) )
  | (?P<time>   \d{4}-\d\d-\d\d (?: T\d\d:\d\d (?: :\d\d (?:\.\d+)? )? (?: Z | [+-]\d\d:?\d\d )? )? (?!\d) )
  | (?P<socket> (?<!\w) (?: [0-9A-F]{32} | [0-9A-F]{8} ) :[0-9A-F]{4} (?!\w) )
  | (?P<print>  (?<!\w) SHA256:[A-Za-z0-9+/]{43} )
  | (?P<mail>   (?<![\w.+-]) (?P<local> [\w.+-]+ ) @ (?P<domain> (?: [\w-]+\. )+ [a-z]{2,} ) (?![\w-]) )
  | (?P<mac>    (?<! [0-9A-F][:-] ) (?<!\w)
                (?: [0-9A-F]{2} (?P<sign>[:-]) (?: [0-9A-F]{2} (?P=sign) ){4,18}
                    [0-9A-F]{2} (?! \w | (?P=sign)[0-9A-F] )
                  | [0-9A-F]{4} \. [0-9A-F]{4} \. [0-9A-F]{4} (?! \w | \.\w ) ) )
  | (?P<ip6>    (?<![\w.]) (?: [0-9A-F]{0,4}: ){2,8} (?: \d{1,3} (?: \.\d{1,3} ){3} | [0-9A-F]{0,4} ) (?!\w) )
  | (?P<ip4>    (?<!\d) (?<!\d\.) \d{1,3} (?: \.\d{1,3} ){3} (?!\d) (?!\.\d) )
"""


class Text:
    """Replace names and addresses, with the pseudonyms that exist at its creation."""

    def __init__(
        self, pseudonyms: Pseudonyms, spellings: Spellings, addresses: Addresses, names: NamePseudonyms
    ) -> None:
        self._pseudonyms = pseudonyms
        self._spellings = spellings
        self._addresses = addresses
        self._names = names
        self._pattern = re.compile(rf"{_SHAPES} | (?P<name> (?-x:{names.pattern}) )", re.IGNORECASE | re.VERBOSE)
        phrases = {name: p for name, p in names.pseudonyms.items() if re.search(r"\s", name)}
        self._phrases = NamePseudonyms(phrases) if phrases else None
        self._words: dict[str, str] = {}

    def replaced(self, text: str) -> str:
        """The text with every name and address replaced."""
        if self._phrases is not None:
            text = self._phrases.replaced(text)
        return _WORD.sub(self._word, text)

    def link(self, name: str) -> str:
        """The name of an interface, which stays, but for the names that it was made of."""
        return self._names.replaced_within(name)

    def _word(self, found: re.Match[str]) -> str:
        word = found[0]
        replaced = self._words.get(word)
        if replaced is None:
            if _NUMBER.fullmatch(word) and "::" not in word and word.count(".") < _DOTS_OF_AN_ADDRESS:
                return word
            if len(self._words) > _KEPT_WORDS:
                self._words.clear()
            worth_it = _LIKE_AN_ADDRESS.search(word) or self._names.may_be_in(word)
            replaced = self._words[word] = (self._searched if worth_it else self._spellings.replaced)(word)
        return replaced

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
            case "print":
                return self._pseudonyms.name("key", text)
            case "mail":
                return self._mail(text, found["local"], found["domain"])
            case "mac":
                return self._addresses.hardware_text(text)
            case "ip6" | "ip4" if self._is_a_part_of_the_internet(found):
                return text
            case "ip6":
                replaced = self._addresses.ip6_text(text)
                return self._names.replaced(text) if replaced is None else replaced
            case _:
                return self._ip4(found)

    @staticmethod
    def _is_a_part_of_the_internet(found: re.Match[str]) -> bool:
        """Whether it is a network too large to be one's own, as in the routes of a tunnel: `128.0.0.0/1`. A host's
        address may precede such a number too."""
        length = _LENGTH.match(found.string, found.end())
        if length is None or int(length[1]) >= SHORTEST[6 if ":" in found[0] else 4]:
            return False
        try:
            ipaddress.ip_network(f"{found[0]}/{length[1]}")
        except ValueError:  # there are bits after those of the network
            return False
        return True

    def _ip4(self, found: re.Match[str]) -> str:
        text = found[0]
        if found.string[found.end() :].lower().startswith(".in-addr.arpa"):
            return ".".join(self._addresses.ip4_text(".".join(text.split(".")[::-1])).split(".")[::-1])
        return self._addresses.ip4_text(text)

    def _mail(self, text: str, local: str, domain: str) -> str:
        """A login on a known node, or an e-mail address."""
        replaced = self._names.replaced(text)
        if domain.rpartition(".")[2] in _UNITS or stays("domain", domain):
            return replaced
        parts = [part for part in re.split(r"[._+-]", local) if part]
        known = all(stays("user", part) or self._names.replaced(part) != part for part in parts)
        if known and replaced.rpartition("@")[2] != domain:
            return replaced
        return f"{self._pseudonyms.name('mail', text)}@mail.invalid"
