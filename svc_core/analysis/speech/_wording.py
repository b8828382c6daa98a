"""The few words that are said around a report and for signs, in the languages that have them."""

import re
from collections.abc import Mapping

from attrs import frozen


@frozen
class Words:
    """What one language says; `{}` stand for names, days and numbers."""

    dot: str
    at: str
    percent: str
    and_: str
    day: str
    span: str
    source: str
    sources: str
    no_source: str
    outro: str
    key_points: str
    briefs: str


_WORDS: Mapping[str, Words] = {
    "en": Words(
        dot="dot",
        at="at",
        percent="percent",
        and_="and",
        day="This report covers {day}.",
        span="This report covers the time from {start} to {end}.",
        source="It draws on 1 source.",
        sources="It draws on {count} sources.",
        no_source="It draws on no source.",
        outro="That was the report: {title}. Thank you for listening.",
        key_points="Key points.",
        briefs="In brief.",
    ),
    "de": Words(
        dot="Punkt",
        at="ät",
        percent="Prozent",
        and_="und",
        day="Dieser Bericht umfasst den {day}.",
        span="Dieser Bericht umfasst die Zeit vom {start} bis zum {end}.",
        source="Er stützt sich auf eine Quelle.",
        sources="Er stützt sich auf {count} Quellen.",
        no_source="Er stützt sich auf keine Quelle.",
        outro="Das war der Bericht: {title}. Danke fürs Zuhören.",
        key_points="Das Wichtigste.",
        briefs="Kurz gemeldet.",
    ),
    "fr": Words(
        dot="point",
        at="arobase",
        percent="pour cent",
        and_="et",
        day="Ce rapport porte sur le {day}.",
        span="Ce rapport couvre la période du {start} au {end}.",
        source="Il s'appuie sur une source.",
        sources="Il s'appuie sur {count} sources.",
        no_source="Il ne s'appuie sur aucune source.",
        outro="C'était le rapport : {title}. Merci de votre écoute.",
        key_points="Points essentiels.",
        briefs="En bref.",
    ),
    "es": Words(
        dot="punto",
        at="arroba",
        percent="por ciento",
        and_="y",
        day="Este informe cubre el {day}.",
        span="Este informe cubre el período del {start} al {end}.",
        source="Se basa en una fuente.",
        sources="Se basa en {count} fuentes.",
        no_source="No se basa en ninguna fuente.",
        outro="Este ha sido el informe: {title}. Gracias por escuchar.",
        key_points="Puntos clave.",
        briefs="En breve.",
    ),
    "pt": Words(
        dot="ponto",
        at="arroba",
        percent="por cento",
        and_="e",
        day="Este relatório abrange o dia {day}.",
        span="Este relatório abrange o período de {start} a {end}.",
        source="Baseia-se em uma fonte.",
        sources="Baseia-se em {count} fontes.",
        no_source="Não se baseia em nenhuma fonte.",
        outro="Este foi o relatório: {title}. Obrigado por ouvir.",
        key_points="Pontos principais.",
        briefs="Em resumo.",
    ),
    "it": Words(
        dot="punto",
        at="chiocciola",
        percent="per cento",
        and_="e",
        day="Questo rapporto riguarda il {day}.",
        span="Questo rapporto copre il periodo dal {start} al {end}.",
        source="Si basa su una fonte.",
        sources="Si basa su {count} fonti.",
        no_source="Non si basa su alcuna fonte.",
        outro="Questo era il rapporto: {title}. Grazie per l'ascolto.",
        key_points="Punti principali.",
        briefs="In breve.",
    ),
    "ru": Words(
        dot="точка",
        at="собака",
        percent="процентов",
        and_="и",
        day="Этот отчёт охватывает день {day}.",
        span="Этот отчёт охватывает период с {start} по {end}.",
        source="Он опирается на один источник.",
        sources="Число источников: {count}.",
        no_source="Источников нет.",
        outro="Это был отчёт: {title}. Спасибо за внимание.",
        key_points="Главное.",
        briefs="Коротко.",
    ),
}
_PERCENT = re.compile(r"(?<=[0-9])\s?%")


def primary(language: str) -> str:
    """The primary subtag of a BCP 47 tag, in lower case."""
    return language.replace("_", "-").split("-")[0].casefold()


def words_of(language: str) -> Words | None:
    """The words of a language; None where there are none."""
    return _WORDS.get(primary(language))


def frame_of(language: str) -> Words:
    """The words around a report: those of its language, else English ones."""
    return words_of(language) or _WORDS["en"]


def say_percent(text: str, words: Words) -> str:
    """Percentages in the words of a language."""
    return _PERCENT.sub(f" {words.percent}", text)
