"""Listing indicators: what each filter finds, the newest of each series, and what changed."""

from typing import Any
import pytest


def test_probe(world: Any) -> None:
    import json

    for r in world.rows("listIndicators", "limit=100"):
        print(
            r["provider"],
            r["indicatorCode"],
            r["area"]["code"],
            r["period"],
            r["value"],
            r["status"],
            r["currency"],
            r["unit"],
            r["vintage"],
        )
    print("LATEST")
    for r in world.rows("listIndicators", "latest=true&limit=100&include=change"):
        print(
            r["provider"],
            r["indicatorCode"],
            r["area"]["code"],
            r["period"],
            r["value"],
            r["previousValue"],
            r["change"],
            r["changePercent"],
        )
    for r in world.rows("listCountries", ""):
        print(json.dumps(r))
    print(
        world.send(
            "getCountry", path={"code": "ecu"}, query="include=indicators,risk"
        ).body.decode()
    )
    assert 0
