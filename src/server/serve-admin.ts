import { isLoopback } from "../config/address.ts";
import type { ServerConfig } from "../config/server-settings.ts";
import { IdError } from "../errors.ts";
import type { Service } from "../service/service.ts";
import { type ApplicationOptions, createApplication } from "./call/application.ts";
import type { CallGuard } from "./call/call-guard.ts";
import { type ConnectionServer, createConnectionServer } from "./http/connection-server.ts";
import type { ConnectionOptions } from "./http/http2-server.ts";

/** The settings of the admin listener, and the callers that the server knows. */
interface AdminOptions {
  /** `tlsClientCa`: where it is given, the main listener asks for certificates, and this one for tokens. */
  readonly config: Pick<ServerConfig, "adminListen" | "tlsClientCa">;
  /** Asks for a token; undefined where the server has no file of principals. */
  readonly callers: { readonly guard: CallGuard } | undefined;
  /** The bounds of what callers may take, shared with the main listener. */
  readonly quotas: CallGuard;
}

/** The objects that the admin listener shares with the main one, and those that it has of its own. */
interface AdminServerParts {
  /** See {@link AdminOptions}. */
  readonly options: AdminOptions;
  /** The parts of the application that serves the main listener. */
  readonly shared: Pick<
    ApplicationOptions,
    "findUnready" | "drainSignal" | "shutdownSignal" | "onUnforeseen" | "answerMetrics"
  >;
  /** AdminService. */
  readonly service: Service;
  /** Guards that have to see refusals, so they come before authentication: they count calls, and log refused ones. */
  readonly watchers: readonly CallGuard[];
  /** How connections are served. The authorities of clients' certificates are left out. */
  readonly connections: ConnectionOptions;
}

/**
 * Serves operators on a listener of their own: metrics, probes, health, reflection and AdminService. It asks for no
 * client certificate, so a scraper needs none. Callers need a token where those of the main listener need credentials.
 */
export function serveAdmin({ options, shared, service, watchers, connections }: AdminServerParts): ConnectionServer {
  const { tls } = connections;
  const { quotas } = options;
  const authentication = adminAuthentication(options);
  const application = createApplication({
    ...shared,
    services: [service],
    guards: [...watchers, authentication, quotas].filter((guard) => guard !== undefined),
    corsOrigins: [],
    page: "off",
  });
  return createConnectionServer(application, {
    ...connections,
    tls: tls && { certPath: tls.certPath, keyPath: tls.keyPath, clientCaPath: undefined },
  });
}

/** The guard of the admin listener; undefined: every caller is let in. */
function adminAuthentication({ config, callers }: AdminOptions): CallGuard | undefined {
  return callers?.guard ?? (config.tlsClientCa === undefined ? undefined : onlyOpenMethods);
}

/** The guard of its metrics, which every caller may read on loopback. */
export function metricsAuthentication(options: AdminOptions): CallGuard | undefined {
  const { adminListen } = options.config;
  return adminListen !== undefined && isLoopback(adminListen.host) ? undefined : adminAuthentication(options);
}

/** Without a file of principals, callers are known by certificates alone, and this listener asks for none. */
const onlyOpenMethods: CallGuard = {
  begin: ({ traits }) => {
    if (traits.access === "open") return;
    const message = "This listener asks for no certificate: call the main one, or give the server --principals.";
    throw new IdError("MISSING_CREDENTIALS", message);
  },
};
