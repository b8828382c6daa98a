"""Computes base scores of CVSS 2.0, 3.0 and 3.1 vectors, by the specifications of FIRST.

CVSS 4.0 takes its scores from a table of expert judgements; they are not computed here.
"""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal
from functools import lru_cache
from math import prod

Weights = Mapping[str, Mapping[str, float]]

VECTORS_MAX = 20_000  # most vulnerabilities have one of some hundred vectors

_HARM_2 = {"N": 0.0, "P": 0.275, "C": 0.66}
_HARM_3 = {"N": 0.0, "L": 0.22, "H": 0.56}
_V2: Weights = {
    "AV": {"L": 0.395, "A": 0.646, "N": 1.0},
    "AC": {"H": 0.35, "M": 0.61, "L": 0.71},
    "Au": {"M": 0.45, "S": 0.56, "N": 0.704},
    **dict.fromkeys("CIA", _HARM_2),
}
_V3: Weights = {
    "AV": {"N": 0.85, "A": 0.62, "L": 0.55, "P": 0.2},
    "AC": {"L": 0.77, "H": 0.44},
    "PR": {"N": 0.85, "L": 0.62, "H": 0.27},
    "UI": {"N": 0.85, "R": 0.62},
    **dict.fromkeys("CIA", _HARM_3),
}
_PRIVILEGES_CHANGED = {"N": 0.85, "L": 0.68, "H": 0.5}


@lru_cache(VECTORS_MAX)
def base_score(version: str, vector: str) -> float | None:
    """The base score of a vector; None if it lacks a base metric or is of another version."""
    metrics = dict(part.partition(":")[::2] for part in vector.strip("()").split("/"))
    try:
        if version == "2.0":
            return _version_2_score(metrics)
        return _version_3_score(metrics) if version in {"3.0", "3.1"} else None
    except KeyError:
        return None


def _weigh(metrics: Mapping[str, str], weights: Weights) -> dict[str, float]:
    return {name: values[metrics[name]] for name, values in weights.items()}


def _version_2_score(metrics: Mapping[str, str]) -> float:
    weight = _weigh(metrics, _V2)
    impact = 10.41 * (1 - prod(1 - weight[name] for name in "CIA"))
    ease = 20 * weight["AV"] * weight["AC"] * weight["Au"]
    score = (0.6 * impact + 0.4 * ease - 1.5) * (1.176 if impact else 0)
    return float(Decimal(str(round(score, 9))).quantize(Decimal("0.1"), ROUND_HALF_UP))


def _version_3_score(metrics: Mapping[str, str]) -> float:
    is_changed = {"U": False, "C": True}[metrics["S"]]
    weight = _weigh(metrics, {**_V3, "PR": _PRIVILEGES_CHANGED} if is_changed else _V3)
    harm = 1 - prod(1 - weight[name] for name in "CIA")
    impact = 6.42 * harm
    if is_changed:
        impact = 7.52 * (harm - 0.029) - 3.25 * (harm - 0.02) ** 15
    if impact <= 0:
        return 0.0
    ease = 8.22 * weight["AV"] * weight["AC"] * weight["PR"] * weight["UI"]
    score = min((impact + ease) * (1.08 if is_changed else 1), 10)
    # CVSS 3.1, appendix A: rounded up, but for what floating point adds.
    return -(-round(score * 100_000) // 10_000) / 10
