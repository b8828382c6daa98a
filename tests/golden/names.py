"""What programs import: the public names of the core, of its testing kit and of the server.

Where a thing is declared is not told: it may move as long as its name stays where it is imported.
"""

import ast
import inspect
import pkgutil
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any, TypeVar

import attrs

import svc_core
import svc_core.testing
from svc_core import catalog
from svc_core.access.roles import SCOPES_OF_ROLES, may_run
from tests.golden.pretty import WIDTH

ALL_OPERATIONS = (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)

SERVER = {
    "svc_http.service.runtime.application": ("Application", "build"),
    "svc_http.run.cli": ("main",),
    "svc_http.run.hosting": ("controlled", "mount", "opened"),
    "svc_http.settings": ("Settings", "SettingsError", "load"),
    "svc_http.stores": ("MemoryStorage", "SqliteStorage", "open", "open_threaded"),
}
"""What documents and examples take from the server."""

_HOME = re.compile(r"\b(?:svc_core|svc_http|collections|typing|datetime|pathlib)\.(?:\w+\.)*(?=\w)")


def texts() -> dict[str, str]:
    """One text each for the core, its testing kit, the server and the ids of operations."""
    return {
        "names/svc_core.txt": "\n".join(_core()) + "\n",
        "names/svc_core.testing.txt": "\n".join(_testing()) + "\n",
        "names/svc_http.txt": "\n".join(_server()) + "\n",
        # A server and a command line of two versions know an operation by its id.
        "names/operations.txt": "".join(f"{operation.id}\n" for operation in ALL_OPERATIONS),
        "names/roles.txt": "".join(f"{line}\n" for line in _roles()),
    }


def _roles() -> Iterator[str]:
    """Which operations a person may run, by role; the operator without one and with one."""
    columns: dict[str, dict[str, Any]] = {
        **{role: {"role": role, "is_operator": False} for role in SCOPES_OF_ROLES},
        "operator": {"role": None, "is_operator": True},
        "operator, member": {"role": "member", "is_operator": True},
    }
    yield f"{'':26}{'  '.join(columns)}"
    for operation in ALL_OPERATIONS:
        cells = (
            f"{'yes' if may_run(operation, **members) else '-':{len(name)}}"
            for name, members in columns.items()
        )
        yield f"{operation.id:26}{'  '.join(cells)}".rstrip()


def _core() -> Iterator[str]:
    """The names of the core, then those of each module among them."""
    pieces = {f"svc_core.{name}": getattr(svc_core, name) for name in svc_core.__all__}
    for name in ("ledger", "payments", "webhooks"):
        face = pieces.pop(f"svc_core.{name}")
        pieces |= {f"svc_core.{name}.{piece}": getattr(face, piece) for piece in face.__all__}
    modules = {name: piece for name, piece in pieces.items() if inspect.ismodule(piece)}
    for name, piece in pieces.items():
        if name not in modules:
            yield from _lines(name.removeprefix("svc_core."), piece)
    for home, module in modules.items():
        yield from ("", f"# {home}")
        for name in _declarations(module):
            if not isinstance(getattr(module, name), TypeVar):
                yield from _lines(name, getattr(module, name))


def _testing() -> Iterator[str]:
    package = svc_core.testing
    homes = [
        module.name for module in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    for home in sorted(homes):
        if "._" in home:
            continue
        module = import_module(home)
        yield f"# {home}"
        for name in getattr(module, "__all__", _declarations(module)):
            yield from _lines(name, getattr(module, name))
        yield ""


def _server() -> Iterator[str]:
    for home, names in SERVER.items():
        module = import_module(home)
        yield f"# {home}"
        for name in names:
            yield from _lines(name, getattr(module, name))
        yield ""


def _declarations(module: Any) -> list[str]:
    """The public names that stand at the top of a module, in their order."""
    names = []
    for node in ast.parse(inspect.getsource(module)).body:
        match node:
            case (
                ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
            ):
                names.append(name)
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                names.append(name)
    return [name for name in names if not name.startswith("_")]


def _lines(name: str, thing: Any) -> Iterator[str]:
    if not inspect.isclass(thing):
        yield f"{name}{_signature(thing)}" if callable(thing) else f"{name}: {_kind(thing)}"
        return
    yield f"class {name}{_signature(thing)}"
    fields = {attribute.name for attribute in attrs.fields(thing)} if attrs.has(thing) else set()
    for member in sorted(dir(thing)):
        if member.startswith("_") or member in fields:
            continue
        home = next(class_ for class_ in thing.__mro__ if member in vars(class_))
        if not home.__module__.startswith("svc_"):
            continue  # of a library
        attribute = inspect.getattr_static(thing, member)
        callable_ = getattr(attribute, "__func__", attribute)
        if isinstance(attribute, property):
            yield f"  {member}: property"
        elif callable(callable_):
            yield f"  {member}{_signature(callable_)}"
        else:
            yield f"  {member}: {_kind(attribute)}"


def _kind(thing: Any) -> str:
    return f"{type(thing).__name__}"


def _signature(thing: Any) -> str:
    try:
        signature = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    parameters = [
        parameter.replace(default=_Default(parameter.default))
        if parameter.default is not inspect.Parameter.empty
        else parameter
        for parameter in signature.parameters.values()
    ]
    line = _HOME.sub("", str(signature.replace(parameters=parameters)))
    if len(line) <= WIDTH:
        return line
    # One line for a parameter, so that one more is a line more.
    returns = "" if signature.return_annotation is signature.empty else line[line.rindex(" -> ") :]
    lines = [
        _HOME.sub(
            "", str(signature.replace(parameters=[parameter], return_annotation=signature.empty))
        )
        for parameter in parameters
    ]
    return "\n".join(("(", *(f"    {text[1:-1]}" for text in lines), f"  ){returns}"))


class _Default:
    """A default value, told where it is the same in every process."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        text = repr(self._value)
        return type(self._value).__name__ if " at 0x" in text else text
