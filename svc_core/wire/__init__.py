"""Values and their JSON: the one place that knows both snake_case and camelCase.

Rule 1: what strangers send is judged exactly (`read_json`, `structure`, `reader`): true is not 1,
        1.0 is no integer, nothing unknown passes unless a shape is `Open`, and all faults come
        back together.
Rule 2: what the service stored itself is trusted (`loads`), so that reading it back is fast.
Rule 3: not sent, null and empty stay three things in both directions.
Rule 4: no string that leaves `read_json` holds U+0000 or half a surrogate pair, because not every
        store can keep them.
"""

from svc_core.wire.document import Json, JsonError, read_json
from svc_core.wire.faults import Fault, WireError, escape
from svc_core.wire.names import camel
from svc_core.wire.shapes import Open
from svc_core.wire.stored import dumps, from_json, loads, to_json
from svc_core.wire.strict import structure
from svc_core.wire.texts import reader

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
