"""What the ledger refuses over HTTP: the request, then status, code and the place that is named."""

import re

ABSENT = "0" * 24
NO_SUBJECT, NO_CLAIM = f"sbj_{ABSENT}", f"clm_{ABSENT}"
SUBJECT, RECORD = "/subjects/{subject}", "/records/{claim}"

READS = {
    f"/subjects/{NO_SUBJECT}": "404 NOT_FOUND",
    f"/subjects/{NO_SUBJECT}/stix": "404 NOT_FOUND",
    f"/subjects/{NO_SUBJECT}?format=svg": "404 NOT_FOUND",
    "/subjects/nobody": "404 NOT_FOUND",
    "/subjects?designator=nope": "400 INVALID_PARAMETER designator",
    "/subjects?designator=lei:1": "400 DESIGNATOR_INVALID designator",
    "/subjects?designator=x:1": "400 INVALID_PARAMETER designator",
    "/subjects?cursor=x": "400 INVALID_CURSOR",
    **{
        SUBJECT + form + query: reason
        for form in ("?", "?format=svg&", "/stix?")
        for query, reason in {
            "validTime=x": "400 TIMESTAMP_INVALID validTime",
            "validTime=2016-12-31T23:59:60Z": "400 TIMESTAMP_LEAP_SECOND validTime",
            "validTime=2024-01-01T00:00:00.1234567Z": "400 TIMESTAMP_PRECISION validTime",
            "recordTime=2024-01-01": "400 TIMESTAMP_INVALID recordTime",
            "size=99": "400 INVALID_PARAMETER size",
            "size=-1": "400 INVALID_PARAMETER size",
            "surprise=1": "400 UNKNOWN_PARAMETER",
        }.items()
    },
    f"{SUBJECT}?include=all": "400 INVALID_PARAMETER include",
    f"{SUBJECT}?format=png": "400 INVALID_PARAMETER format",
    f"{SUBJECT}/stix?tlp=pink": "400 INVALID_PARAMETER tlp",
    "/records?size=99": "400 INVALID_PARAMETER size",
    "/records?after=1&cursor={cursor}": "400 CONFLICTING_PARAMETERS after",
    "/records?after=1&cursor=x": "400 INVALID_CURSOR",
    f"/records/{NO_CLAIM}": "404 NOT_FOUND",
    f"/records/{NO_CLAIM}/proof": "404 NOT_FOUND",
    "/records/clm_1/proof": "404 NOT_FOUND",
    f"{RECORD}/proof?size=1": "400 INVALID_PARAMETER size",
    f"{RECORD}/proof?size=99": "400 INVALID_PARAMETER size",
    "/checkpoint?size=99": "400 INVALID_PARAMETER size",
    **{
        f"/tlog/tile/{tile}": "404 NOT_FOUND"
        for tile in ("0/000", "0/000.p/9", "0/000.p/08", "0/001.p/1", "1/000", "4/000.p/1", "0/0")
    },
    "/tlog/tile/0/../0/000": "404 NOT_FOUND",
    "/tlog/tile/x": "404 NOT_FOUND",
    "/verify?size=99": "400 INVALID_PARAMETER size",
    "/verify?level=none": "400 INVALID_PARAMETER level",
    "/verify?fromSize=99": "400 INVALID_PARAMETER fromSize",
    "/verify?fromRootHash=AAAA": "400 INVALID_PARAMETER fromRootHash",
    "/verify?fromSize=1&fromRootHash=AAAA": "400 INVALID_PARAMETER fromRootHash",
    "/verify?fromSize=1&fromRootHash=zzz": "400 INVALID_PARAMETER fromRootHash",
}

