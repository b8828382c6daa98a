"""What each format reads from made-up documents, kept as JSON in `tests/data/formats`.

A file holds the cases of one format under the sentences that they show. The first case of a
sentence is whole: its document (`json`, or `text` in lines), its `origin` and its `contents`. Any
other says what differs from the first, by JSON Pointer; where nothing of the contents differs, two
documents mean the same. `python -m tests.core.formats.golden` reads all documents again and writes
what they give; `git diff` then shows what a change of a parser changed.
"""

import json
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import attrs

from svc_core.formats.model import DocumentRefused, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.table import read_document, recognise_format
from tests.golden.pretty import pretty

FILES = Path(__file__).parents[2] / "data" / "formats"
ABSENT = "(absent)"
"""Stands for the value of a member that only the first case has."""

Case = dict[str, Any]


def stored_cases(format_id: str) -> dict[str, list[Case]]:
    """All cases of a format, whole, by the sentence that they show."""
    groups = json.loads((FILES / f"{format_id}.json").read_text("utf-8"))
    return {
        sentence: [first, *(_changed(first, change) for change in changes)]
        for sentence, (first, *changes) in groups.items()
    }


def write_cases(format_id: str, groups: dict[str, list[Case]]) -> None:
    """Keep the cases of a format, each but the first of a sentence as its differences."""
    forms = {
        sentence: [first, *({**_label(case), **_differences(first, case)} for case in cases)]
        for sentence, (first, *cases) in groups.items()
    }
    (FILES / f"{format_id}.json").write_text(pretty(forms), "utf-8")


def read_contents(format_id: str, case: Case) -> Case:
    """What the document of a case gives now: metadata, records and rejections, or its refusal."""
    text = json.dumps(case["json"]) if "json" in case else "\n".join(case["text"])
    body = Body(text.encode())
    try:
        format_ = recognise_format(body)
        document = read_document(body, format_, Origin(**case.get("origin", {})))
    except DocumentRefused as refusal:
        return {"refused": refusal.code}
    assert format_.id == format_id
    contents = {
        "metadata": _stated(document.metadata),
        "records": [_stated(record) for record in document.records],
        "rejections": [_stated(rejection) for rejection in document.rejections],
    }
    return {name: part for name, part in contents.items() if part}


def _stated(item: attrs.AttrsInstance) -> Case:
    """The members of a part of a document that say something, without the record as published."""
    members = attrs.asdict(item, recurse=False, filter=lambda field, _: field.name != "raw")
    stated = {name: value for name, value in members.items() if value not in (None, (), False)}
    return json.loads(json.dumps(stated, default=datetime.isoformat))


# -- one case as its differences from another --------------------------------------------------


def _label(case: Case) -> Case:
    return {"case": case["case"]} if "case" in case else {}


def _differences(first: Case, case: Case) -> Case:
    names = [name for name in {**first, **case} if name != "case"]
    pairs = {name: dict(_changes(first.get(name, {}), case.get(name, {}))) for name in names}
    return {name: changes for name, changes in pairs.items() if changes}


def _changes(before: Any, after: Any, pointer: str = "") -> Iterator[tuple[str, Any]]:
    if isinstance(before, dict) and isinstance(after, dict) and before.keys() & after.keys():
        for name in {**before, **after}:
            pair = (before.get(name, ABSENT), after.get(name, ABSENT))
            yield from _changes(*pair, f"{pointer}/{name.replace('/', '~1')}")
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after) > 0:
        for place, pair in enumerate(zip(before, after, strict=True)):
            yield from _changes(*pair, f"{pointer}/{place}")
    elif json.dumps(before) != json.dumps(after):
        yield pointer, after


def _changed(first: Case, changes: Case) -> Case:
    case: Case = json.loads(json.dumps(first))
    case.pop("case", None)
    for name, parts in changes.items():
        if name == "case":
            case["case"] = parts
            continue
        for pointer, value in parts.items():
            case[name] = _with(case.get(name, {}), pointer.split("/")[1:], value)
    return {name: part for name, part in case.items() if part != {}}


def _with(value: Any, path: list[str], part: Any) -> Any:
    if not path:
        return part
    place = int(path[0]) if isinstance(value, list) else path[0].replace("~1", "/")
    if part == ABSENT and len(path) == 1:
        del value[place]
    else:
        value[place] = _with(value[place] if len(path) > 1 else None, path[1:], part)
    return value


if __name__ == "__main__":
    for path in sorted(FILES.glob("*.json")):
        groups = stored_cases(path.stem)
        for case in (case for cases in groups.values() for case in cases):
            case["contents"] = read_contents(path.stem, case)
        write_cases(path.stem, groups)
