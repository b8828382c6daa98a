"""A request to the secondary data origin is answered there: nothing leads a key anywhere else.

Derived from the catalogue: every operation of v1 is walked, whatever is added later.
"""

import json
import re
from base64 import b64decode

import attrs
import pytest

from svc_core import catalog
from svc_core.automations.model import RUNS, RunOutput, RunSource
from svc_core.contract import problem
from svc_core.contract.result import Accepted, Created
from svc_core.operation.declaration import Trait
from svc_core.operation.inputs import inputs_of
from svc_core.operation.parsing import request_shape

ORIGIN = "https://api.example.org"
DATA = "https://data.example.org"
HOST = DATA.removeprefix("https://")

V1 = [op for op in catalog.OPERATIONS if op.version == "1.0"]
LISTS = [op for op in V1 if any(item.name == "limit" for item in inputs_of(op.request))]
CHROME = re.compile(rf'href="{ORIGIN}/(?:docs(?:/deprecations)?|problems)?"')
"""The head and foot of a page for people lead to the pages of the service, which carry no key."""


def each_operation(operations):
    return pytest.mark.parametrize("operation", operations, ids=[op.id for op in operations])


@pytest.fixture(scope="module")
def world(contract_world):
    """A world with two origins."""
    return contract_world(data_url=DATA)


async def cite(ctx):
    """Have every run cite what it answers from."""
    sources = (
        RunSource(1, "rpt_1", "v1", f"{ORIGIN}/api/v1/reports/rpt_1"),
        RunSource(2, "inc_1", "v2", f"{ORIGIN}/api/v2/incidents/inc_1"),
        RunSource(3, "x", "nowhere", None),
        RunSource(4, "y", "another", "https://elsewhere.example/api/v2/y"),
    )
    for row in (await ctx.tx.documents.scan(RUNS, limit=100)).rows:
        run = attrs.evolve(RUNS.decode(row.raw), output=RunOutput("Done.", sources))
        await ctx.save(RUNS, run.id, run)


def at_data_origin(ask):
    return ask.having(host=HOST)


def addresses(answer):
    """Every place of an answer that names the public origin, but those that may."""
    fields = {name: value for name, value in answer.headers.items() if ORIGIN in value}
    if 'rel="deprecation"' in fields.get("link", ""):
        links = [link for link in fields["link"].split(", ") if "deprecation" not in link]
        fields["link"] = ", ".join(links)
    urls = re.findall(f'{ORIGIN}[^\\s"<>]*', CHROME.sub("", answer.text))
    return [*(value for value in fields.values() if ORIGIN in value), *urls]


@each_operation(V1)
def test_no_answer_of_the_data_origin_leads_to_the_public_one(world, operation):
    ask = at_data_origin(world.ask_of(operation))
    parameters = {item.name for item in inputs_of(operation.request) if item.place == "query"}
    asks = [ask.having(accept=offer.media_type) for offer in operation.media]
    if "limit" in parameters:
        asks = [asking for base in asks for asking in (base, base.asking(("limit", "1")))]
    if operation.id == "getReport":
        asks += [ask.asking(("include", "content,sources,signals,graph,audio"))]
    if "redirect" in parameters:
        asks.append(ask.asking(("redirect", "true")))
    asks += [ask.asking((name, "0")) for name in request_shape(operation).traits[Trait.DEPRECATED]]
    for request in asks:
        answer = world.send(request)
        assert answer.status_code < 400, answer.text
        assert addresses(answer) == []


@each_operation(LISTS)
def test_a_list_goes_on_at_the_origin_where_it_began(world, operation):
    """Whoever was answered before: what is kept to be given again is kept by origin."""
    ask = world.ask_of(operation).asking(("limit", "1"))
    for origin in (ORIGIN, DATA, ORIGIN, DATA):
        answer = world.send(ask if origin == ORIGIN else at_data_origin(ask))
        following = answer.json()["links"]["next"]
        if following is not None:
            assert following.startswith(f"{origin}/api/v1/")
            assert f'<{following}>; rel="next"' in answer.headers["link"]


def test_the_lists_of_this_world_have_a_second_page(world):
    asks = [at_data_origin(world.ask_of(op)).asking(("limit", "1")) for op in LISTS]
    lists = [world.send(ask).json()["links"]["next"] for ask in asks]
    assert len([rows for rows in lists if rows]) > len(lists) / 2


@each_operation([op for op in V1 if {Created, Accepted} & {kind for kind, _ in op.results}])
def test_a_creation_tells_its_place_at_the_origin_that_asks(world, operation):
    for first, second in ((ORIGIN, DATA), (DATA, ORIGIN)):
        ask = world.ask_of(operation)
        asks = {ORIGIN: ask, DATA: at_data_origin(ask)}
        creation, again = world.send(asks[first]), world.send(asks[second])
        assert creation.headers["location"].startswith(f"{first}/api/v1/")
        if operation.idempotency == "none":
            continue
        assert again.headers["idempotency-replayed"] == "true"
        assert again.headers["location"].startswith(f"{second}/api/v1/")
        place = creation.headers["location"].removeprefix(first)
        assert again.headers["location"].removeprefix(second) == place
        assert world.get(place).status_code == 200


