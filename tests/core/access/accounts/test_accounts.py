"""Workspaces, people and keys: who may, what is kept, what a change does at once."""

from datetime import timedelta
from typing import Any

import pytest
from attrs import evolve

from svc_core import wire
from svc_core.access import keys as rules
from svc_core.access import operations as accounts
from svc_core.access.model import KEYS, MEMBERS, USERS, WORKSPACES, Membership
from svc_core.access.operations import add_member
from svc_core.operation.context import ROWS_AT_ONCE
from svc_core.operation.ports import Transaction

UNKNOWN_USER = "usr_" + "0" * 24


# -- workspaces and people ---------------------------------------------------------------------


def test_a_new_workspace_has_an_owner_of_its_own(office: Any) -> None:
    workspace = office.workspace()
    (owner,) = office.run(accounts.list_users)
    assert office.run(accounts.list_workspaces) == (workspace,)
    assert owner.name == "acme owner"
    assert office.key(workspace_id=workspace.id).key.user_id == owner.id


def test_a_workspace_may_be_given_to_somebody_who_is_there(office: Any) -> None:
    ann = office.user()
    workspace = office.workspace(owner=ann.id)
    assert office.run(accounts.list_users) == (ann,)
    assert office.key(workspace_id=workspace.id).key.user_id == ann.id


def test_a_workspace_for_nobody_leaves_nothing_behind(office: Any) -> None:
    assert office.refusal_to(lambda: office.workspace(owner=UNKNOWN_USER))[0] == "NOT_FOUND"
    assert office.run(accounts.list_workspaces) == ()


@pytest.mark.parametrize("name", ["", "x" * 121, "two\nlines", "\x00"])
def test_names_are_printable_and_neither_empty_nor_long(office: Any, name: str) -> None:
    for make in (office.workspace, office.user):
        code, detail = office.refusal_to(lambda make=make: make(name=name))
        assert (code, detail[:6]) == ("VALIDATION_FAILED", "/name:")


def test_an_id_is_no_name_of_a_workspace_and_means_the_one_that_has_it(office: Any) -> None:
    home = office.workspace()
    code, _ = office.refusal_to(lambda: office.workspace(name=home.id))
    assert code == "VALIDATION_FAILED"
    namesake = evolve(office.workspace("other"), name=home.id)  # of before
    office.run(lambda ctx: ctx.save(WORKSPACES, namesake.id, namesake))
    assert office.run(lambda ctx: accounts.find_workspace(ctx, home.id)) == home


def test_a_name_as_long_as_allowed_still_names_an_owner(office: Any) -> None:
    office.workspace(name="x" * 120)
    (owner,) = office.run(accounts.list_users)
    assert owner.name == "x" * 120


def test_an_unknown_plan_is_refused_with_the_known_ones(office: Any) -> None:
    workspace = office.workspace()
    refusals = {
        office.refusal_to(lambda: office.workspace(plan="gold")),
        office.refusal_to(lambda: office.user(plan="gold")),
        office.refusal_of(lambda ctx: accounts.set_plan(ctx, workspace.id, "gold", office.plans)),
    }
    assert refusals == {("VALIDATION_FAILED", "/plan: must be one of: free, lite, pro, elite")}


def test_an_email_address_belongs_to_one_person(office: Any) -> None:
    office.user(email="ann@example.org")
    office.user(name="Ann too")
    second = office.refusal_to(lambda: office.user(name="Bob", email="ann@example.org"))
    assert second[0] == "RESOURCE_CONFLICT"
    assert office.user(name="Bob", email="bob@example.org").email == "bob@example.org"


@pytest.mark.parametrize(
    "email", ["", "ann", "@example.org", "ann@", "a@b\n", "a" * 250 + "@b.org"]
)
def test_what_cannot_be_an_email_address_is_refused(office: Any, email: str) -> None:
    code, detail = office.refusal_to(lambda: office.user(email=email))
    assert (code, detail[:7]) == ("VALIDATION_FAILED", "/email:")


def test_lists_have_the_newest_first(office: Any) -> None:
    first = office.workspace(name="first")
    office.clock.advance(1)
    second = office.workspace(name="second")
    assert office.run(accounts.list_workspaces) == (second, first)
    assert [row.name for row in office.run(accounts.list_users)] == ["second owner", "first owner"]


def test_a_member_of_an_unknown_workspace_is_refused(office: Any) -> None:
    code, _ = office.refusal_of(
        lambda ctx: add_member(ctx, "wsp_" + "0" * 24, UNKNOWN_USER, "admin")
    )
    assert code == "NOT_FOUND"


# -- who may make keys -------------------------------------------------------------------------


