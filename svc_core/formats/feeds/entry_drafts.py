"""Turns the entries of any feed format into `FeedItem`s, and removes duplicates.

Rule 1: every format fills an `EntryDraft`; cleaning, bounds, identity and duplicates are handled
        here alone.
Rule 2: the natural key of an entry is its permalink in every format, else its guid, else a hash of
        its text.
Rule 3: a feed whose `related` links lead to its own site names the pages of its entries by them, as
        link-blogs do, whose `alternate` is what they tell of. RFC 4287 (4.2.7.2) has it the other
        way round, so a feed where an own `alternate` stands beside a foreign `related` is read so,
        and one without foreign links where a `related` is the `alternate` of another entry.
Rule 4: an entry without title, text and link is rejected. Of several entries with one natural key
        the newest stays, the first without dates, and the others are counted.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from functools import partial
from hashlib import sha256
from typing import Any, TypeAlias

from attrs import evolve, field, frozen

from svc_core.formats.feeds.model import FeedItem, FeedLimits, PublishedBasis
from svc_core.formats.model import Rejection
from svc_core.formats.reading.dates import common_zone, in_utc
from svc_core.formats.reading.languages import language_tag
from svc_core.formats.reading.links import absolute_url, canonical_url, permalink, same_site
from svc_core.formats.reading.markup_text import (
    clip,
    fold_lines,
    fold_space,
    plain_text,
    repair_encoding,
    unwrap_lines,
)

EMPTY = "noTitleTextOrLink"
DUPLICATE = "duplicateInDocument"
NOT_AN_OBJECT = "notAnObject"

APART = "\ufdd0"
"""A noncharacter that keeps two characters from being taken for the bytes of another one."""

_KEY_CHARS_MAX = 512
_SAMPLE_CHARS_MAX = 200


@frozen
class Markup:
    """A text as published, and the reader of the language that its format says it is in."""

    source: str = ""
    read: Callable[[str], str] = plain_text

    def text(self, chars_max: int) -> str:
        """The plain text of at most `chars_max` characters of the source."""
        return repair_encoding(self.read(self.source[:chars_max]))

    def line(self, limits: FeedLimits) -> str:
        """The plain text on one line, no longer than a name is."""
        return clip(fold_space(self.text(limits.markup_chars)), limits.name_chars)


PLAIN = partial(Markup, read=unwrap_lines)
"""A text that its format declares plain, whatever characters are in it."""


@frozen
class EntryDraft:
    """One entry as its format states it; every text still as published, every link unresolved."""

    guid: str = ""
    title: Markup = Markup()
    summary: Markup = Markup()
    content: Markup = Markup()
    link: str = ""
    other_links: tuple[str, ...] = ()
    """Links that may be the entry's own page when `link` leads to another site."""
    related_links: tuple[str, ...] = ()
    """Those of them that may be its own page even when `link` leads to its own site (Rule 3)."""
    published_at: datetime | None = None
    updated_at: datetime | None = None
    """Both dates keep the zone in which they are written, or none."""
    language: str = ""
    authors: tuple[Markup, ...] = ()
    categories: tuple[Markup, ...] = ()
    image: str = ""
    is_linked_alone: bool = True
    """Whether no other entry has its link: a shared link is the permalink of none."""


@frozen
class Channel:
    """The feed of an entry: bases of its links, defaults of language and authors, time zones."""

    limits: FeedLimits
    home_url: str | None = None
    base_url: str | None = None
    language: str | None = None
    authors: tuple[str, ...] = ()
    zone: tzinfo | None = None
    """The zone of dates without one, where the owner of the source has set it."""
    country_zone: tzinfo | None = None
    """The zone of the country of the feed, where the country has only one."""

    def resolve(self, link: str) -> str | None:
        """`link` made absolute by the feed's home page, else by the document's own address."""
        if not link:
            return None
        bases = (self.home_url, self.base_url)
        return absolute_url(link, bases, chars_max=self.limits.url_chars)


Fields: TypeAlias = Mapping[str, Any]
"""The members of an entry, an item or a feed, as feedparser or JSON gives them."""


def string(fields: Fields, name: str) -> str:
    """A member that is a text, without `APART`; empty where it is missing or has another type."""
    value = fields.get(name)
    return value.replace(APART, "") if isinstance(value, str) else ""


def _sample(text: str) -> str:
    return clip(fold_space(text), _SAMPLE_CHARS_MAX)


@frozen
class RejectedEntry:
    """An entry that is left out, with the reason and a sample of its text."""

    reason: str
    sample: str = field(converter=_sample)


def finish(draft: EntryDraft, channel: Channel, zone: tzinfo = UTC) -> FeedItem | RejectedEntry:
    """Makes the item of a draft, or its rejection; `zone` applies to dates without one."""
    limits = channel.limits
    title = clip(fold_space(draft.title.text(limits.markup_chars)), limits.title_chars)
    paragraphs = fold_lines(draft.summary.text(limits.markup_chars))
    summary = fold_space(paragraphs)
    content = fold_lines(draft.content.text(limits.markup_chars))
    text = content or paragraphs
    alternatives = tuple(map(channel.resolve, draft.other_links))
    link = channel.resolve(draft.link) or next(filter(None, alternatives), None)
    source_url = permalink(link, alternatives, channel.home_url)
    if not (title or text or source_url):
        return RejectedEntry(EMPTY, draft.guid)
    url = source_url and canonical_url(source_url)
    return FeedItem(
        natural_key=_natural_key(
            url if _is_own_page(url, draft, channel) else None,
            fold_space(draft.guid) or url or "",
            f"{title}\n{content or summary}",
        ),
        title=title,
        summary=clip(summary or fold_space(text), limits.summary_chars),
        text=clip(text, limits.text_chars),
        url=url,
        source_url=source_url,
        published_at=in_utc(draft.published_at, zone),
        published_basis=_basis(draft.published_at),
        updated_at=in_utc(draft.updated_at, zone),
        language=language_tag(draft.language) or channel.language,
        authors=plain_names(draft.authors, limits) or channel.authors,
        categories=plain_names(draft.categories, limits),
        image_url=channel.resolve(draft.image),
    )


