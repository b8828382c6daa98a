"""Reads pyright's report on the core: whether a type checker knows the types of the public face.

pyright --verifytypes svc_core --ignoreexternal --outputjson > types.json
python tests/interop/typed.py types.json
"""

import inspect
import json
import sys
from collections.abc import Iterator
from pathlib import Path

import svc_core
from svc_core import ledger, payments, webhooks

SHARE_MIN = 0.99
"""Symbols of the public face whose types are known."""


def public_names() -> Iterator[str]:
    """The public names, and the modules among them by the names of their homes."""
    for face in (svc_core, ledger, payments, webhooks):
        for name in face.__all__:
            public = getattr(face, name)
            yield f"{face.__name__}.{name}"
            yield public.__name__ if inspect.ismodule(public) else f"{_home(public)}.{name}"


def _home(public: object) -> str:
    return getattr(public, "__module__", "")


def main(report: str) -> int:
    """Print the share and what lacks a type; 1 where the share is too small."""
    names = {*public_names()} - {"svc_core.ledger", "svc_core.payments", "svc_core.webhooks"}
    symbols = {
        symbol["name"]: symbol["isTypeKnown"]
        for symbol in json.loads(Path(report).read_text("utf-8"))["typeCompleteness"]["symbols"]
        if any(symbol["name"] == name or symbol["name"].startswith(f"{name}.") for name in names)
    }
    missing = {f"svc_core.{name}" for name in svc_core.__all__} & names - symbols.keys()
    unknown = [name for name, is_known in symbols.items() if not is_known]
    share = 1 - len(unknown) / max(len(symbols), 1)
    sys.stdout.write(f"types: {share:.1%} of {len(symbols)} public symbols are known\n")
    sys.stdout.writelines(f"  {name}\n" for name in [*unknown, *sorted(missing)])
    return 0 if share >= SHARE_MIN and not missing else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
