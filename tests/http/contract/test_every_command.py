"""What holds for the command of every operation, asked of each; later ones come by themselves.

The command lines are made from the requests that `test_every_operation` sends, so that both say
the same thing in their own words. They are carried out by the operator of the service under test.
"""

import json
import re
from copy import deepcopy
from functools import cache, partial
from itertools import count
from shlex import join

import pytest

from svc_core import catalog
from svc_core.access import operations as accounts
from svc_core.access.people import CREDENTIALS, Credential, Passkey
from svc_core.access.person_sessions import Device, begin_session
from svc_core.access.plans import DEFAULT_PLANS
from svc_core.agent.threads import ThreadTurn, append_turn
from svc_core.contract import problem
from svc_core.contract.problem import Problem
from svc_core.contract.result import Bare, Page, PagedResource
from svc_core.intel.linking.references import id_of
from svc_core.operation import executor
from svc_core.operation.caller import Actor
from svc_core.operation.context import scan_values
from svc_core.operation.declaration import GEOJSON, Trait
from svc_core.operation.parsing import offers
from svc_core.wire import shapes
from svc_core.wire.constraints import Ge, Le, MaxLen, Pattern
from svc_core.wire.shapes import plain_type
from svc_http.run.cli import main, show
from svc_http.run.cli.command_derivation import commanded
from svc_http.run.cli.command_derivation import flags_of as derived_flags
from svc_http.run.control import channel
from svc_http.run.control import services as lends
from tests.http.conftest import MEMBERS_OF_A_PROBLEM
from tests.receipts import PAYMENT
from tests.themes import Theme

FEED = """<rss version="2.0"><channel><title>Piers</title><item><guid>1</guid>
<title>Crane falls at pier 7</title><link>https://news.example/1</link></item></channel></rss>"""
EVERY = (*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)
DELETION = next(operation for operation in EVERY if operation.id == "deleteWorkspace")
_numbers = count(1)


asking, answers, refusals, locality = (Theme(commanded(EVERY)) for _ in range(4))
"""What is promised of the command of an operation, by what it concerns."""


class Input:
    """A flag of a command, with the input that it gives."""

    def __init__(self, flag, item):
        self.flag, self.item = flag, item

    def __getattr__(self, name):
        return getattr(self.flag, name)


@cache
def flags_of(operation):
    return [Input(*pair) for pair in derived_flags(operation)]


def is_required(flag):
    return flag.is_asked


def id_flags(operation):
    """The flags that name a resource."""
    return [
        flag
        for flag in flags_of(operation)
        if flag.is_positional and re.search("Ids?$", flag.item.name)
    ]


SHARED = {collection.prefix for collection in catalog.COLLECTIONS if collection.scope == "global"}


def is_owned(operation):
    """Whether it names a resource of a tenant."""
    ids = [flag.item.id_of for flag in id_flags(operation) if flag.item.id_of]
    return operation.binding != "system" and any(SHARED.isdisjoint(id_.prefixes) for id_ in ids)


def is_page(operation):
    return any(kind is Page for kind, _ in operation.results)


# -- a service, and its operator at the command line -------------------------------------------


class Ran:
    def __init__(self, line, code, out, err):
        self.line, self.code, self.out, self.err = line, code, out, err

    @property
    def json(self):
        """The one JSON value on stdout."""
        return json.loads(self.out)

    @property
    def data(self):
        """It without what a page says of itself."""
        is_page = isinstance(self.json, dict) and "more" in self.json
        return self.json["data"] if is_page else self.json

    def __repr__(self):
        return f"{join(self.line)} -> {self.code}: {self.err or self.out[:500]}"


