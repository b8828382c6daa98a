"""Why a database cannot be opened, copied or moved; each message is a line with the way out."""


class StoreBusy(Exception):  # noqa: N818 - said as the state that it is
    """Another process owns the file."""

    exit_code = 1

    def __init__(self, path: str, owner: str) -> None:
        """Name the file and what its owner wrote about itself."""
        super().__init__(f"{path} is in use by process {owner or 'unknown'}; stop it first")
        self.path = path
        self.owner = owner


class Unfit(Exception):  # noqa: N818 - said as the state that it is
    """A store cannot be copied from or to; the message is one line with the way out."""

    exit_code = 1


class DriverMissing(Exception):  # noqa: N818 - said as the state that it is
    """The package that speaks to a server is not installed; the message has the cure."""

    exit_code = 1


class Unusable(Exception):  # noqa: N818 - said as the state that it is
    """The database cannot be used; the message is one line with the way out."""

    exit_code = 1


class Newer(Unusable):
    """A newer version of this program wrote what is to be read."""

    def __init__(self, version: object, newest: int) -> None:
        """Say what was found there, and the newest form that this version knows."""
        super().__init__(
            f"the database is of a newer svc ({version}; this one knows format {newest}); install "
            "that version, or restore a backup that this one made: svc db restore"
        )
