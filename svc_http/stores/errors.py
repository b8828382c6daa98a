"""Errors of opening, copying or moving a database; each message is one line that names a remedy."""


class StoreBusy(Exception):  # noqa: N818 - named after the state
    """Another process holds the lock of the database file."""

    exit_code = 1

    def __init__(self, path: str, owner: str) -> None:
        """Name the file and the process number that its owner wrote into the lock file."""
        super().__init__(f"{path} is in use by process {owner or 'unknown'}; stop it first")
        self.path = path
        self.owner = owner


class CopyRefused(Exception):  # noqa: N818 - named after the state
    """A store cannot be copied from or to; the message is one line that names a remedy."""

    exit_code = 1


class DriverMissing(Exception):  # noqa: N818 - named after the state
    """The client package of a database server is not installed; the message says how to get it."""

    exit_code = 1


class StoreUnusable(Exception):  # noqa: N818 - named after the state
    """The database cannot be used; the message is one line that names a remedy."""

    exit_code = 1


class StoreNewer(StoreUnusable):
    """A newer version of this program wrote the database."""

    def __init__(self, version: object, newest: int) -> None:
        """Name the version in the database, and the newest format that this program knows."""
        super().__init__(
            f"the database is of a newer svc ({version}; this one knows format {newest}); install "
            "that version, or restore a backup that this one made: svc db restore"
        )


class StoreOlder(StoreUnusable):
    """The database stands at a step from before the first one that is still known."""

    def __init__(self, step: str) -> None:
        """Name the last step of the database."""
        super().__init__(
            f"the database stands at a step that is no longer known ({step!r}); migrate it with "
            "the version of commit 4a8c5ca3 first: svc db migrate"
        )
