package dev.snowlane.client;

import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Why a call failed. Match on it, never on the text of a message. docs/errors.md says what to do about each reason that
 * servers send.
 */
public enum ErrorReason {
  COUNT_OUT_OF_RANGE(StatusCode.INVALID_ARGUMENT),
  MALFORMED_ID(StatusCode.INVALID_ARGUMENT),
  MALFORMED_TEXT(StatusCode.INVALID_ARGUMENT),
  AMBIGUOUS_TEXT(StatusCode.INVALID_ARGUMENT),
  INVALID_LAYOUT(StatusCode.INVALID_ARGUMENT),
  INVALID_TEXT_FORMAT(StatusCode.INVALID_ARGUMENT),
  INVALID_TIME_RANGE(StatusCode.INVALID_ARGUMENT),
  MISSING_CREDENTIALS(StatusCode.UNAUTHENTICATED),
  METHOD_DENIED(StatusCode.PERMISSION_DENIED),
  HOST_NOT_ALLOWED(StatusCode.PERMISSION_DENIED),
  QUOTA_EXCEEDED(StatusCode.RESOURCE_EXHAUSTED),
  CLOCK_ROLLED_BACK(StatusCode.UNAVAILABLE),
  BURST_EXCEEDED(StatusCode.UNAVAILABLE),
  WORKER_LEASE_LOST(StatusCode.UNAVAILABLE),
  WINDOW_EXPIRED(StatusCode.UNAVAILABLE),
  STORE_UNAVAILABLE(StatusCode.UNAVAILABLE),
  SHUTTING_DOWN(StatusCode.UNAVAILABLE),
  STREAM_STALLED(StatusCode.UNAVAILABLE),
  TIMESTAMP_EXHAUSTED(StatusCode.FAILED_PRECONDITION),
  CLOCK_BEFORE_EPOCH(StatusCode.FAILED_PRECONDITION),
  NO_FREE_WORKER_ID(StatusCode.FAILED_PRECONDITION),
  LAYOUT_MISMATCH(StatusCode.FAILED_PRECONDITION),
  STORE_WENT_BACK(StatusCode.FAILED_PRECONDITION),
  INVALID_CONFIG(StatusCode.FAILED_PRECONDITION),
  SEQUENCE_NOT_FOUND(StatusCode.NOT_FOUND),
  SEQUENCE_EXISTS(StatusCode.ALREADY_EXISTS),
  SEQUENCE_DISABLED(StatusCode.FAILED_PRECONDITION),
  SEQUENCE_CHANGED(StatusCode.ABORTED),
  INVALID_SEQUENCE(StatusCode.INVALID_ARGUMENT),
  VALUES_EXHAUSTED(StatusCode.FAILED_PRECONDITION),
  PERIOD_CLOSED(StatusCode.FAILED_PRECONDITION),

  /**
   * No endpoint that was tried answered, or one was unavailable and gave no reason. Raised by the client, as all below.
   */
  UNREACHABLE(StatusCode.UNAVAILABLE),
  /** The deadline of the call passed, and no attempt had failed otherwise. */
  DEADLINE_EXCEEDED(StatusCode.DEADLINE_EXCEEDED),
  /** The endpoints serve two deployments, whose IDs can be equal. */
  DEPLOYMENT_MISMATCH(StatusCode.FAILED_PRECONDITION),
  /** The calling thread was interrupted. */
  CANCELLED(StatusCode.CANCELLED),
  /** The client or the buffer is closed. */
  CLIENT_CLOSED(StatusCode.CANCELLED),
  /** Nothing is in stock, and the call does not wait. */
  STOCK_EMPTY(StatusCode.UNAVAILABLE),
  /** A server's answer breaks its contract; no ID of it is used. */
  INVALID_RESPONSE(StatusCode.INTERNAL),
  /** Any other status, or one with a reason that this client does not know; the metadata then has the reason. */
  RPC_FAILED(StatusCode.UNKNOWN),
  /** A fake's script has no more steps. */
  SCRIPT_ENDED(StatusCode.FAILED_PRECONDITION);

  private static final Map<String, ErrorReason> OF_SERVERS =
      Arrays.stream(values())
          .filter(reason -> reason.compareTo(UNREACHABLE) < 0)
          .collect(Collectors.toUnmodifiableMap(ErrorReason::name, Function.identity()));

  private final StatusCode code;

  ErrorReason(StatusCode code) {
    this.code = code;
  }

  /** The gRPC code that goes with the reason. RPC_FAILED comes with any code. */
  StatusCode code() {
    return code;
  }

  /** The reason of that name, if servers give it. */
  static Optional<ErrorReason> ofServer(String name) {
    return Optional.ofNullable(OF_SERVERS.get(name));
  }
}
