"""Where Python begins when it is given the packed file."""

import sys

from verifier.command import main

sys.exit(main())
