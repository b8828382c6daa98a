"""`python -m tests.golden` says what differs from the golden files; `--write` writes them anew."""

import sys

from tests.golden.compare import difference, stored, write
from tests.golden.parts import PARTS


def main(arguments: list[str]) -> int:
    """Compare or write; 1 where something differs."""
    if arguments not in ([], ["--write"]):
        sys.stderr.write("usage: python -m tests.golden [--write]\n")
        return 2
    code = 0
    for part, texts in PARTS.items():
        if arguments:
            sys.stdout.writelines(f"{name}\n" for name in write(part, texts()))
        elif changes := difference(stored(part), texts()):
            sys.stdout.write(f"{changes}\n\n")
            code = 1
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
