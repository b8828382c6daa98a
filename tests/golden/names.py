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
from tests.golden.pretty import WIDTH

SERVER = {
    "svc_http.service.runtime.application": ("Service", "build"),
    "svc_http.run.cli": ("main",),
    "svc_http.run.hosting": ("controlled", "mount", "opened"),
    "svc_http.settings": ("Settings", "SettingsError", "load"),
    "svc_http.stores": ("MemoryStorage", "SqliteStorage"),
}
"""What documents and examples take from the server."""

_HOME = re.compile(r"\b(?:svc_core|svc_http|collections|typing|datetime|pathlib)\.(?:\w+\.)*(?=\w)")


def texts() -> dict[str, str]:
    """One text for the core, one for its testing kit, one for the server."""
    return {
        "names/svc_core.txt": "\n".join(_core()) + "\n",
        "names/svc_core.testing.txt": "\n".join(_testing()) + "\n",
        "names/svc_http.txt": "\n".join(_server()) + "\n",
    }


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
        for name in _declared(module):
            if not isinstance(getattr(module, name), TypeVar):
                yield from _lines(name, getattr(module, name))


def _testing() -> Iterator[str]:
    package = svc_core.testing
    homes = [each.name for each in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    for home in sorted(homes):
        if "._" in home:
            continue
        module = import_module(home)
        yield f"# {home}"
        for name in getattr(module, "__all__", _declared(module)):
            yield from _lines(name, getattr(module, name))
        yield ""


def _server() -> Iterator[str]:
    for home, names in SERVER.items():
        module = import_module(home)
        yield f"# {home}"
        for name in names:
            yield from _lines(name, getattr(module, name))
        yield ""


def _declared(module: Any) -> list[str]:
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
    fields = {each.name for each in attrs.fields(thing)} if attrs.has(thing) else set()
    for member in sorted(dir(thing)):
        if member.startswith("_") or member in fields:
            continue
        home = next(each for each in thing.__mro__ if member in vars(each))
        if not home.__module__.startswith("svc_"):
            continue  # of a library
        held = inspect.getattr_static(thing, member)
        callable_ = getattr(held, "__func__", held)
        if isinstance(held, property):
            yield f"  {member}: property"
        elif callable(callable_):
            yield f"  {member}{_signature(callable_)}"
        else:
            yield f"  {member}: {_kind(held)}"


def _kind(thing: Any) -> str:
    return f"{type(thing).__name__}"


def _signature(thing: Any) -> str:
    try:
        found = inspect.signature(thing)
    except (TypeError, ValueError):
        return ""
    shown = [
        each.replace(default=_Default(each.default))
        if each.default is not inspect.Parameter.empty
        else each
        for each in found.parameters.values()
    ]
    line = _HOME.sub("", str(found.replace(parameters=shown)))
    if len(line) <= WIDTH:
        return line
    # One line for a parameter, so that one more is a line more.
    returned = "" if found.return_annotation is found.empty else line[line.rindex(" -> ") :]
    told = [
        _HOME.sub("", str(found.replace(parameters=[each], return_annotation=found.empty)))
        for each in shown
    ]
    return "\n".join(("(", *(f"    {each[1:-1]}" for each in told), f"  ){returned}"))


class _Default:
    """A default value, told where it is the same in every process."""

    def __init__(self, value: Any) -> None:
        self._value = value

    def __repr__(self) -> str:
        told = repr(self._value)
        return type(self._value).__name__ if " at 0x" in told else told
