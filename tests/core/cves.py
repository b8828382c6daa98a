"""Documents about CVEs, as their publishers write them."""

from typing import Any

V31 = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H"


def kev(day: str, *cves: str, **known: str) -> dict[str, Any]:
    """A release of the catalogue; `known` is what it says of ransomware by the last digits."""
    uses = {cve: known.get(f"of_{cve[-1]}", "Unknown") for cve in cves}
    entries = (kev_entry(cve, knownRansomwareCampaignUse=use) for cve, use in uses.items())
    return catalogue(day, *entries)


def catalogue(day: str, *entries: dict[str, Any]) -> dict[str, Any]:
    """A release of the catalogue with these entries."""
    head = {"title": "KEV", "catalogVersion": day, "dateReleased": f"{day}T12:00:00Z"}
    return head | {"count": len(entries), "vulnerabilities": list(entries)}


def kev_entry(cve: str, **members: Any) -> dict[str, Any]:
    """An entry of the catalogue; `members` are what is not as usual."""
    return {
        "cveID": cve, "vendorProject": "Harbour", "product": "Crane", "dateAdded": "2024-02-01",
        "vulnerabilityName": f"Harbour Crane {cve}", "shortDescription": "It swings.",
        "requiredAction": "Update.", "dueDate": "2024-02-22", "notes": "", "cwes": ["CWE-20"],
        "knownRansomwareCampaignUse": "Unknown", **members,
    }  # fmt: skip


def epss(day: str, model: str = "v2025.03.14", **scores: tuple[float, float]) -> bytes:
    """The scores of a day, by `CVE_2024_0001`."""
    lines = [f"{name.replace('_', '-')},{a},{b}\n" for name, (a, b) in scores.items()]
    head = f"#model_version:{model},score_date:{day}T12:00:00Z\ncve,epss,percentile\n"
    return (head + "".join(lines)).encode()


def metric(
    base: float, source: str = "nvd@nist.gov", type_: str = "Primary", word: str = "HIGH"
) -> dict[str, Any]:
    """A score by CVSS 3.1, as the NVD writes it."""
    data = {"version": "3.1", "vectorString": V31, "baseScore": base, "baseSeverity": word}
    return {"source": source, "type": type_, "cvssData": data}


def nvd(cve: str, day: str = "2024-03-01", **members: Any) -> dict[str, Any]:
    """A page of the NVD with one CVE."""
    made = {
        "id": cve, "sourceIdentifier": "cna@harbour.example", "vulnStatus": "Analyzed",
        "published": "2024-01-10T10:00:00.000", "lastModified": f"{day}T10:00:00.000",
        "descriptions": [{"lang": "en", "value": "As the NVD tells it."}],
        "metrics": {}, "references": [],
    } | members  # fmt: skip
    return {
        "resultsPerPage": 1, "startIndex": 0, "totalResults": 1, "format": "NVD_CVE",
        "version": "2.0", "timestamp": f"{day}T11:00:00.000", "vulnerabilities": [{"cve": made}],
    }  # fmt: skip


def product(vendor: str, name: str, *versions: str, **members: Any) -> dict[str, Any]:
    """What is affected, as a CVE record writes it."""
    told = [{"version": one, "status": "affected"} for one in versions]
    return {"vendor": vendor, "product": name, "versions": told, **members}


def record(cve: str, day: str = "2024-02-01", state: str = "PUBLISHED", **cna: Any) -> Any:
    """A CVE record; `adp` are the metrics that CISA adds."""
    adp = [{"providerMetadata": {"shortName": "CISA-ADP"}, "metrics": cna.pop("adp", [])}]
    about = {
        "cveId": cve, "state": state, "assignerShortName": "harbour", "assignerOrgId": "org-1",
        "datePublished": "2024-01-09T10:00:00Z", "dateUpdated": f"{day}T10:00:00Z",
    }  # fmt: skip
    own = {"providerMetadata": {"shortName": "harbour"}, **cna}
    held = {"cna": own, "adp": adp}
    return {
        "dataType": "CVE_RECORD", "dataVersion": "5.1", "cveMetadata": about, "containers": held,
    }  # fmt: skip


def cvss(base: float, version: str = "3.1") -> dict[str, Any]:
    """A score as a CVE record writes it."""
    name = f"cvssV{version.replace('.', '_')}"
    told = {"version": version, "baseScore": base, "baseSeverity": "HIGH"}
    return {name: told | {"vectorString": V31.replace("3.1", version, 1)}}
