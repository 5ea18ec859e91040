"""The text of results is compared as it appears in a wide terminal."""

from tests.command_line.conftest import wide_terminal  # noqa: F401
