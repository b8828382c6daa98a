"""Packages that few tests use and that take long to load: they are loaded by whoever uses them."""

import sys
from importlib import import_module
from typing import Any


class Late:
    """A module whose members are asked for where it would be named."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # pytest asks whatever a module binds whether it is a fixture
            raise AttributeError(name)
        limit = sys.getrecursionlimit()
        module = import_module(self._name)
        # eth-account brings what raises it so far that JSON which nests too deep ends us.
        sys.setrecursionlimit(limit)
        return getattr(module, name)
