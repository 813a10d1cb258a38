"""The codes of gRPC for what failed."""

from __future__ import annotations

import enum

import grpc


class StatusCode(str, enum.Enum):
    """The codes of gRPC for what failed, by their own names."""

    CANCELLED = "CANCELLED"
    UNKNOWN = "UNKNOWN"
    INVALID_ARGUMENT = "INVALID_ARGUMENT"
    DEADLINE_EXCEEDED = "DEADLINE_EXCEEDED"
    NOT_FOUND = "NOT_FOUND"
    ALREADY_EXISTS = "ALREADY_EXISTS"
    PERMISSION_DENIED = "PERMISSION_DENIED"
    RESOURCE_EXHAUSTED = "RESOURCE_EXHAUSTED"
    FAILED_PRECONDITION = "FAILED_PRECONDITION"
    ABORTED = "ABORTED"
    OUT_OF_RANGE = "OUT_OF_RANGE"
    UNIMPLEMENTED = "UNIMPLEMENTED"
    INTERNAL = "INTERNAL"
    UNAVAILABLE = "UNAVAILABLE"
    DATA_LOSS = "DATA_LOSS"
    UNAUTHENTICATED = "UNAUTHENTICATED"

    def __str__(self) -> str:
        return self.value


def status_code_of(code: grpc.StatusCode) -> StatusCode:
    """The code of a failed call."""
    # A failure never has the code of success.
    return StatusCode.UNKNOWN if code is grpc.StatusCode.OK else StatusCode[code.name]
