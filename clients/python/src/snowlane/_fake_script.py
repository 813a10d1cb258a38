"""The steps of a fake's script that give nothing."""

from __future__ import annotations

from dataclasses import dataclass

from ._errors import ErrorReason, SnowlaneError
from ._status_code import StatusCode


@dataclass(frozen=True)
class Fault:
    """A step that fails; made by `fail`."""

    error: SnowlaneError


@dataclass(frozen=True)
class Pause:
    """A step that takes time; made by `delay`."""

    seconds: float


def fail(
    reason: ErrorReason | str,
    *,
    code: StatusCode | None = None,
    retry_after_s: float | None = None,
    metadata: dict[str, str] | None = None,
) -> Fault:
    """A step that fails. The error is raised unchanged: a fake never retries."""
    message = f"The script says {ErrorReason(reason)}."
    return Fault(SnowlaneError(reason, message, code=code, retry_after_s=retry_after_s, metadata=metadata))


def delay(seconds: float) -> Pause:
    """Lets time pass on the clock before the step that follows."""
    return Pause(seconds)
