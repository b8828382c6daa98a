"""What stands above the columns of the tables that commands print."""

import pytest

from svc_http.cli import show


@pytest.mark.parametrize(
    ("columns", "headings"),
    [
        (("id", "createdAt"), ["id", "created at"]),
        (("reportGeneratedAtISO",), ["report generated at"]),
        (("name", "health.status", "health.itemsLastRun"), ["name", "status", "items last run"]),
        (
            ("status", "lastDelivery.status", "lastDelivery.at"),
            ["status", "last delivery status", "last delivery at"],
        ),
        ((), []),
    ],
)
def test_no_two_columns_have_the_same_heading(
    columns: tuple[str, ...], headings: list[str]
) -> None:
    assert show.headings(columns) == headings