ACT = {"kind": "claim", "predicate": None, "value": None, "target": "{claim}"}
NAME = {"kind": "designator", "predicate": None}
ENTRIES = [
    # what is changed in a claim, and what is then refused where
    ({"kind": "x"}, "400 VALIDATION_FAILED /kind"),
    ({"predicate": "no good"}, "400 VALIDATION_FAILED /predicate"),
    ({"subject": None}, "400 VALIDATION_FAILED /subject"),
    ({"subject": NO_SUBJECT}, "400 UNKNOWN_SUBJECT /subject"),
    ({"confidence": 101}, "400 VALIDATION_FAILED /confidence"),
    ({"surprise": 1}, "400 VALIDATION_FAILED /surprise"),
    ({"validFrom": "yesterday"}, "400 TIMESTAMP_INVALID /validFrom"),
    ({"validFrom": "2024-01-01 00:00:00Z"}, "400 TIMESTAMP_INVALID /validFrom"),
    ({"validFrom": "2024-01-01T00:00:00.1234567Z"}, "400 TIMESTAMP_PRECISION /validFrom"),
    ({"validFrom": "2016-12-31T23:59:60Z"}, "400 TIMESTAMP_LEAP_SECOND /validFrom"),
    (
        {"validFrom": "2024-01-01T00:00:00Z", "validTo": "2024-01-01T00:00:00Z"},
        "400 INTERVAL_EMPTY /validTo",
    ),
    ({"evidence": [f"obs_{ABSENT}"]}, "400 UNKNOWN_EVIDENCE /evidence"),
    ({"value": [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]}, "400 RECORD_TOO_LARGE /value" + "/0" * 15),
    ({"value": ["x" * 10_000] * 7}, "400 RECORD_TOO_LARGE (body)"),
    ({"op": "retract"}, "400 VALIDATION_FAILED /target"),
    ({**ACT, "op": "retract", "reason": "whim"}, "400 VALIDATION_FAILED /reason"),
    (
        {**ACT, "op": "retract", "reason": "other", "target": NO_CLAIM},
        "400 UNKNOWN_TARGET /target",
    ),
    ({**ACT, "op": "erase", "reason": "GDPR"}, "403 ERASURE_NOT_ALLOWED /op"),
    ({**ACT, "op": "verify", "state": "verified"}, "400 VALIDATION_FAILED /method"),
    ({**ACT, "op": "verify", "state": "unverified"}, "400 VALIDATION_FAILED /state"),
    ({**ACT, "op": "verify", "state": "refuted"}, "403 FOUR_EYES_REQUIRED /state"),
    ({"kind": "designator", "scheme": "lei"}, "400 VALIDATION_FAILED /predicate"),
    (
        {**NAME, "scheme": "lei", "value": "5493001KJTIIGC8Y1R13"},
        "400 DESIGNATOR_INVALID /value",
    ),
]

BODIES = {
    "[]": "400 VALIDATION_FAILED (body)",
    "{": "400 MALFORMED_JSON",
    '{"kind":"claim","kind":"claim"}': "400 DUPLICATE_JSON_MEMBER (body)",
    '{"kind":"claim","value":NaN}': "400 MALFORMED_JSON",
    '{"kind":"claim","value":9007199254740992}': "400 NUMBER_OUT_OF_RANGE /value",
    '{"kind":"claim","value":0.10000000000000000001}': "400 NUMBER_PRECISION /value",
    '{"kind":"claim","value":1e-400}': "400 NUMBER_PRECISION /value",
    '{"kind":"claim","value":"\\ud800"}': "400 INVALID_ENCODING /value",
}


def refusal_of(answer):
    """Status, code, and the place that the detail begins with."""
    problem = answer.json()
    place = re.match(r"([\w/]+|\(body\)): ", problem["detail"])
    return " ".join([str(answer.status_code), problem["code"], *(place.groups() if place else ())])


def test_a_question_that_cannot_be_answered_is_refused_by_its_parameter(town):
    subject = town.subject()
    values = {
        "subject": subject,
        "claim": town.claim(subject, {"city": "Zug"}),
        "cursor": town.get("/records?format=json&limit=1").json()["meta"]["page"]["nextCursor"],
    }
    assert {item: refusal_of(town.ask("GET", item.format(**values))) for item in READS} == READS
    answer = town.ask("GET", "/records?after=1&cursor={cursor}".format(**values)).json()
    assert answer["resolution"] == "Send after or cursor, not both."


def test_an_entry_is_refused_by_its_code_and_place_alone_and_in_a_batch(town):
    subject = town.subject()
    claim = town.claim(subject, {"city": "Zug"})
    good = {"kind": "claim", "subject": subject, "predicate": "motto", "value": "x"}
    for change, reason in ENTRIES:
        members = {**good, **change}
        body = {name: item for name, item in members.items() if item is not None}
        if body.get("target") == "{claim}":
            body["target"] = claim
        assert refusal_of(town.ask("POST", "/records", json=body)) == reason
        status, code, place = reason.split()
        second = f"{status} {code} /1{place.removeprefix('(body)')}"
        assert refusal_of(town.ask("POST", "/records", json=[good, body])) == second
    assert town.data("/verify")["size"] == 2


def test_a_body_that_could_not_be_written_again_is_refused(town):
    headers = {"Content-Type": "application/json"}
    bodies = [
        (body, refusal_of(town.ask("POST", "/records", content=body, headers=headers)))
        for body in BODIES
    ]
    assert dict(bodies) == BODIES
    entries = [{"kind": "subject", "type": "person", "label": "Jo"}] * 101
    assert refusal_of(town.ask("POST", "/records", json=entries)) == "400 VALIDATION_FAILED (body)"
    opening = {"type": "person", "label": ""}
    assert refusal_of(town.ask("POST", "/subjects", json=opening)) == "400 VALIDATION_FAILED /label"
    assert town.data("/verify")["size"] == 0
