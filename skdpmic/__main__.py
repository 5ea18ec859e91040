"""The command line: ``python -m skdpmic --help``."""

import signal
import sys


def _program():
    """Run the command line. An interruption is one at any time: while modules are imported, and at the very end."""
    try:
        from skdpmic.command_line.main import main
        from skdpmic.command_line.printed import leave_streams

        try:
            return main()
        finally:
            leave_streams()
    except KeyboardInterrupt:
        return 130
    finally:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # all is done: only the interpreter is still to end


if __name__ == "__main__":
    sys.exit(_program())
