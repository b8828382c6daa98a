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
        name="Ransomware and exploited software",
        topic=(
            "Ransomware attacks on hospitals, exploited vulnerabilities in file transfer "
            "products, data breaches and disinformation networks"
        ),
        frequency="daily",
        schedule_time_of_day="06:30",
        timezone="Europe/Amsterdam",
        language="en",
        keywords=(
            "ransomware",
            "vulnerability",
            "Portway Transfer",
            "Vallmere",
            "breach",
            "cloned news sites",
        ),
    ),
    DemoProfile(
        name="Shipping, ports and sanctions",
        topic=(
            "Port strikes, container shipping, tankers under sanctions, customs seizures "
            "and roadblocks that interrupt supply chains"
        ),
        frequency="weekdays",
        schedule_time_of_day="07:00",
        timezone="Europe/Brussels",
        language="en",
        keywords=("port strike", "dockworkers", "tankers", "sanctions", "Antwerp", "roadblocks"),
    ),
    DemoProfile(
        name="Central banks and financial stability",
        topic=(
            "Central bank decisions, inflation, bank stress tests, the collapse of a crypto "
            "exchange and large mergers"
        ),
        frequency="weekly",
        schedule_time_of_day="08:15",
        timezone="Europe/London",
        language="en",
        keywords=("Norges Bank", "inflation", "stress test", "Kestrel", "merger", "earnings"),
    ),
    DemoProfile(
        name="Chip exports and AI rules",
        topic=(
            "Semiconductor export controls, regulation of artificial intelligence, court "
            "rulings on data and results of chip makers"
        ),
        frequency="daily",
        schedule_time_of_day="09:00",
        timezone="Asia/Tokyo",
        language="en",
        keywords=("semiconductor", "export rule", "general-purpose AI", "location data", "Tessera"),
    ),
    DemoProfile(
        name="Disasters, outbreaks and outages",
        topic=(
            "Earthquakes, wildfires, drought, cholera and other outbreaks, blackouts and cut "
            "undersea cables"
        ),
        frequency="hourly",
        schedule_time_of_day=None,
        timezone="UTC",
        language="en",
        keywords=("earthquake", "wildfire", "cholera", "drought", "blackout", "cable"),
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
