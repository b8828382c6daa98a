"""The OpenAPI document as a service publishes it: each operation in a file, each kind of component.

The document with links between its files is told whole; the flat one, and those of a service that
sells nothing, by what they have otherwise.
"""

from collections.abc import Iterator
from typing import Any

from tests.golden.house import House
from tests.golden.pretty import changes, pretty


def texts() -> dict[str, str]:
    """The texts of the document and of its other forms."""
    priced, free = _service_documents(sells=True), _service_documents(sells=False)
    files = dict(_parts(priced[""]))
    forms = (
        ("flat", priced[""], priced[".flat"]),
        ("without-payment", priced[""], free[""]),
        ("flat-without-payment", free[""], free[".flat"]),
    )
    for name, before, after in forms:
        lines = sorted(changes(_by_name(before), _by_name(after))) or ["It is the same."]
        files[f"openapi/{name}.txt"] = "\n".join(lines) + "\n"
    return files


def _service_documents(*, sells: bool) -> dict[str, Any]:
    house = House(sells=sells, has_rows=False)
    try:
        return {
            form: house.ask("GET", f"/openapi{form}.json", key="").json() for form in ("", ".flat")
        }
    finally:
        house.close()


def _by_name(document: Any) -> Any:
    """The document with operations by their ids instead of by addresses, which forms differ in."""
    operations: dict[str, Any] = {}
    for path, item in document["paths"].items():
        shared = {member: value for member, value in item.items() if not _is_operation(value)}
        for method, value in item.items():
            if _is_operation(value):
                operations[value["operationId"]] = {method: path, **shared, **value}
    return {**document, "paths": operations}


def _fold(value: Any) -> Any:
    """The same with members that all refer to what has their name told by their names alone.

    Answers name twenty fields and more, each time by a reference.
    """
    if isinstance(value, list):
        return [_fold(item) for item in value]
    if not isinstance(value, dict):
        return value
    homes = {_home(name, member) for name, member in value.items()}
    if len(homes) == 1 and (home := homes.pop()) is not None:
        return {f"each at {home}": list(value)}
    return {name: _fold(member) for name, member in value.items()}


def _home(name: str, value: Any) -> str | None:
    """Where what is referred to stands, if it has that name there."""
    if not isinstance(value, dict) or [*value] != ["$ref"]:
        return None
    home, _, name_there = str(value["$ref"]).rpartition("/")
    return home if name_there == name else None


def _is_operation(value: Any) -> bool:
    return isinstance(value, dict) and "operationId" in value


def _parts(document: Any) -> Iterator[tuple[str, str]]:
    """The document in parts, of which none says what another says."""
    index: dict[str, Any] = {}
    for path, item in document["paths"].items():
        index[path] = {}
        for member, value in item.items():
            index[path][member] = value["operationId"] if _is_operation(value) else value
            if _is_operation(value):
                yield f"openapi/operations/{value['operationId']}.json", pretty(_fold(value))
    for kind, entries in document["components"].items():
        yield f"openapi/components/{kind}.json", pretty(_fold(entries))
    rest = {**document, "paths": index, "components": list(document["components"])}
    yield "openapi/document.json", pretty(rest)
