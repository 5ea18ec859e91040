"""What results say is compared as it is in a wide terminal."""

from tests.command_line.conftest import wide_terminal  # noqa: F401
