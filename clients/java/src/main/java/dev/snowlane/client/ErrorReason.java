package dev.snowlane.client;

import io.grpc.Status;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Why a call failed. Match on it, never on the text of a message. docs/errors.md says for each of the servers' what to
 * do.
 */
public enum ErrorReason {
  COUNT_OUT_OF_RANGE(Status.Code.INVALID_ARGUMENT),
  MALFORMED_ID(Status.Code.INVALID_ARGUMENT),
  MALFORMED_TEXT(Status.Code.INVALID_ARGUMENT),
  AMBIGUOUS_TEXT(Status.Code.INVALID_ARGUMENT),
  INVALID_LAYOUT(Status.Code.INVALID_ARGUMENT),
  INVALID_TEXT_FORMAT(Status.Code.INVALID_ARGUMENT),
  INVALID_TIME_RANGE(Status.Code.INVALID_ARGUMENT),
  MISSING_CREDENTIALS(Status.Code.UNAUTHENTICATED),
  METHOD_DENIED(Status.Code.PERMISSION_DENIED),
  HOST_NOT_ALLOWED(Status.Code.PERMISSION_DENIED),
  QUOTA_EXCEEDED(Status.Code.RESOURCE_EXHAUSTED),
  CLOCK_ROLLED_BACK(Status.Code.UNAVAILABLE),
  BURST_EXCEEDED(Status.Code.UNAVAILABLE),
  WORKER_LEASE_LOST(Status.Code.UNAVAILABLE),
  WINDOW_EXPIRED(Status.Code.UNAVAILABLE),
  STORE_UNAVAILABLE(Status.Code.UNAVAILABLE),
  SHUTTING_DOWN(Status.Code.UNAVAILABLE),
  STREAM_STALLED(Status.Code.UNAVAILABLE),
  TIMESTAMP_EXHAUSTED(Status.Code.FAILED_PRECONDITION),
  CLOCK_BEFORE_EPOCH(Status.Code.FAILED_PRECONDITION),
  NO_FREE_WORKER_ID(Status.Code.FAILED_PRECONDITION),
  LAYOUT_MISMATCH(Status.Code.FAILED_PRECONDITION),
  STORE_WENT_BACK(Status.Code.FAILED_PRECONDITION),
  INVALID_CONFIG(Status.Code.FAILED_PRECONDITION),
  SEQUENCE_NOT_FOUND(Status.Code.NOT_FOUND),
  SEQUENCE_EXISTS(Status.Code.ALREADY_EXISTS),
  SEQUENCE_DISABLED(Status.Code.FAILED_PRECONDITION),
  SEQUENCE_CHANGED(Status.Code.ABORTED),
  INVALID_SEQUENCE(Status.Code.INVALID_ARGUMENT),
  VALUES_EXHAUSTED(Status.Code.FAILED_PRECONDITION),
  PERIOD_CLOSED(Status.Code.FAILED_PRECONDITION),

  /**
   * No endpoint that was tried answered, or one was unavailable and gave no reason. Raised by the client, as all below.
   */
  UNREACHABLE(Status.Code.UNAVAILABLE),
  /** The deadline of the call passed, and no attempt had failed otherwise. */
  DEADLINE_EXCEEDED(Status.Code.DEADLINE_EXCEEDED),
  /** The endpoints serve two deployments, whose IDs can be equal. */
  DEPLOYMENT_MISMATCH(Status.Code.FAILED_PRECONDITION),
  /** The calling thread was interrupted. */
  CANCELLED(Status.Code.CANCELLED),
  /** The client or the buffer is closed. */
  CLIENT_CLOSED(Status.Code.CANCELLED),
  /** Nothing is in stock, and the call does not wait. */
  STOCK_EMPTY(Status.Code.UNAVAILABLE),
  /** A server's answer breaks its contract; no ID of it is used. */
  INVALID_RESPONSE(Status.Code.INTERNAL),
  /** Any other status, or one with a reason that this client does not know, which then stands in the metadata. */
  RPC_FAILED(Status.Code.UNKNOWN),
  /** A fake's script has no more steps. */
  SCRIPT_ENDED(Status.Code.FAILED_PRECONDITION);

  private static final Map<String, ErrorReason> OF_SERVERS =
      Arrays.stream(values())
          .filter(reason -> reason.compareTo(UNREACHABLE) < 0)
          .collect(Collectors.toUnmodifiableMap(ErrorReason::name, Function.identity()));

  private final Status.Code code;

  ErrorReason(Status.Code code) {
    this.code = code;
  }

  /** The gRPC code that goes with the reason. RPC_FAILED comes with any code. */
  Status.Code code() {
    return code;
  }

  /** The reason of that name, if servers give it. */
  static Optional<ErrorReason> ofServer(String name) {
    return Optional.ofNullable(OF_SERVERS.get(name));
  }
}
