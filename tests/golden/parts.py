"""The parts of the public face, and what makes the texts of each."""

from collections.abc import Callable, Mapping

from tests.golden import answers, commands, documents, names

PARTS: Mapping[str, Callable[[], dict[str, str]]] = {
    "answers": answers.texts,
    "commands": commands.texts,
    "names": names.texts,
    "openapi": documents.texts,
}
"""By the folder in which their golden files are."""
