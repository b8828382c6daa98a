"""The page of every operation, derived from its declaration.

A reading operation shows rows or a resource, and what can be done with them. Any other has a form;
where there is nothing to say it is empty, and asks whether it is meant.

Rule 1: a form that is refused comes back as it was sent, with each fault at its field.
Rule 2: an act leads to the page of what it changed, so that a reload does not repeat it. What it
        answers beside that is shown at once, a secret without leave to store it.
"""

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from functools import partial
from typing import Any, Final, cast
from urllib.parse import parse_qsl

import attrs

from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.operation.declaration import JSON, Confidential, Operation
from svc_core.operation.inputs import inputs_of
from svc_core.operation.reply import Reply
from svc_core.operation.stream import Stream, Watch
from svc_core.wire import camel
from svc_http.dashboard.captions import operation_title
from svc_http.dashboard.desk import Desk, Request
from svc_http.dashboard.form_fields import Field
from svc_http.dashboard.forms import (
    FORMER,
    KEY,
    MATCH,
    request_of,
    with_faults,
    with_row,
    with_values,
)
from svc_http.dashboard.page_addresses import (
    BY_ID,
    EVERY,
    is_safe,
    page_ids,
    paths_of,
    row_id_for,
    show_of,
)
from svc_http.dashboard.row_exports import BYTES_MAX, EXPORTS, ROWS_MAX
from svc_http.dashboard.spots import PageAct, Spot
from svc_http.dashboard.value_shapes import Row, names_within, title_of
from svc_http.dashboard.visit import (
    Download,
    HtmlPage,
    PageAnswer,
    PageRoute,
    Redirection,
    Values,
    View,
    Visit,
)

STREAM_BYTES: Final = 256 * 1024
"""Of an answer that comes in parts: the longest that the agent gives is a tenth of that."""
STREAM_SECONDS: Final = 60.0
GONE: Final = frozenset({"delete", "remove"})
"""Verbs after which there is no row to show."""
_PAGING: Final = frozenset({"pageCount", "count", "page"})


def page_routes(views: Mapping[str, View]) -> Iterator[PageRoute]:
    """The pages of all operations; `views` are those that stand by hand, by operation id."""
    for operation in EVERY:
        view = views.get(operation.id) or partial(operation_page, operation)
        for path in paths_of(operation):
            post = None if is_safe(operation) else view
            yield PageRoute(path, view, post, is_guarded=operation.guarded)


async def operation_page(operation: Operation[Any, Any], desk: Desk, visit: Visit) -> PageAnswer:
    """The page of an operation, or what came of its form.

    Raises:
        Problem: whatever refuses it, but for faults of what was typed.
    """
    if not desk.may(operation):
        raise Problem(problem.NOT_FOUND, "There is no such page for you.")
    spot = Spot(operation, desk, visit)
    if visit.form is not None:
        return await _act(spot, visit.form)
    return await (_read(spot) if is_safe(operation) else _form(spot))


def _page(template: str, spot: Spot, fields: Sequence[Field], **values: Any) -> HtmlPage:
    """A page with what all of them have; `refusal` is a problem on top of it."""
    refusal: Problem | None = values.get("refusal")
    fields, faults = (fields, ()) if refusal is None else with_faults(fields, refusal)
    usual = {
        "spot": spot,
        "operation": spot.operation,
        "title": operation_title(spot.operation),
        "toasts": spot.toasts,
        "fields": fields,
        "faults": faults,
        "refusal": None,
        "request_id": spot.desk.exchange.request_id,
        "request": Request(spot.ids),
        "key": spot.new_key(),
        "site": spot.desk.office.settings.origin,
        "act": PageAct(spot.operation, "", is_near=True),
        "hidden": (),
        "meta": {},
        "next": "",
        "names": {},
    }
    status = 200 if refusal is None else refusal.type.status
    return HtmlPage(template, {**usual, **values}, status)


# -- reading -----------------------------------------------------------------------------------


async def _read(spot: Spot) -> PageAnswer:
    query = {name: words for name, words in spot.visit.query.items() if name[:1] != "_"}
    fields = with_values(spot.fields, query, is_new=True)
    if not query and any(each.required for each in fields):
        return _page("list", spot, fields, rows=())
    try:
        request, reply = await _reply(spot, query)
    except Problem as refusal:
        if refusal.type.status != 400 or not fields:
            raise
        page = _page("list", spot, fields, refusal=refusal, rows=())
        return page if query else attrs.evolve(page, status=200)
    form = spot.visit.word("_as")
    if form in EXPORTS and reply.media_type == JSON.media_type:
        media_type, write = EXPORTS[form]
        content = bytearray()
        for row in write(await _all_rows(spot, query, reply), spot.operation.columns):
            content += row.encode()
            await asyncio.sleep(0)  # others have their turn
        return Download(media_type, bytes(content), f"{spot.operation.id}.{form}")
    return await _shown(spot, fields, reply, request=request)


