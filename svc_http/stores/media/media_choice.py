"""Chooses the storage of recordings that the settings name."""

from pathlib import Path

from svc_core.operation.ports import Storage
from svc_http.settings import Settings
from svc_http.settings_text import DATABASE, S3
from svc_http.stores.media.bucket import MediaBucket
from svc_http.stores.media.folder import MediaFiles
from svc_http.stores.media.media_port import Media
from svc_http.stores.media.pieces import MediaRows


def media_of(settings: Settings, storage: Storage) -> Media | None:
    """The storage of recordings by the settings; None if recordings are not stored.

    Raises:
        SettingsError: the storage needs a library that is not installed.
    """
    place = settings.media_place
    if place is None:
        return None
    if place == DATABASE:
        return MediaRows(storage)
    if place.startswith(S3):
        return MediaBucket(place)
    return MediaFiles(Path(place).absolute(), is_shared=settings.media_base_url is not None)