class Desk:
    """Runs command lines against a world, whose operator answers in place of a socket."""

    def __init__(self, world, capsys, monkeypatch, folder):
        self.world, self.capsys, self.folder = world, capsys, folder
        self.defects = []
        self.operator = lends.operator_of(world.app.runtime, self.defects.append)
        monkeypatch.setattr(channel, "ask_server", self._ask)
        monkeypatch.setattr(world, "step_seconds", 0.0)
        monkeypatch.setenv("COLUMNS", "300")

    def _ask(self, _path, request, tell, _take=None):
        answer = self.world.run(self.operator.answer(channel.line(request), tell))
        return channel.answer_result(json.loads(answer))

    def run(self, *words, json=True):
        line = [str(word) for word in words]
        code = main([*line, "--server", "unix:/here", *(["--json"] if json else [])])
        assert self.defects == []
        return Ran(line, code, *self.capsys.readouterr())

    def answer(self, operation, **parts):
        """What the operator answers to a request itself."""
        return self._ask(None, {"operation": operation.id, **parts}, lambda _: None)["body"]

    def line(self, operation, key="a"):
        """A command line that succeeds, as pairs of a flag and its words, and its request."""
        self.world.clock.forward(minutes=1)  # within the quota
        if operation.id == "keepWorkspace":
            self.answer(DELETION, body={"name": self._home()}, account=self.world.tenants["a"])
        if operation.local:
            flags = [flag for flag in flags_of(operation) if is_required(flag)]
            workspace_flags = [
                flag
                for flag in flags_of(operation)
                if flag.item.name in {"workspace", "handle"}
                or (flag.item.name == "user" and Trait.OPERATOR in flag.item.traits)
            ]
            flags += [flag for flag in id_flags(operation) + workspace_flags if flag not in flags]
            pairs = [(flag, words(flag, self._value(flag, key))) for flag in flags]
            if operation is DELETION:
                pairs = [(flag, [self._home()]) for flag, _ in pairs]
            return pairs, None
        ask = self.world.ask_of(operation, key)
        body = json.loads(ask.body) if ask.body else {}
        if body != (body := sayable(body, operation)):
            ask = ask.evolve(body=json.dumps(body).encode())
        path_match = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>.+)", operation.address), ask.path)
        fields = {name.lower(): value for name, value in ask.headers.items()}
        members = {"path": path_match.groupdict(), "query": dict(ask.query), "headers": fields}
        body = json.loads(ask.body) if ask.body else {}
        pairs = [
            (flag, words(flag, value))
            for flag in flags_of(operation)
            if (value := at(members.get(flag.item.place, body), flag.path)) is not None
        ]
        return pairs, ask

    def _value(self, flag, key):
        """A value of an input that only local operations have."""
        name, rows = flag.item.name, self.world.rows[key]
        makers = {
            "name": lambda: f"desk {next(_numbers)}",
            **dict.fromkeys(("workspace", "workspaceId"), lambda: self.world.tenants["pro"]),
            "credits": lambda: 1,
            "plan": lambda: "pro",
            "role": lambda: "admin",
            "userId": self._member,
            "keyId": self._key,
            "handle": lambda: f"person-{next(_numbers)}",
            "user": lambda: self._person().id,
            "passkeyId": lambda: self._person().passkeys[0].id,
            "sessionId": self._session,
            "invitationId": self._invitation,
            "id": lambda: PAYMENT.id,
            "locations": lambda: [self._feed()],
            "location": self._list_of_feeds,
            "sourceIds": lambda: [self._source()],
            "reason": lambda: "a request",
            "q": lambda: "crane",
            **dict.fromkeys(("entityId", "intoId", "otherId", "mergedId"), self._entity),
            "threadId": lambda: self._thread(self.world.tenants[key]),
            "recordId": lambda: rows["clm"][-1] if rows["clm"] else rows["sbj"][-1],
        }
        return makers[name]() if name in makers else self.world.id_for(flag.item.id_of, key)

    def _home(self):
        """The name of the workspace."""
        return self.run("workspace", "show", "--workspace", self.world.tenants["a"]).json["name"]

    def _thread(self, tenant):
        """A conversation of the owner of a workspace."""
        hands, id_ = self.world.hands, f"thr_{next(_numbers):024}"
        owner = self.world.run(
            hands.system(lambda ctx: accounts.operator_actor(ctx, tenant, None, is_personal=True))
        ).user_id
        turn = ThreadTurn(thread_id=id_, asked_at=self.world.clock(), question="Who?", text="Ann.")
        append = partial(append_turn, id_=id_.replace("thr", "msg"), turn=turn, owner_id=owner)
        self.world.run(hands.write(tenant, append))
        return id_

    def _feed(self):
        path = self.folder / f"{next(_numbers)}.xml"
        path.write_text(FEED)
        return str(path)

    def _list_of_feeds(self):
        path = self.folder / f"{next(_numbers)}.opml"
        url = f"https://feeds.example/{next(_numbers)}.xml"
        path.write_text(f'<opml version="2.0"><body><outline xmlUrl="{url}"/></body></opml>')
        return str(path)

    def _key(self):
        """A key of a person of its own: a workspace has only so many."""
        name = f"key {next(_numbers)}"
        return self.run("keys", "create", "--name", name, "--personal").json["id"]

    def _member(self):
        """A new member of the workspace that commands name."""
        line = ("users", "create", "--name", f"user {next(_numbers)}", "--workspace")
        return self.run(*line, self.world.tenants["pro"]).json["id"]

    def _person(self):
        """An owner who can sign in, another one where the last is gone or has no passkey."""
        hands, handle = self.world.hands, f"person-{next(_numbers)}"

        async def unit(ctx):
            rows = await scan_values(ctx, CREDENTIALS, limit=1)
            if rows and rows[0].passkeys:
                return rows[0]
            user = await accounts.create_user(ctx, name=handle, plans=DEFAULT_PLANS)
            await accounts.add_member(ctx, self.world.tenants["pro"], user.id, "owner")
            passkey = Passkey(f"pk_{handle}", "", 0, "phone", ctx.now)
            members = {"password": "-", "passkeys": (passkey,)}
            credential = Credential(id=user.id, handle=handle, created_at=ctx.now, **members)
            await ctx.save(CREDENTIALS, user.id, credential)
            return credential

        return self.world.run(hands.system(unit))

    def _session(self):
        person, device = self._person().id, Device("192.0.2.1", "Firefox on Linux")
        begin = partial(begin_session, user_id=person, device=device)
        return self.world.run(self.world.hands.system(begin)).session.id

    def _invitation(self):
        line = ("--workspace", self.world.tenants["pro"])
        self.run("members", "invite", *line)
        return self.run("members", "invitations", *line).data[-1]["id"]

    def _entity(self):
        """A person whom nobody told of before."""
        path = self.folder / f"{next(_numbers)}.ftm.jsonl"
        entity = {"id": path.stem, "schema": "Person", "properties": {"name": [path.name]}}
        path.write_text(json.dumps(entity))
        self.run("sources", "add", str(path))
        return id_of(f"ftm:{path.stem}")

    def _source(self):
        return self.run("sources", "add", self._feed()).json[0]["id"]


