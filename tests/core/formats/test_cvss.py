"""Base scores as the examples of the specifications have them."""

import pytest

from svc_core.formats.cyber.cvss import base_score

SCORES = [
    ("2.0", "AV:N/AC:L/Au:N/C:N/I:N/A:C", 7.8),
    ("2.0", "AV:N/AC:L/Au:N/C:C/I:C/A:C", 10.0),
    ("2.0", "(AV:L/AC:H/Au:N/C:C/I:C/A:C/E:POC/RL:OF/RC:C)", 6.2),
    ("2.0", "AV:N/AC:L/Au:N/C:N/I:N/A:N", 0.0),
    ("3.0", "CVSS:3.0/AV:N/AC:L/PR:L/UI:N/S:C/C:L/I:L/A:N", 6.4),
    ("3.1", "CVSS:3.1/AV:N/AC:L/PR:N/UI:R/S:C/C:L/I:L/A:N", 6.1),
    ("3.1", "CVSS:3.1/AV:N/AC:H/PR:N/UI:R/S:U/C:L/I:N/A:N", 3.1),
    ("3.1", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H", 10.0),
    ("3.1", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H/E:P/RL:O/RC:C", 9.8),
    ("3.1", "CVSS:3.1/AV:L/AC:L/PR:L/UI:N/S:U/C:H/I:H/A:H", 7.8),
    ("3.1", "CVSS:3.1/AV:P/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N", 0.0),
    ("3.1", "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H", None),
    ("3.1", "CVSS:3.1/AV:N/AC:L/PR:X/UI:N/S:U/C:H/I:H/A:H", None),
    ("4.0", "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N", None),
    ("2.0", "", None),
]


@pytest.mark.parametrize(("version", "vector", "score"), SCORES)
def test_a_vector_comes_to_its_base_score(version: str, vector: str, score: float | None) -> None:
    assert base_score(version, vector) == score
