"""MISP galaxies: actors, malware, tools, sectors, and how sure who relates them is."""

from svc_core.sources.body import Body
from svc_core.sources.misp_clusters import told_of
from svc_core.sources.model import Format, Given, Told


def _parse(body: Body, _: Given) -> Told:
    galaxy = body.whole_json()
    yield from told_of([(one, str(galaxy["type"])) for one in galaxy["values"]])


MISP_GALAXY = Format(
    id="misp-galaxy",
    title="MISP galaxy clusters",
    kind="window",
    provider="misp-galaxy",
    brings=("entity", "relation"),
    recognise=lambda body: body.has("type", "uuid") and isinstance(body.json["values"], list),
    parse=_parse,
    cadence_seconds=86_400,
    license="CC0-1.0 or BSD-2-Clause",
    attribution="MISP Project",
)
