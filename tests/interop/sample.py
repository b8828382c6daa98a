"""What a user of a generated Python client does in the first five minutes.

    python sample.py ORIGIN KEY REPORT_ID

`svc_client` is what openapi-python-client makes of the flat document. Each promise is asserted.
"""

import sys
from http import HTTPStatus

from svc_client import AuthenticatedClient, Client
from svc_client.api.changes import list_changes
from svc_client.api.news import list_news
from svc_client.api.profiles import create_profile, get_profile, list_profiles, update_profile
from svc_client.api.reports import get_report, get_report_graph, list_reports
from svc_client.models import (
    AgentReportOne,
    Problem,
    ProfileDetailOne,
    ProfileInput,
    ReportDetailOne,
    UpdateProfileInput,
)


def main(origin: str, key: str, report_id: str) -> None:
    client = AuthenticatedClient(base_url=origin, token=key)

    anonymous = list_profiles.sync_detailed(client=Client(base_url=origin))
    assert anonymous.status_code == HTTPStatus.UNAUTHORIZED
    assert isinstance(anonymous.parsed, Problem)
    assert anonymous.parsed.code == "MISSING_API_KEY"

    assert list_profiles.sync(client=client).data == []
    wish = ProfileInput(
        name="Port strikes",
        topic="Strikes at ports",
        frequency="daily",
        schedule_time_of_day="07:30",
    )
    answers = [
        create_profile.sync_detailed(client=client, body=wish, idempotency_key="first-profile")
        for _ in range(2)
    ]
    assert [answer.status_code for answer in answers] == [HTTPStatus.CREATED] * 2
    assert answers[0].content == answers[1].content
    assert answers[1].headers["Idempotency-Replayed"] == "true"
    profile = answers[0].parsed
    assert isinstance(profile, ProfileDetailOne)
    tag = answers[0].headers["ETag"]
    (row,) = list_profiles.sync(client=client, limit=1).data
    assert (row.id, row.subscription.status) == (profile.data.id, "active")

    body = UpdateProfileInput(frequency="weekly", schedule_day=1)
    update = update_profile.sync_detailed(profile.data.id, client=client, body=body, if_match=tag)
    assert update.parsed.data.frequency == "weekly"
    stale = update_profile.sync_detailed(profile.data.id, client=client, body=body, if_match=tag)
    assert stale.status_code == HTTPStatus.PRECONDITION_FAILED
    current = get_profile.sync_detailed(
        profile.data.id, client=client, if_none_match=update.headers["ETag"]
    )
    assert current.status_code == HTTPStatus.NOT_MODIFIED

    (report,) = list_reports.sync(client=client).data
    assert report.id == report_id
    detail = get_report.sync(report.id, client=client, include=["signals"])
    assert isinstance(detail, ReportDetailOne)
    assert detail.data.signals[0].entities[0].name
    assert isinstance(get_report.sync(report.id, client=client, view="agent"), AgentReportOne)
    assert get_report_graph.sync(report.id, client=client).counts.nodes == 3
    assert list_news.sync(client=client, topics=["shipping"]).data[0].title

    page = list_changes.sync(client=client)
    assert {change.resource_type for change in page.data} >= {"profile", "report", "newsItem"}
    assert list_changes.sync(client=client, after=page.meta.watermark).data == []


if __name__ == "__main__":
    main(*sys.argv[1:])