def at(value, path):
    for name in path:
        value = value.get(name) if isinstance(value, dict) else None
    return value


def sayable(body, operation):
    """A body without what no command line can say: what is empty, and what is off by itself."""
    body = deepcopy(body)
    for flag in flags_of(operation):
        if flag.kind is bool and flag.item.default is False and at(body, flag.path) is False:
            del at(body, flag.path[:-1])[flag.path[-1]]
    return {name: value for name, value in body.items() if value not in ([], {})}


def words(flag, value):
    """The words of a command line that give a flag this value."""
    items = value if isinstance(value, list) else [value]
    if flag.kind is bool:
        return [flag.name if value in (True, "true") else f"--no-{flag.name[2:]}"]
    texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
    return texts if flag.is_positional else [word for text in texts for word in (flag.name, text)]


def command(operation, pairs):
    return [operation.group, operation.verb, *(word for _, texts in pairs for word in texts)]


@pytest.fixture
def desk(command_world, capsys, monkeypatch, tmp_path):
    return Desk(command_world, capsys, monkeypatch, tmp_path)


def check_refusal(ran, *words):
    assert ran.code == 1, ran
    assert list(ran.json) == MEMBERS_OF_A_PROBLEM
    assert ran.err.startswith("svc: ")
    assert ran.err.count("\n") == 1
    for word in words:
        assert word in ran.err, ran


def belongs(operation, tenant):
    return [] if operation.binding == "system" else ["--workspace", tenant]


# -- what is asked for -------------------------------------------------------------------------


def test_the_help_of_everything_names_no_group_without_a_command(capsys):
    assert main(["--help"]) == 0
    commands = set(re.findall(r"^  ([a-z]+) ", capsys.readouterr().out, re.MULTILINE))
    silent = {operation.group for operation in catalog.OPERATIONS}
    silent -= {operation.group for operation in commanded(catalog.OPERATIONS)}
    assert silent
    assert commands
    assert not silent & commands


