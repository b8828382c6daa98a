"""Sentences and headlines, as a reader would quote them.

Rule 1: a sentence is returned verbatim but for folded white space and a dropped dateline or byline;
it is always a run of the text it came from.
Rule 2: what a feed adds around the news ("Read more", "[...]", "submitted by ...") is no sentence.
"""

import re

_SENTENCE_LENGTH_MAX = 600  # a stored text is at most 600 characters long (Spec: News item)
_WORDS_MIN = 4
_SEPARATORS = ("|", "•", "·")

_SPACE = re.compile(r"\s+")
_BREAK = re.compile(
    r"""(?<=[.!?…])["'”’»)\]]*\s+(?=["'“‘«(\[¿¡]*[A-ZÀ-ÖØ-ÞĀ-ŽΑ-ΩЀ-Я0-9\u0600-\u06ff\u0900-\u0dff])"""
    r"""|(?<=[.!?])(?=[A-ZÀ-ÖØ-Þ][a-zà-öø-ÿ]+[\s,])"""
    r"""|(?<=[。！？।۔])["'”’」』）]*\s*"""
    r"""|\s+[|•·]\s+"""
)
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\"'“‘«])(?:[A-ZÀ-Þ]\.(?:[A-ZÀ-Þ]\.)*|(?:Mr|Mrs|Ms|Dr|Prof|Gen|Col|Lt|Sgt|Capt|Cmdr|Maj|Adm|"
    r"Gov|Sen|Rep|Rev|Hon|Pres|St|Ste|Mt|Ft|Jr|Sr|Inc|Corp|Ltd|Co|Bros|No|Nos|Nr|Vol|Fig|vs|etc|al|"
    r"Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sep|Sept|Oct|Nov|Dec|Mon|Tue|Wed|Thu|Fri|Sat|Sun|Calif|Fla|Ala|"
    r"Ga|Va|Tex|Mass|Conn|Ill|Mich|Minn|Pa|Wash|Colo|Ariz|approx|est|dept|gov|univ|e\.g|i\.e|"
    r"z\.B|d\.h|u\.a|bzw|ca|Mio|Mrd|Hr|Fr|Str|M|MM|Mme|Mlle|Sra|Sr|Srta|Dña|Ud|Uds|pág|núm|"
    r"г|гг|тыс|млн|млрд|руб|им|ул)\.)$"
)
_ORDINAL = re.compile(r"(?:^|\s)\d{1,2}\.$")
_JUNK = re.compile(
    r"(?:read|view|see|show|learn|find out|click|tap|watch|listen|subscribe|sign up"
    r"|follow us|share)\b"
    r".{0,40}\b(?:more|here|now|full|article|story|post|comments?|below|link|newsletter)\b.{0,30}$"
    r"|(?:continue|keep) reading\b|continuer (?:à|la) l|lire (?:la suite|aussi|plus)|en savoir plus"
    r"|weiterlesen|mehr (?:dazu|lesen|erfahren)|lesen sie|leer más|seguir leyendo"
    r"|ler mais|leia mais"
    r"|читать (?:далее|дальше|полностью)|подробнее"
    r"|submitted by\b|posted (?:by|in|on)\b|the post\b.{0,200}\bappeared first\b"
    r"|(?:source|photo|image|credit|via)\s*:"
    r"|comments?\b.{0,20}$|\d+ comments?\b|share (?:this|on)\b|advertisement\b|sponsored\b"
    r"|all rights reserved|copyright\b|©|filed under\b|tags?\s*:|article url\s*:|comments url\s*:"
    r"|https?://|www\.|[\[<].{0,80}[\]>]$",
    re.IGNORECASE,
)
_MARKUP = re.compile(r"<!--.*?-->|</?[a-zA-Z][^<>]{0,200}>")
_TAIL = re.compile(
    r"\s*(?:\[\s*(?:…|\.\.\.|&hellip;|link|\d+ comments?)\s*\]|\(more…?\)"
    r"|(?:read more|continue reading|lire la suite|weiterlesen|leer más)\W*)\s*$",
    re.IGNORECASE,
)
_DATELINE = re.compile(
    r"^(?:[A-ZÀ-Þ][\w.'’ ,/-]{1,60}\s)?\((?:Reuters|AP|AFP|dpa|EFE|ANSA|TASS|Bloomberg|Xinhua|UPI|"
    r"PTI|ANI|Kyodo|CNN|BBC)\)\s*[-–—:]+\s+"
    r"|^(?:EFE|EP|AFP|AP|EUROPA PRESS|AGENCIAS|REUTERS|20MINUTOS\.ES"
    r"|(?:[A-Z]\. ){2,}[A-Z]\. / AGENCIAS)\s+(?=[A-ZÀ-Þ¿¡])"
    r"|^(?:[A-ZÀ-Þ][A-ZÀ-Þ0-9'’ /-]{3,40})\s+[-–—]\s+(?=\S)"
)
_SECTION = re.compile(
    r"^(?:[A-Z][\w ]{2,24}\s(?:[›»|]|â€º)\s+)|^(?:breaking|update|updated|live|video|watch|photos?"
    r"|exclusive|opinion|analysis|news analysis|vidéo|video|eilmeldung|kommentar)\s*[:|–-]\s+",
    re.IGNORECASE,
)
_FINISHED = re.compile(r"""(?<!\.\.)[.!?。！？।۔]["'”’»)\]」』）]*$""")
_LETTERS = re.compile(r"[^\W\d_]")
_UNSPACED = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff]")


def sentences(text: str) -> list[str]:
    """The quotable sentences of `text`, in order, without repeats; an unfinished tail is dropped.

    A line is a paragraph, and no sentence runs from one into the next.

    A text that is one unfinished run keeps it: a truncated lead is better than no lead.
    """
    lines = _MARKUP.sub(" ", text).splitlines()
    found = [_clean(run) for line in lines for run in _split(_fold_space(line))]
    kept = list(dict.fromkeys(run for run in found if _is_quotable(run)))
    finished = [run for run in kept if _FINISHED.search(run)]
    return finished or [run for run in kept if not run.endswith(("...", "…"))] or kept


def headline(title: str) -> str:
    """`title` with white space folded and a feed's section label ("World › ") dropped."""
    folded = _fold_space(_MARKUP.sub(" ", title))
    bare = _SECTION.sub("", folded, count=1)
    return bare if len(bare.split()) >= 2 else folded


def _fold_space(text: str) -> str:
    return _SPACE.sub(" ", text).strip()


def _split(text: str) -> list[str]:
    runs: list[str] = []
    start = 0
    for match in _BREAK.finditer(text):
        closing = "" if match[0].strip() in _SEPARATORS else match[0].rstrip()
        run = text[start : match.start()] + closing
        if _ABBREVIATION.search(run) or _ORDINAL.search(run):
            continue
        runs.append(run)
        start = match.end()
    return [*runs, text[start:]]


def _clean(run: str) -> str:
    run = _TAIL.sub("", run.strip())
    return _DATELINE.sub("", run, count=1).strip(" |•·")


def _is_quotable(run: str) -> bool:
    if len(run) > _SENTENCE_LENGTH_MAX or _JUNK.match(run):
        return False
    if _UNSPACED.search(run):
        return len(run) >= 8
    words = [word for word in run.split() if _LETTERS.search(word)]
    return len(words) >= _WORDS_MIN and not run.isupper()
