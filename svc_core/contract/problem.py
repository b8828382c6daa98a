"""The catalogue of problem types and the one exception that refuses (RFC 9457).

Rule 1: every refusal is a raised `Problem`; it is rendered in one place, by the host.
Rule 2: a code never changes its meaning or its status; the catalogue only grows.
Rule 3: a problem has exactly the eight members of the spec, none nested (Spec: Errors).
Rule 4: `detail` never carries exception text, SQL, paths or a secret.
"""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from svc_core.base import compact
from svc_core.wire import InputFault

MEDIA_TYPE = "application/problem+json"

_text = compact.compact_encoder()


@frozen
class ProblemType:
    """One kind of failure: its stable code, status, title and the safe next step."""

    code: str
    status: int
    title: str
    resolution: str
    retryable: bool = False

    @property
    def slug(self) -> str:
        """The last segment of the `type` URI: the code in kebab case."""
        return self.code.lower().replace("_", "-")


class Problem(Exception):  # noqa: N818 - the word of RFC 9457, not an error of ours
    """A refusal. Raised deep, rendered once at the boundary.

    `detail` names the faults for this occurrence; `headers` are the fields that the answer must
    carry besides the body (`ETag`, `Retry-After`, `Allow`, `WWW-Authenticate` ...); `resolution`
    is the next step of this occurrence.
    """

    def __init__(
        self,
        type_: ProblemType,
        detail: str = "",
        headers: Mapping[str, str] | None = None,
        *,
        resolution: str = "",
    ) -> None:
        """Refuse with `type_`; an empty `detail` repeats the title, an empty `resolution` says
        what helps with every problem of the type."""
        super().__init__(type_.code)
        self.type = type_
        self.detail: str = detail or f"{type_.title}."
        self.resolution: str = resolution or type_.resolution
        self.headers: Mapping[str, str] = MappingProxyType(dict(headers or {}))

    def __repr__(self) -> str:
        return f"Problem({self.type.code}, {self.detail!r})"


def body(problem: Problem, *, base_url: str, request_id: str) -> bytes:
    """The `application/problem+json` bytes of one occurrence, with the spec's eight members."""
    kind = problem.type
    members = {
        "type": f"{base_url}/problems/{kind.slug}",
        "title": kind.title,
        "status": kind.status,
        "detail": problem.detail,
        "instance": f"urn:request:{request_id}",
        "code": kind.code,
        "requestId": request_id,
        "resolution": problem.resolution,
    }
    return _text(members).encode()


FAULTS_MAX = 10  # enough to correct a form in one go, and short enough for one log line


def describe(faults: list[InputFault]) -> str:
    """The `detail` of a validation problem: `pointer: reason` parts, ten at most."""
    text = "; ".join(str(fault) for fault in faults[:FAULTS_MAX])
    surplus = len(faults) - FAULTS_MAX
    return f"{text}; and {surplus} more" if surplus > 0 else text


def foreign_resource() -> Problem:
    """The refusal to change a resource of another workspace that is open to all readers."""
    detail = "It belongs to another workspace; you may only read it."
    step = "Ask its owner, or make one of your own."
    return Problem(FORBIDDEN, detail, resolution=step)


def refuse(faults: list[InputFault]) -> None:
    """Raise the problem that names all these faults; do nothing where there are none.

    Raises:
        Problem: VALIDATION_FAILED.
    """
    if faults:
        raise Problem(VALIDATION_FAILED, describe(faults))


# -- the catalogue -----------------------------------------------------------------------------

_WAIT = "Wait Retry-After seconds."
_RETRY = "Retry after Retry-After seconds; resend writes with the same Idempotency-Key."


def _retryable(code: str, status: int, title: str, resolution: str = _RETRY) -> ProblemType:
    return ProblemType(code, status, title, resolution, retryable=True)


# Code, status, title; then the safe next step.
# fmt: off
BAD_REQUEST = ProblemType("BAD_REQUEST", 400, "Malformed HTTP request",
    "Fix the request line, header fields or framing.")
