"""What authors of backends and hosts test with: contracts, laws, a clock and identifiers.

`storage_contract` states what every store promises, `storage_agreement` drives several stores
with the same random work and compares them; both need the extra `testing`. What fails names the
rule that was broken (`rules`).
"""

import sys
from contextlib import suppress

with suppress(KeyError):  # pytest then shows the two sides of a promise that was not kept
    sys.modules["pytest"].register_assert_rewrite("svc_core.testing.promises")
