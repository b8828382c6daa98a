"""What an answer comes to, for whoever reads it whole."""

from svc_core.agent.answer_events import TEXT_MAX, AnswerDone, Text
from svc_core.agent.transcript import Transcript


def test_nothing_comes_after_the_end() -> None:
    transcript = Transcript()
    for event in (Text("A" * TEXT_MAX), Text("B"), Text("C"), AnswerDone()):
        transcript.add(event)
    assert transcript.text == "A" * TEXT_MAX
    assert isinstance(transcript.end, AnswerDone)
    assert transcript.end.reason == "length"
