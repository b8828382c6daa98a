"""Replies to what asks for no rows: greetings, thanks, orders, questions about the service."""

from collections.abc import Mapping

from svc_core.agent.question import ParsedQuestion

_ASK = {
    "en": "Ask about news, incidents, events, vulnerabilities, threat actors, companies, sanctions,"
    " figures or markets, for example “Who is APT28?”",
    "de": "Frag nach Nachrichten, Vorfällen, Ereignissen, Schwachstellen, Angreifern, Unternehmen,"
    " Sanktionen, Kennzahlen oder Märkten, zum Beispiel „Wer ist APT28?“",
    "fr": "Posez une question sur les actualités, les incidents, les événements, les failles,"
    " les attaquants, les entreprises, les sanctions, les chiffres ou les marchés, par exemple"
    " « Qui est APT28 ? »",
    "es": "Pregunte por noticias, incidentes, eventos, vulnerabilidades, atacantes, empresas,"
    " sanciones, cifras o mercados, por ejemplo «¿Quién es APT28?»",
}
_REPLIES: Mapping[str, Mapping[str, str]] = {
    "greeting": {"en": "Hello.", "de": "Hallo.", "fr": "Bonjour.", "es": "Hola."},
    "thanks": {
        "en": "You are welcome.", "de": "Gern geschehen.", "fr": "Avec plaisir.", "es": "De nada.",
    },
    "help": dict.fromkeys(("en", "de", "fr", "es"), ""),
    "instruct": {
        "en": "That is nothing that the service answers: it tells what its rows say.",
        "de": "Das beantwortet der Dienst nicht: Er sagt, was in seinen Daten steht.",
        "fr": "Le service ne répond pas à cela : il dit ce que contiennent ses données.",
        "es": "El servicio no responde a eso: dice lo que contienen sus datos.",
    },
    "product": {
        "en": "Questions about plans, keys and settings are answered by the documentation or the"
        " operator of the service, not by its rows.",
        "de": "Fragen zu Tarifen, Schlüsseln und Einstellungen beantworten die Dokumentation oder"
        " der Betreiber des Dienstes, nicht seine Daten.",
        "fr": "La documentation ou l'exploitant du service répond aux questions sur les forfaits,"
        " les clés et les réglages, pas ses données.",
        "es": "La documentación o el operador del servicio responden a las preguntas sobre planes,"
        " claves y ajustes, no sus datos.",
    },
    "unread": {
        "en": "The question was not understood: no row that was looked at holds its words.",
        "de": "Die Frage wurde nicht verstanden: Keine der Zeilen enthält ihre Wörter.",
        "fr": "La question n'a pas été comprise : aucune ligne consultée ne contient ses mots.",
        "es": "No se entendió la pregunta: ninguna fila consultada contiene sus palabras.",
    },
}  # fmt: skip


def talk_reply(kind: str, question: ParsedQuestion) -> str:
    """A reply of a kind in the question's language, and what may be asked."""
    language = question.language if question.language in _ASK else "en"
    return f"{_REPLIES[kind][language]} {_ASK[language]}".strip()


def talk_of(question: ParsedQuestion) -> str | None:
    """The kind of small talk that a question is; None where it asks for rows."""
    if question.has("instruct") and not question.cves:
        return "instruct"
    for kind in ("thanks", "greeting", "help"):
        parts = [part for part in question.parts if part.role == kind]
        covered = {index for part in parts for index in range(part.start, part.end)}
        if parts and not (question.content - covered) and not question.cves:
            return kind
    return "help" if question.is_empty else None
