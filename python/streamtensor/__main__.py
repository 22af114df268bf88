"""`python -m streamtensor` is the command `streamtensor`."""

import sys

from streamtensor.cli import main

sys.exit(main())
