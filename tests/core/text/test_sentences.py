"""Sentences and headlines: where they begin and end, and which of them can speak."""

from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.text.sentences import (
    clean_headline,
    is_aside,
    is_broken,
    lacks_name,
    names_something,
    split_sentences,
    stands_alone,
    vagueness,
)
from svc_core.text.words import terms


@given(st.text(alphabet="abc ABC.!?…'“”()|\n0123456789-", max_size=120))
def test_a_sentence_is_always_a_run_of_its_text(text: str) -> None:
    line = " ".join(text.split())
    assert all(sentence in line for sentence in split_sentences(text))


def test_no_sentence_runs_from_one_paragraph_into_the_next() -> None:
    text = "Inquiry opens into the bridge\nFour engineers were questioned on Monday.\nCars wait."
    assert split_sentences(text) == ["Four engineers were questioned on Monday."]
    assert split_sentences("Inquiry opens into the bridge\nFour engineers wait for the court") == [
        "Inquiry opens into the bridge",
        "Four engineers wait for the court",
    ]


_REPORT = "Three ships wait off Fjordby for their crews."


@pytest.mark.parametrize(
    ("text", "language", "sentences"),
    [
        (f"She was 94. {_REPORT}", "en", [_REPORT]),
        (f"Crews of Fjordby have 94. {_REPORT}", "en", ["Crews of Fjordby have 94.", _REPORT]),
        ("Die Schiffe fahren am 3. Juni in Fjordby ab.", "de", None),
        ("Skipene i Fjordby venter til 3. Juni eller lenger.", None, None),
        ("Mayor sells the quay of FjordbyThree, Three crews weep.", "en", None),
        (f"Mayor sells the quay{_REPORT} Three!", "en", [_REPORT]),
        ("The crews call openQuay ships without a harbour.", "en", None),
        ("The crews set quayOpen.harbour, Open to all ships.", "en", None),
    ],
)
def test_a_sentence_ends_as_its_language_and_its_other_words_say(
    text: str, language: str | None, sentences: list[str] | None
) -> None:
    assert split_sentences(text, language=language) == (sentences or [text])


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        (f"FJORDBY (Quay Wire) - {_REPORT}", [_REPORT]),
        (f"Fjordby am Sund, 3 March (qw/press) – {_REPORT}", [_REPORT]),
        (f"Fjordby, Norland (Harbour Network) -- {_REPORT}", [_REPORT]),
        (f"Fjordby – {_REPORT}", [_REPORT]),
        (f"They owe Rs. 30 million. {_REPORT}", ["They owe Rs. 30 million.", _REPORT]),
        (f"Es gilt Art. 5 des Gesetzes. {_REPORT}", ["Es gilt Art. 5 des Gesetzes.", _REPORT]),
        (
            f"They left at 5. 30 crews stayed. {_REPORT}",
            ["They left at 5. 30 crews stayed.", _REPORT],
        ),
        (
            f"Six crews are back from the EU. 30 crews of Fjordby stay there. {_REPORT}",
            ["Six crews are back from the EU.", "30 crews of Fjordby stay there.", _REPORT],
        ),
        (f"March 3 () - {_REPORT}", [_REPORT]),  # a collector dropped the agency
        (
            f'{_REPORT}"After the storm they left," the mayor said.',
            [_REPORT, '"After the storm they left," the mayor said.'],
        ),
        (
            f'"{_REPORT}"After the storm all ships left.',
            [f'"{_REPORT}"', "After the storm all ships left."],
        ),
        (
            f"{_REPORT} „Alle Schiffe fahren ab“, sagt Bo Dahl.",
            [_REPORT, "„Alle Schiffe fahren ab“, sagt Bo Dahl."],
        ),
        (f"FJORDBY, Norland March 3, 2026 -- {_REPORT}", [_REPORT]),
        (f"Harbour Press - FJORDBY, N.L. (HP) - {_REPORT}", [_REPORT]),
        (
            f"Fjordby am Sund/Norstad - {_REPORT[:-1]} – and their cook.",
            [f"{_REPORT[:-1]} – and their cook."],
        ),
        (f"NORSTAD: {_REPORT}", [_REPORT]),
        (f"ANN LUND: {_REPORT}", [_REPORT]),
        ("T - Quay opens a shop for its crews.",) * 2,
        ("Ann Lund has one wish: Three ships for Fjordby.",) * 2,
        ("The Quay (a paper) - which he owns - was sold.",) * 2,
        ("Ann Lund (42) – Mayor of Fjordby – has resigned.",) * 2,
        (f"{_REPORT} (This item was read in the evening news.)", [_REPORT]),
        (f"(Reporting by Ann Lund (Fjordby); editing by Bo Dahl)\n{_REPORT}", [_REPORT]),
        (f"{_REPORT} Ann Lund (2nd L) waves to the crew on Monday.", [_REPORT]),
        (f"{_REPORT} Mayor Bo Dahl (links) begrüßt die Mannschaft.", [_REPORT]),
        ("The party of Ann Lund (R) wants to sell (or lease) the hall.",) * 2,
        (f"MAYOR OF FJORDBY SELLS 2 SHIPS; 'MANY WEEP' {_REPORT}", [_REPORT]),
        (f'FOLLOW THE QUAY ON Q "{_REPORT}"', [f'"{_REPORT}"']),
        ("EU, UK AND USA sign a treaty on ships.",) * 2,
        *(
            (f"{_REPORT} {teaser}", [_REPORT])
            for teaser in (
                "Quay News' Ann Lund has more.",
                "Ann Lund and Bo Dahl have the details.",
                "The Quay's Ann Lund reports from Fjordby, Norland.",
                "The mayor of Norstad, a sailor, joins Quay News to discuss the ships.",
                "The mayor of Norstad, a sailor, joined “The Quay” to discuss the ships.",
                "Harbour correspondent Ann Lund tells us why.",
                "Ann Lund looks at why three ships have no crew.",
                "Hafenmeister Bo Dahl äußert sich nun zu dem Verkauf.",
                "Crews wait at the quay after it was sold, in Fjordby, May 16, 2021.",
            )
        ),
        ("Bo Dahl / Quay News The mayor of Fjordby sold three ships.", []),
        ("Ann Lund/Quay Images Fjordby sold three ships to its mayor.", []),
        ("The Fjordby/Norstad ferry sold three ships to the mayor.",) * 2,
        ("Fjordby has more ships than its mayor can sell.",) * 2,
        ("The mayor of Norstad joined the crews to discuss three ships.",) * 2,
        ("Three ships wait off Fjordby, Quay News reports.",) * 2,
        ("The mayor had reports from Fjordby of three ships.",) * 2,
        ("THE QUAY OF FJORDBY IN NORLAND sells its ships to the mayor.",) * 2,
    ],
)
def test_datelines_captions_and_asides_in_brackets_are_no_part_of_a_sentence(
    text: str, sentences: str | list[str]
) -> None:
    assert split_sentences(text) == ([sentences] if isinstance(sentences, str) else sentences)


