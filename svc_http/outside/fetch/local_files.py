"""Local documents as sources: a file is read like a URL, a folder stands for all its files."""

import os
import re
import stat
from pathlib import Path
from urllib.parse import unquote, urlsplit

from svc_http.outside.fetch.model import FetchRefusal
from svc_http.outside.fetch.url_checks import readable_url

FILES_MAX = 10_000
"""Files of one folder: as many sources as one installation has."""


_DATABASE = b"SQLite format 3\0"
_COMPANIONS = re.compile(
    r"-wal|-shm|-journal|\.lock|\.secret|\.sock|\.new(\.lock)?|\.before-.*", re.DOTALL
)
"""The suffixes of files that belong to a database."""


def is_web(location: str) -> bool:
    """Whether the location is an http(s) address rather than a path."""
    return location[:8].lower().startswith(("http://", "https://"))


def document_locations(path_or_url: str) -> tuple[str, ...]:
    """The source locations that an argument names: a URL, a file, or all files of a folder.

    Paths become absolute and are sorted. In a folder these are left out: files that are not
    regular, names that begin with a dot, and databases with their companion files. A symbolic link
    to a folder or to nothing stands for itself, so that whoever reads it tells so.

    Raises:
        FetchRefusal: `notFound`, `badAddress`, or `tooMany` files.
    """
    if not path_or_url.strip():
        raise FetchRefusal("badAddress", "Name an address, a file or a folder.")
    if is_web(path_or_url):
        readable_url(path_or_url)
        return (path_or_url,)
    path = Path(file_path(path_or_url)).absolute()
    if path.is_dir():
        return tuple(_files(path))
    if not path.exists():
        raise FetchRefusal("notFound", f"There is no file or folder {path}.")
    return (_utf8_path(str(path)),)


def file_path(location: str) -> str:
    """The path of a location that is not a web address; `file:` URLs are accepted.

    Raises:
        FetchRefusal: `badAddress`.
    """
    if "://" not in location:
        return location
    parts = urlsplit(location)
    if parts.scheme.lower() != "file" or parts.netloc not in {"", "localhost"}:
        raise FetchRefusal("badAddress", f"Neither a web address nor a file: {location}.")
    return unquote(parts.path)


def _files(folder: Path) -> list[str]:
    paths: list[str] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        candidates = [os.path.join(parent, name) for name in names if not name.startswith(".")]
        paths += _without_databases([path for path in candidates if os.path.isfile(path)])
        links = [*candidates, *(os.path.join(parent, name) for name in folders)]
        paths += [path for path in links if os.path.islink(path) and not os.path.isfile(path)]
        if len(paths) > FILES_MAX:
            raise FetchRefusal("tooMany", f"{folder} holds more than {FILES_MAX} files.")
    return sorted(map(_utf8_path, paths))


def _without_databases(paths: list[str]) -> list[str]:
    """The files without databases and their companions: the own database is often among them."""
    databases = [path for path in paths if _is_database(path)]
    return [
        path
        for path in paths
        if not any(
            path == database
            or (path.startswith(database) and _COMPANIONS.fullmatch(path, len(database)))
            for database in databases
        )
    ]


def _is_database(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(len(_DATABASE)) == _DATABASE
    except OSError:
        return False  # whoever reads it as a feed tells why it cannot be read


def _utf8_path(path: str) -> str:
    try:
        path.encode()
    except UnicodeEncodeError as fault:
        name = os.fsencode(path).decode("utf-8", "replace")
        raise FetchRefusal("badAddress", f"The name of {name} is not UTF-8.") from fault
    return path


def read_file(path: str, bytes_max: int) -> bytes:
    """The content of a regular file.

    Raises:
        FetchRefusal: `notFound`, `unreadable` or `tooLarge`.
    """
    try:
        # Without O_NONBLOCK, opening a named pipe would wait for somebody to write.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(handle, "rb") as file:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise FetchRefusal("unreadable", f"{path} is not a regular file.")
            body = file.read(bytes_max + 1)
    except (FileNotFoundError, NotADirectoryError) as error:
        is_link = os.path.islink(path)
        reason = f"The link {path} leads nowhere." if is_link else f"There is no file {path}."
        raise FetchRefusal("notFound", reason) from error
    except IsADirectoryError as error:
        reason = f"{path} leads to a folder: add that by its own path."
        raise FetchRefusal("unreadable", reason) from error
    except (OSError, ValueError) as fault:
        reason = getattr(fault, "strerror", None) or str(fault)
        raise FetchRefusal("unreadable", f"{path} cannot be read: {reason}.") from fault
    if len(body) > bytes_max:
        raise FetchRefusal("tooLarge", f"{path} is larger than {bytes_max} bytes.")
    return body
