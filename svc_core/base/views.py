"""Makes one record from another: a view of a row has the row's members under the same names."""

from typing import Any, TypeVar

import attrs

T = TypeVar("T")


def reshape(model: type[T], source: Any, **members: Any) -> T:
    """A `model` with these members, and those that it has in common with `source`."""
    class_: Any = model
    names = {item.name for item in attrs.fields(class_)} & attrs.fields_dict(type(source)).keys()
    record: T = class_(**{**{name: getattr(source, name) for name in names}, **members})
    return record
