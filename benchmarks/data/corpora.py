"""Open text with labels, read from public repositories: what the shipped weights learn from.

Each is a clone below a folder of the caller's (`git clone --bare URL FOLDER/OWNER+NAME`), read at
the commit that stands here. Sets whose licence forbids commerce are not among them: AG News,
10kGNAD and Financial PhraseBank only measure.
"""

import csv
import io
import json
import re
import subprocess
import tarfile
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

SOURCES = {  # repository: commit, what it holds, its licence
    "ianrastall/current-events-context": (
        "4ff6f7d243c81c1df4a919fb4280d9d7e9559bd8",
        "Wikipedia, Portal:Current events 2002-2026 by section; CC BY-SA 4.0",
    ),
    "Limpery/MGO": (
        "6229ca6e9d6d63af0a5c1dcf0d3fd9bdbe0580c6",
        "News Category Dataset (Misra 2022), 10,000 rows; CC BY 4.0",
    ),
    "arjunbaidya/NLU_Assignment1": (
        "805ecc083a3374c92cb1de850ace6d55282b6de0",
        "News Category Dataset, sports and politics; CC BY 4.0",
    ),
    "pratikaher88/IPythonNotebooks": (
        "8482bf77238c09f993e4e1a16c789bdc8c4a61fe",
        "UCI News Aggregator (Gasparetti 2016), part; CC BY 4.0",
    ),
    "kent0304/nlp100": (
        "be74f5254f01d6cd8a94a244cf122b1010a19fc5",
        "UCI News Aggregator, part; CC BY 4.0",
    ),
    "hgctmy/nlp100": (
        "4da25bfbfc53e74df4ad0efb334d9d77f5c31de5",
        "UCI News Aggregator, part; CC BY 4.0",
    ),
    "PrernaMaurya/Twitter-Financial-News": (
        "2eac7742c11364629dec90aa7ec43a9149fab6b6",
        "Twitter Financial News, topics; MIT",
    ),
    "umaima-aman/Twee_Sentiment_Analysis-DeepLearning": (
        "0286b19b35c7d658dc28068381c765df4758545a",
        "Twitter Financial News, sentiment; MIT",
    ),
    "pyRis/SEntFiN": ("eba43610fe3cb57a3e5773cd6c037da1f8992ad5", "SEntFiN 1.0; MIT"),
    "fhamborg/NewsMTSC": ("b9d9b79704ed1b35cecaf1d7c2343dc1bd734fb7", "NewsMTSC; MIT"),
    "MicrosoftTranslator/NTREX": (
        "8561f6a622db9edad1217683e5c83daefd8bb2bf",
        "NTREX-128, news in parallel; CC BY-SA 4.0",
    ),
    "dadelani/sib-200": (
        "593cea88519930f776c1a4a1980b6a35b39dca57",
        "SIB-200 over FLORES, sentences in parallel; CC BY-SA 4.0",
    ),
    "gkovacs/grammarvis": (
        "baeb068bcd2c401b0ceda651eb918136ac2ce064",
        "German and French words of the English Wiktionary; CC BY-SA 3.0",
    ),
    "open-dsl-dict/wiktionary-dict": (
        "74c2c11f3398606ef334dd6d0d3ecb9555a44faf",
        "English Wiktionary: translations of English words; French, Spanish words; CC BY-SA 3.0",
    ),
    "dennlinger/klexikon": (
        "c909f38794b244c2d55d5b0037755390c56c9610",
        "2,898 articles of the German Wikipedia; CC BY-SA 3.0",
    ),
    "LSX-UniWue/SuperGLEBer": (
        "5d3c59a91ab3b5011a45a28cfafe813cf657111d",
        "GermEval 2014, sentences of the German Wikipedia and of news; CC BY 4.0",
    ),
}
LANGUAGES = {  # their names in the parallel text
    "de": ("deu", "deu_Latn"),
    "fr": ("fra", "fra_Latn"),
    "es": ("spa", "spa_Latn"),
    "it": ("ita", "ita_Latn"),
    "pt": ("por", "por_Latn"),
    "nl": ("nld", "nld_Latn"),
}

