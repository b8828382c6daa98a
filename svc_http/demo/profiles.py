"""The topic profiles the demo subscribes to.

Five of them have subjects that several demo feeds cover in several stories. The last one has a
subject that no demo item mentions: its report is the short one that says so.
"""

from svc_core.resources.profile import ProfileInput

PROFILES: tuple[ProfileInput, ...] = (
    ProfileInput(
        name="Cyberattacks and disinformation",
        topic=(
            "Ransomware at hospitals; exploited vulnerabilities in file transfer products; "
            "data breaches; disinformation campaigns"
        ),
        frequency="daily",
        schedule_time_of_day="06:30",
        timezone="Europe/Amsterdam",
        keywords=(
            "ransomware",
            "Portway Transfer",
            "Vallmere",
            "Gravel Lynx",
            "breach",
            "Paper Lighthouse",
        ),
    ),
    ProfileInput(
        name="Shipping, ports and sanctions",
        topic=(
            "Port strikes; sanctions on tankers; container shipping; cocaine in containers; "
            "roadblocks that stop trucks"
        ),
        frequency="weekdays",
        schedule_time_of_day="07:00",
        timezone="Europe/Brussels",
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
    ProfileInput(
        name="Central banks and financial stability",
        topic=(
            "Central bank rate decisions; inflation; bank stress tests; crypto exchange collapse; "
            "mergers"
        ),
        frequency="weekly",
        schedule_time_of_day="08:15",
        timezone="Europe/London",
        keywords=(
            "Norges Bank",
            "inflation",
            "stress test",
            "Kestrel",
            "Alpenkorn",
            "Banca Corvara",
        ),
    ),
    ProfileInput(
        name="Chip exports and AI rules",
        topic=(
            "Semiconductor export rules; general-purpose AI; artificial intelligence models; "
            "rulings on location data; memory chips"
        ),
        frequency="daily",
        schedule_time_of_day="09:00",
        timezone="Asia/Tokyo",
        keywords=(
            "semiconductor",
            "chip packaging",
            "general-purpose AI",
            "location data",
            "Tessera",
            "Kumo Precision",
        ),
    ),
    ProfileInput(
        name="Disasters, outbreaks and outages",
        topic="Earthquakes; wildfires; drought; cholera; blackouts; cut cables",
        frequency="hourly",
        keywords=("earthquake", "wildfire", "cholera", "drought", "blackout", "BalticLink"),
    ),
    ProfileInput(
        name="Polymetallic nodules",
        topic="Polymetallic nodules",
        frequency="manual",
        timezone="Pacific/Auckland",
        keywords=("polymetallic", "nodules"),
    ),
)
