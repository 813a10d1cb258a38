import { generateKeyPairSync } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { join } from "node:path";
import { fetchKubeApiserver } from "../fetch/kube-apiserver.ts";
import { startEtcd } from "./etcd-server.ts";
import { TestServer } from "./test-server.ts";

/** A caller of the API in a test: the operator may do everything, the others nothing until they are given a role. */
export type KubernetesCaller = "operator" | "snowlane" | "stranger";

/** A real kube-apiserver on an etcd of its own. */
export interface KubernetesServer {
  readonly server: TestServer;
  readonly version: string;
  /** The URL of a store in the Kubernetes namespace `test`, as a caller. */
  readonly storeUrl: (caller: KubernetesCaller) => string;
  /** Calls the API as the operator; throws for anything but success. A body is YAML. */
  readonly call: (method: string, path: string, body?: string) => Promise<string>;
  readonly stop: () => Promise<void>;
}

/** Starts kube-apiserver with RBAC, tokens in a file, and a certificate that it makes itself. */
export async function startKubernetes(): Promise<KubernetesServer> {
  const { path, version } = await fetchKubeApiserver();
  const etcd = await startEtcd();
  let files: Files | undefined;
  const server = await TestServer.start({
    name: "kube-apiserver",
    command: async (folder, port) => {
      files ??= writeFiles(folder);
      const settings = {
        "etcd-servers": etcd.url.replace("etcd:", "http:"),
        "bind-address": "127.0.0.1",
        "secure-port": port,
        "cert-dir": files.certFolder,
        "token-auth-file": files.tokens,
        "authorization-mode": "RBAC",
        "service-account-issuer": "https://kubernetes.default.svc",
        "service-account-key-file": files.key,
        "service-account-signing-key-file": files.key,
        "service-cluster-ip-range": "10.0.0.0/24",
        "endpoint-reconciler-type": "none",
      };
      return { path, args: Object.entries(settings).map(([name, value]) => `--${name}=${value}`) };
    },
    isReady: async (port) => (await callApi(port, files!, "GET", "/readyz")) === "ok",
    url: (port) => `https://127.0.0.1:${port}`,
  });
  const { certFile, tokenFile } = files!;
  return {
    server,
    version,
    storeUrl: (caller) =>
      `kubernetes://test/snowlane?server=${server.url}&caFile=${certFile}&tokenFile=${tokenFile(caller)}`,
    call: (method, apiPath, body) => callApi(server.port, files!, method, apiPath, body),
    stop: async () => {
      await server.stop();
      await etcd.stop();
    },
  };
}

interface Files {
  readonly certFolder: string;
  /** Signed by itself, so that it is its own authority. */
  readonly certFile: string;
  readonly key: string;
  readonly tokens: string;
  readonly tokenFile: (caller: KubernetesCaller) => string;
}

const tokenOf = (caller: KubernetesCaller): string => `token-of-${caller}`;

function writeFiles(folder: string): Files {
  const certFolder = join(folder, "certificates");
  const { privateKey } = generateKeyPairSync("rsa", { modulusLength: 2_048 });
  const key = join(folder, "service-account.key");
  writeFileSync(key, privateKey.export({ type: "pkcs8", format: "pem" }));
  const tokens = join(folder, "tokens.csv");
  const groups: Readonly<Record<KubernetesCaller, string>> = {
    operator: '"system:masters"',
    snowlane: '""',
    stranger: '""',
  };
  const callers = Object.keys(groups) as KubernetesCaller[];
  writeFileSync(tokens, callers.map((caller) => `${tokenOf(caller)},${caller},${caller},${groups[caller]}\n`).join(""));
  const tokenFile = (caller: KubernetesCaller): string => join(folder, `${caller}.token`);
  for (const caller of callers) writeFileSync(tokenFile(caller), `${tokenOf(caller)}\n`);
  return { certFolder, certFile: join(certFolder, "apiserver.crt"), key, tokens, tokenFile };
}

function callApi(port: number, { certFile }: Files, method: string, path: string, body?: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const headers = { authorization: `Bearer ${tokenOf("operator")}`, "content-type": "application/yaml" };
  const ca = readFileSync(certFile);
  const outgoing = request({ host: "127.0.0.1", port, method, path, headers, ca, timeout: 30_000 }, (incoming) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("error", reject);
    incoming.on("end", () => {
      const content = Buffer.concat(chunks).toString();
      const status = incoming.statusCode ?? 0;
      if (status >= 200 && status < 300) resolve(content);
      else reject(new Error(`${method} ${path} was answered ${status}: ${content}`));
    });
  });
  outgoing.on("error", reject);
  outgoing.on("timeout", () => outgoing.destroy(new Error("no answer from kube-apiserver")));
  outgoing.end(body);
  return promise;
}
