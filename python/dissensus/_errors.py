"""Exceptions: what was wrong, with a stable code."""

from __future__ import annotations

__all__ = ["DissensusError", "InputError", "NotFoundError", "LockedError", "InternalError"]


class DissensusError(Exception):
    """Something could not be done.

    `code` is stable and kebab-case (`project-locked`, `no-such-text`, `bad-rows`, ...), as in the program itself; `detail` has more
    where there is more to say, such as every bad row.

    >>> import dissensus
    >>> try:
    ...     dissensus.Project("missing.dissensus")
    ... except dissensus.DissensusError as error:
    ...     print(error.code)
    project-missing
    """

    def __init__(self, message: str, code: str = "error", detail: str | None = None) -> None:
        super().__init__(message if detail is None else f"{message}\n{detail}")
        self.code = code
        self.detail = detail
        self.message = message

    def __reduce__(self):
        return type(self), (self.message, self.code, self.detail)


class InputError(DissensusError, ValueError):
    """An array, a label or a choice that does not fit; the message names the place."""


class NotFoundError(DissensusError, LookupError):
    """There is no text, annotator, question, encoder or file of that name."""


class LockedError(DissensusError):
    """The project is open elsewhere to write: close it there, or give `wait=` some seconds."""


class InternalError(DissensusError, RuntimeError):
    """A fault of the program and not of what it was given."""


def made(code: str, message: str, detail: str | None) -> Exception:
    """The exception for an error of the native part."""
    if code == "cancelled":
        return KeyboardInterrupt(message)
    if code == "internal":
        kind: type[DissensusError] = InternalError
    elif code == "project-locked":
        kind = LockedError
    elif code.startswith("no-such-") or code in ("project-missing", "not-in-bundle", "no-encoder"):
        kind = NotFoundError
    elif code in ("model", "encoder-choice", "import-choices", "measure", "bad-rows", "no-scale", "other-scale", "which-question"):
        kind = InputError
    else:
        kind = DissensusError
    return kind(message, code, detail)


def wrong(message: str) -> InputError:
    """An argument that does not fit."""
    return InputError(message, "input")
