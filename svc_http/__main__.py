"""`python -m svc_http` is `svc`."""

import sys

from svc_http.cli import main

sys.exit(main())