def test_a_sentence_about_the_item_itself_is_none_of_its_text() -> None:
    title = "Why do they wait? Three ships off Fjordby"
    text = f"{_REPORT}\nThe post {title} appeared first on The Quay."
    assert split_sentences(text, title=title) == [_REPORT]
    assert split_sentences(f"{title} wait for crews.", title=title) == [f"{title} wait for crews."]


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "The mayor of Fjordby has sold the old hall.", True),
        ("en", "The mayor says “your hall” is sold to the highest bidder.", True),
        ("en", "The hall that you can rent is sold to the mayor.", False),
        ("en", "Explore the old hall that the mayor has sold.", False),
        ("en", "The mayor of Fjordby opens the old hall on Sunday in Norland.", False),
        ("en", "The mayor of Fjordby opened the old hall on Sunday in Norland.", True),
        ("en", "The mayor of Fjordby will open the old hall on Sunday.", True),
        ("en", "The mayor of Fjordby opens the old hall on May 16.", False),
        ("en", "The mayor of Fjordby may open the old hall on May 16.", True),
        ("en", "The mayor of Fjordby opens the old hall on Highway 66.", True),
        ("en", "Sold by the mayor to the highest bidder in Fjordby.", False),
        ("de", "Der Bürgermeister von Fjordby hat die alte Halle verkauft.", True),
        ("de", "Sie haben die alte Halle in Fjordby für immer verkauft.", False),
        ("de", "In Fjordby sehen Sie die alte Halle, die verkauft wurde.", False),
        ("de", "In Fjordby sehen sie die alte Halle, die verkauft wurde.", True),
        ("en", "“The old hall of Fjordby is sold to the mayor.”", False),
        ("de", "Dafür hat der Bürgermeister die alte Halle verkauft.", False),
        ("fr", "La mairie de Fjordby a vendu votre salle aux enchères.", False),
    ],
)
def test_a_sentence_that_speaks_to_the_reader_is_not_quoted(
    language: str, text: str, expected: bool
) -> None:
    assert stands_alone(text, language) is expected


