package dev.snowlane.client;

import com.google.protobuf.Timestamp;
import dev.snowlane.v1.GetInfoResponse;
import dev.snowlane.v1.Limits;
import java.time.Instant;
import java.util.Locale;

/**
 * The description of a server.
 *
 * @param version of the server
 * @param deploymentFingerprint 32 hexadecimal digits, the same at all servers of a deployment; empty if the server
 *     reports none
 * @param layout of its IDs
 * @param datacenterId in its IDs; 0 if the layout has no such field
 * @param workerId in its IDs; 0 if the layout has no such field
 * @param rollbackPolicy its policy for a wall clock that moves back: advance, reject, wait, logical or reuse
 * @param ordering rising-per-worker, or unordered-within-reuse-span
 * @param exhaustionTime when the layout has no further ticks
 * @param reserveCountMax the most IDs of one reservation
 * @param batchCountMax the most IDs of one stream
 * @param chunkSizeMax the most IDs of one chunk of a stream
 * @param nextCountMax the most IDs of one list
 */
public record ServerInfo(
    String version,
    String deploymentFingerprint,
    Layout layout,
    int datacenterId,
    int workerId,
    String rollbackPolicy,
    String ordering,
    Instant exhaustionTime,
    int reserveCountMax,
    long batchCountMax,
    int chunkSizeMax,
    int nextCountMax) {

  /**
   * @throws SnowlaneException INVALID_RESPONSE, INVALID_LAYOUT
   */
  static ServerInfo of(GetInfoResponse info) {
    Limits limits = info.getLimits();
    Timestamp end = info.getExhaustionTime();
    return new ServerInfo(
        info.getVersion(),
        info.getDeploymentFingerprint(),
        LayoutResponse.read(info),
        info.getDatacenterId(),
        info.getWorkerId(),
        wordOf(info.getRollbackPolicy().name(), "ROLLBACK_POLICY_"),
        wordOf(info.getOrdering().name(), "ORDERING_"),
        Instant.ofEpochSecond(end.getSeconds(), end.getNanos()),
        limits.getReserveCountMax(),
        limits.getBatchCountMax(),
        limits.getChunkSizeMax(),
        limits.getNextCountMax());
  }

  private static String wordOf(String name, String prefix) {
    return name.replace(prefix, "").toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
