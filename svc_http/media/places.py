"""The place of recordings that the settings name."""

from pathlib import Path

from svc_core.ports import Storage
from svc_http.media.bucket import MediaBucket
from svc_http.media.files import MediaFiles
from svc_http.media.port import Media
from svc_http.media.rows import MediaRows
from svc_http.settings import Settings
from svc_http.settings_text import DATABASE, S3


def media_of(settings: Settings, storage: Storage) -> Media | None:
    """The place of the settings; None where nothing is kept.

    Raises:
        SettingsError: it needs a library that is not installed.
    """
    place = settings.media_place
    if place is None:
        return None
    if place == DATABASE:
        return MediaRows(storage)
    if place.startswith(S3):
        return MediaBucket(place)
    return MediaFiles(Path(place).absolute(), is_shared=settings.media_base_url is not None)
