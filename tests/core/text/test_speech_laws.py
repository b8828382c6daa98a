"""What holds of every text that is made ready for speech, however odd (Spec: audio-text facet)."""

import unicodedata
from datetime import UTC, datetime, timedelta
from time import process_time

import attrs
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from svc_core.text.speech import script as speech
from svc_core.text.speech.normalisation import READ_MAX, speech_text
from svc_core.text.speech.script import CHARS_MAX, NarrationScript, narrate

MARKUP = frozenset('<>*_`#|~[]{}\\^"&@')
ENDS = (".", "!", "?", "…", "。", "！", "？", "।", "۔", "؟")
LANGUAGES = st.sampled_from(["en", "en-GB", "de", "fr", "es", "pt", "it", "ru", "zh", "ar", ""])

PIECES = (
    """
the|of|and|in|talks|rose|to|by|$5|$1.2bn|€3.5 million|£10-15bn|NOK 250m|250m NOK|15%|-3%|5-10%|+5%
25bps|2026-03-05|2026-03-05T14:30:00Z|14:30|14:30 UTC|09:05|5 p.m.|9:30 a.m.|March 5|5 March 2026
March 5-8, 2026|Jan. 5|US|EU|NATO|UN's|APIs|C-V-E|CVE-2024-12345|v1.2.3|10.0.0.1|3.0.7|R&D|I|The
https://a.example/x|www.b.com|a@b.com|@nato_hq|#MeToo|#1|5km|10–15 km|5-km race|-4°C|100 km/h|3D
300 km²|$80/bbl|1/2|2 1/2|½|21st|1990s|2019-20|2024/25|Q1 2026|FY2025|U.S.|e.g.|etc.|vs.|No. 5
Dr. Smith|approx. 5|Inc.|World War II|Charles III|Part IV|1,200,000|5,000,000|12,345|5-10|2–3|F-16
H5N1|CO2|G7|5G|COVID-19|(NASDAQ: AAPL)|$TSLA|AT&T|S&P 500|(an aside)|[1]|[x](http://y.com)|M&A
**bold**|_it_|`code`|>5|~10|3x5|16:9|24/7|9/11|he/she|“quoted”|it’s|non-EU|US-China|IAEA|OSCE|B2B
well-known|—|–|…|snake_case|1.5m|5k|5m people|10 minutes|St. Louis|BBC|IT|WHO|AI-driven|'90s|100th
""".replace("\n", "|")
    .strip("|")
    .split("|")
)
# Pieces that touch may make a new one ("5" before "March"), so a word or a pause stands between.
SENTENCES = st.lists(
    st.tuples(
        st.sampled_from(PIECES), st.sampled_from([" and ", " said ", ", the ", "; then ", ". A "])
    ),
    min_size=1,
    max_size=8,
).map(lambda pairs: "".join(piece + joint for piece, joint in pairs) + "end")
SCRAPS = st.lists(
    st.sampled_from(
        [*PIECES, *"<>*_`#|~[]{}\\^\"&@$%+-=/().,:;!?'0159aZ \n", "\n\n", "```", "---", "](", "<b>",
         "</p>", "<!--", "<script>", "&lt;", "&#60;", "\u202e", "\u200d", "\ufe0f", "é", "e\u0301"]
    ),
    max_size=14,
).map("".join)  # fmt: skip
TEXTS = st.one_of(SENTENCES, SCRAPS, st.text(max_size=60))


@given(TEXTS, LANGUAGES)
@example(f"&#{'9' * 5000}; a", "en")
@example("\ud800 \udfff \x00", "en")
@example("Part IIII 9999-99-99 31 February 99:99 0/0 1/0 -", "en")
def test_no_markup_survives_and_every_paragraph_is_tidy(text: str, language: str) -> None:
    speech = speech_text(text, language)
    assert not MARKUP & set(speech)
    for paragraph in speech.split("\n\n") if speech else ():
        assert paragraph == " ".join(paragraph.split())
        assert paragraph.endswith(ENDS)
        assert any(map(str.isalnum, paragraph))
        assert not paragraph.startswith(("-", "+", ">", "=", ".", ","))


@given(SENTENCES)
def test_what_is_said_is_not_changed_by_being_said_again(text: str) -> None:
    speech = speech_text(text)
    assert speech_text(speech) == speech


@given(TEXTS, LANGUAGES)
def test_a_second_telling_loses_no_paragraph(text: str, language: str) -> None:
    speech = speech_text(text, language)
    again = speech_text(speech, language)
    assert again.count("\n\n") == speech.count("\n\n")
    assert bool(again) == bool(speech)


@given(st.lists(SENTENCES, max_size=4), LANGUAGES)
def test_paragraphs_are_told_each_for_itself(texts: list[str], language: str) -> None:
    apart = [
        paragraph for paragraph in (speech_text(text, language) for text in texts) if paragraph
    ]
    assert speech_text("\n\n".join(texts), language) == "\n\n".join(apart)