MALFORMED_JSON = ProblemType("MALFORMED_JSON", 400, "Body is not valid JSON",
    "Send one JSON value (RFC 8259).")
DUPLICATE_JSON_MEMBER = ProblemType("DUPLICATE_JSON_MEMBER", 400, "Duplicate JSON member",
    "Send each member once.")
INVALID_ENCODING = ProblemType("INVALID_ENCODING", 400, "Invalid text encoding",
    "Send UTF-8 without unpaired surrogates or U+0000.")
JSON_TOO_DEEP = ProblemType("JSON_TOO_DEEP", 400, "JSON nested too deeply",
    "Nest at most 64 levels.")
NUMBER_OUT_OF_RANGE = ProblemType("NUMBER_OUT_OF_RANGE", 400, "Number out of range",
    "Keep numbers within ±(2^53-1); send larger ones as strings.")
VALIDATION_FAILED = ProblemType("VALIDATION_FAILED", 400, "Request body failed validation",
    "Correct the members named in detail.")
INVALID_PARAMETER = ProblemType("INVALID_PARAMETER", 400, "Invalid parameter value",
    "Correct the parameter named in detail.")
UNKNOWN_PARAMETER = ProblemType("UNKNOWN_PARAMETER", 400, "Unknown parameter",
    "Remove it; detail lists the supported names.")
DUPLICATE_PARAMETER = ProblemType("DUPLICATE_PARAMETER", 400, "Repeated parameter",
    "Send it once (comma list where documented).")
CONFLICTING_PARAMETERS = ProblemType("CONFLICTING_PARAMETERS", 400, "Parameters cannot be combined",
    "Leave out one of the parameters named in detail.")
INVALID_CURSOR = ProblemType("INVALID_CURSOR", 400, "Invalid cursor",
    "Restart the listing; pass nextCursor unchanged with the same filters.")
INVALID_WATERMARK = ProblemType("INVALID_WATERMARK", 400, "Invalid watermark",
    "Pass meta.watermark unchanged.")
IDEMPOTENCY_KEY_REQUIRED = ProblemType("IDEMPOTENCY_KEY_REQUIRED", 400, "Idempotency-Key missing",
    "Send an Idempotency-Key of 8 to 200 characters.")
INVALID_IDEMPOTENCY_KEY = ProblemType("INVALID_IDEMPOTENCY_KEY", 400, "Invalid Idempotency-Key",
    "Use 8 to 200 visible ASCII characters, one header line.")
UNSUPPORTED_MODEL = ProblemType("UNSUPPORTED_MODEL", 400, "Unsupported model",
    "Omit model or use svc-agent or agent-svc.")
ATTACHMENTS_NOT_SUPPORTED = ProblemType("ATTACHMENTS_NOT_SUPPORTED", 400,
    "Attachments not supported", "Send the messages named in detail as text alone.")
STREAM_REQUIRED = ProblemType("STREAM_REQUIRED", 400, "Streaming required", "Set stream to true.")
WEBHOOK_URL_NOT_ALLOWED = ProblemType("WEBHOOK_URL_NOT_ALLOWED", 400, "Webhook URL not allowed",
    "Use a public https URL on an allowed port.")
THREAD_NOT_FOUND = ProblemType("THREAD_NOT_FOUND", 400, "No such thread",
    "Leave out the thread to begin a new one, or name one of this account.")
REQUEST_TOO_LARGE = ProblemType("REQUEST_TOO_LARGE", 400, "Request larger than an agent takes",
    "Send fewer or shorter messages; detail names the bound.")
TIMESTAMP_INVALID = ProblemType("TIMESTAMP_INVALID", 400, "Not a timestamp the ledger can seal",
    "Send RFC 3339 with an offset, from year 1 to 9999.")
TIMESTAMP_LEAP_SECOND = ProblemType("TIMESTAMP_LEAP_SECOND", 400, "Leap seconds cannot be sealed",
    "Send second 59 or the first second after.")
TIMESTAMP_PRECISION = ProblemType("TIMESTAMP_PRECISION", 400, "Timestamp finer than a microsecond",
    "Send at most six digits of a second.")
