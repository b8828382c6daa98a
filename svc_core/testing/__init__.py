"""Test kit for authors of storage backends and of host applications.

`storage_contract` holds the promises of every store as tests that its author inherits.
`storage_agreement` runs the same random work on several stores and compares their answers. Both
need the extra `testing`. `model_store` is the store with which others are compared. `clock` makes
time and identifiers predictable, and `rules` makes a failure begin with the sentence of the rule
that it breaks.
"""

import sys
from contextlib import suppress

with suppress(KeyError):  # pytest then shows both sides of a failed comparison
    sys.modules["pytest"].register_assert_rewrite("svc_core.testing.promises")
