"""The topic profiles the demo subscribes to, each put in one line as a person would.

Five of them have subjects that several demo feeds cover; the first two are public. The last one has
a subject that no demo item mentions: its report is the short one that says so.
"""

from svc_core.resources.profile import ProfileInput

PROFILES: tuple[ProfileInput, ...] = (
    ProfileInput(
        name="Hospital ransomware",
        topic="Ransomware attack on Dutch hospitals",
        frequency="daily",
        schedule_time_of_day="06:30",
        timezone="Europe/Amsterdam",
        keywords=("Vallmere", "Gravel Lynx"),
    ),
    ProfileInput(
        name="Ports in Chile",
        topic="Port strike in Chile",
        frequency="weekdays",
        schedule_time_of_day="07:00",
        timezone="Europe/Brussels",
        keywords=("dockworkers", "San Antonio"),
    ),
    ProfileInput(
        name="Bank stress test",
        topic="European bank stress test",
        frequency="weekly",
        schedule_time_of_day="08:15",
        timezone="Europe/London",
        keywords=("Hansekredit", "Banca Corvara"),
    ),
    ProfileInput(
        name="Chip exports",
        topic="Export rule for chip packaging tools",
        frequency="daily",
        schedule_time_of_day="09:00",
        timezone="Asia/Tokyo",
        keywords=("Kumo Precision",),
    ),
    ProfileInput(
        name="Ecuador earthquake",
        topic="Earthquake in Ecuador",
        frequency="hourly",
        keywords=("Esmeraldas",),
    ),
    ProfileInput(
        name="Polymetallic nodules",
        topic="Polymetallic nodules",
        frequency="manual",
        timezone="Pacific/Auckland",
        keywords=("polymetallic", "nodules"),
    ),
)

PUBLIC = PROFILES[:2]
"""Those whose reports everybody may read, as the operator decided."""
