import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { findTool } from "../fetch/tools.ts";
import { runCommand } from "./run-command.ts";

/** Files of one certificate and its key. */
export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

/** A certificate authority of a test, with what it signed, in a temporary folder. */
export interface Certificates {
  readonly folder: string;
  readonly caFile: string;
  /** For `localhost` and 127.0.0.1. */
  readonly server: CertificateFiles;
  readonly client: CertificateFiles;
  /** For a client, without a name but the common one of its subject, `nameless`. */
  readonly nameless: CertificateFiles;
  /**
   * Signs one more.
   *
   * @param extension - Lines of an extension file of openssl.
   * @param days - Until it ends; -1 for one that has ended. Default: 30.
   * @param signer - The authority, by its name here; `name` itself for a certificate that signed itself. Default: `ca`.
   */
  readonly sign: (name: string, extension: string, days?: number, signer?: string) => Promise<CertificateFiles>;
  readonly remove: () => void;
}

/** Makes an authority, and signs a certificate for a server and one for a client. Needs openssl. */
export async function makeCertificates(): Promise<Certificates> {
  const { path, env } = await findTool("openssl");
  const folder = mkdtempSync(join(tmpdir(), "snowlane-certificates-"));
  const file = (name: string): string => join(folder, name);
  const openssl = (...args: readonly string[]): Promise<string> => runCommand(path, args, { env });
  const newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
  const ca = ["-keyout", file("ca.key"), "-out", file("ca.pem"), "-days", "30", "-subj", "/CN=Snowlane test"];
  await openssl("req", "-x509", ...newKey, ...ca);
  const sign = async (name: string, extension: string, days = 30, signer = "ca"): Promise<CertificateFiles> => {
    const [key, request, certificate] = [file(`${name}.key`), file(`${name}.csr`), file(`${name}.pem`)];
    writeFileSync(file(`${name}.ext`), extension);
    await openssl("req", ...newKey, "-keyout", key, "-out", request, "-subj", `/CN=${name}`);
    const others = ["-CA", file(`${signer}.pem`), "-CAkey", file(`${signer}.key`), "-CAcreateserial"];
    const authority = [...(signer === name ? ["-signkey", key] : others), "-days", String(days)];
    await openssl("x509", "-req", "-in", request, ...authority, "-extfile", file(`${name}.ext`), "-out", certificate);
    return { certFile: certificate, keyFile: key };
  };
  const server = await sign("server", "subjectAltName=DNS:localhost,IP:127.0.0.1\nextendedKeyUsage=serverAuth\n");
  const client = await sign("client", "subjectAltName=DNS:client\nextendedKeyUsage=clientAuth\n");
  const nameless = await sign("nameless", "extendedKeyUsage=clientAuth\n");
  const remove = (): void => rmSync(folder, { recursive: true, force: true });
  return { folder, caFile: file("ca.pem"), server, client, nameless, sign, remove };
}