INTERVAL_EMPTY = ProblemType("INTERVAL_EMPTY", 400, "Valid interval is empty",
    "Send validFrom earlier than validTo, or leave a side open.")
NUMBER_PRECISION = ProblemType("NUMBER_PRECISION", 400, "Number cannot be kept exactly",
    "Send amounts and quantities as strings.")
DESIGNATOR_INVALID = ProblemType("DESIGNATOR_INVALID", 400, "Designator does not fit its scheme",
    "Correct the value named in detail; check digits count.")
UNKNOWN_SUBJECT = ProblemType("UNKNOWN_SUBJECT", 400, "No such subject in this ledger",
    "Open the subject first, or correct its identifier.")
UNKNOWN_TARGET = ProblemType("UNKNOWN_TARGET", 400, "No such target in this ledger",
    "Target an earlier record of the same subject and kind.")
UNKNOWN_EVIDENCE = ProblemType("UNKNOWN_EVIDENCE", 400, "No such evidence in this ledger",
    "Cite observations and claims that the ledger holds.")
RECORD_TOO_LARGE = ProblemType("RECORD_TOO_LARGE", 400, "Record too large to be sealed",
    "Keep a payload within 60,000 bytes and 16 levels.")
INVALID_PAYMENT = ProblemType("INVALID_PAYMENT", 400, "Payment cannot be read",
    "Send one PAYMENT-SIGNATURE in the form of x402, version 2.")
MISSING_API_KEY = ProblemType("MISSING_API_KEY", 401, "API key missing",
    "Send Authorization: Bearer <API_KEY>.")
INVALID_API_KEY = ProblemType("INVALID_API_KEY", 401, "API key not recognised",
    "Check the key; create or regenerate one.")
API_KEY_REVOKED = ProblemType("API_KEY_REVOKED", 401, "API key revoked", "Use an active key.")
API_KEY_EXPIRED = ProblemType("API_KEY_EXPIRED", 401, "API key expired", "Regenerate the key.")
PAYMENT_REQUIRED = ProblemType("PAYMENT_REQUIRED", 402, "Payment required",
    "Send Authorization: Bearer <API_KEY>, or pay as PAYMENT-REQUIRED describes and retry with "
    "PAYMENT-SIGNATURE.")
PAYMENT_INVALID = ProblemType("PAYMENT_INVALID", 402, "Payment not accepted",
    "Sign a new payment for this resource and amount.")
PAYMENT_REPLAYED = ProblemType("PAYMENT_REPLAYED", 402, "Payment already used",
    "Sign a new payment.")
PAYMENT_IN_PROGRESS = _retryable("PAYMENT_IN_PROGRESS", 402, "Request with this payment running",
    "Send the same request again after Retry-After; sign no new payment.")
SETTLEMENT_FAILED = ProblemType("SETTLEMENT_FAILED", 402, "Payment could not be settled",
    "Nothing was charged: check funds and network, then pay again.")
SUBSCRIPTION_REQUIRED = ProblemType("SUBSCRIPTION_REQUIRED", 402, "Subscription required",
    "Activate a plan that includes the agent.")
CHAT_CREDITS_EXHAUSTED = ProblemType("CHAT_CREDITS_EXHAUSTED", 402, "Chat credits exhausted",
    "Add credits or wait for renewal.")
PROVIDER_CREDITS_EXHAUSTED = ProblemType("PROVIDER_CREDITS_EXHAUSTED", 402,
    "Upstream provider credits exhausted", "Contact the operator.")
INSUFFICIENT_SCOPE = ProblemType("INSUFFICIENT_SCOPE", 403, "Insufficient scope",
    "Use a key with one of the scopes in detail.")
PLAN_INELIGIBLE = ProblemType("PLAN_INELIGIBLE", 403, "Plan not eligible",
    "Upgrade the workspace plan.")
IP_NOT_ALLOWED = ProblemType("IP_NOT_ALLOWED", 403, "IP address not allowed",
    "Call from an allowed address or edit the list.")
WORKSPACE_KEY_REQUIRED = ProblemType("WORKSPACE_KEY_REQUIRED", 403, "Workspace key required",
    "Use a key bound to a workspace.")
