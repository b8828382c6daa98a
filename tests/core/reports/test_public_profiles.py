"""Public profiles: their reports are everybody's, and nothing private ever is (D19's promise)."""

import json
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any

import attrs
import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.access.model import WORKSPACES, Workspace
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.base import drive
from svc_core.catalog import COLLECTIONS
from svc_core.contract.problem import Problem
from svc_core.operation.caller import Actor
from svc_core.operation.ports import SYSTEM
from svc_core.reports import publications
from svc_core.reports import speech_tasks as speaking
from svc_core.reports.audio import Recording
from svc_core.reports.profiles import followers as following
from svc_core.reports.profiles.followers import GRACE
from svc_core.reports.profiles.model import PROFILES, PUBLICATIONS, Publication
from svc_core.reports.profiles.operations import ProfileRequest, delete_profile
from svc_core.reports.publications import ChosenProfile, publish_profile, unpublish_profile
from svc_http.service.service_units import Service
from svc_http.service.workers.subscribers import inform_subscribers
from tests import knowledge
from tests.core.conftest import House
from tests.sampling import examples

ANN, BOB, CYD = "wsp_a", "wsp_b", "wsp_c"
STRANGER = SYSTEM
"""Who pays per request has no workspace."""

FACETS = {
    "getReport": ("", "view=agent", "format=markdown", "include=content,sources,signals,graph"),
    "getReportSignals": ("",),
    "getReportGraph": ("",),
    "getReportText": ("", "format=text"),
    "getReportAudio": ("",),
    "getReportAudioText": ("",),
}
"""Every way to read one report."""


class Town(House):
    """A house in which several workspaces have profiles with reports."""

    def __init__(self) -> None:
        super().__init__()
        for id_ in (ANN, BOB, CYD, "wsp_d"):
            self.plan(id_, "elite")
        self.reports: dict[str, tuple[str, str]] = {}
        """Tenant and profile of every report."""

    def units(self, usecase: Callable[..., Any], tenant: str) -> Any:
        """Run a local operation of several units."""
        return drive.run(usecase(self.hands.context(Actor(tenant))))

    def plan(self, tenant: str, name: str) -> None:
        """Have a workspace on a plan."""
        row = Workspace(tenant, tenant, name, self.clock.now())
        self.run(lambda ctx: ctx.save(WORKSPACES, tenant, row))

    def publish(self, profile_id: str, tenant: str) -> Any:
        answer = self.units(lambda ctx: publish_profile(ctx, ChosenProfile(profile_id)), tenant)
        return json.loads(answer.raw)

    def unpublish(self, profile_id: str, tenant: str) -> Any:
        answer = self.units(lambda ctx: unpublish_profile(ctx, ChosenProfile(profile_id)), tenant)
        return json.loads(answer.raw)

    def report(self, tenant: str, profile_id: str, *, audio: bool = False) -> str:
        """A report with signals, words that are its own, and audio where it is `audio`."""
        number = len(self.reports) + 1
        days = number % 3  # so that several are of one instant
        row, facets = knowledge.make_report(
            number, f"Secret{number} strike", f"Walkout {number}.",
            signals=2, profile=profile_id, days=days,
        )  # fmt: skip
        self.run(lambda ctx: knowledge.put(ctx, row, facets), tenant)
        self.run(lambda ctx: following.note_news(ctx, row.id, 1), tenant)
        if audio:
            self.run(lambda ctx: speak(ctx, row.id), tenant)
        self.reports[row.id] = (tenant, profile_id)
        return row.id

    def subscribe(self, profile_id: str, tenant: str, **members: Any) -> Any:
        """A subscription of a workspace."""
        body = {"profileId": profile_id, **members}
        return json.loads(self.send("createSubscription", tenant=tenant, body=body).body)["data"]

    def tell(self) -> None:
        """Have the workers tell whoever is to be told."""
        drive.run(inform_subscribers(self.service, _reraise))

    @property
    def service(self) -> Service:
        """What workers are given."""
        surroundings = (self.store, self.ids, self.clock.now, self.keyring, self.host)
        return Service(*surroundings, plans=DEFAULT_PLANS)

    def listed_ids(self, tenant: str, query: str = "", limit: int = 1) -> list[str]:
        """The reports that a walk through the whole list shows."""
        ids: list[str] = []
        cursor = ""
        while True:
            params = "&".join(filter(None, (query, f"limit={limit}", cursor)))
            reply = json.loads(self.send("listReports", tenant=tenant, query=params).body)
            ids += [row["id"] for row in reply["data"]]
            after = reply["meta"]["page"]["nextCursor"]
            if after is None:
                return ids
            cursor = f"cursor={after}"


