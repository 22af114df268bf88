"""The errors that end a command with one message instead of a traceback."""

from __future__ import annotations


class StreamTensorError(Exception):
    """The input or a check failed (exit code 1).

    The message says what is wrong, where, why and what to do: lower case, no
    full stop, values in quotes. It may have several lines.
    """


class UsageError(StreamTensorError):
    """The command line cannot be understood (exit code 2)."""
