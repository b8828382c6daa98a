"""What OpenAI's client for Python makes of an answer, of one that fails, and of a refusal.

python completions.py ORIGIN KEY
"""

import sys
from collections.abc import Callable
from typing import Any

import openai


def main(origin: str, key: str) -> None:
    client = openai.OpenAI(base_url=f"{origin}/api/v1", api_key=key, max_retries=0)
    assert [model.id for model in client.models.list()] == ["svc-agent"]
    assert client.models.retrieve("svc-agent").owned_by == "svc"
    thread = whole(client)
    continued(client, thread)
    failed(client)
    refused(client, openai.OpenAI(base_url=f"{origin}/api/v1", api_key="nobody", max_retries=0))


def asking(text: str, **options: Any) -> Any:
    return {"model": "svc-agent", "messages": [{"role": "user", "content": text}], **options}


def whole(client: openai.OpenAI) -> str:
    options = {"include_usage": True}
    raw = client.chat.completions.with_raw_response.create(
        **asking("Who struck?", stream=True, stream_options=options)
    )
    chunks = list(raw.parse())
    choices = [choice for chunk in chunks for choice in chunk.choices]
    assert choices[0].delta.role == "assistant"
    assert "".join(choice.delta.content or "" for choice in choices).count("[1]") == 1
    assert [choice.finish_reason for choice in choices if choice.finish_reason] == ["stop"]
    assert not any(choice.delta.tool_calls for choice in choices)
    assert len({(chunk.id, chunk.created) for chunk in chunks}) == 1
    usage = chunks[-1].usage
    assert not chunks[-1].choices
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens > 0
    (citations,) = [
        extra for choice in choices for extra in (choice.delta.model_extra or {}).values()
    ]
    assert citations[0]["url_citation"]["url"].startswith("http")
    thread: str = raw.headers["x-thread-id"]
    return thread


def continued(client: openai.OpenAI, thread: str) -> None:
    options = {"extra_body": {"threadId": thread}}
    with client.chat.completions.stream(**asking("Where?", **options)) as stream:
        kinds = {event.type for event in stream}
        final = stream.get_final_completion()
    assert not [kind for kind in kinds if kind.startswith("tool")]
    assert "[1]" in (final.choices[0].message.content or "")


def failed(client: openai.OpenAI) -> None:
    failure = caught(lambda: list(client.chat.completions.create(**asking("Fail.", stream=True))))
    assert (type(failure), failure.code) == (openai.APIError, "UPSTREAM_UNAVAILABLE")


def refused(client: openai.OpenAI, nobody: openai.OpenAI) -> None:
    error = caught(lambda: nobody.chat.completions.create(**asking("Who?", stream=True)))
    assert (type(error), error.code) == (openai.AuthenticationError, "INVALID_API_KEY")
    error = caught(lambda: client.chat.completions.create(**asking("Who?")))
    assert (type(error), error.code) == (openai.BadRequestError, "STREAM_REQUIRED")
    assert isinstance(error, openai.APIStatusError)
    assert (error.request_id or "").startswith("req_")


def caught(asks: Callable[[], object]) -> openai.APIError:
    try:
        asks()
    except openai.APIError as error:
        return error
    raise AssertionError("a failure is told")


if __name__ == "__main__":
    main(*sys.argv[1:])
