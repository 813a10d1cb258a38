package dev.snowlane.client;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import org.jspecify.annotations.Nullable;

/** The one error of this client. Match on {@link #reason()}, never on the message. */
public final class SnowlaneException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final ErrorReason reason;
  private final StatusCode code;
  private final Map<String, String> metadata;
  private final @Nullable Duration retryAfter;
  private final @Nullable String endpoint;

  /** An error with the reason's own code and nothing else. */
  public SnowlaneException(ErrorReason reason, String message) {
    this(reason, message, Map.of());
  }

  public SnowlaneException(ErrorReason reason, String message, Map<String, String> metadata) {
    this(reason, reason.code(), message, metadata, null, null, null);
  }

  /** An error with the reason's own code, and what caused it. */
  SnowlaneException(ErrorReason reason, String message, @Nullable Throwable cause) {
    this(reason, reason.code(), message, Map.of(), null, null, cause);
  }

  SnowlaneException(
      ErrorReason reason,
      StatusCode code,
      String message,
      Map<String, String> metadata,
      @Nullable Duration retryAfter,
      @Nullable String endpoint,
      @Nullable Throwable cause) {
    super(message, cause);
    this.reason = reason;
    this.code = code;
    this.metadata = Map.copyOf(metadata);
    this.retryAfter = retryAfter;
    this.endpoint = endpoint;
  }

  public ErrorReason reason() {
    return reason;
  }

  /** The gRPC code. */
  public StatusCode code() {
    return code;
  }

  /** Every dynamic value of the message, with its unit in the key. */
  public Map<String, String> metadata() {
    return metadata;
  }

  /** After which time a retry may help; absent if it cannot help, or no server named a time. */
  public Optional<Duration> retryAfter() {
    return Optional.ofNullable(retryAfter);
  }

  /** The endpoint that was asked last; absent if none was. */
  public Optional<String> endpoint() {
    return Optional.ofNullable(endpoint);
  }

  /** {@code REASON: text (endpoint)}; without the parentheses if no endpoint was asked. */
  @Override
  public String toString() {
    return reason + ": " + getMessage() + (endpoint == null ? "" : " (" + endpoint + ")");
  }

  /** The same error, saying after which time a retry may help. */
  public SnowlaneException withRetryAfter(Duration value) {
    return new SnowlaneException(reason, code, getMessage(), metadata, value, endpoint, getCause());
  }

  /** The same error with a stack trace of this thread, for one that another thread met. */
  SnowlaneException rethrown() {
    return new SnowlaneException(reason, code, getMessage(), metadata, retryAfter, endpoint, this);
  }

  /** Whether waiting can help: the same call may succeed later although no one changes anything. */
  public boolean passes() {
    if (isFirstMistake()) return false;
    return switch (code) {
      case INVALID_ARGUMENT, UNAUTHENTICATED, PERMISSION_DENIED, FAILED_PRECONDITION, UNIMPLEMENTED -> false;
      default -> true;
    };
  }

  /** Whether no Snowlane server is where the client looks, or none that speaks as the client expects. */
  boolean isAbsence() {
    return ConnectionMistake.isFinal(metadata.get("connection"));
  }

  /** Whether {@link #neverAnswered()} returned this error. */
  boolean isFirstMistake() {
    return "never".equals(metadata.get("answered"));
  }

  /**
   * The error of a call that failed before any server ever answered, because there is no Snowlane server at any
   * endpoint.
   */
  SnowlaneException neverAnswered() {
    Map<String, String> all = new HashMap<>(metadata);
    all.put("answered", "never");
    String kind = metadata.get("connection");
    boolean isNobody = "refused".equals(kind) || "no_address".equals(kind);
    String start = " Start a server there (snowlane serve), or correct the endpoints:";
    String text = isNobody ? getMessage() + start + " none has answered this client yet." : getMessage();
    return new SnowlaneException(reason, code, text, all, retryAfter, endpoint, getCause());
  }

  /**
   * The error that is serialized in its place. The causes that come from gRPC cannot be serialized, so only their text
   * is kept.
   */
  private Object writeReplace() {
    Throwable cause = getCause();
    if (cause == null || cause instanceof SnowlaneException) return this;
    RuntimeException shown = new RuntimeException(cause.toString());
    shown.setStackTrace(cause.getStackTrace());
    SnowlaneException written =
        new SnowlaneException(reason, code, getMessage(), metadata, retryAfter, endpoint, shown);
    written.setStackTrace(getStackTrace());
    return written;
  }

  /** The error itself if it is a SnowlaneException, else one with the reason RPC_FAILED and the error as its cause. */
  static SnowlaneException from(Throwable error) {
    boolean isWrapper = error instanceof CompletionException || error instanceof ExecutionException;
    Throwable cause = isWrapper && error.getCause() != null ? error.getCause() : error;
    if (cause instanceof SnowlaneException known) return known;
    String message = Optional.ofNullable(cause.getMessage()).orElseGet(cause::toString);
    return new SnowlaneException(ErrorReason.RPC_FAILED, StatusCode.UNKNOWN, message, Map.of(), null, null, cause);
  }
}
