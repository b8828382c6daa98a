"""Parsing of requests: all checks that need no storage, and the one reading of the body.

Rule 1: representation (406) · content type (415) · path, query, header values (404, 400) · form of
        the Idempotency-Key (400): in this order, so that a request with several faults always
        gets the same answer.
Rule 2: parsing depends on the request and the site alone, so equal requests are parsed once.
Rule 3: a body is parsed and structured on first use and then cached; code that needs it before the
        order of checks reaches it must leave its faults to that later check.
"""

from collections.abc import Callable, Mapping
from functools import cached_property, lru_cache
from itertools import chain
from typing import Any

from attrs import frozen

from svc_core import wire
from svc_core.contract import idempotency, problem
from svc_core.contract import negotiation as media
from svc_core.contract.negotiation import Representation
from svc_core.contract.problem import FAULTS_MAX, Problem, ProblemType, describe
from svc_core.operation import readonly
from svc_core.operation.declaration import SSE, Operation, Trait
from svc_core.operation.inputs import Input, inputs_of
from svc_core.operation.ports import StoredRow
from svc_core.operation.query_string import NO_QUERY, QueryString, parse_query
from svc_core.wire import InputFault, shapes
from svc_core.wire.constraints import WriteOnly

MERGE_PATCH = "application/merge-patch+json"
_JSON_PROBLEMS = {
    "malformed": problem.MALFORMED_JSON,
    "duplicate": problem.DUPLICATE_JSON_MEMBER,
    "encoding": problem.INVALID_ENCODING,
    "too-deep": problem.JSON_TOO_DEEP,
    "number": problem.NUMBER_OUT_OF_RANGE,
    "precision": problem.NUMBER_PRECISION,
}


@frozen
class Call:
    """The raw parts of a request; `header` returns a header field by its lower-case name."""

    path_values: Mapping[str, str]
    query: str
    header: Callable[[str], str | None]
    body: bytes = b""


@frozen(cache_hash=True)  # part of the key of the parsing cache
class Site:
    """The settings of the origin that serves a request, as far as answers depend on them."""

    base_url: str
    aliases: bool = True
    legacy_ids: bool = True
    unknown_query: str = "reject"


@frozen(eq=False)
class Invocation:
    """A request that has passed every check which needs no storage."""

    operation: Operation[Any, Any]
    site: Site
    values: Mapping[str, Any]
    representation: Representation
    path_values: Mapping[str, str]
    query: QueryString
    key: str | None
    if_match: str | None
    if_none_match: str | None
    body: bytes

    @cached_property
    def json(self) -> wire.Json:
        """The JSON value of the body; None for an operation without one.

        Raises:
            Problem: the body is not JSON, or a number in it could not be stored exactly.
        """
        shape = request_shape(self.operation)
        if not shape.reads_body:
            return None
        if not self.body and shape.body is not None and not shape.body.required:
            return {}
        return read_json(self.body, exact=shape.has(Trait.EXACT))

    @cached_property
    def request(self) -> Any:
        """The request object of the use case, for an operation without a target row.

        Raises:
            Problem: the body is not JSON, or does not satisfy its schema.
        """
        return self.request_for(None)

    def request_for(self, target: StoredRow[Any] | None) -> Any:
        """The request object of the use case, checked against the target row.

        Raises:
            Problem: as `request`; or the body changes a read-only member of the row.
        """
        operation = self.operation
        item = request_shape(operation).body
        body, faults = readonly.split_body(operation, target, self.json)
        try:
            if operation.local:
                return wire.structure(operation.request, body)
            if item is None:
                return operation.request(**self.values)
            body_model = wire.structure(item.annotation, body)
        except wire.WireError as error:
            faults += error.faults
            cure = "" if item is None else _cure(item.annotation, {fault.place for fault in faults})
            raise Problem(problem.VALIDATION_FAILED, describe(faults), resolution=cure) from error
        problem.refuse(faults)
        return operation.request(**{**self.values, item.attribute: body_model})


def _cure(body: Any, pointers: set[str]) -> str:
    """The advice that a faulty write-only member declares; "" where no member has any."""
    members = inputs_of(body) if shapes.is_model(body) else ()
    notes = [shapes.metadata_of(item.annotation) for item in members if f"/{item.name}" in pointers]
    return next((note.cure for note in chain(*notes) if isinstance(note, WriteOnly)), "")