def test_a_key_is_bound_to_its_workspace_and_its_secret_is_kept_nowhere(office: Any) -> None:
    home = office.workspace()
    issue = office.key(workspace_id=home.id)
    assert issue.key.workspace_id == home.id
    assert issue.key.tenant == home.id
    assert rules.digest(issue.secret) == issue.key.digest_hex
    assert issue.secret not in repr(issue)

    async def raw(tx: Transaction) -> bytes:
        rows = await tx.documents.get(KEYS, issue.key.id)
        assert rows is not None
        return rows.raw

    row_ = office.run(lambda ctx: raw(ctx.tx))
    assert issue.secret.encode() not in row_
    assert issue.secret[12:].encode() not in row_


def test_a_workspace_that_lost_its_owner_takes_no_new_keys(office: Any) -> None:
    ann = office.user()
    home = office.workspace(owner=ann.id)
    office.run(lambda ctx: add_member(ctx, home.id, ann.id, "member"))
    assert office.refusal_to(lambda: office.key(workspace_id=home.id))[0] == "FORBIDDEN"


def test_a_personal_key_needs_a_person(office: Any) -> None:
    for members, code in (
        ({}, "VALIDATION_FAILED"),
        ({"user_id": UNKNOWN_USER}, "NOT_FOUND"),
        ({"workspace_id": "wsp_" + "0" * 24}, "NOT_FOUND"),
    ):
        assert office.refusal_to(lambda members=members: office.key(**members))[0] == code


def test_the_number_of_active_keys_follows_the_plan(office: Any) -> None:
    home = office.workspace(plan="pro")
    keys_ = [office.key(workspace_id=home.id, name=f"key {n}") for n in range(5)]
    refusal = office.refusal_to(lambda: office.key(workspace_id=home.id, name="one too many"))
    assert refusal == ("RESOURCE_CONFLICT", "The pro plan allows 5 active keys.")
    office.run(lambda ctx: accounts.revoke_key(ctx, keys_[0].key.id))
    assert office.key(workspace_id=home.id, name="in its place").key.status == "active"


def test_keys_of_another_account_neither_count_nor_clash(office: Any) -> None:
    first, second = office.workspace(name="one"), office.workspace(name="other")
    for home in (first, second):
        for n in range(5):
            office.key(workspace_id=home.id, name=f"key {n}")
    assert len(office.run(lambda ctx: accounts.list_keys(ctx, first.id))) == 5
    assert len(office.run(accounts.list_keys)) == 10


# -- the life of a key -------------------------------------------------------------------------


def test_the_gate_finds_a_key_by_its_whole_digest_with_the_plan_of_now(office: Any) -> None:
    home = office.workspace(plan="elite")
    issue = office.key(workspace_id=home.id)
    assert office.admission_of(issue.key.digest_hex).plan.name == "elite"
    office.run(lambda ctx: accounts.set_plan(ctx, home.id, "lite", office.plans))
    admission = office.admission_of(issue.key.digest_hex)
    assert admission.plan.name == "lite"
    assert rules.state(admission.key, admission.plan, office.clock.now()) == "plan-ineligible"
    assert office.admission_of("0" * 64) is None


def test_a_personal_key_follows_its_persons_plan(office: Any) -> None:
    ann = office.user(plan="pro")
    issue = office.key(user_id=ann.id)
    assert issue.key.workspace_id is None
    assert issue.key.tenant == ann.id
    assert office.admission_of(issue.key.digest_hex).plan.name == "pro"


@pytest.mark.parametrize("owner", [{"workspace_id": "wsp_" + "0" * 24}, {"workspace_id": None}])
def test_a_key_whose_account_is_gone_is_under_the_free_plan(
    office: Any, owner: dict[str, Any]
) -> None:
    home = office.workspace()
    issue = office.key(workspace_id=home.id)
    orphan = evolve(issue.key, user_id=UNKNOWN_USER, **owner)
    office.run(lambda ctx: ctx.save(KEYS, orphan.id, orphan))
    assert office.admission_of(issue.key.digest_hex).plan.name == "free"


