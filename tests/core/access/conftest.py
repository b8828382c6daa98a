"""Makers shared by the access tests."""

from collections.abc import Callable
from datetime import UTC, datetime

import pytest

from svc_core.access.keys import ApiKey, new_key
from svc_core.access.scopes import SCOPES

NOON = datetime(2026, 3, 4, 12, 0, tzinfo=UTC)


@pytest.fixture(scope="session")
def now() -> datetime:
    return NOON


@pytest.fixture(scope="session")
def make_key() -> Callable[..., ApiKey]:
    """A maker of active workspace keys; keywords replace members, `seed` makes another secret."""

    def make(seed: int = 1, **members: object) -> ApiKey:
        new = new_key(bytes([seed]) * 32)
        values: dict[str, object] = {
            "id": f"key_{seed:024x}",
            "name": f"key {seed}",
            "digest_hex": new.digest_hex,
            "prefix": new.prefix,
            "scopes": tuple(SCOPES),
            "addresses": (),
            "workspace_id": "wsp_" + "a" * 24,
            "user_id": "usr_" + "b" * 24,
            "created_at": NOON,
            "issued_at": NOON,
        }
        return ApiKey(**(values | members))  # type: ignore[arg-type]

    return make
