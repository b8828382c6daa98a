"""Splits texts into sentences, and cleans headlines, as a reader would quote them.

Rule 1: a sentence is returned verbatim but for folded white space and a dropped dateline or byline;
it is always a run of the text it came from.
Rule 2: what a feed adds around the news ("Read more", "[...]", "submitted by ...") is no sentence,
and neither is a caption, which says where in a picture somebody is, or what is all in brackets.
"""

import re
from collections.abc import Container, Iterator, Sequence
from functools import cache
from itertools import chain

from svc_core import data
from svc_core.base.characters import HTML_ELEMENTS
from svc_core.text.tables import alternation
from svc_core.text.words import stop_words, terms

_SENTENCE_LENGTH_MAX = 600  # a stored text is at most 600 characters long (Spec: News item)
_WORDS_MIN = 4
_TITLE_WORDS_MIN = 5  # a shorter one may be a phrase of its text
_SEPARATORS = ("|", "•", "·")


@cache
def _table() -> dict[tuple[str, str], list[str]]:
    table: dict[tuple[str, str], list[str]] = {}
    for kind, language, words in data.table_rows("sentences.tsv"):
        table.setdefault((kind, language), []).append(words)
    return table


def _phrases(kind: str, language: str = "*") -> Sequence[str]:
    """The lines of the table of sentences for one kind and language."""
    return _table().get((kind, language), ())


@cache
def _words(kind: str, language: str = "*") -> frozenset[str]:
    return frozenset(word for line in _phrases(kind, language) for word in line.split())


