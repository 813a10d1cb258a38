import { type Address, formatAddress } from "../config/address.ts";
import { redactUrl } from "../config/store-url.ts";
import { exhaustionOf } from "../snowflake/exhaustion.ts";
import type { Server } from "./start-server.ts";

/** What a server says of itself once it serves. */
export interface StartFacts {
  readonly server: Pick<Server, "address" | "source">;
  readonly storeUrl: string;
  readonly version: string;
  readonly security: "cleartext" | "tls";
  readonly nowMs: number;
}

/** The fields of a log line, for programs. */
export function startFields({ server, storeUrl, version }: StartFacts) {
  const { layout } = server.source;
  const { datacenterId, workerId } = grantOf(server);
  const address = formatAddress(server.address);
  return { address, layout: layout.name, datacenterId, workerId, store: redactUrl(storeUrl), version };
}

/**
 * The lines for people; the two commands work when pasted, over TLS for whoever trusts the certificate and its name.
 */
export function startMessage({ server, storeUrl, version, security, nowMs }: StartFacts): string {
  const { layout } = server.source;
  const { datacenterId, workerId } = grantOf(server);
  const reachable = formatAddress(reachableAddress(server.address));
  const end = new Date(layout.endMs).toISOString().slice(0, 10);
  const years = exhaustionOf(layout, nowMs).yearsLeft.toFixed(1);
  const bits = layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(" | ");
  const datacenter = layout.datacenter.bits > 0 ? `datacenter ${datacenterId}, ` : "";
  const [scheme, plaintext] = security === "tls" ? ["https", ""] : ["http", "-plaintext "];
  const url = `${scheme}://${reachable}/snowlane.v1.IdService/NextId`;
  return `Snowlane ${version} serves IDs on ${formatAddress(server.address)}: gRPC, gRPC-Web and Connect.
  layout  ${layout.name}: ${bits}; ${years} years left, until ${end}
  worker  ${datacenter}worker ${workerId}
  store   ${redactUrl(storeUrl)}
Try:
  curl -d '{}' -H 'content-type: application/json' ${quoteBrackets(url)}
  grpcurl ${plaintext}${quoteBrackets(reachable)} snowlane.v1.IdService/NextId
`;
}

/** Zeros for a server that has lost its worker ID again already. */
function grantOf({ source }: StartFacts["server"]): { readonly datacenterId: number; readonly workerId: number } {
  return source.status().grant ?? { datacenterId: 0, workerId: 0 };
}

/** An address that listens on all interfaces is reached by the loopback one. */
function reachableAddress({ host, port }: Address): Address {
  if (host === "0.0.0.0") return { host: "127.0.0.1", port };
  return host === "::" ? { host: "::1", port } : { host, port };
}

/** Shells and curl take brackets for patterns. */
function quoteBrackets(text: string): string {
  return text.includes("[") ? `'${text}'` : text;
}