def read_json(body: bytes, *, exact: bool) -> wire.Json:
    """Parse a JSON body.

    Raises:
        Problem: it is not JSON, or (`exact`) a number in it could not be stored exactly.
    """
    try:
        return wire.decode_json(body, exact=exact)
    except wire.JsonError as fault:
        raise Problem(_JSON_PROBLEMS[fault.kind], f"{fault}.") from fault


def prepare(operation: Operation[Any, Any], call: Call, site: Site) -> Invocation:
    """Parse a request and make every check that needs no storage, in the order of rule 1.

    Raises:
        Problem: 400, 404 (an identifier that cannot be one), 406 or 415.
    """
    shape = request_shape(operation)
    if shape.reads_body or operation.idempotency != "none":
        return _prepare(operation, call, site)
    fields = tuple(map(call.header, shape.fields))
    return _prepare_read(operation, tuple(call.path_values.items()), call.query, fields, site)


@lru_cache(maxsize=1024)  # clients repeat their reads; an entry takes about 2 kB
def _prepare_read(
    operation: Operation[Any, Any],
    path_values: tuple[tuple[str, str], ...],
    query: str,
    fields: tuple[str | None, ...],
    site: Site,
) -> Invocation:
    """Parse a request without a body; the arguments are all that the result depends on."""
    header = dict(zip(request_shape(operation).fields, fields, strict=True)).get
    return _prepare(operation, Call(dict(path_values), query, header), site)


def _prepare(operation: Operation[Any, Any], call: Call, site: Site) -> Invocation:
    shape = request_shape(operation)
    query, query_problem = _query(call.query)
    accept = None if shape.has(Trait.FOREIGN) else call.header("accept")
    representation = _represent(operation, accept, query.parameters)
    if shape.reads_body and not shape.has(Trait.FOREIGN) and not _is_bare(shape, call.header):
        _check_content(operation, call.header)
    values = _path_values(shape, call.path_values, site)
    if query_problem is not None:
        raise query_problem
    values |= _parameters(shape, query.parameters, call.header, site)
    key = None
    if operation.idempotency != "none":
        key = idempotency.check_key(
            call.header("idempotency-key"), required=operation.idempotency == "required"
        )
    return Invocation(
        operation=operation,
        site=site,
        values=values,
        representation=representation,
        path_values=call.path_values,
        query=query,
        key=key,
        if_match=call.header("if-match"),
        if_none_match=call.header("if-none-match"),
        body=call.body,
    )


def _query(text: str) -> tuple[QueryString, Problem | None]:
    """The query and None, or an empty query and the problem to raise after the 406 check."""
    try:
        return parse_query(text), None
    except Problem as error:
        return NO_QUERY, error


@frozen
class RequestShape:
    """The inputs of an operation by their place.

    `names` are the known query names, `fields` the header fields that parsing reads, `traits` the
    names of the inputs with each trait.
    """

    body: Input | None
    path: tuple[Input, ...]
    parameters: tuple[Input, ...]
    names: frozenset[str]
    fields: tuple[str, ...]
    reads_body: bool
    traits: Mapping[Trait, frozenset[str]]

    def has(self, trait: Trait) -> bool:
        """Whether any input has this trait."""
        return bool(self.traits[trait])


@lru_cache(maxsize=1024)  # more than a catalogue has operations
def request_shape(operation: Operation[Any, Any]) -> RequestShape:
    """The inputs of an operation by their place, computed once."""
    items = inputs_of(operation.request)
    names = {item.name for item in items if item.place == "query"}
    return RequestShape(
        body=next((item for item in items if item.place == "body"), None),
        path=tuple(item for item in items if item.place == "path"),
        parameters=tuple(item for item in items if item.place in {"query", "header"}),
        names=frozenset(names | {"format"} if len(operation.media) > 1 else names),
        fields=(
            *("accept", "if-match", "if-none-match"),
            *(item.name.lower() for item in items if item.place == "header"),
        ),
        reads_body=operation.local or any(item.place == "body" for item in items),
        traits={
            trait: frozenset(item.name for item in items if trait in item.traits) for trait in Trait
        },
    )