def _reraise(failure: BaseException) -> None:
    raise failure


async def speak(ctx: Any, report_id: str) -> None:
    sha256 = "ab" * 32
    recording = Recording(f"{sha256}.mp3", "audio/mpeg", 1_000, sha256, 12.5)
    await speaking.attach_audio(
        ctx, await speaking.speech_task(ctx, report_id), recording, "a voice"
    )


@pytest.fixture
def town() -> Town:
    return Town()


# -- the tables --------------------------------------------------------------------------------


@pytest.mark.parametrize("reader", [STRANGER, BOB])
@pytest.mark.parametrize(
    ("operation", "query"), [(id_, query) for id_, queries in FACETS.items() for query in queries]
)
def test_a_report_is_everybodys_exactly_while_its_profile_is_public(
    town: Town, reader: str, operation: str, query: str
) -> None:
    profile = town.profile(ANN)["id"]
    path = {"reportId": town.report(ANN, profile, audio=True)}
    request: Any = {"path": path, "query": query}

    missing = town.refusal(operation, tenant=reader, path={"reportId": f"rpt_{0:024x}"})
    refusal = town.refusal(operation, tenant=reader, **request)
    assert (refusal.type, refusal.detail) == (missing.type, missing.detail)

    town.publish(profile, ANN)
    own = town.send(operation, tenant=ANN, **request)
    reply = town.send(operation, tenant=reader, **request)
    assert (reply.status, reply.body) == (200, own.body)

    town.unpublish(profile, ANN)
    assert town.refusal(operation, tenant=reader, **request).detail == missing.detail
    assert town.send(operation, tenant=ANN, **request).status == 200


def test_publishing_shows_in_the_profile_and_in_its_owners_feed_alone(town: Town) -> None:
    profile = town.profile(ANN)
    assert profile["visibility"] == "private"
    town.clock.advance(1)
    body = town.publish(profile["id"], ANN)
    assert (body["id"], body["visibility"]) == (profile["id"], "public")
    assert town.publish(profile["id"], ANN) == body  # again changes nothing
    path = {"profileId": profile["id"]}
    view = json.loads(town.send("getProfile", path=path).body)["data"]
    assert {name: view[name] for name in body} == body
    (row,) = town.rows("listProfiles")
    assert row["visibility"] == "public"
    changes = [row for row in town.changes(ANN) if row["changeType"] == "updated"]
    assert [row["changedFields"] for row in changes] == [["visibility"]]
    for stranger in (BOB, STRANGER):
        assert town.changes(stranger) == []
        assert town.refusal("getProfile", tenant=stranger, path=path).type.status == 404


def test_only_the_operator_says_who_reads_it(town: Town) -> None:
    profile = town.profile(ANN)["id"]
    path = {"profileId": profile}
    for method, body in (
        ("updateProfile", {"visibility": "public"}),
        (
            "replaceProfile",
            {"name": "P", "topic": "Ports", "frequency": "manual", "visibility": "public"},
        ),
    ):
        refusal = town.refusal(method, path=path, body=body)
        assert refusal.type.code == "VALIDATION_FAILED"
    writing = [operation for operation in publications.LOCAL_OPERATIONS if operation.verb]
    assert {item.roles for item in writing} == {frozenset({"operator"})}
    town.publish(profile, ANN)
    body = {"name": "Other", "topic": "Ports", "frequency": "manual"}
    town.send("replaceProfile", path=path, body=body)
    assert json.loads(town.send("getProfile", path=path).body)["data"]["visibility"] == "public"


def test_a_profile_of_before_says_that_it_is_private(town: Town) -> None:
    profile = town.profile(ANN)
    old = {name: value for name, value in profile.items() if name != "visibility"}
    rows = town.store._state.rows[PROFILES.name, ANN]
    row = rows.rows[profile["id"]]
    document = row.document._replace(raw=json.dumps(old).encode())
    rows.set(profile["id"], attrs.evolve(row, document=document))
    reply = town.send("getProfile", path={"profileId": profile["id"]})
    assert json.loads(reply.body)["data"] == profile


def test_a_missing_profile_is_not_published(town: Town) -> None:
    second = town.profile(ANN)["id"]
    for act in (town.publish, town.unpublish):
        with pytest.raises(Problem) as failure:
            act(second, BOB)
        assert failure.value.type.status == 404
    assert town.run(lambda ctx: ctx.tx.documents.scan(PUBLICATIONS, limit=1)).rows == ()


