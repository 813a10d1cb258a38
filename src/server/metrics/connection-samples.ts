import type { MetricSources } from "./metric-sources.ts";
import { one, type Sample, seconds } from "./sample.ts";

/** The metrics of connections, certificates and principals. */
export function connectionSamples({
  listener,
  connections,
  principals,
}: Pick<MetricSources, "listener" | "connections" | "principals">) {
  const { http1, http2, refusedHandshakes, tlsExpiresMs } = connections();
  const known = principals?.();
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
    snowlane_principals: known === undefined ? [] : [one(known.length)],
    snowlane_principal_ids_total: (known ?? []).map(([name, count]): Sample => [[name], count]),
  };
}
