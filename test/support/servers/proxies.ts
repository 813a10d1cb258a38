import { startEnvoy } from "./envoy-proxy.ts";
import { startHaproxy } from "./haproxy-proxy.ts";
import { startNginx } from "./nginx-proxy.ts";
import type { Proxy, ProxyOptions } from "./proxy.ts";

/** A kind of proxy, by its real program. */
export interface ProxyKind {
  readonly name: string;
  readonly start: (options: ProxyOptions) => Promise<Proxy>;
}

/** Every proxy that the tests put in front of a server. */
export const proxyKinds: readonly ProxyKind[] = [
  { name: "nginx", start: startNginx },
  { name: "Envoy", start: startEnvoy },
  { name: "HAProxy", start: startHaproxy },
];
