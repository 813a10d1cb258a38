package dev.snowlane.client;

import com.google.protobuf.Any;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.rpc.ErrorInfo;
import com.google.rpc.RetryInfo;
import io.grpc.Status;
import io.grpc.StatusRuntimeException;
import io.grpc.protobuf.StatusProto;
import java.io.FileNotFoundException;
import java.net.ConnectException;
import java.net.UnknownHostException;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.UnresolvedAddressException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads what an attempt failed with. */
final class RpcErrors {

  /** Says of a google.rpc.ErrorInfo that its reasons are ours. */
  private static final String DOMAIN = "snowlane.dev";

  private RpcErrors() {}

  static SnowlaneException of(RuntimeException error, String endpoint) {
    if (!(error instanceof StatusRuntimeException rpc)) return SnowlaneException.from(error);
    Status status = rpc.getStatus();
    Status.Code code = isConnectionLost(status.getCause()) ? Status.Code.UNAVAILABLE : status.getCode();
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
    if (reason == ErrorReason.UNREACHABLE) message = describeUnreachable(status, message, metadata);
    return new SnowlaneException(reason, code, message, metadata, retryAfter, endpoint, error);
  }

  /** What a failure without a word from the server says: in our words where no server is there. */
  private static String describeUnreachable(Status status, String description, Map<String, String> metadata) {
    String deepest = description;
    for (Throwable each = status.getCause(); each != null; each = each.getCause()) {
      if (each instanceof UnknownHostException || each instanceof UnresolvedAddressException) {
        metadata.put("connection", "no_address");
        return "The host name has no address.";
      }
      if (each instanceof FileNotFoundException) {
        metadata.put("connection", "refused");
        return "There is no such socket: no server listens there.";
      }
      // Netty's own exception for a connection that took too long is a ConnectException too.
      if (each instanceof ConnectException && !each.getClass().getName().endsWith("TimeoutException")) {
        metadata.put("connection", "refused");
        return "The connection is refused: no server listens there.";
      }
      if (each.getMessage() != null) deepest = each.getMessage();
    }
    return "The server does not answer: " + deepest;
  }

  /**
   * Whether the transport lost the connection under a call: grpc-java says so with UNAVAILABLE as a rule, but with
   * UNKNOWN or INTERNAL where it was lost while the call was being written. No status that a server sent has a cause.
   * docs/adr/0056 says when this was seen.
   */
  private static boolean isConnectionLost(Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      // Netty is shaded in one build of grpc-java and not in the other: it is known by its name alone.
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
      // Details that cannot be read, or of another status, say nothing.
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
