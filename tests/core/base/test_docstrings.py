"""The text below the declaration of a member is found, wherever the class stands."""

import sys
from types import ModuleType
from typing import Any

import attrs
import pytest
from attrs import frozen

from svc_core.base.docstrings import docstring_of


@frozen
class Vessel:
    """A ship."""

    name: str
    """What is painted on its bow,
    in capitals."""
    flag: str

    @frozen
    class Berth:
        """Where it lies."""

        quay: int
        """Counted from the sea."""


@frozen
class Tanker(Vessel):
    """A ship that carries liquids."""

    flag: str
    """The state whose law holds aboard."""


def member_texts(class_: Any) -> dict[str, str]:
    return {member.name: docstring_of(class_, member) for member in attrs.fields(class_)}


def test_a_docstring_is_one_line_and_comes_from_the_class_that_declares_the_member() -> None:
    assert member_texts(Vessel) == {"name": "What is painted on its bow, in capitals.", "flag": ""}
    assert member_texts(Tanker) == member_texts(Vessel) | {
        "flag": "The state whose law holds aboard."
    }


def test_a_class_may_stand_in_a_class_or_a_function() -> None:
    @frozen
    class Anchorage:
        depth: int
        """In metres."""

    assert member_texts(Vessel.Berth) == {"quay": "Counted from the sea."}
    assert member_texts(Anchorage) == {"depth": "In metres."}


def test_a_module_without_its_source_has_no_docstrings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "bytecode_alone", ModuleType("bytecode_alone"))
    class_ = attrs.make_class("Raft", {"logs": attrs.field(type=int)})
    class_.__module__ = "bytecode_alone"

    assert member_texts(class_) == {"logs": ""}
