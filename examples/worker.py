"""Take feed documents in and write a cited report, in one process without a loop or a server.

    pip install 'svc-intelligence[server]'
    python examples/worker.py "Port strikes" "Strikes at container ports" feed.xml feed.json

The same four steps fit a cron job, a Celery task or a notebook. Storage is a port: here it is
memory, and `drive.run` runs each unit of work to its end.
"""

import sys
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import TypeVar

from svc_core import (
    COLLECTIONS,
    FACETS,
    PROFILES,
    SYSTEM,
    Body,
    Context,
    CreateProfile,
    Keyring,
    Origin,
    Profile,
    ProfileInput,
    SourceWish,
    Units,
    Window,
    compose,
    create_profile,
    drive,
    gather_material,
    publish_report,
    read_document,
    recognise_format,
    register_source,
    take_document,
)
from svc_http.stores import MemoryStorage
from svc_http.system import SystemIds, now

R = TypeVar("R")
TENANT = "desk"


class Worker:
    """Runs use cases over one store; time, identifiers and keys are handed to the core here."""

    def __init__(self) -> None:
        store, ids = MemoryStorage(COLLECTIONS), SystemIds()
        self._units = Units(store, ids, now, Keyring({1: ids.random(32)}, 1))

    def run(self, tenant: str, usecase: Callable[[Context], Awaitable[R]]) -> R:
        """The result of one unit of work, committed whole or not at all."""
        return drive.run(self._units.write(tenant, usecase))

    def take_in(self, path: Path) -> int:
        """Read one document; the number of new rows."""
        body = Body(path.read_bytes())
        wish = SourceWish(str(path.resolve()))
        source = self.run(SYSTEM, lambda ctx: register_source(ctx, wish))
        document = read_document(body, recognise_format(body), Origin(name=path.name))
        intake = self.run(SYSTEM, lambda ctx: take_document(ctx, source.id, document))
        return 0 if intake is None else intake.created

    def follow(self, name: str, topic: str) -> Profile:
        """A new profile for the desk."""
        wish = CreateProfile(ProfileInput(name=name, topic=topic, frequency="manual"))
        return PROFILES.decode(self.run(TENANT, lambda ctx: create_profile(ctx, wish)).raw)

    def report(self, profile: Profile) -> str:
        """The Markdown of a report about everything dated that was taken in so far."""
        everything = Window(now(), None, "published")
        material = self.run(TENANT, lambda ctx: gather_material(ctx, profile.id, everything))
        report = compose(material, now())
        row = self.run(TENANT, lambda ctx: publish_report(ctx, report))
        facets = self.run(TENANT, lambda ctx: ctx.load(FACETS, row.id))
        return FACETS.decode(facets.raw).content.markdown


def main(name: str, topic: str, paths: Sequence[str]) -> None:
    """Take the documents in, then print the report."""
    worker = Worker()
    for path in paths:
        print(f"{worker.take_in(Path(path))} new rows in {Path(path).name}", file=sys.stderr)
    print(worker.report(worker.follow(name, topic)))


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit("usage: worker.py NAME TOPIC FEED...")
    main(sys.argv[1], sys.argv[2], sys.argv[3:])
