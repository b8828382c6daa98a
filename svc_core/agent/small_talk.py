"""Replies to what asks for no rows: greetings, thanks, orders, questions about the service."""

from svc_core import data
from svc_core.agent.question import ParsedQuestion


def talk_reply(kind: str, question: ParsedQuestion) -> str:
    """A reply of a kind in the question's language, English for want of it, and what to ask."""
    texts = {(kind, language): text for kind, language, text in data.table_rows("small_talk.tsv")}
    language = question.language if ("ask", question.language) in texts else "en"
    return f"{texts.get((kind, language), '')} {texts['ask', language]}".strip()


def talk_of(question: ParsedQuestion, whole: ParsedQuestion) -> str | None:
    """The kind of small talk that a question is by itself; None where it asks for rows.

    `whole` is the question with what earlier ones of its conversation named.
    """
    if question.has("instruct") and not question.cves:
        return "instruct"
    for kind in ("thanks", "greeting", "help"):
        parts = [part for part in question.parts if part.role == kind]
        covered = {index for part in parts for index in range(part.start, part.end)}
        if parts and not (question.content - covered) and not question.cves:
            return kind
    return "help" if whole.is_empty else None