@asking.of()
def its_help_names_every_flag(operation, capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    assert main([operation.group, operation.verb, "--help"]) == 0
    page = capsys.readouterr().out
    assert operation.summary in page
    for name in [flag.name for flag in flags_of(operation)] + ["--json", "--server", "--db"]:
        assert re.search(rf"(?<![\w-]){name}(?![\w-])", page), name


@asking.of()
def what_is_required_is_asked_for_by_its_name(desk, operation):
    pairs, _ = desk.line(operation)
    for left_out in filter(is_required, flags_of(operation)):
        ran = desk.run(*command(operation, [p for p in pairs if p[0].name != left_out.name]))
        assert (ran.code, ran.out) == (2, ""), ran
        # Where the words after it have taken its place, the last one is missing.
        assert re.search(r"svc: [A-Z-]+ is missing" if left_out.is_positional else left_out.name,
                         ran.err), ran  # fmt: skip


# -- what is answered --------------------------------------------------------------------------


@answers.of(lambda op: not op.local and {m.media_type for m in op.media} & {"application/json"})
def it_answers_what_the_same_request_answers(desk, operation):
    pairs, ask = desk.line(operation)
    if operation.method == "DELETE":
        ran = desk.run(*command(operation, pairs))
        assert (ran.code, ran.json) == (0, {"id": pairs[0][1][0], "deleted": True})
        desk.world.forget(pairs[0][1][0])
        assert desk.world.send(ask).status_code == 404
        return
    ran = desk.run(*command(operation, pairs), *belongs(operation, desk.world.tenants["a"]))
    assert ran.code == 0, ran
    answer = desk.world.send(ask.having(accept="application/json"))
    body = answer.json()
    is_bare = any(kind is Bare for kind, _ in operation.results)
    assert ran.data == (body if is_bare else body.get("data", body))
    if operation.idempotency != "none":
        assert answer.headers["idempotency-replayed"] == "true"


@answers.of(lambda op: not op.local and len(op.media) + (op.media[0].format != "json") > 1)
def every_representation_is_printed_and_written(desk, operation, tmp_path):
    pairs, ask = desk.line(operation)
    line = [*command(operation, pairs), *belongs(operation, desk.world.tenants["a"])]
    for offer in offers(operation, {}):
        options = ["--format", offer.format] if len(offers(operation, {})) > 1 else []
        answer = desk.world.send(ask.having(accept=offer.media_type))
        out = tmp_path / f"out.{offer.format}"
        ran = desk.run(*line, *options, "--out", out)
        assert (ran.code, ran.json) == (0, {"file": str(out)}), ran
        human, machine = desk.run(*line, *options, json=False), desk.run(*line, *options)
        assert (human.code, machine.code) == (0, 0), machine
        if (
            offer == GEOJSON
        ):  # its links differ: the command names its limit, and cursors are sealed
            texts = (answer.text, out.read_text(), human.out)
            assert [json.loads(text)["features"] for text in texts] == [
                machine.json["features"]
            ] * 3
            continue
        if offer.media_type.partition(";")[0].endswith("+json"):
            assert machine.json == answer.json()
        if offer.format == "json":
            document, body = json.loads(out.read_text()), answer.json()
            rows = document.get("data", document) if isinstance(document, dict) else document
            assert rows == body.get("data", body)
        elif offer.format != "octets":
            assert out.read_bytes() == answer.content
            assert human.out.rstrip("\n") == answer.text.rstrip("\n")
        else:
            assert out.read_bytes() == answer.content


PAGE_PARTS = ("edges", "timeline", "links")


@answers.of(lambda op: not op.local and any(kind is PagedResource for kind, _ in op.results))
def a_limit_takes_so_many_rows_of_a_resource_in_pages(desk, operation):
    pairs, ask = desk.line(operation)
    line = [*command(operation, pairs), *belongs(operation, desk.world.tenants["a"])]
    whole = desk.world.send(ask.asking(("limit", "100"))).json()["data"]
    for limit in (1, 2, 1_000):
        ran = desk.run(*line, "--limit", limit)
        assert ran.code == 0, ran
        rows = [(name, row) for name in PAGE_PARTS for row in ran.data.get(name, ())]
        assert rows == [(name, row) for name in PAGE_PARTS for row in whole.get(name, ())][:limit]
        if "nodes" in whole:
            ends = {row[end] for _, row in rows for end in ("sourceId", "targetId")}
            assert {node["id"] for node in ran.data["nodes"]} == ends


@answers.of(lambda op: op.local)
def one_without_a_route_answers_one_value(desk, operation):
    pairs, _ = desk.line(operation)
    line = [*command(operation, pairs), *belongs(operation, desk.world.tenants["a"])]
    ran = desk.run(*line)
    assert ran.code == 0, ran
    if operation.unit.kind == "read":
        body = {flag.item.name: value[-1] for flag, value in pairs}
        account = None if operation.binding == "system" else desk.world.tenants["a"]
        response = desk.answer(operation, body=body, account=account)
        is_text = isinstance(response, str)
        assert (ran.json["text"] if is_text else ran.data) == (
            response if is_text else response["data"]
        )


@answers.of(lambda op: op.unit.kind == "read")
def people_are_shown_a_table_or_an_outline(desk, operation):
    pairs, _ = desk.line(operation)
    line = [*command(operation, pairs), *belongs(operation, desk.world.tenants["a"])]
    human = desk.run(*line, json=False)
    assert human.code == 0
    assert re.fullmatch(r"(There are more: add --limit \d+\n)?", human.err)
    assert human.out.endswith("\n")
    if is_page(operation) and operation.media[0].format == "json":
        rows = desk.run(*line).data
        assert operation.columns
        for column in operation.columns:
            # A profile of another workspace keeps some of its members to itself.
            assert not rows or any(column.partition(".")[0] in row for row in rows), column
        for row in rows[:5]:
            first = at(row, operation.columns[0].split("."))
            assert show._cell(first) in human.out


# -- what is refused ---------------------------------------------------------------------------


@refusals.of(id_flags)
def what_is_not_there_is_refused_and_changes_nothing(desk, operation):
    pairs, _ = desk.line(operation)
    first = id_flags(operation)[0]
    row_id = next(texts for flag, texts in pairs if flag.name == first.name)[0]
    unknown = re.sub("_.*", f"_{'0' * 24}", row_id)
    line = command(operation, [(f, [unknown] if f.name == first.name else w) for f, w in pairs])
    before = desk.world.storage.version
    ran = desk.run(*line, *belongs(operation, desk.world.tenants["a"]))
    check_refusal(ran)
    codes = {kind.code for kind in operation.fails if kind.status == 404} or {"NOT_FOUND"}
    assert ran.json["code"] in codes | {"NOT_FOUND"}
    assert ran.json["status"] == 404
    anywhere = desk.run(*line)
    check_refusal(anywhere)
    # Where only one workspace can tell, it has to be said which.
    assert anywhere.json["code"] == ran.json["code"] or "svc: --workspace: " in anywhere.err
    assert desk.world.storage.version == before


@refusals.of(is_owned)
def another_workspaces_is_as_good_as_none(desk, operation):
    pairs, _ = desk.line(operation)
    line = command(operation, pairs)
    before = desk.world.storage.version
    ran = desk.run(*line, "--workspace", desk.world.tenants["b"])
    check_refusal(ran)
    assert ran.json["code"] == "NOT_FOUND"
    assert desk.world.storage.version == before


def spoilt(flag):
    """Values that the bounds of an input refuse, as they are typed."""
    _, metadata = plain_type(flag.item.annotation)
    # A value of the path that cannot be is as good as one that is not there.
    if flag.kind in (str, int, float) and flag.item.place != "path":
        for bound in metadata:
            match bound:
                case MaxLen(most) if flag.kind is str:
                    yield "x" * (most + 1)
                case Pattern() if not re.fullmatch(bound.regex, "no such form"):
                    yield "no such form"
                case Ge(least):
                    yield least - 1
                case Le(most) if flag.path != ("limit",):
                    yield most + 1


@refusals.of()
def a_value_out_of_bounds_is_refused_by_the_name_that_was_typed(desk, operation):
    pairs, _ = desk.line(operation)
    before = desk.world.storage.version
    for flag in flags_of(operation):
        for value in spoilt(flag):
            rest = [pair for pair in pairs if pair[0].name != flag.name]
            place = [pair for pair in pairs if pair[0].name == flag.name]
            at_ = pairs.index(place[0]) if place else len(rest)
            rest.insert(at_, (flag, words(flag, str(value) if flag.kind is str else value)))
            ran = desk.run(*command(operation, rest), *belongs(operation, desk.world.tenants["a"]))
            check_refusal(ran, f"{flag.name}: ")
            assert f"/{flag.path[-1]}" not in ran.err
            assert not re.search(rf"(?<![\w-]){flag.item.name}: ", ran.err), ran
    assert desk.world.storage.version == before


@refusals.of(lambda op: any(shapes.is_literal(flag.kind) for flag in flags_of(op)))
def a_choice_is_one_of_those_that_are_shown(desk, operation):
    pairs, _ = desk.line(operation)
    for flag in flags_of(operation):
        if shapes.is_literal(flag.kind):
            rest = [pair for pair in pairs if pair[0].name != flag.name]
            ran = desk.run(*command(operation, rest), flag.name, "nonsense")
            assert (ran.code, ran.out, flag.name in ran.err) == (2, "", True), ran


@refusals.of(lambda op: op.binding == "workspace")
def what_a_workspace_has_no_person_has(desk, operation):
    pairs, _ = desk.line(operation)
    ran = desk.run(*command(operation, pairs), "--workspace", desk.world.tenants["personal"])
    check_refusal(ran)
    assert ran.json["code"] == "WORKSPACE_KEY_REQUIRED"


def test_a_stream_is_given_over_http_alone(desk):
    request = {"query": {"tail": "true"}, "account": desk.world.tenants["a"]}
    with pytest.raises(channel.OperationRefused, match="over HTTP alone"):
        desk.answer(desk.world.operation("listChanges"), **request)


# -- operations without a route ----------------------------------------------------------------


def test_what_is_local_is_local_everywhere(contract):
    operation_ids = {operation.id for operation in catalog.OPERATIONS}
    page_ids = {
        entry["operationId"]
        for path in contract.document["paths"].values()
        for entry in path.values()
    }
    assert page_ids == operation_ids
    for operation in EVERY:
        assert operation.local == (operation.id not in operation_ids)
        assert operation.local == ("operator" in operation.roles) == (not operation.path)
        assert operation.roles <= {"operator", "owner", "admin", "member", "person"}
        assert operation.group
    commands = [(op.group, op.verb) for op in commanded(EVERY)]
    assert len(set(commands)) == len(commands)
    assert len({op.id for op in EVERY}) == len(EVERY)


@locality.of(lambda op: op.local, role=["operator", "owner", "admin", "member", "none"])
def it_is_refused_to_a_role_that_it_does_not_name(operation, role):
    actor = Actor("wsp_1", roles=frozenset({role}))
    if role in operation.roles:
        executor.check_role(operation, actor)
        return
    with pytest.raises(Problem) as check_refusal:
        executor.check_role(operation, actor)
    assert check_refusal.value.type is problem.FORBIDDEN


@locality.of(lambda op: op.local)
def no_route_leads_to_it(desk, operation):
    for path in (f"/api/v1/{operation.id}", f"/api/v2/{operation.group}/{operation.verb}"):
        answer = desk.world.get(path)
        assert answer.status_code in {404, 405}
        assert answer.json()["code"] in {
            problem.ROUTE_NOT_FOUND.code,
            problem.METHOD_NOT_ALLOWED.code,
            problem.NOT_FOUND.code,
            problem.INVALID_PARAMETER.code,
        }


# -- one test for a command and a theme --------------------------------------------------------


@asking.rows
def test_its_help_and_its_usage_name_what_it_takes(request, operation):
    asking.keep(request)


@answers.rows
def test_it_gives_what_the_operation_answers(request, operation):
    answers.keep(request)


@refusals.rows
def test_what_is_refused_is_told_by_name_and_changes_nothing(request, operation):
    refusals.keep(request)


@locality.rows
def test_what_is_local_has_no_route_and_only_its_roles(request, operation):
    locality.keep(request)
