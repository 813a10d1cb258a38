/** NextId over TLS by a caller with or without a certificate, on a connection of its own. */
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect as connectHttp2 } from "node:http2";
import { request } from "node:https";
import type { ConnectionOptions, SecureContextOptions } from "node:tls";
import type { CertificateFiles } from "../processes/certificates.ts";

type Fields = Readonly<Record<string, string>>;
/** The status of HTTP, or that the server ended the connection instead. */
type CertifiedAnswer = number | "cut off";
type CertifiedCall = (tls: ConnectionOptions & { readonly port: number }, fields?: Fields) => Promise<CertifiedAnswer>;

const path = "/snowlane.v1.IdService/NextId";
const json = { "content-type": "application/json" };

/** The certificate and the key of a caller. */
export function identityOf({ certFile, keyFile }: CertificateFiles): SecureContextOptions {
  return { cert: readFileSync(certFile), key: readFileSync(keyFile) };
}

const inHttp1: CertifiedCall = async (tls, fields = {}) => {
  const headers = { ...json, ...fields };
  const call = request({ host: "127.0.0.1", path, method: "POST", agent: false, ...tls, headers });
  call.end("{}");
  try {
    const [response] = await once(call, "response");
    response.resume();
    return response.statusCode;
  } catch {
    return "cut off";
  }
};

const inHttp2: CertifiedCall = async (tls, fields = {}) => {
  const session = connectHttp2(`https://127.0.0.1:${tls.port}`, tls);
  const isCut = once(session, "close").then(() => "cut off" as const);
  session.on("error", () => undefined);
  try {
    const stream = session.request({ ":path": path, ":method": "POST", ...json, ...fields });
    stream.on("error", () => undefined);
    stream.end("{}");
    const answered = once(stream, "response").then(([head]) => Number(head[":status"]));
    return await Promise.race([answered.catch(() => "cut off" as const), isCut.catch(() => "cut off" as const)]);
  } finally {
    session.destroy();
  }
};

/** By the version of HTTP. */
export const certifiedCalls: Readonly<Record<string, CertifiedCall>> = { "HTTP/1.1": inHttp1, "HTTP/2": inHttp2 };
