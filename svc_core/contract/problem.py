"""The catalogue of problem types and the one exception that refuses (RFC 9457).

Rule 1: every refusal is a raised `Problem`; it is rendered in one place, by the host.
Rule 2: a code never changes its meaning or its status; the catalogue only grows.
Rule 3: a problem has exactly the eight members of the spec, none nested (Spec: Errors).
Rule 4: `detail` never carries exception text, SQL, paths or a secret.
"""

from collections.abc import Mapping
from types import MappingProxyType

from attrs import frozen

from svc_core import data
from svc_core.base.compact import compact_text
from svc_core.wire import InputFault

MEDIA_TYPE = "application/problem+json"


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
    return compact_text(members).encode()


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


def conflict(detail: str, step: str) -> Problem:
    """The problem RESOURCE_CONFLICT, with the next step of this occurrence."""
    return Problem(RESOURCE_CONFLICT, detail, resolution=step)


# -- the catalogue -----------------------------------------------------------------------------


def _read_catalogue() -> dict[str, ProblemType]:
    rows = data.table_rows("problems.tsv")
    return {
        code: ProblemType(code, int(status), title, resolution, retryable=repetition == "repeat")
        for code, status, repetition, _, title, resolution in rows
    }


CATALOGUE: Mapping[str, ProblemType] = MappingProxyType(_read_catalogue())
"""Every problem type by its code, in the order of their statuses."""