async def _reply(spot: Spot, query: Values) -> tuple[Request, Reply]:
    """The request that a query makes, and its reply; a name of no field is for the operation."""
    request = request_of(spot.operation, spot.fields, query, spot.ids)
    names = {each.name for each in spot.fields} | set(page_ids(spot.operation))
    others = {name: ",".join(words) for name, words in query.items() if name not in names}
    (request.body if spot.operation.local else request.query).update(others)
    if JSON in spot.operation.media[1:]:
        request.query.setdefault("format", JSON.format)
    return request, await spot.desk.run(spot.operation, request)


async def _all_rows(spot: Spot, query: Values, reply: Reply) -> list[Row]:
    """The rows from the page of the query on, as many as an export may have."""
    rows, size = [], 0
    while True:
        body, size = json.loads(reply.body), size + len(reply.body)
        data = body.get("data", body)
        rows += data if isinstance(data, list) else [data]
        cursor = _next_cursor(body)
        if cursor is None or len(rows) >= ROWS_MAX or size >= BYTES_MAX:
            return rows[:ROWS_MAX]
        _, reply = await _reply(spot, {**query, "cursor": (cursor,)})


def _next_cursor(body: Mapping[str, Any]) -> str | None:
    page: Mapping[str, Any] = body.get("meta", {}).get("page") or {}
    return page.get("nextCursor")


async def _shown(spot: Spot, fields: Sequence[Field], reply: Reply, **values: Any) -> PageAnswer:
    """What an operation answered, as a page, or as a download where it is no text."""
    media_type = (reply.media_type or "text/plain").partition(";")[0]
    if media_type == JSON.media_type:
        body = json.loads(reply.body)
        data, cursor = body.get("data", body), _next_cursor(body)
        following = spot.same_page(cursor=cursor) if cursor else ""
        if isinstance(data, list):
            meta = {key: each for key, each in body.get("meta", {}).items() if key not in _PAGING}
            return _page("list", spot, fields, rows=data, meta=meta, next=following, **values)
        values |= {"row": data, "around": await _neighbours(spot), "names": names_within(data)}
        return _page("detail", spot, fields, next=following, **values)
    if reply.stream is None and not media_type.startswith("text/"):
        return Download(reply.media_type or media_type, reply.body)
    text = reply.body if reply.stream is None else await stream_bytes(reply.stream)
    words = spoken_words(text.decode(errors="replace"))
    link = dict(reply.headers).get("Location", "")
    return _page("text", spot, fields, text=words, link=link, **values)


def spoken_words(text: str) -> str:
    """What an agent says in a stream of either form, and its numbered sources; else the text."""
    words, sources = "", ""
    for frame in text.split("\n\n")[:-1]:  # the last one may have been cut
        chunk = json.loads(frame[6:]) if frame.startswith("data: {") else {}
        delta = next(iter(chunk.get("choices", ())), chunk).get("delta", "")
        words += delta if isinstance(delta, str) else delta.get("content") or ""
        if "sourceId" in chunk:
            number, url = chunk["sourceId"].removeprefix("src_"), chunk.get("url", "")
            sources += f"\n[{number}] {chunk.get('title', '')} {url}".rstrip()
    return f"{words}\n{sources}".strip() if words else text


async def _neighbours(spot: Spot) -> tuple[str, str]:
    """The addresses of the rows before and after this one on the page of the list it came from."""
    origin = spot.visit.word("_from")
    id_, _, query = origin.partition("?")
    rows_operation = BY_ID.get(id_)
    if rows_operation is None or not spot.ids or show_of(rows_operation) is not spot.operation:
        return "", ""
    visit = attrs.evolve(spot.visit, query={name: (word,) for name, word in parse_qsl(query)})
    try:
        _, reply = await _reply(Spot(rows_operation, spot.desk, visit), visit.query)
        rows = json.loads(reply.body)["data"] if reply.media_type == JSON.media_type else ()
    except Problem:  # the list of an old or a foreign address: the row is there all the same
        return "", ""
    *_, last = page_ids(spot.operation)
    ids = ["", *(row_id_for(spot.operation, row) or "" for row in rows), ""]
    at = ids.index(spot.ids[last]) if spot.ids[last] in ids else 0

    def address(id_: str) -> str:
        return id_ and spot.desk.address(spot.operation, {**spot.ids, last: id_}, _from=origin)

    return (address(ids[at - 1]), address(ids[at + 1])) if at else ("", "")


async def stream_bytes(stream: Stream) -> bytes:
    """An answer in parts as a whole, as far as its bounds allow."""
    content, bound = bytearray(), stream.seconds_max
    watch = cast(Watch, None)  # only streams that wait for commits need one
    try:
        async with asyncio.timeout(STREAM_SECONDS if bound is None else bound):
            async with aclosing(stream.parts(watch)) as parts:  # type: ignore[type-var]
                async for part in parts:
                    content += part
                    if len(content) > STREAM_BYTES:
                        break
    except TimeoutError:
        content += stream.farewell(None)
    finally:
        await asyncio.shield(stream.settle())
    return bytes(content)


