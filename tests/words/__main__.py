"""Prints what racwire decides with masked texts, as JSON: `python -m tests.words equal|each [--all]`.

`equal` masks equal texts by one token, `each` by a token for each time that one is made. A process of its own, since
classes mask their texts from their definition on.
"""

from __future__ import annotations

import argparse
import sys

from tests.words.masking import Masking, install


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("mode", choices=("equal", "each"))
    parser.add_argument("--all", action="store_true")
    args = parser.parse_args()
    install(Masking(each=args.mode == "each"))
    from tests.words.decided import decided

    sys.stdout.buffer.write(decided(every=args.all))


if __name__ == "__main__":
    main()
