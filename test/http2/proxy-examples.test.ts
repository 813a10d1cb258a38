/**
 * The files of deploy/proxies, in front of a server as each asks for: with other ports, folders and certificates, and
 * otherwise as they are.
 */
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { askHttp2, grpcFrame } from "../support/http2/http-call.ts";
import { type Certificates, makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { type RunningServer, runServer } from "../support/processes/running-server.ts";
import { takesConnections } from "../support/servers/proxy.ts";
import { TestServer } from "../support/servers/test-server.ts";

const timeout = 300_000;
const nextId = "/snowlane.v1.IdService/NextId";
const caller = "127.0.0.9";
let certificates: Certificates;

beforeAll(async () => {
  certificates = await makeCertificates();
  const { certFile, keyFile } = certificates.server;
  // HAProxy has both in one file.
  writeFileSync(join(certificates.folder, "both.pem"), readFileSync(certFile, "utf8") + readFileSync(keyFile, "utf8"));
});
afterAll(() => certificates.remove());

interface Example {
  readonly tool: "nginx130" | "haproxy" | "envoy";
  readonly file: string;
  /** Of the server, as the first lines of the file say. */
  readonly flags: Readonly<Record<string, string>>;
  readonly args: (file: string, folder: string) => readonly string[];
}

const examples: readonly Example[] = [
  {
    tool: "nginx130",
    file: "nginx.conf",
    flags: { trustedProxies: "127.0.0.1", hosts: "ids.example.com" },
    args: (file, folder) => {
      const user = process.getuid?.() === 0 ? "user root;" : "";
      return ["-p", folder, "-c", file, "-e", "stderr", "-g", `daemon off; pid ${folder}/nginx.pid; ${user}`];
    },
  },
  {
    tool: "haproxy",
    file: "haproxy.cfg",
    flags: { proxyProtocol: "127.0.0.1", hosts: "ids.example.com" },
    args: (file) => ["-db", "-f", file],
  },
  {
    tool: "envoy",
    file: "envoy.yaml",
    flags: { trustedProxies: "127.0.0.1", hosts: "ids.example.com" },
    args: (file) => ["--config-path", file, "--concurrency", "1", "--disable-hot-restart", "--log-level", "warning"],
  },
];

/** Folders of nginx. */
const temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];

/** The text of a file with the places of this test. */
function placed(file: string, folder: string, upstream: string, port: number): string {
  const { certFile, keyFile } = certificates.server;
  return readFileSync(`deploy/proxies/${file}`, "utf8")
    .replace(
      "http {",
      `http { access_log off; ${temporary.map((name) => `${name}_temp_path ${folder}/${name};`).join(" ")}`,
    )
    .replaceAll("127.0.0.1:7609", upstream)
    .replaceAll("port_value: 7609", `port_value: ${upstream.split(":")[1]}`)
    .replaceAll("listen 443", `listen 127.0.0.1:${port}`)
    .replaceAll("bind :443", `bind 127.0.0.1:${port}`)
    .replaceAll("0.0.0.0, port_value: 443", `127.0.0.1, port_value: ${port}`)
    .replaceAll("/etc/haproxy/ids.pem", join(certificates.folder, "both.pem"))
    .replaceAll(/\/etc\/(?:nginx|envoy)\/ids-key\.pem/g, keyFile)
    .replaceAll(/\/etc\/(?:nginx|envoy)\/ids\.pem/g, certFile);
}

async function startExample({
  tool,
  file,
  flags,
  args,
}: Example): Promise<{ proxy: TestServer; server: RunningServer }> {
  const { path: principals } = principalsFile([{ name: "app", permissions: ["ids"] }]);
  const server = await runServer({ principals, logCalls: "refused", ...flags });
  const { path, env } = await findTool(tool);
  const proxy = await TestServer.start({
    name: tool,
    command: async (folder, port) => {
      const place = join(folder, file);
      writeFileSync(place, placed(file, folder, server.address, port));
      return { path, env, args: args(place, folder) };
    },
    isReady: takesConnections,
    url: (port) => `https://localhost:${port}`,
  });
  onTestFinished(() => proxy.stop());
  return { proxy, server };
}

/** A call without a token over HTTP/1.1 from another address of loopback. */
async function callFrom(localAddress: string, { port }: TestServer): Promise<number> {
  const ca = readFileSync(certificates.caFile);
  const headers = { "content-type": "application/json", host: "ids.example.com" };
  const place = { host: "127.0.0.1", servername: "localhost", port, localAddress, agent: false as const };
  const call = request({ ...place, path: nextId, method: "POST", headers, ca });
  call.end("{}");
  const [response] = await once(call, "response");
  response.resume();
  return response.statusCode;
}

function refusedAddresses({ log }: RunningServer): readonly string[] {
  const lines = log.map((line) => JSON.parse(line) as { message: string; address: string });
  return lines.filter(({ message }) => message === "A call was refused").map(({ address }) => address);
}

// The example of nginx had a deprecated word, of which it warned at each start.
test.each(examples)(
  "OPERATIONS 23: $file carries gRPC and HTTP/1.1, and the server knows the caller's address",
  { timeout },
  async (example) => {
    const { proxy, server } = await startExample(example);
    const ca = readFileSync(certificates.caFile);
    const fields = { "content-type": "application/grpc", te: "trailers", ...bearer("app") };
    const grpc = { path: nextId, headers: fields, body: grpcFrame(new Uint8Array(0)), ca };
    // A proxy that asks for its servers' health first has none for a moment.
    const statusOf = async (): Promise<unknown> => {
      const { headers, trailers } = await askHttp2(proxy.url, grpc);
      return trailers["grpc-status"] ?? headers["grpc-status"];
    };
    await expect.poll(statusOf).toBe("0");
    expect(await callFrom(caller, proxy)).toBe(401);
    expect(refusedAddresses(server)).toEqual([caller]);
    expect(proxy.process.output).not.toMatch(/deprecat|\[warn\]|\[WARNING\]|\[ALERT\]/);
  },
);
