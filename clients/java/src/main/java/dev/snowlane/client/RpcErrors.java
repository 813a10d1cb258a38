package dev.snowlane.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.nio.channels.ClosedChannelException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Reads the error of an attempt that its caller did not cancel. */
final class RpcErrors {

  /** The domain of a google.rpc.ErrorInfo whose reasons are Snowlane's. */
  private static final String DOMAIN = "snowlane.dev";

  private RpcErrors() {}

  static SnowlaneException of(RuntimeException error, String endpoint) {
    return of(error, endpoint, false);
  }

  /**
   * @param isFirst whether no server has answered this client yet
   */
  static SnowlaneException of(RuntimeException error, String endpoint, boolean isFirst) {
    if (!(error instanceof StatusRuntimeException rpc)) return SnowlaneException.from(error);
    Status status = rpc.getStatus();
    // The caller did not cancel: the server, or a proxy that is shutting down, has dropped the call.
    boolean isLost = status.getCode() == Status.Code.CANCELLED || isConnectionLost(status.getCause());
    Status.Code code = isLost ? Status.Code.UNAVAILABLE : status.getCode();
    String message = Optional.ofNullable(status.getDescription()).orElse(code.name());
    Map<String, String> metadata = new HashMap<>();
    ErrorReason reason = reasonOfCode(code);
    Duration retryAfter = null;
    for (Any detail : detailsOf(rpc)) {
      Optional<RetryInfo> retry = unpack(detail, RetryInfo.class);
      if (retry.isPresent()) retryAfter = durationOf(retry.get());
      Optional<ErrorInfo> info = unpack(detail, ErrorInfo.class).filter(found -> found.getDomain().equals(DOMAIN));
      if (info.isEmpty()) continue;
      metadata.putAll(info.get().getMetadataMap());
      Optional<ErrorReason> known = ErrorReason.ofServer(info.get().getReason());
      if (known.isEmpty()) metadata.put("reason", info.get().getReason());
      reason = known.orElse(ErrorReason.RPC_FAILED);
    }
    if (reason == ErrorReason.UNREACHABLE) message = describeUnreachable(rpc, message, metadata, isFirst);
    return new SnowlaneException(reason, StatusCode.of(code), message, metadata, retryAfter, endpoint, error);
  }

  /** The text of UNREACHABLE: that of the mistake, if it is a known one. */
  private static String describeUnreachable(
      StatusRuntimeException rpc, String description, Map<String, String> metadata, boolean isFirst) {
    if (isOfServer(rpc)) return "The server cannot answer now: " + description;
    Throwable cause = rpc.getStatus().getCause();
    Optional<ConnectionMistake> mistake = ConnectionMistake.of(cause, description);
    // A connection that worked can end, too, and then there is no mistake to correct.
    if (mistake.filter(found -> isFirst || found != ConnectionMistake.CLOSED).isPresent()) {
      metadata.put("connection", mistake.get().kind());
      return mistake.get().text();
    }
    String deepest = description;
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each.getMessage() != null) deepest = each.getMessage();
    }
    return "The server does not answer: " + deepest;
  }

  /** Whether a server sent it. */
  static boolean isOfServer(@Nullable RuntimeException error) {
    if (!(error instanceof StatusRuntimeException rpc) || rpc.getStatus().getCause() != null) return false;
    // The transport itself sends no trailers.
    return rpc.getTrailers() != null && !rpc.getTrailers().keys().isEmpty();
  }

  /**
   * Whether the transport lost the connection under a call: grpc-java says so with UNAVAILABLE as a rule, but with
   * UNKNOWN or INTERNAL where it was lost while the call was being written. No status that a server sent has a cause.
   * docs/adr/0056 says when this was seen.
   */
  private static boolean isConnectionLost(@Nullable Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      // Netty is shaded in one build of grpc-java and not in the other, so its exceptions are recognized only by name.
      boolean isOfHttp2 = each.getClass().getName().contains(".Http2Exception");
      if (isOfHttp2 || each instanceof ClosedChannelException) return true;
    }
    return false;
  }

  private static ErrorReason reasonOfCode(Status.Code code) {
    return switch (code) {
      case UNAVAILABLE -> ErrorReason.UNREACHABLE;
      case DEADLINE_EXCEEDED -> ErrorReason.DEADLINE_EXCEEDED;
      default -> ErrorReason.RPC_FAILED;
    };
  }

  private static List<Any> detailsOf(StatusRuntimeException rpc) {
    try {
      com.google.rpc.Status status = StatusProto.fromThrowable(rpc);
      return status == null ? List.of() : status.getDetailsList();
    } catch (IllegalArgumentException unreadable) {
      // Details that cannot be read, or that belong to another status, are ignored.
      return List.of();
    }
  }

  private static <T extends com.google.protobuf.Message> Optional<T> unpack(Any detail, Class<T> type) {
    try {
      return detail.is(type) ? Optional.of(detail.unpack(type)) : Optional.empty();
    } catch (InvalidProtocolBufferException unreadable) {
      return Optional.empty();
    }
  }

  private static Duration durationOf(RetryInfo retry) {
    Duration delay = Duration.ofSeconds(retry.getRetryDelay().getSeconds(), retry.getRetryDelay().getNanos());
    return Duration.ofNanos(Times.nanos(delay));
  }
}