FORBIDDEN = ProblemType("FORBIDDEN", 403, "Not permitted", "Ask a workspace owner or admin.")
FOUR_EYES_REQUIRED = ProblemType("FOUR_EYES_REQUIRED", 403, "Verdict needs another author",
    "Have someone other than the author give this verdict.")
ERASURE_NOT_ALLOWED = ProblemType("ERASURE_NOT_ALLOWED", 403, "Erasure is not allowed",
    "Ask the operator to allow erasure for this workspace.")
NOT_FOUND = ProblemType("NOT_FOUND", 404, "Resource not found",
    "Check the identifier and your workspace.")
ROUTE_NOT_FOUND = ProblemType("ROUTE_NOT_FOUND", 404, "No such path",
    "See the OpenAPI description.")
RECEIPT_NOT_FOUND = ProblemType("RECEIPT_NOT_FOUND", 404, "No such receipt",
    "Use the identifier in X-Svc-Payment-Receipt, or the hash of a settled transfer.")
AUDIO_NOT_AVAILABLE = ProblemType("AUDIO_NOT_AVAILABLE", 404, "Report has no audio",
    "Use a report whose audio is available.")
METHOD_NOT_ALLOWED = ProblemType("METHOD_NOT_ALLOWED", 405, "Method not allowed",
    "Use a method in Allow.")
NOT_ACCEPTABLE = ProblemType("NOT_ACCEPTABLE", 406, "No acceptable representation",
    "Accept one of the types in detail.")
REQUEST_TIMEOUT = _retryable("REQUEST_TIMEOUT", 408, "Request not received in time",
    "Send the body faster; retry writes with the same Idempotency-Key.")
IDEMPOTENCY_CONFLICT = ProblemType("IDEMPOTENCY_CONFLICT", 409,
    "Idempotency key reused with a different body", "Use a new key for a new request.")
IDEMPOTENCY_IN_PROGRESS = _retryable("IDEMPOTENCY_IN_PROGRESS", 409,
    "Request with this key still running", "Retry the same request after Retry-After.")
PAYMENT_IDENTIFIER_CONFLICT = ProblemType("PAYMENT_IDENTIFIER_CONFLICT", 409,
    "Payment identifier used for another request", "Send a new identifier with a new payment.")
RESOURCE_CONFLICT = ProblemType("RESOURCE_CONFLICT", 409, "Conflicts with current state",
    "Read the resource and adapt the request.")
RUN_IN_PROGRESS = ProblemType("RUN_IN_PROGRESS", 409, "The automation is running",
    "Wait until the run that detail names has finished.")
AUTOMATION_ARCHIVED = ProblemType("AUTOMATION_ARCHIVED", 409, "The automation is archived",
    "Restore it first.")
DUPLICATE_RECORD = ProblemType("DUPLICATE_RECORD", 409, "Record is already in the ledger",
    "Use the record that is there.")
TARGET_NOT_IN_FORCE = ProblemType("TARGET_NOT_IN_FORCE", 409, "Target is not in force",
    "Read the subject again and target a record in force.")
TRANSITION_NOT_ALLOWED = ProblemType("TRANSITION_NOT_ALLOWED", 409,
    "Verdict does not follow from the present state", "Give one of the verdicts named in detail.")
LINK_EXPIRED = ProblemType("LINK_EXPIRED", 410, "The address has ended",
    "Ask for a new one where it came from: svc reports open REPORT_ID.")
WATERMARK_GONE = ProblemType("WATERMARK_GONE", 410, "Watermark no longer valid",
    "Resynchronise and start without a watermark.")
PRECONDITION_FAILED = ProblemType("PRECONDITION_FAILED", 412, "Resource changed",
    "Read it again and retry with the current ETag.")
BODY_TOO_LARGE = ProblemType("BODY_TOO_LARGE", 413, "Request body too large",
    "Send at most the bytes in detail.")
URI_TOO_LONG = ProblemType("URI_TOO_LONG", 414, "Request target too long",
    "Shorten the path or query.")