_SECTIONS = (  # of the portal, whose names changed over the years: our name
    ("arm|conflict|war\\b|insurgenc|military|attack|uprising|terror", "conflict"),
    ("business|econom|financ", "business"),
    ("disaster|accident|typhoon|earthquake", "disaster"),
    ("health|medic|epidemi|environment|climate", "health"),
    ("international rel|diplom", "international"),
    ("law|crime", "crime"),
    ("politic|election", "politics"),
    ("scien|techn|space", "science"),
    ("sport|uefa|fifa|olymp|football", "sport"),
    ("art|culture|televis|movie|music|entertain", "culture"),
)
_HUFFPOST = {
    "POLITICS": "politics",
    "WORLD NEWS": "world",
    "CRIME": "crime",
    "BUSINESS": "business",
    "TECH": "tech",
    "SCIENCE": "science",
    "ENVIRONMENT": "health",
    "SPORTS": "sport",
    "ENTERTAINMENT": "culture",
    "CULTURE & ARTS": "culture",
    "STYLE & BEAUTY": "other",
    "HOME & LIVING": "other",
    "COMEDY": "other",
    "PARENTING": "other",
    "FOOD & DRINK": "other",
    "TRAVEL": "other",
    "RELIGION": "other",
    "WEIRD NEWS": "other",
    "EDUCATION": "other",
    "WEDDINGS": "other",
}
_AGGREGATOR = {"b": "business", "t": "tech", "e": "culture", "m": "health"}
# The labels 0..19 of Twitter Financial News.
_TRADE = [
    "analyst",
    "central-banks",
    "companies",
    "bonds",
    "dividend",
    "earnings",
    "energy",
    "financials",
    "currencies",
    "general",
    "commodities",
    "ipo",
    "legal",
    "deals",
    "macro",
    "markets",
    "politics",
    "personnel",
    "stock",
    "stock",
]
_BYLINE = re.compile(r"(?:\s*\([^()]{2,60}\)\.?)+\s*$")
_HEADING_MAX = 90
_PARAGRAPH_MIN = 120  # characters
_PARAGRAPHS_MAX = 20  # of an article, its first ones: a long article would be most of the text

LabelledText = tuple[str, str, str]  # title, text, section or ""


def _git(folder: Path, repository: str, *arguments: str) -> bytes:
    path = folder / repository.replace("/", "+")
    return subprocess.run(["git", "-C", path, *arguments], capture_output=True, check=True).stdout


def read(folder: Path, repository: str, path: str) -> str:
    """A file of a source."""
    return bytes_of(folder, repository, path).decode()


def bytes_of(folder: Path, repository: str, path: str) -> bytes:
    """A file of a source that is not text."""
    return _git(folder, repository, "show", f"{SOURCES[repository][0]}:{path}")


def table(folder: Path, repository: str, path: str) -> Iterator[dict[str, str]]:
    """The rows of a file with a heading and commas."""
    return csv.DictReader(io.StringIO(read(folder, repository, path)))


def sections(folder: Path) -> Iterator[LabelledText]:
    """News by the section under which its collector put it; `fin:` marks labels of the trade."""
    yield from _portal(folder)
    yield from _huffpost(folder)
    yield from _aggregator(folder)
    for row in table(folder, "PrernaMaurya/Twitter-Financial-News", "train_data.csv"):
        yield "", tweet(row["text"]), f"fin:{_TRADE[int(row['label'])]}"


def tweet(text: str) -> str:
    """A short message without addresses, names and signs of shares."""
    bare = re.sub(r"https?://\S+|\$[A-Z.]+|[#@]\w+", "", text).replace("&amp;", "&")
    return bare.strip(" -:")


def german(folder: Path) -> Iterator[str]:
    """German text that nobody labelled: paragraphs of an encyclopedia, and single sentences."""
    repository = "dennlinger/klexikon"
    archive = _git(
        folder, repository, "archive", "--format=tar", SOURCES[repository][0], "data/raw/wiki"
    )
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for member in filter(tarfile.TarInfo.isfile, tar):
            lines = map(str.strip, tar.extractfile(member).read().decode().split("\n"))
            yield from islice(
                (line for line in lines if len(line) > _PARAGRAPH_MIN), _PARAGRAPHS_MAX
            )
    for part in ("dev", "test"):
        sentences = read(folder, "LSX-UniWue/SuperGLEBer", f"data/NER/Wiki_News/{part}.tsv")
        for sentence in re.split(r"\n\s*\n", sentences):
            cells = (line.split("\t") for line in sentence.split("\n") if line[:1].isdigit())
            yield " ".join(row[1] for row in cells)
    yield from (foreign for _, foreign in parallel(folder, "de"))


