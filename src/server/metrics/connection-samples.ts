import type { MetricSources } from "./metric-sources.ts";
import { one, type Sample, seconds } from "./sample.ts";

/** The metrics of connections, certificates and principals. */
export function connectionSamples({
  listener,
  connections,
  principalCount,
}: Pick<MetricSources, "listener" | "connections" | "principalCount">) {
  const { http1, http2, refusedHandshakes, tlsExpiresMs } = connections();
  const { full, queue, room } = listener.refused;
  const protocols: readonly Sample[] = [
    [["http1"], http1],
    [["http2"], http2],
    // The listener hears of the end of a connection a little later.
    [["new"], Math.max(0, listener.connectionCount() - http1 - http2)],
  ];
  const refused: readonly Sample[] = [
    [["full"], full],
    [["queue"], queue],
    [["room"], room],
    [["handshake"], refusedHandshakes],
  ];
  return {
    snowlane_connections: protocols,
    snowlane_connections_refused_total: refused,
    snowlane_tls_expiry_seconds: tlsExpiresMs === undefined ? [] : [seconds(tlsExpiresMs)],
    snowlane_principals: principalCount === undefined ? [] : [one(principalCount())],
  };
}
