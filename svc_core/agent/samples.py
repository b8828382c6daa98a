"""The question and the answer that the documentation shows."""

from typing import Final

from svc_core.agent.answer_events import (
    AnswerDone,
    AnswerSource,
    Event,
    Step,
    Text,
    ToolCall,
    ToolResult,
    Usage,
)
from svc_core.agent.encoder import Encoder
from svc_core.wire.constraints import IdOf

QUESTION: Final = "Why is the port of Valparaiso closed?"

_REPORT: Final = AnswerSource(
    1,
    IdOf("rpt").example,
    "Port strikes",
    f"https://api.example.com/api/v1/reports/{IdOf('rpt').example}",
)
_ANSWER: Final[tuple[Event, ...]] = (
    Step(),
    ToolCall("", "search_reports", {"limit": 5}),
    ToolResult("", (_REPORT,)),
    Step(),
    _REPORT,
    Text("Dockers have been on strike since Monday [1]."),
    AnswerDone(usage=Usage(read=7, written=8)),
)


def sample_stream(encoder: Encoder) -> str:
    """The sample answer in frames of an encoder."""
    return b"".join([encoder.open(), *map(encoder.feed, _ANSWER)]).decode()
