"""`python -m svc_http` is `svc`."""

import sys

from svc_http.run.cli import main

sys.exit(main())
