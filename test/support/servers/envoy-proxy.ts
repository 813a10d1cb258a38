import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { type Proxy, type ProxyOptions, takesConnections } from "./proxy.ts";
import { TestServer } from "./test-server.ts";

const extension = "type.googleapis.com/envoy.extensions";

/**
 * Envoy takes a caller for a flood that sends more than 10 WINDOW_UPDATE frames for each DATA frame that it is sent,
 * and ends its connection. Node's HTTP/2 client, and so grpc-js, does with streams that it reads fast.
 */
const callers = { max_inbound_window_update_frames_per_data_frame_sent: 1_000 };

function socketAddress(address: string): unknown {
  const [host, port] = address.split(":");
  return { socket_address: { address: host, port_value: Number(port) } };
}

/** Takes HTTP/1.1 and HTTP/2 on one port. */
function listener(port: number): unknown {
  const route = {
    match: { prefix: "/" },
    route: {
      cluster: "servers",
      timeout: "0s",
      retry_policy: {
        retry_on: "unavailable,reset-before-request,connect-failure,refused-stream",
        num_retries: 3,
        // Otherwise the same server may be asked again, until the next health check.
        retry_host_predicate: [
          {
            name: "previous hosts",
            typed_config: { "@type": `${extension}.retry.host.previous_hosts.v3.PreviousHostsPredicate` },
          },
        ],
        host_selection_retry_max_attempts: 5,
      },
    },
  };
  const manager = {
    "@type": `${extension}.filters.network.http_connection_manager.v3.HttpConnectionManager`,
    codec_type: "AUTO",
    http2_protocol_options: callers,
    stat_prefix: "callers",
    stream_idle_timeout: "0s",
    route_config: { virtual_hosts: [{ name: "all", domains: ["*"], routes: [route] }] },
    http_filters: [{ name: "router", typed_config: { "@type": `${extension}.filters.http.router.v3.Router` } }],
  };
  return {
    address: socketAddress(`127.0.0.1:${port}`),
    filter_chains: [{ filters: [{ name: "http", typed_config: manager }] }],
  };
}

/** Speaks HTTP/2 to the servers, asks them over gRPC whether they serve, and turns from one that fails. */
function cluster({ upstreams, upstreamCaFile, upstreamConnections }: ProxyOptions): unknown {
  const protocol = {
    "@type": `${extension}.upstreams.http.v3.HttpProtocolOptions`,
    explicit_http_config: { http2_protocol_options: {} },
    ...(upstreamConnections === "kept" ? {} : { common_http_protocol_options: { max_requests_per_connection: 1 } }),
  };
  const tls = {
    "@type": `${extension}.transport_sockets.tls.v3.UpstreamTlsContext`,
    sni: "localhost",
    common_tls_context: {
      alpn_protocols: ["h2"],
      validation_context: { trusted_ca: { filename: upstreamCaFile } },
    },
  };
  const many = 100_000;
  return {
    name: "servers",
    type: "STATIC",
    connect_timeout: "10s",
    typed_extension_protocol_options: { [`envoy.extensions.upstreams.http.v3.HttpProtocolOptions`]: protocol },
    ...(upstreamCaFile === undefined ? {} : { transport_socket: { name: "tls", typed_config: tls } }),
    circuit_breakers: {
      thresholds: [{ max_connections: many, max_requests: many, max_pending_requests: many, max_retries: many }],
    },
    health_checks: [
      {
        timeout: "10s",
        interval: "1s",
        no_traffic_interval: "1s",
        unhealthy_threshold: 1,
        healthy_threshold: 1,
        grpc_health_check: {},
      },
    ],
    outlier_detection: { consecutive_5xx: 5, base_ejection_time: "1s" },
    load_assignment: {
      cluster_name: "servers",
      endpoints: [{ lb_endpoints: upstreams.map((address) => ({ endpoint: { address: socketAddress(address) } })) }],
    },
  };
}

/** Starts Envoy in front of servers. */
export async function startEnvoy(options: ProxyOptions): Promise<Proxy> {
  const { path, env } = await findTool("envoy");
  const server = await TestServer.start({
    name: "envoy",
    command: async (folder, port) => {
      const file = join(folder, "envoy.json");
      const resources = { listeners: [listener(port)], clusters: [cluster(options)] };
      writeFileSync(file, JSON.stringify({ static_resources: resources }));
      const args = ["--config-path", file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"];
      return { path, env, args };
    },
    isReady: takesConnections,
    url: (port) => `http://127.0.0.1:${port}`,
  });
  return { address: `127.0.0.1:${server.port}`, http1Url: server.url, server };
}
