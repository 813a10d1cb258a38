import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Certificates, makeCertificates } from "./certificates.ts";
import { blocksOf } from "./page-blocks.ts";
import { digestOf, tokenOf } from "./principals-file.ts";
import { startSnowlane } from "./snowlane-process.ts";

/**
 * A server over TLS that wants a client certificate and knows one principal, by a name in the certificate of the client
 * and by the token `secret`; and a folder as a reader of docs/tls.md has it. */
export interface TlsDeployment {
  /** Has `ca.pem`, `orders.pem` and `orders-key.pem`. */
  readonly folder: string;
  readonly certificates: Certificates;
  /** `https://localhost:PORT`. */
  readonly endpoint: string;
  /** Writes the program that docs/tls.md shows in a language into a file of `folder`; returns its path. */
  readonly writeProgram: (language: string, name: string, places?: Readonly<Record<string, string>>) => string;
  readonly stop: () => Promise<void>;
}

/** Starts such a server, with its store in a temporary folder. */
export async function startTlsDeployment(): Promise<TlsDeployment> {
  const certificates = await makeCertificates();
  const folder = mkdtempSync(join(tmpdir(), "snowlane-tls-"));
  copyFileSync(certificates.caFile, join(folder, "ca.pem"));
  copyFileSync(certificates.client.certFile, join(folder, "orders.pem"));
  copyFileSync(certificates.client.keyFile, join(folder, "orders-key.pem"));
  const tls = ["--tls-cert", certificates.server.certFile, "--tls-key", certificates.server.keyFile];
  const app = { name: "app", permissions: ["ids"], certificates: ["dns:client"], tokens: [digestOf(tokenOf("app"))] };
  const principals = join(folder, "principals.json");
  writeFileSync(principals, JSON.stringify({ principals: [app] }));
  const callers = ["--tls-client-ca", certificates.caFile, "--principals", principals];
  const store = ["--store", `sqlite:${join(folder, "snowlane.db")}`];
  const server = await startSnowlane({ args: [...store, ...tls, ...callers] });
  const endpoint = server.url.replace("http://127.0.0.1", "https://localhost");
  return {
    folder,
    certificates,
    endpoint,
    writeProgram: (language, name, places = {}) => {
      const [code, ...others] = blocksOf("docs/tls.md", language);
      if (code === undefined || others.length > 0) throw new Error(`docs/tls.md needs one program in ${language}.`);
      const path = join(folder, name);
      const placed = Object.entries({ "https://localhost:7619": endpoint, ...places }).reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`The program in ${language} of docs/tls.md does not name ${from}.`);
        return text.replaceAll(from, to);
      }, code);
      writeFileSync(path, placed);
      return path;
    },
    stop: async () => {
      await server.stop("SIGTERM");
      certificates.remove();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