@given(st.text(st.characters(categories=("Lu", "Ll", "Lo", "Nd", "Zs")), max_size=40))
def test_other_languages_keep_every_letter(text: str) -> None:
    source, speech = (
        unicodedata.normalize("NFKC", form) for form in (text, speech_text(text, "xx"))
    )
    assert [c for c in speech if c.isalnum()] == [c for c in source if c.isalnum()]


# -- time and size -----------------------------------------------------------------------------

RUNS = [
    "[", "](", "<", "<a \"", "<a '", "<script", "<sup", "<!--", "</", "&lt;", "- ", "> ", "*", "_ ",
    "`", "```\n", "~~~\n", "|", "|-", "|a|\n|-|\n", "# ", "\\", "[a](", "[a](b", "[a](b(c)", "[[1]",
    "1", "1,", "1.", "1-", "1/", "1:", "1,000,", "$", "$1", "$1-", "5 March ", "March 5-", "2026-",
    "12:3", "A", "A-", "A.", "A&", "US ", "a@", "a.", "a.b@", ".com", "http://", "http://a@",
    "www.", "(", "((", "(a", "…", "..", "--", " -", "'", '"', "&", "%", "@", "#a", "No. ", "II ",
    "½", "\n", " \n", "a\n", "\u00a0", "é", "\u0301", "漢",
]  # fmt: skip


@pytest.mark.parametrize("run", RUNS, ids=repr)
def test_no_run_of_anything_takes_more_than_its_length(run: str) -> None:
    text = run * (20_000 // len(run))  # a square of it would be 400 million steps, seconds
    start = process_time()
    speech_text(text)
    assert process_time() - start < 1


def test_of_a_text_without_end_the_beginning_is_told() -> None:
    speech = speech_text("word " * READ_MAX)
    assert speech == speech_text(("word " * READ_MAX)[:READ_MAX])
    assert len(speech) <= READ_MAX + 1


# -- scripts -----------------------------------------------------------------------------------

START = datetime(2026, 3, 1, tzinfo=UTC)
SCRIPT = NarrationScript(
    title="Ports: 1–7 March 2026",
    start=START,
    end=START + timedelta(days=7),
    sources=3,
    paragraphs=(
        "Dockworkers at **Antwerp** joined. [1](#source-1)",
        "NATO spent $5m.",
        "Trade fell 5%.",
        "Antwerp",
        "The port <b>closed</b>.",
    ),
)


@pytest.mark.parametrize("hours", [0, 1, 24])
def test_the_intro_names_one_day_where_the_period_is_one(hours: int) -> None:
    script = attrs.evolve(SCRIPT, end=START + timedelta(hours=hours))
    assert "This report covers March 1st, 2026. It" in narrate(script)


@pytest.mark.parametrize(
    ("language", "intro", "outro"),
    [
        ("de-CH", "vom 1. März 2026 bis zum 7. März 2026", "Danke fürs Zuhören.\n"),
        ("fr", "du 1er mars 2026 au 7 mars 2026", "Merci de votre écoute.\n"),
        ("zh", "from March 1st, 2026 to", "Thank you for listening.\n"),
    ],
)
def test_the_frame_is_in_the_reports_language_where_it_is_known(
    language: str, intro: str, outro: str
) -> None:
    speech = narrate(attrs.evolve(SCRIPT, language=language))
    assert intro in speech.split("\n\n")[0]
    assert speech.endswith(outro)


def test_a_report_longer_than_a_script_is_told_up_to_there() -> None:
    texts = tuple(f"Sentence {number} of a very long report." for number in range(10_000))
    speech = narrate(attrs.evolve(SCRIPT, paragraphs=texts))
    assert CHARS_MAX - 100 < len(speech) <= CHARS_MAX
    paragraphs = speech.split("\n\n")
    assert paragraphs[-1].startswith("That was the report")
    assert paragraphs[-2].endswith("of a very long report.")


@given(st.text(max_size=200), st.lists(TEXTS, max_size=3), LANGUAGES)
def test_a_script_is_bounded_tidy_and_the_same_each_time(
    title: str, texts: list[str], language: str
) -> None:
    script = attrs.evolve(SCRIPT, title=title, paragraphs=tuple(texts), language=language)
    speech = narrate(script)
    assert speech == narrate(script)
    assert len(speech) <= CHARS_MAX
    assert not MARKUP & set(speech)
    assert speech.endswith("\n")
    assert "\n\n\n" not in speech
    assert "  " not in speech


@pytest.mark.parametrize(
    ("words", "duration"), [(0, 0), (1, 1), (5, 2), (150, 60), (151, 61), (300, 120)]
)
def test_the_duration_is_that_of_150_words_a_minute(words: int, duration: int) -> None:
    assert speech.spoken_seconds(words) == duration