# -- acting ------------------------------------------------------------------------------------


async def _form(spot: Spot) -> PageAnswer:
    operation, hidden = spot.operation, {}
    fields = with_values(spot.fields, spot.visit.query, is_new=True)
    row, tag = await _row(spot)
    if row and operation.method in {"PATCH", "PUT"}:
        fields = with_row(fields, row)
        hidden[FORMER] = json.dumps({each.name: each.values for each in fields})
        hidden[MATCH] = tag if operation.takes_if_match else ""
    foreseen: Row = {}
    if operation.foresees:
        foresight = BY_ID[operation.foresees]
        foreseen = await spot.desk.read(foresight, request_of(foresight, (), {}, spot.ids))
    hidden[KEY] = spot.new_key()
    fields = tuple(_with_secret(spot, each) for each in fields)
    return _form_page(spot, fields, hidden, what=title_of(row, ""), foreseen=foreseen)


async def _row(spot: Spot) -> tuple[Row, str]:
    """The row that a form is about, as its page or its list shows it, with its tag; or none."""
    *outer, last = page_ids(spot.operation) or ("",)
    show = spot.sibling("show") or spot.sibling("list", tuple(outer))
    if show is None or not last:
        return {}, ""
    ids = {name: spot.ids[name] for name in page_ids(show)}
    reply = await spot.desk.run(show, request_of(show, (), {}, ids))
    data = json.loads(reply.body)["data"]
    rows = [data] if page_ids(show) == page_ids(spot.operation) else data
    matches = (row for row in rows if show.verb == "show" or row.get("id") == spot.ids[last])
    return next(matches, {}), dict(reply.headers).get("ETag", "")


def _with_secret(spot: Spot, each: Field) -> Field:
    """A field for a secret that must be sent, with a fresh one."""
    if each.secret is None or not each.required:
        return each
    secret = each.secret.fresh(spot.desk.office.desk_units.ids.random(each.secret.size))
    return attrs.evolve(each, values=(secret,))


def _form_page(
    spot: Spot, fields: Sequence[Field], hidden: Mapping[str, str], **values: Any
) -> HtmlPage:
    try:
        texts = {each.name: ("...",) if each.secret else each.values for each in fields}
        texts |= {name: (text,) for name, text in hidden.items()}
        request = request_of(spot.operation, spot.fields, texts, spot.ids)
    except Problem:
        request = Request(spot.ids)
    page = _page("form", spot, fields, request=request, hidden=tuple(hidden.items()), **values)
    return attrs.evolve(page, is_secret=any(each.secret for each in fields))


async def _act(spot: Spot, form: Values) -> PageAnswer:
    hidden = {name: form[name][0] for name in (FORMER, KEY, MATCH) if name in form}
    fields = with_values(spot.fields, form)
    try:
        request = request_of(spot.operation, spot.fields, form, spot.ids)
        match, key = hidden.get(MATCH, ""), hidden.get(KEY, "")
        reply = await spot.desk.run(spot.operation, request, if_match=match, idempotency_key=key)
    except Problem as refusal:
        if refusal.type is problem.IDEMPOTENCY_CONFLICT:
            hidden[KEY] = spot.new_key()
        what = ""
        with suppress(Problem):  # of what is not there, or not for the person
            what = title_of((await _row(spot))[0])
        return _form_page(spot, fields, hidden, refusal=refusal, what=what, foreseen={})
    body = json.loads(reply.body) if reply.media_type == JSON.media_type else {}
    data = body.get("data")
    if spot.operation.confidential == Confidential():
        (model, *_) = (model for _, model in spot.operation.results if model)
        names = [camel(field.name) for field in attrs.fields(model) if not field.repr]
        sample = _sample((data or {}).get("scopes", ()))
        page = _page("secret", spot, fields, row=data, secrets=names, sample=sample)
        return attrs.evolve(page, is_secret=True)
    address = _next_address(spot, data) if body or reply.status == 204 else ""
    if address:
        return Redirection(address)
    return await _shown(spot, fields, reply, request=request)


def _sample(scopes: Sequence[str]) -> str:
    """The path of a request that a key with these scopes may make at once."""
    paths = (
        each.address
        for each in EVERY
        if each.method == "GET" and not (each.local or each.scopes.isdisjoint(scopes))
        if not any(item.required for item in inputs_of(each.request))
    )
    return next(paths, "")


def _next_address(spot: Spot, data: Any) -> str:
    """The page of what was changed, else the list that it was in; empty to show the answer."""
    operation, done = spot.operation, spot.operation.id
    show = None if operation.verb in GONE else spot.sibling("show")
    if show is not None and set(page_ids(show)) <= set(spot.ids):
        return spot.desk.address(show, spot.ids, _done=done)
    members = data if isinstance(data, dict) else {}
    row = "" if operation.verb in GONE else spot.list_row_address(members, _done=done)
    return row or (f"{spot.home}?_done={done}" if spot.ids or data is None else "")