def test_revoking_is_safe_to_repeat_and_writes_once(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    first = office.run(lambda ctx: accounts.revoke_key(ctx, issue.key.id))
    version = office.store.version
    office.clock.advance(60)
    assert office.run(lambda ctx: accounts.revoke_key(ctx, issue.key.id)) == first
    assert office.store.version == version
    assert (first.status, first.revoked_at) == (
        "inactive",
        office.clock.now() - timedelta(minutes=1),
    )


def grandfather(key_id: str) -> Any:
    """The use case, for keys made before a day far ahead."""
    return lambda ctx: accounts.grandfather_key(ctx, key_id)


def test_grandfathering_is_safe_to_repeat_and_writes_once(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    key_ = office.run(grandfather(issue.key.id))
    assert key_ == evolve(issue.key, grandfathered=True)
    version = office.store.version
    assert office.run(grandfather(issue.key.id)) == key_
    assert office.store.version == version


def test_a_move_to_lite_grants_nothing_and_leaves_every_key_to_be_managed(office: Any) -> None:
    home = office.workspace(plan="pro")
    keys_ = [office.key(workspace_id=home.id, name=f"key {n}").key for n in range(3)]
    office.run(lambda ctx: accounts.set_plan(ctx, home.id, "lite", office.plans))
    rows_ = office.run(lambda ctx: accounts.list_keys(ctx, home.id))
    assert {key.id: key for key in rows_} == {key.id: key for key in keys_}  # as they were
    for key in keys_:
        admission = office.admission_of(key.digest_hex)
        assert rules.state(admission.key, admission.plan, office.clock.now()) == "plan-ineligible"
    new_issue = office.run(lambda ctx: accounts.regenerate_key(ctx, keys_[0].id)).key
    assert (
        rules.state(new_issue, office.plans.plan("lite"), office.clock.now()) == "plan-ineligible"
    )
    office.run(lambda ctx: accounts.revoke_key(ctx, keys_[1].id))
    office.run(lambda ctx: accounts.delete_key(ctx, keys_[2].id))
    refusal = office.refusal_to(lambda: office.key(workspace_id=home.id))
    assert refusal[0] == "PLAN_INELIGIBLE"


def test_two_keys_of_an_account_are_grandfathered_and_another_account_has_its_own(
    office: Any,
) -> None:
    home, second = office.workspace(), office.workspace(name="other")
    keys = [office.key(workspace_id=home.id, name=f"key {n}").key for n in range(3)]
    for key in keys[:2]:
        office.run(grandfather(key.id))
    office.run(lambda ctx: accounts.revoke_key(ctx, keys[0].id))
    code, detail = office.refusal_of(grandfather(keys[2].id))
    assert (code, "2 keys" in detail) == ("RESOURCE_CONFLICT", True)
    foreign = office.key(workspace_id=second.id).key
    assert office.run(grandfather(foreign.id)).grandfathered
    office.run(lambda ctx: accounts.delete_key(ctx, keys[0].id))
    assert office.run(grandfather(keys[2].id)).grandfathered


def test_a_key_made_on_the_day_or_after_is_not_grandfathered(office: Any) -> None:
    day = office.clock.now() + timedelta(seconds=5)
    office.host = evolve(office.host, lite_keys_before=day)
    home = office.workspace()
    old = office.key(workspace_id=home.id, name="old").key
    office.clock.advance(5)
    young = office.key(workspace_id=home.id, name="young").key
    assert office.run(grandfather(old.id)).grandfathered
    version = office.store.version
    assert office.refusal_of(grandfather(young.id))[0] == "RESOURCE_CONFLICT"
    assert office.store.version == version


def update(key_id: str, **members: Any) -> Any:
    return lambda ctx: accounts.update_key(ctx, key_id, members)


def test_a_changed_key_keeps_its_secret_and_what_changes_nothing_writes_nothing(
    office: Any,
) -> None:
    home = office.workspace()
    issue = office.key(workspace_id=home.id)
    origins = ("https://a.example",)
    after = office.run(update(issue.key.id, name="new", allowed_origins=origins))
    assert after == evolve(issue.key, name="new", allowed_origins=origins)
    assert office.admission_of(issue.key.digest_hex).key == after
    version = office.store.version
    assert office.run(update(issue.key.id, name="new")) == after
    assert office.store.version == version
    assert office.refusal_of(update("key_" + "0" * 24, name="x"))[0] == "NOT_FOUND"


def test_a_name_is_free_in_another_account_and_taken_in_the_same(office: Any) -> None:
    home, other = office.workspace(), office.workspace(name="other")
    first, second = (office.key(workspace_id=home.id, name=name).key for name in ("a", "b"))
    office.key(workspace_id=other.id, name="c")
    assert office.refusal_of(update(second.id, name="a"))[0] == "RESOURCE_CONFLICT"
    assert office.run(update(second.id, name="c")).name == "c"
    office.run(lambda ctx: accounts.revoke_key(ctx, first.id))
    assert office.refusal_of(update(second.id, name="a"))[0] == "RESOURCE_CONFLICT"


def test_a_key_of_an_account_that_is_gone_may_still_be_renamed(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    orphan = evolve(issue.key, workspace_id="wsp_" + "0" * 24)
    office.run(lambda ctx: ctx.save(KEYS, orphan.id, orphan))
    assert office.run(update(orphan.id, name="lost")).name == "lost"


def test_a_row_of_before_has_no_origins(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    members = wire.to_json(issue.key)
    del members["allowedOrigins"]
    assert wire.from_json(rules.ApiKey, members) == issue.key


@pytest.mark.parametrize("is_revoked", [False, True])
def test_regenerating_kills_the_old_secret_at_once_in_any_state(
    office: Any, is_revoked: bool
) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    if is_revoked:
        office.run(lambda ctx: accounts.revoke_key(ctx, issue.key.id))
    new_issue = office.run(lambda ctx: accounts.regenerate_key(ctx, issue.key.id))
    assert office.admission_of(issue.key.digest_hex) is None
    assert office.admission_of(rules.digest(new_issue.secret)).key == new_issue.key
    assert (new_issue.key.id, new_issue.key.status) == (issue.key.id, "active")
    assert office.run(lambda ctx: accounts.show_key(ctx, issue.key.id)) == new_issue.key


def test_a_deleted_key_is_gone_for_good(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    assert office.run(lambda ctx: accounts.delete_key(ctx, issue.key.id)) == issue.key
    assert office.admission_of(issue.key.digest_hex) is None
    for usecase in (
        accounts.show_key,
        accounts.revoke_key,
        accounts.regenerate_key,
        accounts.delete_key,
    ):
        code, _ = office.refusal_of(lambda ctx, usecase=usecase: usecase(ctx, issue.key.id))
        assert code == "NOT_FOUND"
    assert office.refusal_of(grandfather(issue.key.id))[0] == "NOT_FOUND"
    code, _ = office.refusal_of(lambda ctx: ctx.remove(KEYS, issue.key.id))
    assert code == "NOT_FOUND"


# -- when keys were last used ------------------------------------------------------------------


def test_a_use_is_kept_and_never_put_back(office: Any) -> None:
    workspace = office.key(workspace_id=office.workspace().id).key
    for seconds, kept_seconds, count in ((60, 60, 1), (30, 60, 0), (60, 60, 0), (61, 61, 1)):
        uses = {workspace.id: workspace.issued_at + timedelta(seconds=seconds)}
        version = office.store.version
        assert office.run(lambda ctx, uses=uses: accounts.note_use(ctx, uses)) == count
        assert office.store.version == version + count
        row = office.run(lambda ctx: accounts.show_key(ctx, workspace.id))
        assert row == evolve(
            workspace, last_used_at=workspace.issued_at + timedelta(seconds=kept_seconds)
        )


def test_a_key_may_be_used_at_the_instant_it_is_made(office: Any) -> None:
    workspace = office.key(workspace_id=office.workspace().id).key
    assert office.run(lambda ctx: accounts.note_use(ctx, {workspace.id: workspace.issued_at})) == 1


def test_a_use_of_the_old_secret_is_not_one_of_the_new(office: Any) -> None:
    workspace = office.key(workspace_id=office.workspace().id).key
    office.run(lambda ctx: accounts.note_use(ctx, {workspace.id: office.clock.now()}))
    late = office.clock.now()
    office.clock.advance(60)
    new_issue = office.run(lambda ctx: accounts.regenerate_key(ctx, workspace.id)).key
    assert new_issue.last_used_at is None
    assert office.run(lambda ctx: accounts.note_use(ctx, {workspace.id: late})) == 0
    assert office.run(lambda ctx: accounts.show_key(ctx, workspace.id)) == new_issue


def test_a_deleted_key_stays_deleted_and_the_others_are_noted(office: Any) -> None:
    home = office.workspace().id
    gone_id, stays = (office.key(workspace_id=home, name=name).key for name in ("gone", "stays"))
    office.run(lambda ctx: accounts.delete_key(ctx, gone_id.id))
    now = office.clock.now()
    assert office.run(lambda ctx: accounts.note_use(ctx, {gone_id.id: now, stays.id: now})) == 1
    assert office.run(accounts.list_keys) == (evolve(stays, last_used_at=now),)


def test_a_use_leaves_the_power_of_a_key_as_it_is(office: Any) -> None:
    workspace = office.key(workspace_id=office.workspace().id).key
    revoked_key = office.run(lambda ctx: accounts.revoke_key(ctx, workspace.id))
    now = office.clock.now()
    office.run(lambda ctx: accounts.note_use(ctx, {workspace.id: now}))
    row = office.run(lambda ctx: accounts.show_key(ctx, workspace.id))
    assert row == evolve(revoked_key, last_used_at=now)


def test_nothing_about_accounts_enters_the_change_feed(office: Any) -> None:
    issue = office.key(workspace_id=office.workspace().id)
    office.run(lambda ctx: accounts.note_use(ctx, {issue.key.id: office.clock.now()}))
    office.run(lambda ctx: accounts.delete_key(ctx, issue.key.id))
    head = office.run(lambda ctx: ctx.tx.changes.head())
    assert (head.everybody, head.own) == (0, 0)


# -- many of them ------------------------------------------------------------------------------


def test_no_list_ends_before_its_last_row(office: Any) -> None:
    """Whoever is left out of a list is taken for missing: an owner, a name, a kept key."""
    oldest = office.workspace("oldest")
    owner = office.run(accounts.list_users)[0]
    first = office.key(workspace_id=oldest.id, name="first").key

    async def crowd(ctx: Any) -> None:
        for number in range(ROWS_AT_ONCE):
            at = ctx.now + timedelta(seconds=number + 1)
            home = evolve(oldest, id=ctx.ids.new("wsp"), created_at=at)
            person = evolve(owner, id=ctx.ids.new("usr"), created_at=at)
            key = evolve(
                first,
                id=ctx.ids.new("key"),
                name=f"key {number}",
                digest_hex=f"{number:064x}",
                created_at=at,
            )
            member = Membership(oldest.id, person.id, "member", at)
            await ctx.create(WORKSPACES, home.id, home)
            await ctx.create(USERS, person.id, person)
            await ctx.create(KEYS, key.id, key)
            await ctx.create(MEMBERS, member.id, member)

    office.run(crowd)
    for rows_, last in (
        (accounts.list_workspaces, oldest),
        (accounts.list_users, owner),
        (accounts.list_keys, first),
        (lambda ctx: accounts.list_keys(ctx, oldest.id), first),
    ):
        rows = office.run(rows_)
        assert len(rows) == ROWS_AT_ONCE + 1
        assert rows[-1] == last
        assert len({row.id for row in rows}) == len(rows)
    # The owner is the member who came first, and the first key's name is still taken.
    task = office.wish(workspace_id=oldest.id, name="first")
    refusal = office.refusal_of(lambda ctx: accounts.create_key(ctx, task, plans=office.plans))
    assert refusal == ("RESOURCE_CONFLICT", "/name: another key has this name")


def test_an_author_is_a_key_or_a_member_of_the_workspace_that_is_acted_in(office: Any) -> None:
    home, second = office.workspace("acme"), office.workspace("rival")
    own_id, foreign_id = (office.key(workspace_id=row.id).key for row in (home, second))
    stranger = office.user()

    def acting(account: str, author: str | None) -> Any:
        return lambda ctx: accounts.operator_actor(ctx, account, author)

    assert office.run(acting(home.id, None)).key_id is None
    assert office.run(acting(home.id, own_id.id)).key_id == own_id.id
    assert office.run(acting(home.id, own_id.user_id)).user_id == own_id.user_id
    assert office.run(acting(stranger.id, stranger.id)).tenant == stranger.id
    for author in (foreign_id.id, stranger.id, UNKNOWN_USER):
        assert office.refusal_of(acting(home.id, author))[0] == "NOT_FOUND"


def test_what_is_one_persons_is_done_for_the_owner_unless_an_author_is_named(office: Any) -> None:
    home, stranger = office.workspace("acme"), office.user()
    owner = office.key(workspace_id=home.id).key.user_id

    def acting(account: str, author: str | None = None) -> Any:
        return lambda ctx: accounts.operator_actor(ctx, account, author, is_personal=True)

    assert office.run(acting(home.id)).user_id == owner
    assert office.run(acting(stranger.id)).user_id == stranger.id
    office.run(lambda ctx: accounts.add_member(ctx, home.id, stranger.id, "member"))
    assert office.run(acting(home.id, stranger.id)).user_id == stranger.id


def test_a_name_is_that_of_a_member_or_of_a_person_alone(office: Any) -> None:
    home, person = office.workspace("acme"), office.user()

    def identity(tenant: str) -> Any:
        return lambda ctx: accounts.person_actor(ctx, tenant, person.id)

    assert office.refusal_of(identity(home.id))[0] == "FORBIDDEN"
    office.run(lambda ctx: accounts.add_member(ctx, home.id, person.id, "member"))
    actor = office.run(identity(home.id))
    assert (actor.tenant, actor.workspace_id, actor.user_id) == (home.id, home.id, person.id)
    alone = office.run(identity(person.id))
    assert (alone.tenant, alone.workspace_id, alone.user_id) == (person.id, None, person.id)
