"""One operation as an OpenAPI operation object."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from attrs import frozen

from svc_core import wire
from svc_core.base.unset import UNSET
from svc_core.catalog.openapi import descriptions as words
from svc_core.catalog.openapi import headers
from svc_core.catalog.openapi.envelopes import success_bodies
from svc_core.catalog.openapi.failures import failure_responses
from svc_core.catalog.openapi.schema_samples import NoSampleError, schema_sample
from svc_core.contract import idempotency, problem
from svc_core.contract.problem import Problem, ProblemType
from svc_core.contract.result import PagedResource, Redirect
from svc_core.operation import readonly
from svc_core.operation.declaration import GEOJSON, JSON, NDJSON, Operation, Tier, Trait
from svc_core.operation.inputs import Input, inputs_of
from svc_core.payments import challenge, header, messages
from svc_core.payments import networks as payments
from svc_core.wire.constraints import IdOf
from svc_core.wire.document import NUMBER_MAX
from svc_core.wire.schema import Schema, Schemas

MERGE_PATCH = "application/merge-patch+json"
_SUCCESS = {200: "Success.", 201: "Created.", 202: "Accepted.", 204: "Done; there is no body."}
_KEY_BOUNDS: Schema = {
    "type": "string",
    "minLength": idempotency.KEY_LENGTH_MIN,
    "maxLength": idempotency.KEY_LENGTH_MAX,
    "pattern": "^[!-~]+$",
    "examples": ["0198c6a2-create-port-strikes"],
}
# Without an example: pages that try requests out fill it in, and no made-up tag ever matches.
_TAG: Schema = {"type": "string"}
_PAYMENT: Schema = {
    "type": "string",
    "maxLength": header.LENGTH_MAX,
    "pattern": "^[A-Za-z0-9+/]*={0,2}$",
}


@frozen(eq=False)
class OperationWriter:
    """Writes operations as OpenAPI operation objects, with shared schemas and settings."""

    base_url: str
    schemas: Schemas
    flat: bool = False
    unsent: frozenset[str] = frozenset()

    def headers(self, names: Iterable[str]) -> dict[str, Schema]:
        """References to the header fields of an answer."""
        return headers.header_references(name for name in names if name not in self.unsent)

    def operation(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """The operation object, without servers and links."""
        item: dict[str, Any] = {
            "operationId": operation.id,
            "summary": operation.summary,
            "description": words.description(operation),
            "tags": [operation.tag],
            "parameters": self.parameters(operation),
        }
        body = next((item for item in inputs_of(operation.request) if item.place == "body"), None)
        if body is not None:
            item["requestBody"] = self.request_body(operation, body)
        item["responses"] = self.responses(operation)
        item["security"] = _security(operation)
        if operation.scopes:
            item["x-required-scopes"] = sorted(operation.scopes)
        if operation.tier is not None:
            item |= _for_sale(operation.tier)
        return item | _pagination(operation)

    def parameters(self, operation: Operation[Any, Any]) -> list[dict[str, Any]]:
        """The path, query and header parameters, with those that the declaration implies."""
        items = inputs_of(operation.request)
        parameters = [self.parameter(item) for item in items if item.place != "body"]
        names = {parameter["name"] for parameter in parameters}
        return parameters + [item for item in _implicit(operation) if item["name"] not in names]

    def parameter(self, item: Input) -> dict[str, Any]:
        """The parameter object of one declared input."""
        schema = self.schemas.of(item.described, "input")
        parameter: dict[str, Any] = {"name": item.name, "in": item.place}
        text = schema.pop("description", item.doc)
        if text:
            parameter["description"] = text
        parameter["required"] = item.required
        if Trait.DEPRECATED in item.traits:
            parameter["deprecated"] = True
        if item.default is not UNSET:
            schema["default"] = wire.to_json(item.default)
        if schema.get("type") in {"integer", "number"}:
            schema = {"minimum": -NUMBER_MAX, "maximum": NUMBER_MAX} | schema
        if schema.get("type") == "array":
            # A list without items is not sent at all: an empty text is an empty item.
            schema["minItems"] = 1
            parameter |= {"style": "form" if item.place == "query" else "simple", "explode": False}
        return parameter | {"schema": schema}

    def request_body(self, operation: Operation[Any, Any], body: Input) -> dict[str, Any]:
        """The request body object, with every media type that is accepted."""
        schema = self.body_schema(operation, body)
        summary = {"description": schema.pop("description")} if "description" in schema else {}
        several = operation.examples.get("bodies")
        if self.flat and "anyOf" in schema:
            schema = _list_of(schema["anyOf"])
            several = {
                name: example if isinstance(example, list) else [example]
                for name, example in (several or {}).items()
            }
        entry = (
            self.media(schema, operation.examples, "body")
            if several is None
            else {"schema": schema, "examples": _example_objects(several)}
        )
        types = ["application/json"]
        if operation.method == "PATCH":
            types.append(MERGE_PATCH)
        return summary | {"required": body.required, "content": dict.fromkeys(types, entry)}

    def body_schema(self, operation: Operation[Any, Any], body: Input) -> Schema:
        """The schema of a body, with the members of the answer that it may repeat."""
        members: dict[str, Schema] = {
            name: {"readOnly": True, "description": readonly.readonly_description(member.name)}
            for name, member in readonly.readonly_members(operation).items()
        }
        if not members:
            return self.schemas.of(body.annotation, "input")
        name = f"{operation.id[:1].upper()}{operation.id[1:]}Input"
        return self.schemas.widen(name, body.annotation, members)

    def media(self, schema: Schema, examples: Mapping[str, Any], name: str) -> dict[str, Any]:
        """A media type object: the schema with the declared example, or one made from it."""
        if name in examples:
            return {"schema": schema, "example": wire.to_json(examples[name])}
        try:
            return {"schema": schema, "example": schema_sample(schema, self.schemas.components)}
        except NoSampleError:
            return {"schema": schema}

    def responses(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """Every documented answer by its status."""
        answers = {str(operation.success): self.success(operation)}
        if any(kind is Redirect for kind, _ in operation.results):
            answers["302"] = {
                "description": "Redirect to the address in `Location`.",
                "headers": self.headers(
                    [*headers.for_redirect(operation), "Location", *headers.for_payment(operation)]
                ),
            }
        if words.is_tagged(operation):
            answers["304"] = {
                "description": "Not modified: `If-None-Match` names the current ETag.",
                "headers": self.headers(
                    [*headers.for_redirect(operation), "ETag", *operation.fields]
                ),
            }
        kinds = failure_responses(operation)
        for status in sorted({kind.status for kind in kinds}):
            group = [kind for kind in kinds if kind.status == status]
            answers[str(status)] = self.failure(operation, group)
        return answers

    def failure(self, operation: Operation[Any, Any], kinds: list[ProblemType]) -> dict[str, Any]:
        """The refusals of one status."""
        return {
            "description": "; ".join(f"{kind.title} (`{kind.code}`)" for kind in kinds) + ".",
            "headers": self.headers(headers.for_failure(operation, kinds)),
            "content": {
                problem.MEDIA_TYPE: {
                    "schema": {"$ref": "#/components/schemas/Problem"},
                    "examples": {
                        kind.code: {"$ref": f"#/components/examples/{kind.code}"} for kind in kinds
                    },
                }
            },
        }

    def success(self, operation: Operation[Any, Any]) -> dict[str, Any]:
        """The successful answer in all its representations."""
        kinds = [kind for kind, _ in operation.results]
        answer: dict[str, Any] = {
            "description": _SUCCESS.get(operation.success, "Success."),
            "headers": self.headers(headers.for_success(operation, kinds)),
        }
        bodies = success_bodies(operation, self.schemas)
        if bodies:
            answer["content"] = self.answers(operation, bodies)
        return answer

    def answers(
        self, operation: Operation[Any, Any], bodies: Mapping[str, Schema]
    ) -> dict[str, Any]:
        """Every representation with an example; JSON and NDJSON show the same rows."""
        contents: dict[str, Any] = {}
        for media_type, schema in bodies.items():
            contents[media_type] = {"schema": schema}
            if media_type == JSON.media_type:
                contents[media_type] = self.media(schema, operation.examples, "response")
            elif media_type == GEOJSON.media_type:
                contents[media_type] = self.media(schema, operation.examples, media_type)
            elif media_type in operation.examples:
                contents[media_type]["example"] = operation.examples[media_type]
        rows = contents.get(JSON.media_type, {}).get("example", {}).get("data")
        if NDJSON.media_type in contents and rows is not None:
            lines = b"".join(wire.to_bytes(row) + b"\n" for row in rows)
            contents[NDJSON.media_type]["example"] = lines.decode()
        return contents

    def example(self, kind: ProblemType) -> dict[str, Any]:
        """The example of one problem type, rendered by the code that renders the real ones."""
        id_ = IdOf("req").example
        body = problem.body(Problem(kind), base_url=self.base_url, request_id=id_)
        return {"summary": kind.title, "value": json.loads(body)}


def _list_of(kinds: list[Schema]) -> Schema:
    """The list schema of a body that is one item or a list; generators cannot express both."""
    return next(kind for kind in kinds if kind.get("type") == "array")


def _example_objects(examples: Mapping[str, Any]) -> dict[str, Any]:
    return {name: {"value": wire.to_json(example)} for name, example in examples.items()}


def _implicit(operation: Operation[Any, Any]) -> list[dict[str, Any]]:
    """The parameters that follow from the declaration and stand in no request class."""
    parameters = []
    if len(operation.media) > 1:
        formats = [offer.format for offer in operation.media]
        schema = {"type": "string", "enum": formats, "default": formats[0]}
        parameters.append(
            _parameter("query", "format", "Representation; it beats `Accept`.", schema)
        )
    if operation.takes_if_match:
        text = "ETag of the version that may be changed; any other answers 412."
        parameters.append(_parameter("header", "If-Match", text, _TAG))
    if words.is_tagged(operation):
        text = "ETag of the version at hand; while it is current the answer is 304."
        parameters.append(_parameter("header", "If-None-Match", text, _TAG))
    if operation.tier is not None:
        text = "A signed payment for this request, in answer to `PAYMENT-REQUIRED`; base64 JSON."
        parameters.append(_parameter("header", messages.PAYMENT_SIGNATURE, text, _PAYMENT))
    if operation.idempotency != "none":
        text = "A key of your own making; sending it again replays the first answer for 24 hours."
        key = _parameter("header", "Idempotency-Key", text, _KEY_BOUNDS)
        parameters.append(key | {"required": operation.idempotency == "required"})
    return parameters


def _parameter(place: str, name: str, description: str, schema: Schema) -> dict[str, Any]:
    return {
        "name": name,
        "in": place,
        "description": description,
        "required": False,
        "schema": schema,
    }


def _for_sale(tier: Tier) -> dict[str, Any]:
    """The price extensions of a payable operation.

    `x-x402` is the spec's; `x-payment-info` has the shape that agents' discovery tools read
    (Merit-Systems/x402scan, docs/DISCOVERY.md).
    """
    price = {"mode": "fixed", "currency": "USD", "amount": tier.price_usd}
    return {
        "x-x402": {
            "version": messages.VERSION,
            "scheme": messages.SCHEME,
            "tier": tier.name,
            "price": price,
            "asset": "USDC",
            "networks": {"production": payments.BASE.id, "development": payments.BASE_SEPOLIA.id},
            "maxTimeoutSeconds": challenge.TIMEOUT_SECONDS,
            "headers": {
                "challenge": messages.PAYMENT_REQUIRED,
                "payment": messages.PAYMENT_SIGNATURE,
                "settlement": messages.PAYMENT_RESPONSE,
            },
            "settlement": "before-response",
            "extensions": [messages.IDENTIFIER],
        },
        "x-payment-info": {"price": price, "protocols": [{"x402": {}}]},
    }


def _security(operation: Operation[Any, Any]) -> list[dict[str, list[str]]]:
    if operation.auth == "public":
        return []
    schemes = ["bearerAuth", "x402"] if operation.auth == "bearer-or-x402" else ["bearerAuth"]
    return [{scheme: []} for scheme in schemes]


def _pagination(operation: Operation[Any, Any]) -> dict[str, Any]:
    """Hints for generators of clients: how one page leads to the next."""
    name = words.cursor_of(operation)
    if name is None or any(kind is PagedResource for kind, _ in operation.results):
        return {}  # generated clients join lists alone
    return {
        "x-speakeasy-pagination": {
            "type": "cursor",
            "inputs": [{"name": name, "in": "parameters", "type": "cursor"}],
            "outputs": {"nextCursor": "$.meta.page.nextCursor", "results": "$.data"},
        },
        "x-fern-pagination": {
            "cursor": f"$request.{name}",
            "next_cursor": "$response.meta.page.nextCursor",
            "results": "$response.data",
        },
    }
