"""A conversation with the ledger that was had once, and goes the same way over every store.

Identifiers, hashes and what else is drawn or derived stand in it by the order of their appearance.
"""

import json
import re
from pathlib import Path
from urllib.parse import quote

KEPT = Path(__file__).parents[2] / "data" / "ledger" / "conversation.txt"
DRAWN = re.compile(
    r"\b(?P<kind>sbj|dsg|obs|clm|led|key|usr|wsp)_[0-9a-f]{24}"
    r"|(?<=cursor=)[\w-]+|(?<=nextCursor\": \")[\w-]+|(?<=salt\": \")[\w-]+|(?<=salt\":\")[\w-]+"
    r"|(?<=etag: \")[\w-]{24}(?=\")|(?<=fromRootHash=)[\w%]{40,}"
    r"|\b[0-9a-f]{16,64}\b|[A-Za-z0-9+/]{43,}={0,2}"
)
SHOWN = ("etag", "location", "link", "x-svc-ledger-size", "x-svc-ledger-root", "x-svc-ledger-vkey")
ABSENT = "0" * 24
SOURCE = {
    "url": "https://news.example/a/1",
    "publisher": "Pier Gazette",
    "retrievedAt": "2026-01-04T20:00:00+01:00",
    "contentSha256": "36" * 32,
}


class Conversation:
    """Asks, and writes down what was asked and answered."""

    def __init__(self, town):
        self.town, self.names, self.said = town, {}, []

    def named(self, text):
        def name(found):
            kind = found["kind"] or "drawn"
            known = self.names.setdefault(kind, {})
            return f"<{kind} {known.setdefault(found[0], len(known) + 1)}>"

        return DRAWN.sub(name, text)

    def ask(self, method, path, key=None, **rest):
        answer = self.town.ask(method, path, key, **rest)
        sent = json.dumps(rest, ensure_ascii=False) if rest else ""
        self.said.append(f"{method} {path} {sent}")
        self.said.append(f"  {answer.status_code} {answer.headers.get('content-type')}")
        shown = [(name, answer.headers[name]) for name in SHOWN if name in answer.headers]
        self.said += [f"  {name}: {value}" for name, value in shown]
        self.said += [f"  {line}" for line in self.body(answer)]
        return answer

    def body(self, answer):
        kind = answer.headers.get("content-type", "")
        if kind.startswith("application/problem"):
            return [f"{answer.json()['code']}: {answer.json()['detail']}"]
        if kind == "application/json":
            parts = answer.json()
            links = {
                "next": parts.get("links", {}).get("next"),
                **parts.get("meta", {}).get("page", {}),
            }
            return [json.dumps(parts["data"], ensure_ascii=False), json.dumps(links)]
        if kind.startswith("application/stix"):
            return [" ".join(each["type"] for each in answer.json()["objects"])]
        if kind.startswith("image/svg"):
            return re.findall("<title.*?</title>", answer.text)[:1]
        if kind == "application/octet-stream":
            return [f"{len(answer.content)} bytes"]
        return answer.text.splitlines()

    def add(self, body, key=None, path="/records"):
        answer = self.ask("POST", path, key, json=body)
        return answer.json().get("data")

    def text(self):
        return self.named("\n".join(self.said)) + "\n"


def had(town):
    """The conversation: opening, stating, judging, being refused, reading, proving, verifying."""
    talk = Conversation(town)
    empty = ("/subjects", "/records", "/verify", "/checkpoint", f"/subjects/sbj_{ABSENT}")
    for path in empty:
        talk.ask("GET", path)
    opened = {"type": "organization", "label": "Pier 7 AG", "description": "A firm."}
    subject = talk.add(opened, path="/subjects")["id"]
    other = talk.add({"type": "person", "label": "Ann"}, town.bob, "/subjects")["id"]
    talk.add({"type": "person", "label": ""}, path="/subjects")
    about = {"kind": "claim", "subject": subject}
    seat = {**about, "predicate": "headquarters", "value": {"city": "Zug"}}
    town.house.clock.forward(days=1)
    claim = talk.add({**seat, "validFrom": "2024-01-01T00:00:00+01:00", "confidence": 70})["id"]
    observed = {"observedAt": "2026-01-04T18:30:00Z", "text": "It is seen.", "source": SOURCE}
    seen = talk.add({"kind": "observation", "subject": subject, **observed})["id"]
    lei = {"kind": "designator", "scheme": "lei", "value": "5493 001k jtii gc8y 1r12"}
    talk.add({**lei, "subject": subject})
    talk.add({**lei, "subject": other})
    batch = [
        {**seat, "value": {"city": "Bern"}, "validTo": "2030-01-01T00:00:00Z", "evidence": [seen]},
        {**about, "predicate": "owner", "value": {"subject": other}},
    ]
    bern, _ = talk.add(batch)
    target = {**about, "target": claim}
    verify = {**target, "op": "verify"}
    retract = {**target, "op": "retract", "reason": "incorrect"}
    nobody = {**seat, "subject": f"sbj_{ABSENT}"}
    refused = [
        {**seat, "kind": "x"},
        {**seat, "predicate": "no good"},
        {**seat, "value": "Zug"},
        {**seat, "validFrom": "yesterday"},
        {**seat, "validFrom": "2024-01-01T00:00:00Z", "validTo": "2023-01-01T00:00:00Z"},
        {**seat, "evidence": [f"obs_{ABSENT}"]},
        nobody,
        [seat, nobody],
        [seat, {**seat, "validFrom": "x"}],
        [],
        [seat] * 101,
        {**verify, "state": "verified"},
        {**verify, "state": "verified", "method": "call"},
        {**verify, "state": "unverified"},
        {**retract, "target": f"clm_{ABSENT}"},
        {**retract, "reason": "whim"},
        {**target, "op": "erase", "reason": "GDPR"},
        {**lei, "subject": subject, "value": "1"},
    ]
    for body in refused:
        talk.add(body)
    talk.ask("POST", "/records", json=seat, headers={"If-Match": '"1-0000000000000000"'})
    talk.ask("POST", "/records", json=seat, headers={"If-Match": "*"})
    talk.ask("POST", "/records", content="{", headers={"Content-Type": "application/json"})
    talk.add({**verify, "state": "verified", "method": "call", "note": "Twice."}, town.bob)
    talk.add({**verify, "state": "corroborated", "evidence": [seen]}, town.bob)
    talk.add(
        {
            **target,
            "op": "amend",
            "predicate": "headquarters",
            "value": {"city": "Chur"},
            "validFrom": "2027-01-01T00:00:00Z",
        }
    )
    talk.add({**retract, "target": bern["id"], "validFrom": "2028-01-01T00:00:00Z"}, town.bob)
    talk.add({**retract, "target": bern["id"]})
    talk.add({**retract, "target": bern["id"], "reason": "other"})
    read(talk, subject, other, claim)
    return talk.text()