def offers(operation: Operation[Any, Any], query: Mapping[str, str]) -> tuple[Representation, ...]:
    """The representations that a request with this query may choose from."""
    live = request_shape(operation).traits[Trait.LIVE]
    if not live:
        return operation.media
    is_live = any(query.get(name) == "true" for name in live)
    return tuple(offer for offer in operation.media if (offer == SSE) == is_live)


def _represent(
    operation: Operation[Any, Any], accept: str | None, parameters: Mapping[str, str]
) -> Representation:
    format_ = parameters.get("format") if len(operation.media) > 1 else None
    choices = offers(operation, parameters)
    try:
        return media.negotiate(choices, accept, format_)
    except media.UnknownFormat as unknown:
        formats = ", ".join(offer.format for offer in choices)
        raise Problem(problem.INVALID_PARAMETER, f"format: must be one of: {formats}") from unknown
    except media.NotAcceptable as error:
        types = ", ".join(offer.media_type for offer in choices)
        raise Problem(problem.NOT_ACCEPTABLE, f"This operation offers: {types}.") from error


def _is_bare(shape: RequestShape, header: Callable[[str], str | None]) -> bool:
    """Whether a request leaves out a body that is optional (RFC 9112, 6.3)."""
    is_optional = shape.body is not None and not shape.body.required
    has_body = header("transfer-encoding") or header("content-length") not in {None, "0"}
    return is_optional and not has_body and header("content-type") is None


def _check_content(operation: Operation[Any, Any], header: Callable[[str], str | None]) -> None:
    coding = (header("content-encoding") or "identity").strip().lower()
    if coding != "identity":
        raise Problem(
            problem.UNSUPPORTED_MEDIA_TYPE,
            "Content codings are not supported here.",
            {"Accept-Encoding": "identity"},
        )
    types = (
        ("application/json", MERGE_PATCH) if operation.method == "PATCH" else ("application/json",)
    )
    if media.is_content(header("content-type") or "", types):
        return
    name = "Accept-Patch" if operation.method == "PATCH" else "Accept"
    raise Problem(
        problem.UNSUPPORTED_MEDIA_TYPE,
        f"The body must be {' or '.join(types)} in UTF-8.",
        {name: ", ".join(reversed(types))},
    )


def _path_values(shape: RequestShape, texts: Mapping[str, str], site: Site) -> dict[str, Any]:
    """The path values; a malformed identifier cannot name a resource, so every fault is 404."""
    values = {}
    for item in shape.path:
        try:
            values[item.attribute] = _read(item, texts[item.name], site)
        except ValueError as fault:
            raise Problem(problem.NOT_FOUND, "No such resource is visible to this key.") from fault
    return values


def _parameters(
    shape: RequestShape,
    query: Mapping[str, str],
    header: Callable[[str], str | None],
    site: Site,
) -> dict[str, Any]:
    unknown = [name for name in query if name not in shape.names]
    if unknown and site.unknown_query == "reject":
        raise _unknown_parameters(unknown, shape.names)
    values: dict[str, Any] = {}
    faults: dict[ProblemType, list[InputFault]] = {}
    for item in shape.parameters:
        text = query.get(item.name) if item.place == "query" else header(item.name.lower())
        if text is None:
            if item.required:
                faults.setdefault(problem.INVALID_PARAMETER, []).append(
                    InputFault(item.name, "is required")
                )
            continue
        try:
            values[item.attribute] = _read(item, text, site)
        except ValueError as fault:
            faults.setdefault(item.refusal, []).append(InputFault(item.name, str(fault)))
    if faults:
        kind = next(iter(faults)) if len(faults) == 1 else problem.INVALID_PARAMETER
        raise Problem(kind, describe([fault for group in faults.values() for fault in group]))
    return values


def _unknown_parameters(unknown: list[str], names: frozenset[str]) -> Problem:
    known_names = ", ".join(sorted(names)) or "none"
    first_names = ", ".join(repr(name[:40]) for name in unknown[:FAULTS_MAX])
    return Problem(
        problem.UNKNOWN_PARAMETER,
        f"Not known here: {first_names}. Supported: {known_names}.",
    )


def _read(item: Input, text: str, site: Site) -> Any:
    if item.id_of is not None and site.legacy_ids:
        text = ",".join(map(item.id_of.public, text.split(",")))
    return item.read(text)