BAD_REQUEST = CATALOGUE["BAD_REQUEST"]
MALFORMED_JSON = CATALOGUE["MALFORMED_JSON"]
DUPLICATE_JSON_MEMBER = CATALOGUE["DUPLICATE_JSON_MEMBER"]
INVALID_ENCODING = CATALOGUE["INVALID_ENCODING"]
JSON_TOO_DEEP = CATALOGUE["JSON_TOO_DEEP"]
NUMBER_OUT_OF_RANGE = CATALOGUE["NUMBER_OUT_OF_RANGE"]
VALIDATION_FAILED = CATALOGUE["VALIDATION_FAILED"]
INVALID_PARAMETER = CATALOGUE["INVALID_PARAMETER"]
UNKNOWN_PARAMETER = CATALOGUE["UNKNOWN_PARAMETER"]
DUPLICATE_PARAMETER = CATALOGUE["DUPLICATE_PARAMETER"]
CONFLICTING_PARAMETERS = CATALOGUE["CONFLICTING_PARAMETERS"]
INVALID_CURSOR = CATALOGUE["INVALID_CURSOR"]
INVALID_WATERMARK = CATALOGUE["INVALID_WATERMARK"]
IDEMPOTENCY_KEY_REQUIRED = CATALOGUE["IDEMPOTENCY_KEY_REQUIRED"]
INVALID_IDEMPOTENCY_KEY = CATALOGUE["INVALID_IDEMPOTENCY_KEY"]
UNSUPPORTED_MODEL = CATALOGUE["UNSUPPORTED_MODEL"]
ATTACHMENTS_NOT_SUPPORTED = CATALOGUE["ATTACHMENTS_NOT_SUPPORTED"]
STREAM_REQUIRED = CATALOGUE["STREAM_REQUIRED"]
WEBHOOK_URL_NOT_ALLOWED = CATALOGUE["WEBHOOK_URL_NOT_ALLOWED"]
THREAD_NOT_FOUND = CATALOGUE["THREAD_NOT_FOUND"]
REQUEST_TOO_LARGE = CATALOGUE["REQUEST_TOO_LARGE"]
TIMESTAMP_INVALID = CATALOGUE["TIMESTAMP_INVALID"]
TIMESTAMP_LEAP_SECOND = CATALOGUE["TIMESTAMP_LEAP_SECOND"]
TIMESTAMP_PRECISION = CATALOGUE["TIMESTAMP_PRECISION"]
INTERVAL_EMPTY = CATALOGUE["INTERVAL_EMPTY"]
NUMBER_PRECISION = CATALOGUE["NUMBER_PRECISION"]
DESIGNATOR_INVALID = CATALOGUE["DESIGNATOR_INVALID"]
UNKNOWN_SUBJECT = CATALOGUE["UNKNOWN_SUBJECT"]
UNKNOWN_TARGET = CATALOGUE["UNKNOWN_TARGET"]
UNKNOWN_EVIDENCE = CATALOGUE["UNKNOWN_EVIDENCE"]
RECORD_TOO_LARGE = CATALOGUE["RECORD_TOO_LARGE"]
INVALID_PAYMENT = CATALOGUE["INVALID_PAYMENT"]
MISSING_API_KEY = CATALOGUE["MISSING_API_KEY"]
INVALID_API_KEY = CATALOGUE["INVALID_API_KEY"]
API_KEY_REVOKED = CATALOGUE["API_KEY_REVOKED"]
API_KEY_EXPIRED = CATALOGUE["API_KEY_EXPIRED"]
PAYMENT_REQUIRED = CATALOGUE["PAYMENT_REQUIRED"]
PAYMENT_INVALID = CATALOGUE["PAYMENT_INVALID"]
PAYMENT_REPLAYED = CATALOGUE["PAYMENT_REPLAYED"]
PAYMENT_IN_PROGRESS = CATALOGUE["PAYMENT_IN_PROGRESS"]
SETTLEMENT_FAILED = CATALOGUE["SETTLEMENT_FAILED"]
SUBSCRIPTION_REQUIRED = CATALOGUE["SUBSCRIPTION_REQUIRED"]
CHAT_CREDITS_EXHAUSTED = CATALOGUE["CHAT_CREDITS_EXHAUSTED"]
PROVIDER_CREDITS_EXHAUSTED = CATALOGUE["PROVIDER_CREDITS_EXHAUSTED"]
INSUFFICIENT_SCOPE = CATALOGUE["INSUFFICIENT_SCOPE"]
PLAN_INELIGIBLE = CATALOGUE["PLAN_INELIGIBLE"]
IP_NOT_ALLOWED = CATALOGUE["IP_NOT_ALLOWED"]
WORKSPACE_KEY_REQUIRED = CATALOGUE["WORKSPACE_KEY_REQUIRED"]
SIGN_IN_FAILED = CATALOGUE["SIGN_IN_FAILED"]
FORBIDDEN = CATALOGUE["FORBIDDEN"]
FOUR_EYES_REQUIRED = CATALOGUE["FOUR_EYES_REQUIRED"]
ERASURE_NOT_ALLOWED = CATALOGUE["ERASURE_NOT_ALLOWED"]
NOT_FOUND = CATALOGUE["NOT_FOUND"]
ROUTE_NOT_FOUND = CATALOGUE["ROUTE_NOT_FOUND"]
RECEIPT_NOT_FOUND = CATALOGUE["RECEIPT_NOT_FOUND"]
AUDIO_NOT_AVAILABLE = CATALOGUE["AUDIO_NOT_AVAILABLE"]
METHOD_NOT_ALLOWED = CATALOGUE["METHOD_NOT_ALLOWED"]
NOT_ACCEPTABLE = CATALOGUE["NOT_ACCEPTABLE"]
REQUEST_TIMEOUT = CATALOGUE["REQUEST_TIMEOUT"]
IDEMPOTENCY_CONFLICT = CATALOGUE["IDEMPOTENCY_CONFLICT"]
IDEMPOTENCY_IN_PROGRESS = CATALOGUE["IDEMPOTENCY_IN_PROGRESS"]
PAYMENT_IDENTIFIER_CONFLICT = CATALOGUE["PAYMENT_IDENTIFIER_CONFLICT"]
RESOURCE_CONFLICT = CATALOGUE["RESOURCE_CONFLICT"]
RUN_IN_PROGRESS = CATALOGUE["RUN_IN_PROGRESS"]
AUTOMATION_ARCHIVED = CATALOGUE["AUTOMATION_ARCHIVED"]
DUPLICATE_RECORD = CATALOGUE["DUPLICATE_RECORD"]
TARGET_NOT_IN_FORCE = CATALOGUE["TARGET_NOT_IN_FORCE"]
TRANSITION_NOT_ALLOWED = CATALOGUE["TRANSITION_NOT_ALLOWED"]
LINK_EXPIRED = CATALOGUE["LINK_EXPIRED"]
WATERMARK_GONE = CATALOGUE["WATERMARK_GONE"]
PRECONDITION_FAILED = CATALOGUE["PRECONDITION_FAILED"]
BODY_TOO_LARGE = CATALOGUE["BODY_TOO_LARGE"]
URI_TOO_LONG = CATALOGUE["URI_TOO_LONG"]
UNSUPPORTED_MEDIA_TYPE = CATALOGUE["UNSUPPORTED_MEDIA_TYPE"]
RANGE_NOT_SATISFIABLE = CATALOGUE["RANGE_NOT_SATISFIABLE"]
EXPECTATION_FAILED = CATALOGUE["EXPECTATION_FAILED"]
RATE_LIMITED = CATALOGUE["RATE_LIMITED"]
AGENT_RATE_LIMITED = CATALOGUE["AGENT_RATE_LIMITED"]
PAYMENT_RATE_LIMITED = CATALOGUE["PAYMENT_RATE_LIMITED"]
UPSTREAM_RATE_LIMITED = CATALOGUE["UPSTREAM_RATE_LIMITED"]
AUTH_LOCKED = CATALOGUE["AUTH_LOCKED"]
HEADERS_TOO_LARGE = CATALOGUE["HEADERS_TOO_LARGE"]
INTERNAL_ERROR = CATALOGUE["INTERNAL_ERROR"]
SETTLEMENT_PENDING = CATALOGUE["SETTLEMENT_PENDING"]
SETTLEMENT_UNKNOWN = CATALOGUE["SETTLEMENT_UNKNOWN"]
UPSTREAM_ERROR = CATALOGUE["UPSTREAM_ERROR"]
NOT_IMPLEMENTED = CATALOGUE["NOT_IMPLEMENTED"]
SERVICE_UNAVAILABLE = CATALOGUE["SERVICE_UNAVAILABLE"]
STORAGE_UNAVAILABLE = CATALOGUE["STORAGE_UNAVAILABLE"]
OVERLOADED = CATALOGUE["OVERLOADED"]
SHUTTING_DOWN = CATALOGUE["SHUTTING_DOWN"]
NEWS_NOT_READY = CATALOGUE["NEWS_NOT_READY"]
UPSTREAM_UNAVAILABLE = CATALOGUE["UPSTREAM_UNAVAILABLE"]
UPSTREAM_TIMEOUT = CATALOGUE["UPSTREAM_TIMEOUT"]
HTTP_VERSION_NOT_SUPPORTED = CATALOGUE["HTTP_VERSION_NOT_SUPPORTED"]

LENIENT: Mapping[ProblemType, ProblemType] = MappingProxyType(
    {
        REQUEST_TIMEOUT: BAD_REQUEST,
        BODY_TOO_LARGE: REQUEST_TOO_LARGE,
        UNSUPPORTED_MEDIA_TYPE: MALFORMED_JSON,
    }
)
"""The problems that a `lenient` operation reports about a body, by the usual ones."""
