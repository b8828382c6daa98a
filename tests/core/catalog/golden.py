"""What is written of the operations that use every part of a declaration, as `tests/data/catalog`.

`python -m tests.core.catalog.golden` writes it again; `git diff` then shows what a change of the
writers changed.
"""

from pathlib import Path
from typing import Any

from svc_core.catalog.openapi.openapi_document import build_openapi
from svc_core.catalog.reference import operations_page
from tests.core.catalog.things import OPERATIONS
from tests.golden.pretty import pretty

FILES = Path(__file__).parents[2] / "data" / "catalog"


def documents() -> dict[str, str]:
    """The paths of the description and the page of operations, by the names of their files."""
    paths = build_openapi(OPERATIONS, base_url="https://api.example.com")["paths"]
    return {"paths.json": pretty(_brief(paths)), "operations.md": operations_page(OPERATIONS)}


def _brief(part: Any) -> Any:
    """A part of a description; components that are referred to by their own names are a line."""
    if isinstance(part, list):
        return [_brief(item) for item in part]
    if not isinstance(part, dict):
        return part
    references = [str(item.get("$ref")) for item in part.values() if isinstance(item, dict)]
    if part and [name.rpartition("/")[2] for name in references] == list(part):
        return ", ".join(part)
    return {name: _brief(item) for name, item in part.items()}


if __name__ == "__main__":
    for name, text in documents().items():
        (FILES / name).write_text(text, "utf-8")