def _portal(folder: Path) -> Iterator[LabelledText]:
    repository = "ianrastall/current-events-context"
    archive = _git(folder, repository, "archive", "--format=tar", SOURCES[repository][0])
    with tarfile.open(fileobj=io.BytesIO(archive)) as tar:
        for name in sorted(tar.getnames()):
            if re.fullmatch(r"20\d\d/\d\d/\S+\.yaml", name):
                yield from _day(tar.extractfile(name).read().decode(errors="ignore"))


def _day(text: str) -> Iterator[LabelledText]:
    section, items = "", []
    for line in text.split("\n"):
        if match := re.match(r"  ([A-Z][^:]{2,80}):\s*$", line):
            section = match[1]
        elif line.startswith("  - "):
            items.append([section, line[4:].strip()])
        elif line.startswith("    ") and items:
            items[-1][1] += " " + line.strip()
    heading = ""
    for heading_, words in items:
        bare = words.strip("'\"")
        body = _BYLINE.sub("", bare)
        if len(bare) < _HEADING_MAX and body == bare and not bare.endswith("."):
            heading = bare
        elif len(body) > 40 and heading_:
            yield heading, body, _section(heading_)


def _section(name: str) -> str:
    sections = (section for pattern, section in _SECTIONS if re.search(pattern, name.lower()))
    return next(sections, "")


def _huffpost(folder: Path) -> Iterator[LabelledText]:
    for line in read(folder, "Limpery/MGO", "News_Category_Dataset_v3.json").split("\n"):
        if line.startswith("{") and line.endswith("}"):
            row = json.loads(line)
            yield row["headline"], row["short_description"], _HUFFPOST.get(row["category"], "")
    for row in table(folder, "arjunbaidya/NLU_Assignment1", "News_Category_Dataset_v3.csv"):
        yield "", row["short_description"] or "", _HUFFPOST.get(row["category"], "")


def _aggregator(folder: Path) -> Iterator[LabelledText]:
    for row in table(folder, "pratikaher88/IPythonNotebooks", "uci-news-aggregator.csv"):
        if row["CATEGORY"] in _AGGREGATOR:
            yield row["TITLE"], "", _AGGREGATOR[row["CATEGORY"]]
    for part in ("train", "valid", "test"):
        for line in read(folder, "kent0304/nlp100", f"ch06/{part}.txt").split("\n"):
            cells = line.split("\t")
            if len(cells) > 4 and cells[4] in _AGGREGATOR:
                yield cells[1], "", _AGGREGATOR[cells[4]]
        for line in read(folder, "hgctmy/nlp100", f"chapter6/{part}.txt").split("\n"):
            label, _, title = line.partition("\t")
            if label in _AGGREGATOR:
                yield title, "", _AGGREGATOR[label]


def parallel(folder: Path, language: str) -> list[tuple[str, str]]:
    """Sentences in English and in `language`: NTREX, and the training part of SIB-200."""
    name = "NTREX-128/newstest2019-{}.txt"
    repository = "MicrosoftTranslator/NTREX"
    english = read(folder, repository, name.format("src.eng")).split("\n")
    other = read(folder, repository, name.format(f"ref.{LANGUAGES[language][0]}")).split("\n")
    ours, foreign = sib_texts(folder, "en", "train"), sib_texts(folder, language, "train")
    return [
        *(pair for pair in zip(english, other, strict=False) if pair[0].strip()),
        *((ours[key][1], foreign[key][1]) for key in ours if key in foreign),
    ]


def sib_texts(folder: Path, language: str, part: str) -> dict[str, tuple[str, str]]:
    """A part of SIB-200: category and sentence by number."""
    name = "eng_Latn" if language == "en" else LANGUAGES[language][1]
    text = read(folder, "dadelani/sib-200", f"data/annotated/{name}/{part}.tsv")
    cells = (line.split("\t") for line in text.split("\n")[1:])
    return {row[0]: (row[1], row[2]) for row in cells if len(row) == 3}
