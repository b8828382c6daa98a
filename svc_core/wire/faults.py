"""Faults of an input: where each one is, and its reason."""

from collections.abc import Iterator

from attrs import frozen
from cattrs import ClassValidationError, ForbiddenExtraKeysError, IterableValidationError

from svc_core.wire.names import camel

FAULTS_KEPT_MAX = 50  # of one array or object: an answer shows ten, a megabyte can hold 500,000
NAME_SHOWN_MAX = 64  # a stranger chose the name; the answer need not repeat a megabyte of it


@frozen
class InputFault:
    """One fault: `place` is a JSON Pointer into the body ("" is all of it) or a parameter name."""

    place: str
    reason: str = "is not valid"

    def __str__(self) -> str:
        return f"{self.place or '(body)'}: {self.reason}"


class WireError(ValueError):
    """The value does not have the declared shape; `faults` holds every reason, in field order."""

    def __init__(self, faults: list[InputFault]) -> None:
        """Refuse for all of `faults`."""
        super().__init__("; ".join(map(str, faults)))
        self.faults = faults


def flatten(error: Exception, place: str = "") -> Iterator[InputFault]:
    """The faults in the nested groups that structuring raises.

    Raises:
        Exception: a leaf that no input can cause comes out as it is, for it is ours.
    """
    match error:
        case ClassValidationError():
            members, bare = error.group_exceptions()
            for inner, note in members:
                yield from flatten(inner, f"{place}/{camel(note.name)}")
        case IterableValidationError():
            items, bare = error.group_exceptions()
            for inner, item in items:
                yield from flatten(inner, f"{place}/{escape(str(item.index))}")
        case ForbiddenExtraKeysError():
            bare = []
            for name in sorted(error.extra_fields)[:FAULTS_KEPT_MAX]:
                yield InputFault(f"{place}/{escape(name)}", "is not a known member")
        case KeyError():
            bare = []
            yield InputFault(place, "is required")
        case ValueError():
            bare = []
            yield InputFault(place, str(error))
        case _:
            raise error
    for inner in bare:
        yield from flatten(inner, place)


def escape(name: str) -> str:
    """One step of a JSON Pointer (RFC 6901, 3), cut where it is absurdly long."""
    text = name if len(name) <= NAME_SHOWN_MAX else f"{name[:NAME_SHOWN_MAX]}…"
    return text.replace("~", "~0").replace("/", "~1")
