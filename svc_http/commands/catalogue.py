"""Every command by its name, whoever asks: the control socket or the command line."""

from collections.abc import Mapping
from typing import Any

from svc_http.commands import (
    changes,
    feeds,
    imports,
    keys,
    ledger,
    profiles,
    recording,
    reports,
    speech,
    webhooks,
    workspaces,
)
from svc_http.commands.command import Command
from svc_http.commands.feeds import MakeFetcher
from svc_http.commands.speech import MakeStudio, nobody
from svc_http.fetch import Fetcher

Commands = Mapping[str, Command[Any]]


def commands(make_fetcher: MakeFetcher = Fetcher, make_studio: MakeStudio = nobody) -> Commands:
    """Every command; `make_fetcher` makes the way out that feeds are read through, `make_studio`
    what speaks.
    """
    return {
        **workspaces.COMMANDS,
        **keys.COMMANDS,
        **feeds.commands(make_fetcher),
        **profiles.COMMANDS,
        **reports.COMMANDS,
        **speech.commands(make_studio),
        **changes.COMMANDS,
        **webhooks.COMMANDS,
        **ledger.COMMANDS,
        **recording.COMMANDS,
        **imports.COMMANDS,
    }
