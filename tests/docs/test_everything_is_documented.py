"""Nothing that people meet is missing from the documents, and no link leads nowhere."""

import asyncio
import re
from datetime import timedelta
from pathlib import Path
from types import ModuleType

import pytest

from svc_core import catalog
from svc_core.access import keys, lockout
from svc_core.base import seals
from svc_core.contract import idempotency
from svc_core.contract.problem import CATALOGUE
from svc_core.intel.intake import registry
from svc_core.operation import ports
from svc_core.text.topics import TOPIC_IDS
from svc_http.pages.service_documents import Pages
from svc_http.run.cli.command_derivation import commanded
from svc_http.service import secret
from svc_http.service.runtime.application import build
from svc_http.service.runtime.runtime_state import Runtime
from svc_http.service.workers import source_pulls as ingest
from svc_http.settings import MEMBERS, MEMORY, Settings
from svc_http.stores import MemoryStorage
from svc_http.stores.sqlite import _threads as threads

LINK = re.compile(r"(?<!!)\[[^\]]+\]\(([^)\s]+)\)")
CODE = re.compile(r"^```.*?^```$|`[^`\n]*`", re.DOTALL | re.MULTILINE)
WORDS_OF_THE_SPEC = """
    change record, collection, cursor, envelope, epoch, etag, evidence, facet, idempotency-key,
    incident anchor, key, lockout, news item, operation, plan, problem, profile, report, scope,
    signal, source, source health, story, subscription, tier, tombstone, topic, watermark,
    workspace
"""


def test_generated_pages_are_what_the_code_says(generator: ModuleType) -> None:
    stale = [
        name
        for name, text in generator.pages().items()
        if (generator.DOCS / name).read_text("utf-8") != text
    ]

    assert stale == [], "run: python docs/_generate.py"


def test_every_operation_has_its_section(documents: dict[str, str]) -> None:
    page = documents["docs/reference/operations.md"]

    for operation in catalog.OPERATIONS:
        assert f"`{operation.method} {operation.address}` (`{operation.id}`)" in page
    for operation in catalog.LOCAL_OPERATIONS:
        assert f"| `{operation.id}` |" in page


def test_every_problem_has_its_section(documents: dict[str, str]) -> None:
    page = documents["docs/reference/problems.md"]

    for kind in CATALOGUE.values():
        assert f'<a id="{kind.slug}"></a>' in page
        assert f"## {kind.code}\n" in page


def test_every_setting_has_its_row(documents: dict[str, str]) -> None:
    page = documents["docs/reference/settings.md"]

    for name in MEMBERS:
        assert f"| `{name}` | `SVC_{name.upper()}` |" in page


def test_the_command_of_every_operation_has_its_section(documents: dict[str, str]) -> None:
    page = documents["docs/reference/commands.md"]

    for operation in commanded((*catalog.OPERATIONS, *catalog.LOCAL_OPERATIONS)):
        name = f"{operation.group} {operation.verb}"
        assert re.search(rf"^#+ svc {name}$", page, re.MULTILINE), name


def test_every_collection_and_port_has_its_place(documents: dict[str, str]) -> None:
    page = documents["docs/reference/storage.md"]
    protocols = [n for n, port in vars(ports).items() if getattr(port, "_is_protocol", False)]

    assert {"Storage", "Transaction", "Documents", "Changes", "Ids"} <= set(protocols)
    for name in {*protocols} - {"Protocol"}:
        assert f"### {name}\n" in page
    for collection in catalog.COLLECTIONS:
        assert f"| `{collection.name}` |" in page


def test_every_setting_that_the_guide_names_exists(documents: dict[str, str]) -> None:
    names = re.findall(r"\bSVC_([A-Z_]+)\b", documents["docs/running.md"])
    secrets = {
        f"{name.upper()}_FILE" for name, setting in MEMBERS.items() if setting.metadata["secret"]
    }
    variables = {*(name.upper() for name in MEMBERS), *secrets, "CONFIG", "SERVER"}

    assert set(names) <= variables


def test_every_page_of_the_server_has_its_row(documents: dict[str, str]) -> None:
    async def page_paths() -> list[str]:
        settings = secret.with_secret(Settings(db=MEMORY))
        service = build(Runtime(settings, MemoryStorage(catalog.COLLECTIONS)))
        pages = Pages(
            catalog.OPERATIONS, service.runtime, None, service.gauges.exposition
        ).resources()
        return [page.path for page in pages if not page.path.startswith("/static/")]

    paths = asyncio.run(page_paths())

    assert "/readyz" in paths
    assert [path for path in paths if f"`{path}`" not in documents["docs/running.md"]] == []


FIGURES = [
    ("docs/running.md", "sources every two seconds", ingest.ROUND_SECONDS, 2),
    ("docs/running.md", "every 15 minutes unless", registry.CADENCE_SECONDS, 15 * 60),
    ("docs/glossary.md", "Within 24 hours", idempotency.RETENTION, timedelta(hours=24)),
    ("docs/glossary.md", "Five invalid keys", lockout.ATTEMPTS_MAX, 5),
    ("docs/glossary.md", "within 15 minutes", lockout.WINDOW, timedelta(minutes=15)),
    ("docs/glossary.md", "`svc_` and 64 hex digits", keys.RANDOM_BYTES, 32),
    ("docs/glossary.md", "one of the 40 subjects", len(TOPIC_IDS), 40),
    ("docs/adr/0001-core-without-io.md", "sixty-four", threads.UNITS_PER_COMMIT, 64),
    ("docs/adr/0008-sealed-cursors.md", "2^32", seals.NONCE_BYTES, 12),
]


