"""Parses MISP galaxies: actors, malware, tools and sectors, and the relations between them."""

from svc_core.formats.cyber.misp_clusters import cluster_records
from svc_core.formats.model import Contents, Origin
from svc_core.formats.reading.document_body import Body
from svc_core.formats.reading.format import make_format


def _parse(body: Body, _: Origin) -> Contents:
    galaxy = body.whole_json()
    yield from cluster_records([(cluster, str(galaxy["type"])) for cluster in galaxy["values"]])


MISP_GALAXY = make_format(
    "misp-galaxy",
    lambda body: body.has("type", "uuid") and isinstance(body.json["values"], list),
    _parse,
)
