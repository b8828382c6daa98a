"""Converts values to JSON and back; only this room knows both snake_case and camelCase.

Rule 1: what strangers send is judged exactly (`decode_json`, `structure`, `reader`): true is not 1,
        1.0 is an integer in JSON and none in a text, nothing unknown passes unless a shape is
        `OpenShape`, and all faults come back together.
Rule 2: what the service stored itself is trusted (`from_bytes`), so that reading it back is fast.
Rule 3: not sent, null and empty stay three things in both directions.
Rule 4: no string that leaves `decode_json` holds U+0000 or half a surrogate pair, because not every
        store can keep them.

The names below are loaded when they are first used: a store that hands bytes on needs no readers.
"""

from typing import TYPE_CHECKING

from svc_core.base.public_names import lazy_names

if TYPE_CHECKING:
    from svc_core.wire.document import Json as Json
    from svc_core.wire.document import JsonError as JsonError
    from svc_core.wire.document import decode_json as decode_json
    from svc_core.wire.faults import InputFault as InputFault
    from svc_core.wire.faults import WireError as WireError
    from svc_core.wire.faults import escape as escape
    from svc_core.wire.names import camel as camel
    from svc_core.wire.shapes import OpenShape as OpenShape
    from svc_core.wire.stored import from_bytes as from_bytes
    from svc_core.wire.stored import from_json as from_json
    from svc_core.wire.stored import to_bytes as to_bytes
    from svc_core.wire.stored import to_json as to_json
    from svc_core.wire.strict import structure as structure
    from svc_core.wire.texts import reader as reader
else:
    globals().update(
        lazy_names(
            __name__,
            {
                "document": "Json JsonError decode_json",
                "faults": "InputFault WireError escape",
                "names": "camel",
                "shapes": "OpenShape",
                "stored": "from_bytes from_json to_bytes to_json",
                "strict": "structure",
                "texts": "reader",
            },
        )
    )
