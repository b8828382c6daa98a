"""Public names of a package, each loaded from the module that declares it when it is first used.

A package that imported all that it offers would make every import of one of its leaves pay for the
whole. Type checkers do not run this: for them the package imports the same names beside it.
"""

import sys
from collections.abc import Callable, Mapping
from importlib import import_module


def lazy_names(package: str, homes: Mapping[str, str]) -> dict[str, object]:
    """The globals by which `package` offers names: `__all__`, `__dir__` and `__getattr__`.

    `homes` has the names, separated by spaces, by the module below the package that has them
    ("" for the package itself); a name may be a module or what a module declares.
    """
    home_of = {name: home for home, names in homes.items() for name in names.split()}
    names = sorted(home_of)

    def load(name: str) -> object:
        if name not in home_of:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        home = f"{package}.{home_of[name]}".rstrip(".")
        members = vars(import_module(home))
        public = members[name] if name in members else import_module(f"{home}.{name}")
        vars(sys.modules[package])[name] = public  # the next use finds it there
        return public

    listing: Callable[[], list[str]] = names.copy
    return {"__all__": names, "__dir__": listing, "__getattr__": load}
