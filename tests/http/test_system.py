"""The clock and the randomness."""

import os
import re
import subprocess
import sys
from pathlib import Path

from svc_core.base import ids
from svc_http import system


def test_request_ids_have_one_form_and_do_not_repeat():
    ids = [system.new_request_id() for _ in range(3_000)]  # more than two blocks
    assert len(set(ids)) == len(ids)
    assert all(re.fullmatch("req_[0-9a-f]{24}", id_) for id_ in ids)


FORKING = """
import os
from svc_http import system
system.new_request_id()
reader, writer = os.pipe()
if os.fork() == 0:
    os.write(writer, system.new_request_id().encode())
    os._exit(0)
os.wait()
print(os.read(reader, 100).decode(), system.new_request_id())
"""


def test_a_forked_child_hands_out_other_ids():
    # In a process of its own, because this one may have threads.
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2])}  # noqa: TID251
    process = subprocess.run(
        [sys.executable, "-c", FORKING], env=environment, capture_output=True, check=True, text=True
    )
    id_of_child, own_id = process.stdout.split()
    assert id_of_child.startswith("req_")
    assert id_of_child != own_id


def test_identifiers_sort_by_age_and_random_bytes_differ():
    source = system.SystemIds()
    id_ = source.new("prf")
    assert ids.is_id("prf", id_)
    assert abs(int(id_[4:12], 16) - system.timestamp()) < 5
    assert source.random(12) != source.random(12)
    assert len(source.random(12)) == 12


def test_the_clocks_agree():
    assert abs(system.now().timestamp() - system.timestamp()) < 5
    assert system.now().utcoffset().total_seconds() == 0
    assert system.monotonic() <= system.monotonic()


def test_a_fresh_secret_is_long_and_new():
    assert len(system.new_secret()) == 64
    assert system.new_secret() != system.new_secret()
