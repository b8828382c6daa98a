"""The topic profiles the demo subscribes to.

Five of them have subjects that several demo feeds cover in several stories. The last one has a
subject that no demo item mentions: its report is the short one that says so.
"""

from attrs import frozen

from svc_core.schedule import Frequency


@frozen
class DemoProfile:
    """The input of one profile, as a person would send it; the time of day is `HH:MM`."""

    name: str
    topic: str
    frequency: Frequency
    schedule_time_of_day: str | None
    timezone: str
    language: str
    keywords: tuple[str, ...]


PROFILES: tuple[DemoProfile, ...] = (
    DemoProfile(
        name="Cyberattacks and disinformation",
        topic=(
            "Ransomware at hospitals; exploited vulnerabilities in file transfer products; "
            "data breaches; disinformation campaigns"
        ),
        frequency="daily",
        schedule_time_of_day="06:30",
        timezone="Europe/Amsterdam",
        language="en",
        keywords=(
            "ransomware",
            "Portway Transfer",
            "Vallmere",
            "Gravel Lynx",
            "breach",
            "Paper Lighthouse",
        ),
    ),
    DemoProfile(
        name="Shipping, ports and sanctions",
        topic=(
            "Port strikes; sanctions on tankers; container shipping; cocaine in containers; "
            "roadblocks that stop trucks"
        ),
        frequency="weekdays",
        schedule_time_of_day="07:00",
        timezone="Europe/Brussels",
        language="en",
        keywords=(
            "port strike",
            "dockers",
            "dockworkers",
            "tankers",
            "sanctions",
            "Antwerp",
            "roadblocks",
        ),
    ),
    DemoProfile(
        name="Central banks and financial stability",
        topic=(
            "Central bank rate decisions; inflation; bank stress tests; crypto exchange collapse; "
            "mergers"
        ),
        frequency="weekly",
        schedule_time_of_day="08:15",
        timezone="Europe/London",
        language="en",
        keywords=(
            "Norges Bank",
            "inflation",
            "stress test",
            "Kestrel",
            "Alpenkorn",
            "Banca Corvara",
        ),
    ),
    DemoProfile(
        name="Chip exports and AI rules",
        topic=(
            "Semiconductor export rules; general-purpose AI; artificial intelligence models; "
            "rulings on location data; memory chips"
        ),
        frequency="daily",
        schedule_time_of_day="09:00",
        timezone="Asia/Tokyo",
        language="en",
        keywords=(
            "semiconductor",
            "chip packaging",
            "general-purpose AI",
            "location data",
            "Tessera",
            "Kumo Precision",
        ),
    ),
    DemoProfile(
        name="Disasters, outbreaks and outages",
        topic="Earthquakes; wildfires; drought; cholera; blackouts; cut cables",
        frequency="hourly",
        schedule_time_of_day=None,
        timezone="UTC",
        language="en",
        keywords=(
            "earthquake",
            "wildfire",
            "cholera",
            "drought",
            "blackout",
            "BalticLink",
        ),
    ),
    DemoProfile(
        name="Polymetallic nodules",
        topic="Polymetallic nodules",
        frequency="manual",
        schedule_time_of_day=None,
        timezone="Pacific/Auckland",
        language="en",
        keywords=("polymetallic", "nodules"),
    ),
)
