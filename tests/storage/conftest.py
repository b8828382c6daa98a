"""Failures of the shipped promises explain themselves as those of a test do."""

import pytest

pytest.register_assert_rewrite("svc_core.testing.promises")
