"""The command line: ``python -m skdpmic --help``."""

import sys

from skdpmic.command_line.main import main

if __name__ == "__main__":
    sys.exit(main())