def test_there_are_so_many_public_profiles_and_no_more(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publications, "PUBLIC_MAX", 2)
    first, second, third = [town.profile(ANN)["id"] for _ in range(3)]
    for item in (first, second, second):
        town.publish(item, ANN)
    with pytest.raises(Problem) as failure:
        town.publish(third, ANN)
    assert failure.value.type.code == "RESOURCE_CONFLICT"
    assert "2 public profiles" in str(failure.value.detail)
    # One that was deleted leaves a line in the directory, and no longer takes a place.
    town.run(lambda ctx: delete_profile(ctx, ProfileRequest(first)), ANN)
    town.publish(third, ANN)
    page = town.run(lambda ctx: ctx.tx.documents.scan(PUBLICATIONS, limit=9)).rows
    assert {row.id for row in page} == {second, third}


def test_so_many_workspaces_have_public_profiles_and_no_more(
    town: Town, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(publications, "PUBLISHERS_MAX", 2)
    for owner in (ANN, BOB, ANN):
        town.publish(town.profile(owner)["id"], owner)
    with pytest.raises(Problem) as failure:
        town.publish(town.profile(CYD)["id"], CYD)
    assert failure.value.type.code == "RESOURCE_CONFLICT"
    assert "2 workspaces" in str(failure.value.detail)


def test_the_directory_alone_shows_nothing(town: Town) -> None:
    profile = town.profile(ANN)["id"]
    report = town.report(ANN, profile)
    line = Publication(profile, ANN, town.clock.now())
    town.run(lambda ctx: ctx.save(PUBLICATIONS, profile, line))
    assert town.refusal("getReport", tenant=BOB, path={"reportId": report}).type.status == 404
    assert town.listed_ids(STRANGER) == []
    body = {"profileId": profile}
    assert town.refusal("createSubscription", tenant=BOB, body=body).type.status == 404
    assert town.rows("listProfiles", "visibility=public", BOB) == []


def test_cursors_are_of_one_list(town: Town) -> None:
    public, private = town.profile(ANN)["id"], town.profile(BOB)["id"]
    for _ in range(2):
        town.report(ANN, public)
        town.report(BOB, private)
    town.publish(public, ANN)

    def cursor(tenant: str, query: str = "") -> str:
        reply = town.send("listReports", tenant=tenant, query=f"limit=1{query}")
        return f"&cursor={json.loads(reply.body)['meta']['page']['nextCursor']}"

    town.subscribe(public, BOB)
    lists = [
        (STRANGER, ""), (STRANGER, f"&profileId={public}"), (BOB, ""),
        (BOB, f"&profileId={public}"), (BOB, f"&profileId={private}"), (ANN, ""),
        (ANN, f"&profileId={public}"),
    ]  # fmt: skip
    for collection in lists:
        for path in lists:
            query = f"limit=1{collection[1]}{cursor(*path)}"
            if collection == path:
                town.send("listReports", tenant=collection[0], query=query)
            else:
                refusal = town.refusal("listReports", tenant=collection[0], query=query)
                assert refusal.type.code == "INVALID_CURSOR"


# -- the law -----------------------------------------------------------------------------------

_ACTS = st.lists(
    st.tuples(
        st.sampled_from(
            ["subscribe", "publish", "report", "unpublish", "delete", "end", "tell"]
            + ["subscribe", "publish", "report"] * 2
        ),
        st.sampled_from([0, 0, 1, 2, 3, 4]),
        st.sampled_from(["wsp_d", CYD, BOB]),
    ),
    max_size=40,
)


@examples(60)
@given(_ACTS)
def test_a_private_report_shows_to_no_stranger_by_any_way(
    acts: list[tuple[str, int, str]],
) -> None:
    town = Town()
    subscriptions: dict[tuple[str, str], str] = {}
    changes: dict[str, list[str]] = defaultdict(list)
    owners = [ANN, ANN, BOB, BOB, CYD]
    profiles = [str(town.profile(owner)["id"]) for owner in owners]
    public: set[str] = set()
    alive = set(profiles)
    for act, index, reader in acts:
        profile, owner = profiles[index], owners[index]
        town.clock.advance(1)
        if profile not in alive:
            continue
        if act == "report":
            report_id = town.report(owner, profile, audio=index % 2 == 0)
            for tenant, at in subscriptions:
                if at == profile:
                    changes[tenant].append(report_id)
        elif act == "tell":
            town.tell()
        elif act == "subscribe":
            if owner != reader and profile in public and (reader, profile) not in subscriptions:
                subscriptions[reader, profile] = town.subscribe(profile, reader)["id"]
            else:
                body = {"profileId": profile}
                refusal = town.refusal("createSubscription", tenant=reader, body=body)
                is_known = owner == reader or (reader, profile) in subscriptions
                assert refusal.type.status == (409 if is_known else 404)
        elif act == "end":
            if id_ := subscriptions.pop((reader, profile), None):
                town.tell()
                town.send("deleteSubscription", tenant=reader, path={"subscriptionId": id_})
        elif act == "delete":
            town.tell()  # what nobody was told of yet goes with its profile
            town.run(lambda ctx, id_=profile: delete_profile(ctx, ProfileRequest(id_)), owner)
            alive.discard(profile)
        else:
            town.tell()
            getattr(town, act)(profile, owner)
            (public.add if act == "publish" else public.discard)(profile)
        if act in {"delete", "unpublish"}:
            town.tell()
            for pair in [pair for pair in subscriptions if pair[1] == profile]:
                del subscriptions[pair]
    town.clock.advance(GRACE.total_seconds() + 1)
    town.tell()
    for reader in (ANN, BOB, CYD, "wsp_d", STRANGER):
        _sees_its_own_and_public_ones(town, reader, alive, public)
        at = {profile for tenant, profile in subscriptions if tenant == reader}
        _sees_what_it_subscribes_to(town, reader, public & alive if reader == STRANGER else at)
        creations = [row for row in town.changes(reader) if row["changeType"] == "created"]
        ids = [row["resourceId"] for row in creations if row["resourceType"] == "report"]
        own = [id_ for id_, (tenant, _) in town.reports.items() if tenant == reader]
        assert sorted({*ids} - {*own}) == sorted(changes[reader])


def _sees_what_it_subscribes_to(town: Town, reader: str, profiles: set[str]) -> None:
    own = {id_ for id_, (tenant, _) in town.reports.items() if tenant == reader}
    shared = {id_ for id_, (_, at) in town.reports.items() if at in profiles}
    ids = town.listed_ids(reader)
    assert set(ids) - own == shared - own
    assert len(ids) == len(set(ids))
    assert ids == town.listed_ids(reader, limit=100)


def _sees_its_own_and_public_ones(
    town: Town, reader: str, alive: set[str], public: set[str]
) -> None:
    own = {id_ for id_, (tenant, at) in town.reports.items() if tenant == reader and at in alive}
    shared = {id_ for id_, (_, at) in town.reports.items() if at in public & alive}
    for id_ in town.reports:
        for operation in FACETS:
            try:
                town.send(operation, tenant=reader, path={"reportId": id_})
                is_shown = True
            except Problem as refusal:
                is_shown = refusal.type.code == "AUDIO_NOT_AVAILABLE"
            assert is_shown == (id_ in own | shared), (operation, id_)
    ids = town.listed_ids(reader)
    assert own <= set(ids) <= own | shared
    for profile in {at for _, at in town.reports.values()}:
        of_it = {id_ for id_, (_, at) in town.reports.items() if at == profile}
        assert set(town.listed_ids(reader, f"profileId={profile}")) == of_it & set(ids)
    strangers = set(town.reports) - own
    if reader != STRANGER:  # retrieval is for keys alone
        deletion = town.units(
            lambda ctx: knowledge.retrieve_knowledge(
                attrs.evolve(ctx, actor=Actor(reader)),
                knowledge.RetrieveKnowledge(knowledge.KnowledgeQuery("strike walkout", limit=50)),
            ),
            reader,
        )
        text = b"".join(deletion.rows).decode()
        assert not any(id_ in text for id_ in strangers - shared)
        if 3 * len(own | shared) <= 50:  # each with its two signals
            assert all(id_ in text for id_ in own | shared)


def test_what_is_another_tenants_is_asked_for_in_one_place() -> None:
    core = Path(publications.__file__).parent
    asking = [path for path in core.rglob("*.py") if ".beside(" in path.read_text("utf-8")]
    assert [
        path.relative_to(core).as_posix() for path in asking if "testing" not in path.parts
    ] == ["publications.py"]


def test_the_feed_of_who_pays_has_nothing_of_the_systems_own() -> None:
    """Who pays reads as nobody, whose own feed would be the system's."""
    assert all(
        collection.kind is None for collection in COLLECTIONS if collection.scope == "system"
    )
