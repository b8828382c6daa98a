"""Converts values to JSON and back; only this room knows both snake_case and camelCase.

Rule 1: what strangers send is judged exactly (`read_json`, `structure`, `reader`): true is not 1,
        1.0 is no integer, nothing unknown passes unless a shape is `Open`, and all faults come
        back together.
Rule 2: what the service stored itself is trusted (`loads`), so that reading it back is fast.
Rule 3: not sent, null and empty stay three things in both directions.
Rule 4: no string that leaves `read_json` holds U+0000 or half a surrogate pair, because not every
        store can keep them.

The names below are loaded when they are first used: a store that hands bytes on needs no readers.
"""

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from svc_core.wire.document import Json, JsonError, read_json
    from svc_core.wire.faults import Fault, WireError, escape
    from svc_core.wire.names import camel
    from svc_core.wire.shapes import Open
    from svc_core.wire.stored import dumps, from_json, loads, to_json
    from svc_core.wire.strict import structure
    from svc_core.wire.texts import reader

_NAMES = {
    "document": "Json JsonError read_json",
    "faults": "Fault WireError escape",
    "names": "camel",
    "shapes": "Open",
    "stored": "dumps from_json loads to_json",
    "strict": "structure",
    "texts": "reader",
}
_HOMES = {name: module for module, names in _NAMES.items() for name in names.split()}

__all__ = [
    "Fault",
    "Json",
    "JsonError",
    "Open",
    "WireError",
    "camel",
    "dumps",
    "escape",
    "from_json",
    "loads",
    "read_json",
    "reader",
    "structure",
    "to_json",
]


def __getattr__(name: str) -> object:
    """Load a public name from the module that declares it, once: the next use finds it here."""
    if name not in _HOMES:
        raise AttributeError(f"module 'svc_core.wire' has no attribute {name!r}")
    public = getattr(import_module(f"svc_core.wire.{_HOMES[name]}"), name)
    globals()[name] = public
    return public
