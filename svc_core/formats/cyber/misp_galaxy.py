"""MISP galaxies: actors, malware, tools, sectors, and how sure who relates them is."""

from svc_core.formats.cyber.misp_clusters import told_of
from svc_core.formats.model import Given, Told
from svc_core.formats.reading.body import Body
from svc_core.formats.reading.format import declared


def _parse(body: Body, _: Given) -> Told:
    galaxy = body.whole_json()
    yield from told_of([(one, str(galaxy["type"])) for one in galaxy["values"]])


MISP_GALAXY = declared(
    "misp-galaxy",
    lambda body: body.has("type", "uuid") and isinstance(body.json["values"], list),
    _parse,
)
