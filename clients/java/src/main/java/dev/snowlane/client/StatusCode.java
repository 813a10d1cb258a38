package dev.snowlane.client;

import io.grpc.Status;

/** The codes of gRPC for what failed, by their own names. */
public enum StatusCode {
  CANCELLED,
  UNKNOWN,
  INVALID_ARGUMENT,
  DEADLINE_EXCEEDED,
  NOT_FOUND,
  ALREADY_EXISTS,
  PERMISSION_DENIED,
  RESOURCE_EXHAUSTED,
  FAILED_PRECONDITION,
  ABORTED,
  OUT_OF_RANGE,
  UNIMPLEMENTED,
  INTERNAL,
  UNAVAILABLE,
  DATA_LOSS,
  UNAUTHENTICATED;

  /** The code of a failed call. */
  static StatusCode of(Status.Code code) {
    // A failure never has the code of success.
    return code == Status.Code.OK ? UNKNOWN : valueOf(code.name());
  }
}
