"""The topic profiles the demo subscribes to, each put in one line as a person would.

Five of them have subjects that several demo feeds cover; the first two are public. The last one has
a subject that no demo item mentions: its report is the short one that says so.
"""

from svc_core.operation.schedule import Frequency
from svc_core.reports.profiles.model import ProfileInput

_ROWS = (
    ("Hospital ransomware", "Ransomware attack on Dutch hospitals", "Vallmere, Gravel Lynx"),
    ("Ports in Chile", "Port strike in Chile", "dockworkers, San Antonio"),
    ("Bank stress test", "European bank stress test", "Hansekredit, Banca Corvara"),
    ("Chip exports", "Export rule for chip packaging tools", "Kumo Precision"),
    ("Ecuador earthquake", "Earthquake in Ecuador", "Esmeraldas"),
    ("Polymetallic nodules", "Polymetallic nodules", "polymetallic, nodules"),
)
_TIMES: tuple[tuple[Frequency, str | None, str], ...] = (
    ("daily", "06:30", "Europe/Amsterdam"),
    ("weekdays", "07:00", "Europe/Brussels"),
    ("weekly", "08:15", "Europe/London"),
    ("daily", "09:00", "Asia/Tokyo"),
    ("hourly", None, "UTC"),
    ("manual", None, "Pacific/Auckland"),
)
PROFILES: tuple[ProfileInput, ...] = tuple(
    ProfileInput(name, topic, often, at, None, zone, keywords=tuple(words.split(", ")))
    for (name, topic, words), (often, at, zone) in zip(_ROWS, _TIMES, strict=True)
)

PUBLIC = PROFILES[:2]
"""Those whose reports everybody may read, as the operator decided."""