def plain_names(names: Iterable[Markup], limits: FeedLimits) -> tuple[str, ...]:
    """Names as plain text, each once, in order, within the limits."""
    texts = (name.line(limits) for name in names)
    return tuple(dict.fromkeys(filter(None, texts)))[: limits.names]


def batch(
    drafts: Sequence[EntryDraft | RejectedEntry], channel: Channel
) -> tuple[tuple[FeedItem, ...], tuple[Rejection, ...]]:
    """Items with distinct natural keys, in document order, and what was left out by reason."""
    items: dict[str, FeedItem] = {}
    refusals: list[RejectedEntry] = []
    for outcome in _outcomes(drafts, channel):
        if isinstance(outcome, RejectedEntry):
            refusals.append(outcome)
        elif (prior := items.get(outcome.natural_key)) is None:
            items[outcome.natural_key] = outcome
        else:
            winner, loser = (outcome, prior) if _is_newer(outcome, prior) else (prior, outcome)
            items[outcome.natural_key] = winner
            refusals.append(RejectedEntry(DUPLICATE, loser.title or loser.natural_key))
    return tuple(items.values()), tuple(_rejections(refusals))


def _outcomes(
    drafts: Sequence[EntryDraft | RejectedEntry], channel: Channel
) -> Iterator[FeedItem | RejectedEntry]:
    drafts = _with_own_pages(drafts, channel)
    entries = [draft for draft in drafts if isinstance(draft, EntryDraft)]
    common = common_zone(date for row in entries for date in (row.published_at, row.updated_at))
    zone = channel.zone or common or channel.country_zone or UTC
    shared = _shared_links(entries)
    for draft in drafts:
        if isinstance(draft, EntryDraft):
            is_own = draft.link not in shared
            yield finish(draft if is_own else evolve(draft, is_linked_alone=False), channel, zone)
        else:
            yield draft


def _with_own_pages(
    drafts: Sequence[EntryDraft | RejectedEntry], channel: Channel
) -> list[EntryDraft | RejectedEntry]:
    """The drafts, each linked to its own page where a related link names that (Rule 3)."""
    entries = [draft for draft in drafts if isinstance(draft, EntryDraft)]
    owners = Counter(link for row in entries for link in {*(row.related_links or (row.link,))})

    def own_links(*links: str) -> list[str]:
        return [link for link in links if same_site(channel.resolve(link), channel.home_url)]

    def with_page(draft: EntryDraft | RejectedEntry) -> EntryDraft | RejectedEntry:
        if not isinstance(draft, EntryDraft):
            return draft
        links = own_links(*draft.related_links)
        is_page = len(links) == 1 and owners[links[0]] == 1 and draft.guid != draft.link
        return evolve(draft, link=links[0]) if is_page else draft

    links = {row.link for row in entries if row.link}
    is_link_blog = len(own_links(*links)) < len(links)
    is_by_letter = any(
        row.related_links
        and own_links(row.link)
        and (
            not own_links(*row.related_links)
            or not (is_link_blog or links.isdisjoint({*row.related_links} - {row.link}))
        )
        for row in entries
    )
    return [*drafts] if is_by_letter else [*map(with_page, drafts)]


def _shared_links(drafts: Sequence[EntryDraft]) -> set[str]:
    """Links that entries with different guids share: the page of a section or the home page."""
    guids: dict[str, set[str]] = {}
    for draft in drafts:
        guids.setdefault(draft.link, set()).add(draft.guid)
    return {link for link, owners in guids.items() if len(owners) > 1}


def _basis(date: datetime | None) -> PublishedBasis | None:
    if date is None:
        return None
    return "stated" if date.tzinfo else "assumed"


def _is_own_page(url: str | None, draft: EntryDraft, channel: Channel) -> bool:
    """Whether an address is the entry's permalink: on the feed's site, or said to be it."""
    if url is None or not draft.is_linked_alone or url == channel.home_url:
        return False
    home = channel.home_url
    return home is None or same_site(url, home) or channel.resolve(draft.guid) == url


def _natural_key(permalink: str | None, guid: str, words: str) -> str:
    key = permalink or guid
    if key and len(key) <= _KEY_CHARS_MAX:
        return key
    return f"sha256:{sha256((key or words).encode()).hexdigest()}"


def _is_newer(item: FeedItem, earlier: FeedItem) -> bool:
    stamp, earlier_stamp = (row.updated_at or row.published_at for row in (item, earlier))
    return stamp is not None and (earlier_stamp is None or stamp > earlier_stamp)


def _rejections(refusals: list[RejectedEntry]) -> Iterator[Rejection]:
    for reason in dict.fromkeys(row.reason for row in refusals):
        samples = [row.sample for row in refusals if row.reason == reason]
        yield Rejection(reason, len(samples), samples[0])
