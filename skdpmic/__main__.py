"""The command line: ``python -m skdpmic --help``."""

import signal
import sys


def _program():
    """Run the command line, which can be interrupted at any time: during imports, and at the very end."""
    try:
        from skdpmic.command_line.main import main
        from skdpmic.command_line.outputs import leave_streams

        try:
            return main()
        finally:
            leave_streams()
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all work is done; only the interpreter has to exit


if __name__ == "__main__":
    sys.exit(_program())