@pytest.mark.parametrize(("name", "words", "figure", "figure_in_text"), FIGURES)
def test_figures_in_the_documents_are_the_code_s(
    name: str, words: str, figure: object, figure_in_text: object, documents: dict[str, str]
) -> None:
    assert words in " ".join(documents[name].split())
    assert figure == figure_in_text


# -- links -------------------------------------------------------------------------------------


def _anchors(text: str) -> set[str]:
    """The names that a heading or an anchor gives to places of a page, as code hosts make them."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    slugs = {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}
    return slugs | set(re.findall(r'<a id="([^"]+)"', text))


def test_every_link_between_documents_leads_somewhere(
    documents: dict[str, str], root: Path
) -> None:
    dead_links = []
    for name, text in documents.items():
        for target in LINK.findall(CODE.sub("", text)):
            if re.match(r"[a-z]+:", target):
                continue
            path, _, anchor = target.partition("#")
            place = (root / name).parent / path if path else root / name
            inner = place.resolve().relative_to(root).as_posix()
            is_lost = anchor and anchor not in _anchors(documents.get(inner, ""))
            if not place.exists() or is_lost:
                dead_links.append(f"{name}: {target}")

    assert dead_links == []


def test_every_document_can_be_reached_from_the_start(
    documents: dict[str, str], root: Path
) -> None:
    seen: set[str] = set()
    waiting = ["README.md"]
    while waiting:
        name = waiting.pop()
        if name in seen or name not in documents:
            continue
        seen.add(name)
        for target in LINK.findall(CODE.sub("", documents[name])):
            place = ((root / name).parent / target.partition("#")[0]).resolve()
            place = place / "README.md" if place.is_dir() else place
            if place.is_relative_to(root):
                waiting.append(place.relative_to(root).as_posix())

    assert sorted(set(documents) - seen) == []


# -- glossary and decisions --------------------------------------------------------------------


def test_the_glossary_has_the_words_once_and_in_order(documents: dict[str, str]) -> None:
    words = [w.lower() for w in re.findall(r"^\*\*(.+)\*\*$", documents["docs/glossary.md"], re.M)]

    assert words == sorted(set(words))
    assert {" ".join(word.split()) for word in WORDS_OF_THE_SPEC.split(",")} <= set(words)


def test_every_decision_has_rivals_and_an_outcome(documents: dict[str, str]) -> None:
    pages = {name: text for name, text in documents.items() if re.search(r"adr/\d", name)}

    assert [int(Path(name).name[:4]) for name in pages] == list(range(1, len(pages) + 1))
    for name, text in pages.items():
        parts = re.findall(r"^\*\*(Question|Options|Decision|What follows)\b", text, re.MULTILINE)
        assert parts == ["Question", "Options", "Decision", "What follows"], name
        assert text.count("Good:") == text.count("Bad:") == len(re.findall(r"^\d\. ", text, re.M))
        assert Path(name).name in documents["docs/adr/README.md"]


@pytest.mark.parametrize("word", ["blazing", "seamless", "powerful", "simply", "just works"])
def test_the_documents_praise_nothing(word: str, documents: dict[str, str]) -> None:
    praising = [name for name, text in documents.items() if word in CODE.sub("", text).lower()]

    assert praising == []


def test_every_benchmark_has_its_row(documents: dict[str, str], root: Path) -> None:
    texts = {path.name: path.read_text("utf-8") for path in (root / "benchmarks").glob("*.py")}
    scripts = {
        name
        for name, text in texts.items()
        if name.startswith("bench_")
        or (name.startswith("quality") and "\ndef main() -> int" in text)
    }
    table = re.findall(r"^\| `(\w+\.py).*", documents["benchmarks/README.md"], re.MULTILINE)
    rows = re.findall(r"^\| `\w+\.py[^`]*` \|.*$", documents["benchmarks/README.md"], re.MULTILINE)

    assert table == sorted(scripts)
    assert {row.count(" | ") for row in rows} == {6}
    silent = [
        name for name in table if name.startswith("bench_") and "close_run(" not in texts[name]
    ]
    assert silent == []


@pytest.mark.parametrize(
    ("language", "file"), [("nginx", "nginx.conf"), ("caddyfile", "Caddyfile")]
)
def test_the_lines_for_a_proxy_are_those_of_its_file(language: str, file: str) -> None:
    docs = Path(__file__).parents[2] / "docs"
    block = re.search(
        rf"```{language}\n(.*?)```", (docs / "running.md").read_text("utf-8"), re.DOTALL
    )
    assert block is not None
    lines = {
        line.strip() for line in (docs.parent / "examples/deploy" / file).read_text().split("\n")
    }
    assert set(block[1].splitlines()) <= lines
