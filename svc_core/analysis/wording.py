"""The few words that a report says of its own, in the languages that it is written in."""

from collections.abc import Mapping
from datetime import datetime, timedelta

from attrs import frozen

from svc_core.text.language import primary
from svc_core.text.tables import rows

MONTHS = [
    "January", "February", "March", "April", "May", "June", "July", "August", "September",
    "October", "November", "December",
]  # fmt: skip


@frozen
class Wording:
    """What one language says of signs and around a report; `{}` stand for names and numbers."""

    dot: str
    at: str
    percent: str
    and_: str
    nothing: str
    day: str
    span: str
    source: str
    sources: str
    no_source: str
    outro: str
    key_points: str
    briefs: str


_TABLE = """
en|dot|at|percent|and
    |No matching items were found for “{topic}” in the period from {start} to {end}.
    |This report covers {day}.|This report covers the time from {start} to {end}.
    |It draws on 1 source.|It draws on {count} sources.|It draws on no source.
    |That was the report: {title}. Thank you for listening.|Key points.|In brief.
de|Punkt|ät|Prozent|und
    |Zu „{topic}“ wurden im Zeitraum vom {start} bis {end} keine Meldungen gefunden.
    |Dieser Bericht umfasst den {day}.|Dieser Bericht umfasst die Zeit vom {start} bis zum {end}.
    |Er stützt sich auf eine Quelle.|Er stützt sich auf {count} Quellen.
    |Er stützt sich auf keine Quelle.
    |Das war der Bericht: {title}. Danke fürs Zuhören.|Das Wichtigste.|Kurz gemeldet.
fr|point|arobase|pour cent|et
    |Aucun élément correspondant à « {topic} » n’a été trouvé du {start} au {end}.
    |Ce rapport porte sur le {day}.|Ce rapport couvre la période du {start} au {end}.
    |Il s'appuie sur une source.|Il s'appuie sur {count} sources.
    |Il ne s'appuie sur aucune source.
    |C'était le rapport : {title}. Merci de votre écoute.|Points essentiels.|En bref.
es|punto|arroba|por ciento|y
    |No se encontraron noticias sobre «{topic}» en el período del {start} al {end}.
    |Este informe cubre el {day}.|Este informe cubre el período del {start} al {end}.
    |Se basa en una fuente.|Se basa en {count} fuentes.|No se basa en ninguna fuente.
    |Este ha sido el informe: {title}. Gracias por escuchar.|Puntos clave.|En breve.
pt|ponto|arroba|por cento|e
    |Não foram encontradas notícias sobre “{topic}” no período de {start} a {end}.
    |Este relatório abrange o dia {day}.|Este relatório abrange o período de {start} a {end}.
    |Baseia-se em uma fonte.|Baseia-se em {count} fontes.|Não se baseia em nenhuma fonte.
    |Este foi o relatório: {title}. Obrigado por ouvir.|Pontos principais.|Em resumo.
it|punto|chiocciola|per cento|e
    |Nessuna notizia trovata su «{topic}» nel periodo dal {start} al {end}.
    |Questo rapporto riguarda il {day}.|Questo rapporto copre il periodo dal {start} al {end}.
    |Si basa su una fonte.|Si basa su {count} fonti.|Non si basa su alcuna fonte.
    |Questo era il rapporto: {title}. Grazie per l'ascolto.|Punti principali.|In breve.
ru|точка|собака|процентов|и
    |По теме «{topic}» за период с {start} по {end} ничего не найдено.
    |Этот отчёт охватывает день {day}.|Этот отчёт охватывает период с {start} по {end}.
    |Он опирается на один источник.|Число источников: {count}.|Источников нет.
    |Это был отчёт: {title}. Спасибо за внимание.|Главное.|Коротко.
"""
_WORDINGS: Mapping[str, Wording] = {row[0]: Wording(*row[1:]) for row in rows(_TABLE)}
_INSTANT = timedelta(microseconds=1)


def wording(language: str) -> Wording | None:
    """The words of a language; None where there are none."""
    return _WORDINGS.get(primary(language))


def frame(language: str) -> Wording:
    """The words around a report: those of its language, else English ones."""
    return wording(language) or _WORDINGS["en"]


def days(start: datetime, end: datetime) -> tuple[datetime, datetime]:
    """The first and the last instant of a period, whose end is exclusive."""
    return start, max(start, end - _INSTANT)