def test_what_a_run_cites_is_linked_where_it_can_be_read(world):
    for id_ in ("listAutomationRuns", "getAutomationRun"):
        ask = world.ask_of(world.operation(id_))
        world.run(world.hands.write(world.tenants["a"], cite))
        urls = []
        for request in (ask, at_data_origin(ask)):
            data = world.send(request).json()["data"]
            run = data[0] if isinstance(data, list) else data
            urls.append([source["url"] for source in run["output"]["sources"]])
        elsewhere = "https://elsewhere.example/api/v2/y"
        assert urls == [
            [f"{ORIGIN}/api/v1/reports/rpt_1", f"{ORIGIN}/api/v2/incidents/inc_1", None, elsewhere],
            [f"{DATA}/api/v1/reports/rpt_1", None, None, elsewhere],
        ]


def test_an_answer_cites_what_can_be_read_where_it_was_asked(world):
    """Of the two questions one is answered from reports, the other from an incident (v2)."""
    usual, answer = "", ""
    for question in ("Port strikes?", "What is Quake 0 near Esmeraldas?"):
        body = {"messages": [{"role": "user", "parts": [{"type": "text", "text": question}]}]}
        ask = world.ask_of(world.operation("streamChat")).evolve(body=json.dumps(body).encode())
        usual += world.send(ask).text
        answer += world.send(at_data_origin(ask)).text
    assert f"{ORIGIN}/api/v2/" in usual
    assert f"{DATA}/api/v1/" in answer
    assert "/api/v2/" not in answer
    assert ORIGIN not in answer


@each_operation([op for op in V1 if op.auth == "bearer-or-x402"])
def test_the_resource_that_is_sold_keeps_its_one_name(world, operation):
    answer = world.send(at_data_origin(world.ask_of(operation)), None)
    demand = json.loads(b64decode(answer.headers["payment-required"]))
    assert answer.json()["type"].startswith(f"{ORIGIN}/problems/")
    assert demand["resource"]["url"].startswith(f"{ORIGIN}{operation.address.partition('{')[0]}")


def test_nothing_but_v1_media_and_health_is_served_there(world, ask, check_problem):
    paths = {re.sub("[{][^}]*[}]", "x", route.path) for route in world.app.router.routes}
    paths_there = {
        p for p in paths if re.match("/api/v1$|/api/v1/|/media/|/livez$|/readyz$|/dashboard", p)
    }
    assert {"/livez", "/readyz", "/openapi.json", "/mcp", "/metrics", "/docs", "/"} <= paths
    for path in paths - paths_there | {"/api/v2", "/api/v1x", "/mediax", "/livez/", "/healthz"}:
        for accept in ("*/*", "text/html"):
            check_problem(world.get(path, host=HOST, accept=accept), problem.ROUTE_NOT_FOUND)
    for path in ("/livez", "/readyz"):
        assert world.get(path, host=HOST).status_code == 200
    assert world.get("/openapi.json", host="other.example.org").status_code == 200


@pytest.mark.parametrize(
    ("host", "is_there"),
    [
        (HOST, True),
        (HOST.upper(), True),
        (f"{HOST}:443", True),
        (f"{HOST}:0443", True),
        (f"{HOST}:", True),
        (f"{HOST}:80", False),
        (f"{HOST}:8443", False),
        (f"{HOST}.", False),
        (f"x.{HOST}", False),
        (f"{HOST}.evil.example", False),
        ("d%61ta.example.org", False),
        ("", False),
        ("evil.example", False),
        (ORIGIN.removeprefix("https://"), False),
    ],
)
def test_the_host_is_compared_whole(world, host, is_there):
    answer = world.get("/api/v1/news?limit=1", host=host)
    own = DATA if is_there else ORIGIN
    assert answer.json()["links"]["next"].startswith(f"{own}/api/v1/")


@pytest.mark.parametrize("name", ["x-forwarded-host", "x-original-host", "x-host"])
def test_no_other_field_names_the_host(world, name):
    answer = world.get("/api/v1/news?limit=1", **{name: HOST})
    assert answer.json()["links"]["next"].startswith(ORIGIN)
    by_field = world.get("/api/v1/news?limit=1", forwarded=f"host={HOST}")
    assert by_field.json()["links"]["next"].startswith(ORIGIN)


@pytest.mark.parametrize("data_url", [None, ORIGIN])
def test_without_a_second_origin_no_host_changes_anything(make_world, data_url):
    world = make_world(data_url=data_url, is_sown=False)
    assert world.get("/openapi.json", host=HOST).status_code == 200
    document = world.get("/openapi.json").json()
    assert [server["url"] for server in document["servers"]] == [f"{ORIGIN}/api/v1"]