@pytest.mark.parametrize(
    ("language", "text", "expected"),
    [
        ("en", "A hall was sold.", False),
        ("en", "A hall of Fjordby was sold.", True),
        ("en", "iHall was sold.", True),
        ("en", "A hall was sold for 5 crowns.", True),
        ("en", "“...”", False),
        ("de", "Eine Halle wurde verkauft.", True),
        ("zh", "旧大厅星期日已经出售。", True),
        ("ja", "古い会館が売却された。", True),
        ("ar", "بيعت القاعة القديمة يوم الأحد.", True),
        ("hi", "पुराना भवन बेच दिया गया।", True),
        ("ru", "старый зал продан.", False),
    ],
)
def test_a_sentence_names_something_where_its_script_can_show_it(
    language: str, text: str, expected: bool
) -> None:
    assert names_something(text, language) is expected


NEWS_HEADLINES = (
    "Storm hits the port",
    "Storm – strongest in years – hits port where 500 people live",
    "Chile: storm hits port",
    "Ship “Ann” lost in a storm off Fjordby",
    "Storm: Chile, Ghana and Norland count boats, the mayor says",
    "Sturm versenkt in Fjordby Das Boot",
    "東京都知事選",
)


def test_a_headline_that_asks_shows_quotes_or_names_a_day_is_an_aside() -> None:
    asides = (
        "Is it over?",
        "Watch the storm hit",
        "Hear why the storm hit the port",
        "Storm hits us (Op-ed)",
        "Storm hits port – video",
        "Storm hits port – Norland politics live",
        "27 November, 2005",
        "Storm",
        "Storm in Chile: What we know",
        "Mayor of Fjordby: “This storm has taken all we had”",
        "Storm-Liveblog: Fjordby zählt seine Boote",
        "Weekly Recap: Storm in Chile, Fire in Ghana and More",
        "Other news: Storm Hits Chile, Port Theft Told, $4 Million Fine",
        "Sturm über Fjordby Warum die Boote sanken",
        "Sturm über Fjordby So entkam der Bürgermeister",
        "Sturm über Fjordby Das sagt Ann Lund",
    )
    assert all(is_aside(headline, "de") for headline in asides)
    assert not any(is_aside(o, language) for o in NEWS_HEADLINES for language in ("de", None))
    names = "Governor Das kept the rates of the bank", "Golfer Michelle Wie West wins the cup"
    assert [is_aside(name, language) for name in names for language in ("en", None)] == [False] * 4
    assert is_broken("Le procÃ¨s")


@pytest.mark.parametrize(
    ("language", "headline", "expected"),
    [
        ("en", "Storm hits the port", 0),
        ("en", "This storm hits ports like no other", 2),
        ("en", "Storm in Fjordby: Here is all that hit the port", 2),
        ("en", "Your port in the storm", 2),
        ("en", "Storm hits the port. Here is all that it hit", 2),
        ("en", "Storm hits U.S. How ports of Norland wait", 0),
        ("en", "Storm over the port", 0),  # a noun and a verb look alike
        ("en", "Why the storm hits", 2),
        ("en", "The port of “Ann”: Why the storm hits", 2),
        ("de", "Sturm trifft Fjordby", 0),
        ("de", "Hafen in Fjordby nach Sturm gesperrt", 0),
        ("de", "Sturm in Fjordby: Der Hafen ist zu", 0),
        ("de", "Sturm in Fjordby – Dahl fordert Hilfe", 0),
        ("de", "Sturm in Fjordby: So viel kostet der Hafen", 2),
        ("de", "Dieses Bild vom Sturm bewegt Fjordby", 2),
        ("de", "Mit neuen Schiffen gegen den Sturm", 1),
        ("de", "Fjordby: Der Sturm und die Schiffe", 1),
        (None, "Storm over the port", 0),
        ("ja", "東京都知事選", 0),
    ],
)
def test_a_headline_is_vague_that_teases_or_has_no_verb(
    language: str | None, headline: str, expected: int
) -> None:
    assert vagueness(headline, language) == expected


