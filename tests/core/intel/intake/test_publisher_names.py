"""A publisher is called by its name, not by the title of one of its feeds."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from svc_core.intel.intake.publisher_names import publisher_name


@pytest.mark.parametrize(
    ("title", "address", "name"),
    [
        ("The Quay", "thequay.example", "The Quay"),
        ("Articles | The Quay", "thequay.example", "The Quay"),
        ("The Quay - Front Pages", "www.thequay.example", "The Quay"),
        ("QUAY > Home Page", "quaytimes.example", "QUAY"),
        ("Harbour: World News", "feeds.harbour.co.uk", "Harbour"),
        ("World Articles | Quay Online", "dailyquay.co.uk", "Quay Online"),
        ("Gazette of Norland - Latest", "gn.example", "Gazette of Norland"),
        ("Küstenblatt: Politik", "kuestenblatt.example", "Küstenblatt"),
        ("Today - QUAY.NET", "quay.net", "QUAY.NET"),
        ("LE QUAI - Le Quai - Culture", "lequai.example", "LE QUAI"),
        ("The Quay latest articles", "thequay.example", "The Quay"),
        ("Quay News", "quay.example", "Quay News"),  # one word more may be of the name
        ("Latest & Breaking News on Quay News", "quaynews.example", "Quay News"),
        ("Quay News: Top Stories", "quaynews.go.example", "Quay News"),
        ("News: Top Stories", "news.go.example", "News: Top Stories"),
        ("QUAY Topics: News", "quay.example", "QUAY"),
        ("QuaySide Blog", "www.quayside.example", "QuaySide"),
        ("Notes on Quay", "quaynotes.example", "Notes on Quay"),
        ("Stories by Ann Lund on Quay", "quay.example", "Stories by Ann Lund on Quay"),
        ("Everything: All Latest", "quay.example", "Everything: All Latest"),
        ("Ship-to-shore 9:30", "quay.example", "Ship-to-shore 9:30"),
        ("The Quay - News", "", "The Quay - News"),
        # A section is no publisher.
        ("Sport ", "quay.example/sport-100.html", "quay.example"),
        ("World & Nation", "quay.example/world-nation/rss.xml", "quay.example"),
        ("Sport", "quay.example/rss.xml", "Sport"),
        ("Ann Lund", "quay.example/channel?id=7", "Ann Lund"),
        ("Quay Sport", "quay.example/sport", "Quay Sport"),
        ("…", "quay.example/sport", "…"),
    ],
)
def test_a_publisher_is_called_as_its_site_is(title: str, address: str, name: str) -> None:
    host = address.partition("/")[0]
    assert publisher_name(title, host, "", f"https://{address}") == name


def test_the_path_of_another_site_names_no_section() -> None:
    mirror = "https://mirror.example/allships.xml"
    assert (
        publisher_name("All Ships", "quay.example", mirror, "https://quay.example") == "All Ships"
    )


@given(st.text(max_size=40), st.text(max_size=40))
def test_a_name_is_of_words_of_the_title(title: str, host: str) -> None:
    name = publisher_name(title, host)
    assert name == title or " ".join(name.split()) in " ".join(title.split())