_BREAK = re.compile(
    r"""(?<=[.!?…])["'”“’»«)\]]*\s+(?=["'“„‘‚«»(\[¿¡]*[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩЀ-Я0-9\u0600-\u06ff\u0900-\u0dff])"""
    r"""|(?<=[.!?])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+[\s,])"""
    r"""|(?<=\w\w[.!?])(?=[A-ZÀ-ÖØ-Þ]\s)"""
    r"""|(?<=\w\w[.!?])"(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]*[\s,])"""
    r"""|(?<=[。！？।۔])["'”’」』）]*\s*"""
    r"""|(?<!\s)\s+[|•·]\s+"""
)
_ABBREVIATION = re.compile(
    rf"(?:^|[\s(\"'“‘«])(?:[A-ZÀ-Þ]\.(?:[A-ZÀ-Þ]\.)*|(?:{alternation(_words('abbreviation'))})\.)$"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
# A small word and a capitalised one without a space: a paragraph ran into the next.
_GLUED = re.compile(r"(?<![^\W_])[a-zß-ÿ]{3,}(?=([A-ZÀ-Þ][a-zß-ÿ]+)[\s,’'])")
_UNIT = re.compile(r"[\s(][A-ZÀ-Þ][a-zß-ÿ]{1,2}\.$")  # of the number behind it: "Rs. 30", "Art. 5"
_ENDING_CHARS = 40  # that tell an abbreviation; a run of abbreviations may be as long as its text
_BOILERPLATE = re.compile(
    rf"(?:{'|'.join(_phrases('boilerplate'))}|[\[<].{{0,80}}[\]>]$)", re.IGNORECASE
)
_CAPTION = re.compile("|".join(_phrases("caption")), re.IGNORECASE)
_BRACKETS = re.compile(r"\([^()]*(?:\([^()]*\)[^()]*)*\)\W*$")
_MARKUP = re.compile(
    rf"<!--(?:(?!<!--).)*?-->|</?(?:{HTML_ELEMENTS})(?=[\s/>])[^<>]{{0,200}}>", re.IGNORECASE
)
_TICKER = re.compile(r"(?<!\w)\+{2,3}(?!\w)")  # around news of a live blog
_TAIL = re.compile("|".join(_phrases("tail")), re.IGNORECASE)
_NAME = r"(?:[A-ZÀ-Ž0-9/][\w.'’&/-]*|(?:al|am|and|d[aeu]|de[lr]|el|et|la|le|of|und)(?=\s))"
_NAMES = rf"{_NAME}(?: {_NAME}){{0,4}}(?:, {_NAME}(?: {_NAME}){{0,4}}){{0,2}}"
_BRACKET = r"\((?:(?=[^()]*[^\W\d])[\w.,&'’/ -]{2,40})?\)"
_OPENS = r"(?=[\"“„‘«'¿¡(]*[A-ZÀ-Þ0-9])"
_DATELINE = re.compile(  # places, a date or a publisher, of any language, and then a new beginning
    rf"^(?:(?:{_NAMES}(?:,? {_BRACKET})?|{_BRACKET})(?:(?<=[^\W\d]\w)|(?<=[\w(][.)])|(?<=\d{{4}}))"
    rf"\s?[-–—]{{1,2}}\s{_OPENS})+(?!.{{1,40}}\s[-–—]{{1,2}}\s[a-zß-ž])"  # "Ann – Mayor – left"
    rf"|^{_NAME}(?: {_NAME}){{0,4}}, {_NAME} \d{{1,2}}\s[-–—]{{1,2}}\s{_OPENS}"
    rf"|^(?=[^:]{{5}})[A-ZÀ-Þ][A-ZÀ-Þ0-9 .,'’/-]+:\s{_OPENS}"
    r"|^(?:(?:[A-Z0-9]|[^\w\s])+ ){5,}(?=[\"“]?[A-Z](?:[a-z’]| [a-z]))"  # a link in capitals
)
_SECTION = re.compile(
    rf"^(?:[A-Z][\w ]{{2,24}}\s(?:[›»|]|â€º)\s+)|^\w+\+(?: {_BRACKET})?\s*[;|]\s+|"
    rf"^(?:{'|'.join(_phrases('label'))})\s*[:|–-]\s+",
    re.IGNORECASE,
)
_FULL_STOP = re.compile(r"(?<!\.\.)[.!?。！？।۔][^\w.…[]{0,12}$")  # marks and symbols may follow
_UNSPACED_SCRIPT = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def split_sentences(
    text: str,
    words_min: int = _WORDS_MIN,
    *,
    fragments: bool = False,
    title: str = "",
    language: str | None = None,
) -> list[str]:
    """The quotable sentences of `text`, in order, without repeats.

    Each has at least `words_min` words. Runs without a full stop are left out unless `fragments`.

    A line is a paragraph, and no sentence runs from one into the next; a paragraph whose first word
    is glued to the one before it ("officePeople") is told by that word, where it stands elsewhere.

    A text that is one unfinished run keeps it: a truncated lead is better than no lead.

    A run with words before its whole `title` speaks of the item ("The post ... appeared on ...").
    """
    bare = _MARKUP.sub(" ", text)
    words = {*_WORD.findall(f"{title} {text}")} if _GLUED.search(bare) else ()
    lines = _GLUED.sub(lambda o: o[0] + "\n" * (o[1] in words), bare).splitlines()
    line_title = _fold_space(title) if len(title.split()) >= _TITLE_WORDS_MIN else ""
    mark = line_title.replace(" ", "\0")  # no sentence ends within it
    folded = (_fold_space(line).replace(line_title, mark) for line in lines)
    parts = (line_parts(line, language) for line in folded)
    runs = [_clean(run) for run in chain.from_iterable(parts) if run.find(mark) < 1]
    runs = [run.replace("\0", " ") for run in runs]
    quotable = list(dict.fromkeys(run for run in runs if _is_quotable(run, words_min)))
    complete = [run for run in quotable if _FULL_STOP.search(run)]
    whole = [run for run in quotable if not run.endswith(("...", "…"))]
    if fragments:
        complete = [run for run in whole if run in complete or len(run.split()) >= _WORDS_MIN]
    return complete or whole or quotable


def clean_headline(title: str) -> str:
    """`title` with white space folded, without a feed's section label ("World › ") and "+++"."""
    line = _fold_space(_TICKER.sub(" ", _MARKUP.sub(" ", title)))
    bare = _SECTION.sub("", line, count=1)
    return bare if len(bare.split()) >= 2 else line


def _fold_space(text: str) -> str:
    return " ".join(text.split())


def breaks(text: str, language: str | None = None) -> Iterator[tuple[int, int]]:
    """The gaps between the sentences of one line: where one ends and where the next begins.

    Behind a small number is one where its language writes no ordinals so ("am 3. Juni").
    """
    start, has_ordinals = 0, language not in _words("cardinal")
    for match in _BREAK.finditer(text):
        is_opening = match[0] == '"' and text.count('"', start, match.start()) % 2 == 0
        is_next = is_opening or match[0].strip() in _SEPARATORS
        end = match.start() + (0 if is_next else len(match[0].rstrip()))
        ending = text[start:end][-_ENDING_CHARS:]
        is_unit = text[match.end() : match.end() + 1].isdigit() and _UNIT.search(ending)
        is_ordinal = has_ordinals and _ORDINAL.search(ending)
        if not (is_unit or is_ordinal or _ABBREVIATION.search(ending)):
            start = match.start() if is_opening else match.end()
            yield end, start


def line_parts(text: str, language: str | None = None) -> list[str]:
    """All that one line consists of, as it stands: its sentences and fragments."""
    gaps = [*breaks(text, language), (len(text), len(text))]
    starts = [0, *(after for _, after in gaps)]
    return [text[start:end] for start, (end, _) in zip(starts, gaps, strict=False)]


def _clean(run: str) -> str:
    run = _TAIL.sub("", run.strip())
    return _DATELINE.sub("", run, count=1).strip(" |•·")


def _is_quotable(run: str, words_min: int) -> bool:
    is_extra = _BOILERPLATE.match(run) or _BRACKETS.match(run) or _CAPTION.search(run)
    if len(run) > _SENTENCE_LENGTH_MAX or is_extra:
        return False
    if _UNSPACED_SCRIPT.search(run):
        return len(run) >= 8
    words = [word for word in run.split() if _WORD.search(word)]
    return len(words) >= words_min and not run.isupper()


# -- which sentences and headlines are fit to quote ------------------------------------------------

_QUOTES = "\"'“‘«„("
_FAULTLESS_WORDS_MIN = 6
_BEGINNING = 80  # characters that surely hold two words
_HEADLINE_WORDS_MIN = 3
_ALONE_WORDS_MAX = 45
_FIRST_WORDS, _PHRASE_WORDS = 5, 3  # a longer phrase says itself what it means
_ADDRESS_WORDS = 8  # of 24 items that say "you" so early 3 report something; later 5 of 12 do
_SPECIFYING_SIGNS = ",-—’'"  # an apposition, a compound or a possessive follows
_DOUBLE_QUOTES = '"„“”«»'
# UTF-8 read as Latin-1 by the source.
_MOJIBAKE = re.compile("Ã[\u0080-\u00bf ]|â€|Â[\u00a0-\u00bf]")
# Behind what a headline is about, or who speaks, and behind a sentence of it.
_HEADLINE_PARTS = re.compile(r"(?<=\S):\s+|\s[–—-]\s|(?<=[^\W\d_A-Z]{3}[.!?])\s+")
_WORD = re.compile(r"[^\W\d_]+")
_POLITE = re.compile(r"(?<=[\w,] )(?:Sie|Ihnen|Ihre?[mnrs]?)\b")  # within a German sentence
_QUOTATION = re.compile('["“„«][^"“”„«»]*["”“»]')
# A headline that only somebody says, perhaps behind what it is about.
_SPOKEN = re.compile(r"(?:^|: )(?:[„“\"«»][^„“”\"«»]+[”“\"«»]|‘[^‘]+’)[.!]?$")
_STOPS = (
    (re.compile("[\u3040-\u30ff\u3400-\u9fff]$"), "。"),
    (re.compile("[\u0900-\u097f]$"), "।"),
    (re.compile("[\u0679\u067e\u0688\u0691\u06ba\u06be\u06c1\u06d2]"), "۔"),
)


def is_whole(text: str) -> bool:
    """Whether a text is a sentence with a beginning and an end, no fragment of one."""
    pairs = text.count("(") - text.count(")"), sum(map(text.count, _DOUBLE_QUOTES)) % 2
    begins = not text.lstrip(_QUOTES)[:1].islower()
    return begins and not any(pairs) and bool(_FULL_STOP.search(text)) and not is_broken(text)


def is_broken(text: str) -> bool:
    """Whether the letters of a text were spoilt by a wrong encoding."""
    return bool(_MOJIBAKE.search(text))


def is_aside(headline: str, language: str | None) -> bool:
    """Whether a headline asks, comments, quotes, shows or only names a day, and does not report."""
    is_short = len(_WORD.findall(headline)) < _HEADLINE_WORDS_MIN
    is_label = is_short and not _UNSPACED_SCRIPT.search(headline)
    aside, parts = _aside(language or "en"), _HEADLINE_PARTS.split(headline)[1:]
    return is_label or any(map(aside.search, (headline, *parts))) or bool(_SPOKEN.search(headline))


@cache
def _aside(language: str) -> re.Pattern[str]:
    return re.compile("|".join((*_phrases("aside"), *_phrases("aside", language))), re.IGNORECASE)


def vagueness(headline: str, language: str | None) -> int:
    """How little a headline says of what happened: 0, a label (1), or a teaser or an aside (2).

    A part of a teaser leans on what is to come ("So viel kostet ..."), or it points to something
    ("this photo"), or speaks to the reader. No part of a label has a verb behind a noun or at its
    end; that is seen only where nouns have capitals, so that no other headline is taken for one.
    Of 664 headlines of 78 feeds 149 are labels, teasers, questions and opinions: 41 and 32
    are said to be labels and teasers, and of the 515 others 30 and 10.
    """
    tongue = language or "en"
    parts = _HEADLINE_PARTS.split(headline)
    pointers = _words("pointing", tongue) - _words("specifying", tongue)
    points = not pointers.isdisjoint(_WORD.findall(headline.casefold()))
    leans = any(o.lstrip(_QUOTES)[:1].isupper() and is_anaphoric(o, tongue) for o in parts)
    if is_aside(headline, tongue) or points or leans or speaks(headline, tongue):
        return 2
    return int(capitalises_nouns(tongue) and not any(_states(part, tongue) for part in parts))


def _states(part: str, language: str) -> bool:
    """Whether a part of a headline in which nouns have capitals has a verb."""
    words, stops = _WORD.findall(part), stop_words(language)
    forms = _words("verb", language)
    nouns = ("", *(word if word.casefold() not in stops else "" for word in words))
    pairs = zip(nouns, words, strict=False)
    ends = (o for before, o in pairs if before[:1].isupper() or o is words[-1])
    return _has_form([o for o in ends if o in forms or o not in stops], forms)


def is_faulty(text: str, language: str | None) -> bool:
    """Whether a sentence is a question, very short, a caption, or without a verb of the tables.

    A caption is told by its form: it ends in a day, perhaps with a place, and all its verbs are in
    the present. A sentence of that form on a day to come is taken for one, too.
    """
    tongue = language or "en"
    asks = text.rstrip(_QUOTES + "”’»)").endswith(("?", "？", "؟"))
    is_short = len(_WORD.findall(text)) < _FAULTLESS_WORDS_MIN
    words = _WORD.findall(text.lstrip().partition(" ")[2])  # a statement's first is no verb
    is_bare = is_short or not _has_verb(words, language)
    past = _words("verb", tongue) - _words("present", tongue)
    ends_in_day = any(re.search(stamp, text) for stamp in _phrases("stamp", tongue))
    # The month of May is no verb.
    is_caption = ends_in_day and not _has_form([o for o in words if o != "May"], past)
    return is_caption or asks or (is_bare and not _UNSPACED_SCRIPT.search(text))


def names_something(text: str, language: str | None) -> bool:
    """Whether a sentence has a number or a name, or a language or script that shows no name."""
    first, *rest = _WORD.findall(text) or ("",)
    is_name = any(part and not part.islower() for part in (first[1:], *(o[0] for o in rest)))
    return is_name or any(map(str.isdigit, text)) or capitalises_nouns(language or "en")


def is_ahead(text: str, language: str | None) -> bool:
    """Whether a sentence says what is to come: a verb of it is in the future."""
    return _has_form(_WORD.findall(text), _words("future", language or "en"))


def is_anaphoric(text: str, language: str | None) -> bool:
    """Whether the first two words of a sentence refer back to the sentence before it."""
    words = [word.casefold() for word in _WORD.findall(text[:_BEGINNING])][:2]
    anaphors = _words("leaning", language or "en")
    demonstratives = _words("pointing", language or "en")
    return bool(words) and (words[0] in anaphors or not demonstratives.isdisjoint(words))


def is_possessed(text: str, language: str | None) -> bool:
    """Whether the first word says whose its noun is, as in "its aftermath"."""
    words = _WORD.findall(text[:_BEGINNING])[:1]
    return not _words("possessive", language or "en").isdisjoint(map(str.casefold, words))


def lacks_name(text: str, language: str | None, context: Container[str] = ()) -> bool:
    """Whether a sentence begins with what it does not name ("The photo", "A third of them").

    That is a pronoun among its first words, or a definite noun phrase that nothing specifies and of
    which no word is among `context`, the terms that are read before it. Of 60 such sentences of
    news articles 51 are not understood alone; of all, 6 in 100 are such.
    """
    tongue = language or "en"
    line = text.lstrip(_QUOTES)[:_BEGINNING]
    words = [(match[0], line[match.end() : match.end() + 1]) for match in _WORD.finditer(line)]
    firsts = {word.casefold() for word, _ in words[:_FIRST_WORDS]}
    if _pointing(tongue).search(text) or not firsts.isdisjoint(_words("partitive", tongue)):
        return True
    if not words or words[0][0].casefold() not in _words("definite", tongue):
        return False
    phrase: list[str] = []
    for word, sign in words[1:]:
        small = word.casefold()
        is_second = (bool(phrase) and phrase[-1][0].isupper()) or not word[1:].islower()
        is_name = word[0].isupper() and (is_second or not capitalises_nouns(tongue))
        if is_name or small in _words("specifying", tongue) or len(phrase) == _PHRASE_WORDS:
            return False
        is_verb = word.islower() and _has_verb([word], tongue)
        if phrase and (is_verb or small in stop_words(tongue)):
            break
        if sign and sign in _SPECIFYING_SIGNS:
            return False
        phrase.append(word)
    return not any(term in context for term in terms(" ".join(phrase), language))


@cache
def _pointing(language: str) -> re.Pattern[str]:
    """A pronoun for what another sentence names, such as "this" before a comma."""
    pronouns = _words("pointing", language) - _words("specifying", language)
    bare = rf"\b(?:{alternation(pronouns) or '(?!)'})[,.;:]"
    return re.compile("|".join((bare, *_phrases("unnamed", language))), re.IGNORECASE)


def capitalises_nouns(language: str | None) -> bool:
    """Whether every noun has a capital, so that one shows no name."""
    return language in _words("capitals")


def stands_alone(text: str, language: str | None) -> bool:
    """Whether a whole sentence is understood, and read with ease, without the one before it."""
    is_short = len(text.split()) <= _ALONE_WORDS_MAX
    return is_short and not (
        is_faulty(text, language) or is_anaphoric(text, language) or speaks(text, language)
    )


def speaks(text: str, language: str | None) -> bool:
    """Whether the writer speaks of themselves or to the reader; quoted people may."""
    own, tongue = _QUOTATION.sub(" ", text), language or "en"
    words = _WORD.findall(own.casefold())
    is_address = not _words("reader", tongue).isdisjoint(words[:_ADDRESS_WORDS])
    is_polite = language == "de" and bool(_POLITE.search(own))
    is_own = not words or not _words("own", tongue).isdisjoint(words)
    return is_address or is_polite or is_own


def with_full_stop(text: str) -> str:
    """A headline as a sentence: with the full stop of its script, unless it already has an end."""
    if _FULL_STOP.search(text) or text.endswith(("...", "…")):
        return text
    bare = text.rstrip(" ,;:|–-") or text
    return bare + next((stop for script, stop in _STOPS if script.search(bare)), ".")


def _has_verb(words: Sequence[str], language: str | None) -> bool:
    """Whether one of the words is a verb."""
    forms = _words("verb", language or "en")
    return not forms or _has_form(words, forms)


def _has_form(words: Sequence[str], forms: frozenset[str]) -> bool:
    """Whether one of the words is one of these forms; `*` begins an ending of longer words."""
    endings = tuple(form[1:] for form in forms if form.startswith("*"))
    return any(
        word.casefold() in forms or (word.islower() and len(word) > 3 and word.endswith(endings))
        for word in words
    )