UNSUPPORTED_MEDIA_TYPE = ProblemType("UNSUPPORTED_MEDIA_TYPE", 415,
    "Unsupported media type or coding", "Send application/json without content coding.")
RANGE_NOT_SATISFIABLE = ProblemType("RANGE_NOT_SATISFIABLE", 416,
    "Range beyond the end of the file", "Ask for a range within the size that Content-Range names.")
EXPECTATION_FAILED = ProblemType("EXPECTATION_FAILED", 417, "Unsupported expectation",
    "Remove Expect or use 100-continue.")
RATE_LIMITED = _retryable("RATE_LIMITED", 429, "Rate limit exceeded", _WAIT)
AGENT_RATE_LIMITED = _retryable("AGENT_RATE_LIMITED", 429, "Agent rate limit exceeded", _WAIT)
PAYMENT_RATE_LIMITED = _retryable("PAYMENT_RATE_LIMITED", 429, "Wallet or endpoint limit exceeded",
    _WAIT)
UPSTREAM_RATE_LIMITED = _retryable("UPSTREAM_RATE_LIMITED", 429, "Agent provider is busy", _WAIT)
AUTH_LOCKED = _retryable("AUTH_LOCKED", 429, "Authentication temporarily locked",
    "Wait Retry-After seconds and use a valid key, or have the operator run svc lockouts clear.")
HEADERS_TOO_LARGE = ProblemType("HEADERS_TOO_LARGE", 431, "Header fields too large",
    "Send fewer or smaller header fields.")
INTERNAL_ERROR = ProblemType("INTERNAL_ERROR", 500, "Internal error",
    "Retry reads; retry writes only with the same Idempotency-Key; quote requestId to support.")
SETTLEMENT_PENDING = _retryable("SETTLEMENT_PENDING", 500, "Payment is being settled",
    "Sign no new payment; send the same request again after Retry-After.")
SETTLEMENT_UNKNOWN = _retryable("SETTLEMENT_UNKNOWN", 500, "Whether the payment settled is unknown",
    "Sign no new payment; send the same request again after Retry-After.")
UPSTREAM_ERROR = _retryable("UPSTREAM_ERROR", 500, "Agent provider failed", "Ask again later.")
NOT_IMPLEMENTED = ProblemType("NOT_IMPLEMENTED", 501, "Not implemented",
    "Use chunked or Content-Length framing.")
SERVICE_UNAVAILABLE = _retryable("SERVICE_UNAVAILABLE", 503, "Service temporarily unavailable")
STORAGE_UNAVAILABLE = _retryable("STORAGE_UNAVAILABLE", 503, "Storage cannot accept writes")
OVERLOADED = _retryable("OVERLOADED", 503, "Server is busy")
SHUTTING_DOWN = _retryable("SHUTTING_DOWN", 503, "Server is restarting")
NEWS_NOT_READY = _retryable("NEWS_NOT_READY", 503, "News data not ready yet")
UPSTREAM_UNAVAILABLE = _retryable("UPSTREAM_UNAVAILABLE", 503, "Agent provider unavailable")
UPSTREAM_TIMEOUT = _retryable("UPSTREAM_TIMEOUT", 504, "Agent provider timed out")
HTTP_VERSION_NOT_SUPPORTED = ProblemType("HTTP_VERSION_NOT_SUPPORTED", 505,
    "HTTP version not supported", "Use HTTP/1.1.")
# fmt: on

CATALOGUE: Mapping[str, ProblemType] = MappingProxyType(
    {kind.code: kind for kind in list(globals().values()) if isinstance(kind, ProblemType)}
)
"""Every problem type by its code, in the order of their statuses."""

LENIENT: Mapping[ProblemType, ProblemType] = MappingProxyType(
    {
        REQUEST_TIMEOUT: BAD_REQUEST,
        BODY_TOO_LARGE: REQUEST_TOO_LARGE,
        UNSUPPORTED_MEDIA_TYPE: MALFORMED_JSON,
    }
)
"""The problems that a `lenient` operation reports about a body, by the usual ones."""
