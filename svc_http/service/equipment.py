"""Builds what the settings name: the store, the counters, and the clients of outside services."""

import shlex
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from svc_core.access.passkeys import PasskeyJudge
from svc_core.agent.rule_backend import RuleBackend
from svc_core.base.egress import PRIVATE
from svc_core.operation.ports import Storage
from svc_http import extras, stores
from svc_http.outside import chat as chats
from svc_http.outside.chat import Chat
from svc_http.outside.embeddings.local_model import LOCAL_KINDS, LocalModel
from svc_http.outside.embeddings.model import Embeddings
from svc_http.outside.embeddings.remote_model import EmbeddingEndpoint, RemoteModel
from svc_http.outside.fetch.document_fetcher import USER_AGENT, Fetcher
from svc_http.outside.fetch.webhook_poster import Poster
from svc_http.outside.voices import espeak
from svc_http.outside.voices.command import CommandSpeech
from svc_http.outside.voices.espeak import EspeakSpeech
from svc_http.outside.voices.speech_port import Speech
from svc_http.service import secret
from svc_http.service.workers.report_recordings import Recorder
from svc_http.settings import Settings, SettingsError, setting_fault
from svc_http.stores import ClosableStore, StoreUnusable
from svc_http.stores.counters.in_process import Coordination, in_memory
from svc_http.stores.media.media_choice import media_of
from svc_http.stores.media.media_port import Media


def fetcher_of(settings: Settings) -> Fetcher:
    """The client that fetches source documents; an async context manager, not entered yet."""
    is_allowed = settings.allow_private_fetch
    if is_allowed is None:
        is_allowed = settings.env == "development"
    agent = f"{USER_AGENT} {settings.fetch_contact}".strip()
    return Fetcher(exceptions=PRIVATE if is_allowed else (), user_agent=agent)


def poster_of(settings: Settings) -> Poster:
    """The client that posts to webhooks; the caller closes it."""
    return Poster(loopback=settings.env == "development")


_EXTRAS: Final = {
    "speech": "speech",
    "embeddings": "semantic",
    "mcp": "mcp",
    "passkeys": "passkeys",
    "payments": "x402",
}
"""The extra that brings each optional part of the server."""


def missing_providers(settings: Settings) -> dict[str, str]:
    """The optional providers that are off: setting name -> the reason and its cure, in one line."""
    reasons: dict[str, str] = {}
    for name, extra in _EXTRAS.items():
        choice = getattr(settings, name, "auto")
        # Without its other module the voice writes WAV.
        is_there = espeak.has_espeak() if name == "speech" else not extras.missing_modules(extra)
        if choice == "none":
            reasons[name] = f"none was chosen; SVC_{name.upper()}=auto takes what is installed"
        elif choice == "auto" and not is_there:
            reasons[name] = f"not installed; {extras.install_line(extra)}"
    if settings.speech == "auto" and settings.media_place is None:
        reasons["speech"] = "recordings have no place; name one, such as SVC_MEDIA=audio"
    return reasons


def voice_of(settings: Settings) -> Speech | None:
    """The voice that reads reports aloud, or None (`missing_providers` says why).

    Raises:
        SettingsError: it is not installed; the message has the line that cures it.
    """
    if "speech" in missing_providers(settings):
        return None
    if settings.speech_command is not None and settings.speech == "command":
        return CommandSpeech(tuple(shlex.split(settings.speech_command)), settings.speech_voice)
    if not espeak.has_espeak():
        raise setting_fault(
            "speech", f"is espeak, which is not installed: {extras.install_line('speech')}"
        )
    return EspeakSpeech(settings.speech_voice)


def passkey_judge() -> PasskeyJudge | None:
    """The judge of passkeys, where the extra `passkeys` is installed."""
    if find_spec("webauthn") is None:
        return None
    from svc_http.outside.webauthn_judge import WebAuthnJudge  # noqa: PLC0415 - of an extra

    return WebAuthnJudge()


def embedder_of(settings: Settings) -> Embeddings | None:
    """The embedding model, or None (`missing_providers` says why); the caller closes it.

    Raises:
        SettingsError: it is not installed; the message has the line that cures it.
    """
    if "embeddings" in missing_providers(settings):
        return None
    if settings.embeddings != "openai":
        models = extras.installed_models()
        name = models[0] if settings.embeddings == "auto" else settings.embeddings
        if name not in models:
            why = f"is {name}, which is not installed: {extras.model_line(name)}"
            raise setting_fault("embeddings", why)
        return Embeddings(LocalModel(LOCAL_KINDS[name]))
    place = EmbeddingEndpoint(
        settings.embeddings_url, settings.embeddings_model, settings.embeddings_key
    )
    return Embeddings(RemoteModel(place))


def chat_of(settings: Settings) -> Chat | None:
    """The language model that answers questions, or None without one; the caller closes it."""
    if settings.agent_url is None or settings.agent_model is None:
        return None
    place = chats.ChatEndpoint(settings.agent_url, settings.agent_model, settings.agent_key)
    return Chat(place, fallback=RuleBackend() if settings.agent_fallback == "embedded" else None)


def recorder_of(settings: Settings, storage: Storage, place: Media | None = None) -> Recorder:
    """The recorder of reports, which writes to `place` or else to the media store of the settings.

    Raises:
        SettingsError: the settings have no voice, or one that is not installed.
    """
    voice, media = voice_of(settings), place or media_of(settings, storage)
    if voice is None or media is None:
        raise SettingsError(f"setting 'speech': {missing_providers(settings)['speech']}")
    return Recorder(voice, media)


def validate_settings(settings: Settings) -> Settings:
    """Check that a database and its master secret can exist with these settings; return them.

    Nothing is created. After the store is open, `secret.with_secret` creates the secret.

    Raises:
        SettingsError: the secret is weak, or missing where one must be set.
        StoreUnusable: the folder of the file is missing.
    """
    folder = Path(settings.db).absolute().parent
    if settings.file is not None and not folder.is_dir():
        raise StoreUnusable(
            f"there is no folder {folder} for the database; make it, or choose --db"
        )
    return secret.validate_secret(settings)


async def open_store(settings: Settings, shared: Coordination | None = None) -> ClosableStore:
    """Open the store of the settings, and create or migrate it where that is due.

    With `shared` counters, the processes of one database announce their commits to each other.

    Raises:
        StoreBusy, StoreNewer, StoreUnusable, DriverMissing: as `storage.open`.
    """
    is_shared = shared is not None and settings.counting_place != "memory"
    signals = shared.signals if shared and is_shared else None
    return await stores.open(settings.db, signals=signals, history=settings.history_file)


def open_shared(settings: Settings) -> Coordination:
    """The counters of requests that the settings name; they connect when they are first used.

    Raises:
        SettingsError: its client is not installed; the message has the line that cures it.
    """
    place = settings.counting_place
    if place == "memory":
        return in_memory()
    extra = "redis" if place.startswith("redis") else "postgres"
    try:
        if extra == "redis":
            from svc_http.stores.counters.redis_coordination import on_redis  # noqa: PLC0415 - of an extra

            return on_redis(place)
        from svc_http.stores.counters.postgres_coordination import on_postgres  # noqa: PLC0415 - of an extra

        return on_postgres(place)
    except ModuleNotFoundError as error:
        cure = extras.install_line(extra)
        name = "db" if settings.counters is None else "counters"
        driver = str(error.name).partition(".")[0]
        raise setting_fault(name, f"needs {driver}: {cure}") from error
