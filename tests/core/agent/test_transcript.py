"""What an answer comes to, for whoever reads it whole."""

from svc_core.agent.encoder import TEXT_MAX
from svc_core.agent.events import Finished, Text
from svc_core.agent.transcript import Transcript


def test_nothing_comes_after_the_end() -> None:
    transcript = Transcript()
    for event in (Text("A" * TEXT_MAX), Text("B"), Text("C"), Finished()):
        transcript.add(event)
    assert transcript.text == "A" * TEXT_MAX
    assert isinstance(transcript.end, Finished)
    assert transcript.end.reason == "length"
