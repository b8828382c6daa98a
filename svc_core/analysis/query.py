"""What a profile asks for: its free-text topic and keywords as a structure that items are held to.

Rule 1: words that only instruct ("monitor the latest news about") are no part of the subject.
Rule 2: a query is any of its clauses; a clause is all of its groups; a group is any of its chunks
("hospitals and clinics"); a chunk is all of its units ("ransomware attacks"); a unit is one word,
name or known phrase with everything that means the same.
Rule 3: names weigh more than words, and words that stand in any news weigh little.
"""

import re
from collections.abc import Iterable, Sequence

from attrs import frozen

from svc_core.analysis.asking import chunk, clause
from svc_core.analysis.tokens import tokens
from svc_core.analysis.units import Group, Unit, generic_terms

_CLAUSE = re.compile(r"[.!?](?=\s|$)|[;\n•]+")

_ASIDE = re.compile(  # what else to tell of the topic ("... and tell me who is hurt")
    r"(?<=[^\s.!?;\n])[,;]?\s+(?:and\s+)?(?:please\s+)?(?:tell|show|inform|let|explain|say|note|report|list|describe|flag"
    r"|highlight|summari[sz]e)(?:\s+(?:to\s+)?(?:me|us))?(?:\s+know)?"
    r"\s+(?:which|what|who|whom|whose|how|when|where|why|whether|if)\b[^.!?;\n]*",
    re.IGNORECASE,
)


@frozen
class Query:
    """A question. `clauses` are alternatives, `keywords` stand alone, `excluded` shut out."""

    clauses: tuple[tuple[Group, ...], ...]
    keywords: tuple[tuple[Unit, ...], ...] = ()
    excluded: tuple[Unit, ...] = ()

    @property
    def units(self) -> tuple[Unit, ...]:
        """Every unit that is asked for, once, heaviest first."""
        asked = [
            unit
            for clause in self.clauses
            for group in clause
            for chunk in group.chunks
            for unit in chunk
        ]
        found = dict.fromkeys([*asked, *(unit for chunk in self.keywords for unit in chunk)])
        return tuple(sorted(found, key=lambda unit: (-unit.weight, unit.label)))

    @property
    def terms(self) -> tuple[str, ...]:
        """Terms for the candidate search (any of them), as they stand in `tokens.search_text`."""
        units = self.units
        telling = [unit for unit in units if not unit.is_generic] or list(units)
        without_places = [unit for unit in telling if not unit.is_place] or telling
        found: dict[str, None] = {}
        for unit in without_places:
            found.update(dict.fromkeys(sorted(unit.concepts)))
            for run in unit.runs:
                found.update(dict.fromkeys(term for term in run if term not in generic_terms()))
        return tuple(found)

    @classmethod
    def of(cls, topic: str, keywords: Iterable[str] = (), language: str | None = "en") -> "Query":
        """The query of a profile. A topic of instructions alone asks nothing."""
        wanted, unwanted = _part(_ASIDE.sub(" ", topic))
        clauses = [clause(text, language) for text in _CLAUSE.split(wanted)]
        told = set(tokens(wanted))
        alone = [chunk(keyword, language) for keyword in keywords]
        return cls(
            clauses=tuple(dict.fromkeys(clause for clause in clauses if clause)),
            keywords=tuple(dict.fromkeys(chunk for chunk in alone if chunk and _adds(chunk, told))),
            excluded=tuple(unit for text in unwanted for unit in chunk(text, language)),
        )


def _part(topic: str) -> tuple[str, list[str]]:
    """What is asked for, and what is asked to be left out ("... but not football")."""
    from svc_core.analysis._query_words import EXCLUSIONS  # noqa: PLC0415 - read on first use

    pattern = re.compile(rf"[,(]?\s*\b(?:{EXCLUSIONS})\b\s+([^.;!?()\n]+)\)?", re.IGNORECASE)
    unwanted = [
        part for match in pattern.findall(topic) for part in re.split(r",|\bor\b|\band\b", match)
    ]
    return pattern.sub(" ", topic), [part for part in unwanted if part.strip()]


def _adds(chunk: Sequence[Unit], told: set[str]) -> bool:
    """Whether a keyword says more than the topic does: a lone common word of it does not."""
    if len(chunk) > 1 or chunk[0].is_name or chunk[0].concepts:
        return any(term not in told for unit in chunk for run in unit.runs for term in run) or (
            chunk[0].is_name and len(chunk) == 1
        )
    return not chunk[0].is_generic and not set(chunk[0].runs[0]) <= told
