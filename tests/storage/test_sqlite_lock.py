"""The lock of a file is given back once, and only its own descriptor."""

import os

from svc_http.stores.sqlite.file_lock import FileLock


def test_a_lock_given_back_twice_closes_nobody_elses_descriptor(tmp_path):
    lock = FileLock(tmp_path / "svc.db")
    lock.release()
    descriptor = os.open(
        tmp_path / "other", os.O_RDWR | os.O_CREAT
    )  # takes the number that is free now
    lock.release()
    os.write(descriptor, b"still open")
    os.close(descriptor)