def read(talk, subject, other, claim):
    """Everything that can be asked of what was appended."""
    town = talk.town
    at = "validTime=2026-06-01T00:00:00Z"
    early = "recordTime=2026-03-04T23:00:00Z"
    for query in (
        at,
        f"{at}&{early}",
        f"{at}&size=4",
        f"{at}&size=0",
        f"{at}&include=history,segments",
        "validTime=x",
        "recordTime=1",
        f"{at}&size=99",
        f"{at}&include=all",
        f"{at}&size=-1",
    ):
        talk.ask("GET", f"/subjects/{subject}?{query}")
        if "include" not in query:
            talk.ask("GET", f"/subjects/{subject}?format=svg&{query}")
            talk.ask("GET", f"/subjects/{subject}/stix?{query}")
    talk.ask("GET", f"/subjects/{subject}/stix?{at}&tlp=red")
    talk.ask("GET", f"/subjects/{subject}/stix?{at}&tlp=blue")
    for path in (
        f"/subjects/{other}?{at}",
        f"/subjects/sbj_{ABSENT}?{at}",
        "/subjects/nobody",
        "/subjects?limit=1",
        "/subjects?designator=lei:5493001KJTIIGC8Y1R12",
        "/subjects?designator=lei:1",
        "/subjects?designator=x:1",
        "/subjects?cursor=x",
        "/records?limit=3",
        "/records?limit=2&format=json",
        "/records?after=6&size=8",
        "/records?size=99",
        "/records?after=1&cursor=x",
        f"/records/{claim}",
        f"/records/clm_{ABSENT}",
        f"/records/{claim}/proof",
        f"/records/{claim}/proof?size=4",
        f"/records/{claim}/proof?size=1",
        f"/records/{claim}/proof?size=99",
        f"/records/clm_{ABSENT}/proof",
        "/checkpoint",
        "/checkpoint?size=3",
        "/checkpoint?size=99",
        "/tlog/checkpoint",
        "/tlog/tile/0/000.p/8",
        "/tlog/tile/entries/000.p/2",
        "/tlog/tile/0/000",
        "/tlog/tile/0/001.p/1",
        "/tlog/tile/x",
        "/verify",
        "/verify?size=3",
        "/verify?size=99",
        "/verify?level=integrity",
        "/verify?fromSize=3",
        "/verify?fromSize=99",
        "/verify?fromRootHash=AAAA",
        "/verify?fromSize=3&fromRootHash=AAAA",
        f"/verify?fromSize=3&fromRootHash={quote('A' * 43 + '=', safe='')}",
    ):
        talk.ask("GET", path)
    first = town.data("/verify?size=3")
    root = quote(first["rootHash"], safe="")
    talk.ask("GET", f"/verify?fromSize=3&fromRootHash={root}")
    talk.ask("GET", f"/verify?fromSize=3&fromRootHash={root}&level=integrity&size=5")
    for path in ("/subjects?limit=1", "/records?limit=5&size=7", "/records?format=json&limit=5"):
        link = town.get(path).headers["link"]
        talk.ask("GET", link[1 : link.index(">")].partition("/api/v2/ledger")[2])


def test_a_conversation_goes_as_it_went_whatever_the_store(town, tmp_path):
    made = had(town)
    new = tmp_path / KEPT.name
    new.write_text(made, "utf-8")
    is_same = KEPT.exists() and KEPT.read_text("utf-8") == made
    assert is_same, f"it changed; if that is wanted: cp {new} {KEPT}"