@pytest.mark.parametrize(
    ("headline", "expected"),
    [
        ("Harbour: +++ Ships wait for C++ +++", "Harbour: Ships wait for C++"),
        ("Q+ (for subscribers); Ships wait", "Ships wait"),
        ("quay+ | Ships wait", "Ships wait"),
        ("Quay+: Ships wait", "Quay+: Ships wait"),
        ("Q+ (A); Ships", "Q+ (A); Ships"),
    ],
)
def test_a_headline_has_no_marks_of_a_live_blog_or_a_paid_article(
    headline: str, expected: str
) -> None:
    assert clean_headline(headline) == expected


@pytest.mark.parametrize("piece", ["A. ", "aaaA ", "aaa", "Mr. ", "U.S. ", "<!--", "(", "' . "])
def test_sentences_take_time_in_proportion_to_the_text(piece: str) -> None:
    def seconds(chars: int) -> float:
        start = process_time()
        split_sentences(piece * (chars // len(piece)))
        return process_time() - start

    assert (
        min(seconds(16_000) for _ in range(3)) < 12 * min(seconds(4_000) for _ in range(3)) + 0.01
    )


ALONE = {
    "a name": ("en", "The Zeppelin Company bought a hall.", "", False),
    "a bare noun": ("en", "The company bought a hall.", "", True),
    "a bare noun that was read": ("en", "The company bought a hall.", "Airship company", False),
    "a noun with its name": ("en", "The mayor of Fjordby bought a hall.", "", False),
    "a noun with its clause": ("en", "The mayor who sold it has resigned.", "", False),
    "a possessive": ("en", "The company's hall was sold.", "", False),
    "a share of something": ("en", "A third of them had left by noon.", "", True),
    "a pronoun that points back": ("en", "Had Ann Lund sold this, halls were cheap.", "", True),
    "a noun that is pointed at": (
        "en",
        "Had Ann Lund sold this hall, halls were cheap.",
        "",
        False,
    ),
    "a pronoun behind a comma": ("en", "A day before the sale, she left.", "", True),
    "a pronoun behind its name": ("en", "After Ann Lund sold it, she left.", "", False),
    "a pronoun behind its noun": ("en", "Ann Lund says that she left.", "", False),
    "a German pronoun as subject": ("de", "Die verkauft eine alte Halle.", "", True),
    "a German pronoun and a year": ("de", "Der verkaufte 2014 eine Halle.", "", True),
    "a German article": ("de", "Der verkaufte Lund war eine Halle.", "Lund Halle", False),
    "a German article and an adverb": ("de", "Die weltweit größte FNG siegt.", "weltweit", False),
    "a German pronoun behind its verb": ("de", "Am Montag kaufte er eine Halle.", "", True),
    "a German clause": ("de", "Ann Lund sagt, dass sie geht.", "", False),
    "indefinite": ("en", "A company bought the hall.", "", False),
    "German": ("de", "Die Firma kaufte eine Halle.", "", True),
    "German with an acronym": ("de", "Die FNG kaufte eine Halle.", "", False),
    "German with a name beside it": ("de", "Die Firma Lund kaufte eine Halle.", "", False),
    "a pronoun at the end": ("en", "Ann Lund sold all ships for this.", "", True),
    "German with its name": ("de", "Die Firma aus Fjordby kaufte eine Halle.", "", False),
    "French": ("fr", "La société est vendue.", "", True),
    "nothing but a noun": ("en", "The harbour", "", True),
    "no table": ("fi", "Yhtiö osti hallin.", "", False),
}


@pytest.mark.parametrize("case", ALONE)
def test_a_sentence_names_what_it_begins_with(case: str) -> None:
    language, text, headline, expected = ALONE[case]
    assert lacks_name(text, language, set(terms(headline, language))) is expected
