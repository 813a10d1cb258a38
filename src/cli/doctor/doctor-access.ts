/** The checks of `snowlane doctor` on who may call: certificates, principals, and a server that anybody may call. */
import { X509Certificate } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { isLoopback } from "../../config/address.ts";
import { accessOf } from "../../config/secret-file.ts";
import type { ServerConfig } from "../../config/server-settings.ts";
import { failOf, type Finding, ok, warn } from "./finding.ts";

const dayMs = 86_400_000;
/** Doctor warns of a certificate that ends sooner than this. */
const soonMs = 14 * dayMs;

type AccessSettings = Pick<
  ServerConfig,
  "listen" | "auth" | "principals" | "storeFile" | "tlsCert" | "tlsKey" | "tlsClientCa" | "tlsClientAuth"
>;

/** Checks the files of TLS and of principals as a start reads them, and what they mean for callers. */
export async function checkAccess(settings: AccessSettings, nowMs: number): Promise<readonly Finding[]> {
  return [
    ...(await checkTls(settings, nowMs)),
    ...(await checkPrincipals(settings)),
    ...checkModes(settings),
    ...checkOpen(settings),
  ];
}

/** Files of secrets that every user of the machine may read. Those that they may write are refused elsewhere. */
function checkModes({ principals, tlsKey, storeFile }: AccessSettings): readonly Finding[] {
  const named = [["principals", principals] as const, ["tls key", tlsKey] as const, ["store file", storeFile] as const];
  return named.flatMap(([check, path]) => {
    if (path === undefined || !existsSync(path) || !accessOf(path).othersRead) return [];
    return [warn(check, `Every user of this machine may read ${path}.`, "Remove that permission: chmod o-r.")];
  });
}

async function checkTls({ tlsCert, tlsKey, tlsClientCa }: AccessSettings, nowMs: number): Promise<readonly Finding[]> {
  if (tlsCert === undefined || tlsKey === undefined) return [];
  try {
    const { readTlsContext } = await import("../../server/listen/tls.ts");
    readTlsContext({ certPath: tlsCert, keyPath: tlsKey, clientCaPath: tlsClientCa });
  } catch (error) {
    return [failOf("tls", error, "Give a certificate chain and its key, in PEM.")];
  }
  const renew = "Replace the file by a newer one: a running server reads it again by itself.";
  return [
    ok("tls", "Certificate and key can be read, and match."),
    checkDates("certificate", tlsCert, renew, nowMs),
    ...(tlsClientCa === undefined ? [] : [checkDates("client CA", tlsClientCa, renew, nowMs)]),
  ];
}

const pemCertificate = /-----BEGIN CERTIFICATE-----.*?-----END CERTIFICATE-----/gs;

/** A server starts with certificates that are out of date; its callers refuse them. */
function checkDates(check: string, path: string, hint: string, nowMs: number): Finding {
  const certificates = (readFileSync(path, "latin1").match(pemCertificate) ?? []).map(
    (pem) => new X509Certificate(pem),
  );
  const early = certificates.find(({ validFromDate }) => validFromDate.getTime() > nowMs);
  if (early !== undefined) {
    const detail = `${path} is not valid before ${early.validFromDate.toISOString()}: callers refuse it until then.`;
    return warn(check, detail, "Check the clock of this machine, or wait.");
  }
  const endMs = Math.min(...certificates.map(({ validToDate }) => validToDate.getTime()));
  const end = new Date(endMs).toISOString();
  if (endMs <= nowMs) return warn(check, `${path} ended at ${end}: callers refuse it.`, hint);
  const days = Math.floor((endMs - nowMs) / dayMs);
  if (endMs - nowMs < soonMs) return warn(check, `${path} ends at ${end}, in ${days} days.`, hint);
  return ok(check, `${path} is valid until ${end}, for ${days} days.`);
}

async function checkPrincipals({
  listen,
  principals,
  tlsCert,
  tlsClientCa,
}: AccessSettings): Promise<readonly Finding[]> {
  if (principals === undefined) return [];
  const { parsePrincipals, readPrincipalBytes } = await import("../../server/guards/principal-file.ts");
  try {
    const entries = parsePrincipals(readPrincipalBytes(principals), principals);
    if (entries.length === 0) {
      return [warn("principals", `${principals} has no principal: nobody may call.`, "Add one: snowlane token NAME.")];
    }
    if (tlsClientCa === undefined && entries.some(({ certificates }) => certificates.length > 0)) {
      const detail = `${principals} names certificates, but no caller is asked for one.`;
      return [warn("principals", detail, "Give --tls-client-ca, or remove the names.")];
    }
    const tokens = entries.reduce((sum, entry) => sum + entry.tokens.length, 0);
    const certificates = entries.reduce((sum, entry) => sum + entry.certificates.length, 0);
    if (tokens > 0 && tlsCert === undefined && !isLoopback(listen.host)) {
      const detail = `${principals} has tokens, and they cross the network in plaintext.`;
      return [warn("principals", detail, "Give --tls-cert, or let a proxy on this machine speak TLS.")];
    }
    const counts = `${tokens} tokens and ${certificates} names of certificates`;
    return [ok("principals", `${principals} has ${entries.length} principals with ${counts}.`)];
  } catch (error) {
    return [failOf("principals", error, "docs/security.md has an example of the file.")];
  }
}

function checkOpen({ listen, auth, principals, tlsClientCa }: AccessSettings): readonly Finding[] {
  if (isLoopback(listen.host) || principals !== undefined || tlsClientCa !== undefined) return [];
  const detail = `Every program that reaches ${listen.host} may call everything (--auth ${auth}).`;
  return [warn("callers", detail, "Give --principals or --tls-client-ca, or close the address to others.")];
}
