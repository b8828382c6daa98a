"""What a user of openapi-generator's Python client does first: read, create, append.

python generated.py ORIGIN KEY REPORT_ID
"""

import sys
from collections.abc import Callable

import openapi_client as made


def main(origin: str, key: str, report_id: str) -> None:
    with made.ApiClient(made.Configuration(host=origin, access_token=key)) as client:
        reports, ledger = made.ReportsApi(client), made.LedgerApi(client)
        assert report_id in [report.id for report in reports.list_reports().data]
        assert reports.get_report_graph(report_id).counts.nodes == 3

        wish = made.ProfileInput(name="Generated", topic="Clients", frequency="manual")
        profile = made.ProfilesApi(client).create_profile("generated-python", wish)
        assert profile.data.name == "Generated"

        opening = made.SubjectAssertionInput(kind="subject", type="organization", label="Pier 7")
        (subject,) = ledger.append_records([made.EntryInput(opening)]).actual_instance.data
        claim = made.ClaimAssertionInput(
            kind="claim", subject=subject.subject, predicate="motto", value="Ports first"
        )
        (claim_answer,) = ledger.append_records([made.EntryInput(claim)]).actual_instance.data
        assert claim_answer.kind == "claim"

        assert "INVALID_CURSOR" in refusal(lambda: reports.list_reports(limit=1, cursor="A"))


def refusal(call: Callable[[], object]) -> str:
    """The body of the refusal that a call meets."""
    try:
        call()
    except made.ApiException as error:
        return str(error.body)
    raise AssertionError("the call is refused")


if __name__ == "__main__":
    main(*sys.argv[1:])
