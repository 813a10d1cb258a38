import { type Address, formatAddress, socketPathOf } from "../config/address.ts";
import { redactUrl } from "../config/store-url.ts";
import { exhaustionOf } from "../snowflake/exhaustion.ts";
import type { Server } from "./start-server.ts";

/** The facts that a server prints once it serves. */
export interface StartFacts {
  readonly server: Pick<Server, "address" | "source"> & Partial<Pick<Server, "adminAddress">>;
  readonly storeUrl: string;
  readonly version: string;
  readonly security: "cleartext" | "tls";
  readonly page: "on" | "off";
  readonly nowMs: number;
}

/** The fields of a log line, for programs. */
export function startFields({ server, storeUrl, version }: StartFacts) {
  const { layout } = server.source;
  const { datacenterId, workerId } = grantOf(server);
  const address = formatAddress(server.address);
  const own = server.adminAddress && { adminAddress: formatAddress(server.adminAddress) };
  return { address, ...own, layout: layout.name, datacenterId, workerId, store: redactUrl(storeUrl), version };
}

/**
 * The lines for people; the two commands work when pasted, over TLS for users that trust the certificate and its name.
 */
export function startMessage({ server, storeUrl, version, security, page, nowMs }: StartFacts): string {
  const { layout } = server.source;
  const { datacenterId, workerId } = grantOf(server);
  const { endTime, yearsLeft } = exhaustionOf(layout, nowMs);
  const bits = layout.fields.map(({ kind, bits }) => `${bits} ${kind}`).join(" | ");
  const datacenter = layout.datacenter.bits > 0 ? `datacenter ${datacenterId}, ` : "";
  const admin = server.adminAddress === undefined ? "" : `\n  admin   ${formatAddress(server.adminAddress)}`;
  return `Snowlane ${version} serves IDs on ${formatAddress(server.address)}: gRPC, gRPC-Web and Connect.
  layout  ${layout.name}: ${bits}; ${yearsLeft.toFixed(1)} years left, until ${endTime.slice(0, 10)}
  worker  ${datacenter}worker ${workerId}
  store   ${redactUrl(storeUrl)}${admin}
${callLines(server.address, security, page)}`;
}

/** How to call the server. */
function callLines(address: Address, security: StartFacts["security"], page: StartFacts["page"]): string {
  const [scheme, plaintext] = security === "tls" ? ["https", ""] : ["http", "-plaintext "];
  const socket = socketPathOf(address);
  const reachable = socket === undefined ? formatAddress(reachableAddress(address)) : "localhost";
  const origin = `${scheme}://${reachable}`;
  const url = quoteBrackets(`${origin}/snowlane.v1.IdService/NextId`);
  const open = page === "on" && socket === undefined ? `Open ${origin}/ in a browser, or try:` : "Try:";
  const [curl, grpcurl] =
    socket === undefined ? ["", quoteBrackets(reachable)] : [`--unix-socket ${socket} `, `-unix ${socket}`];
  return `${open}
  curl ${curl}-d '{}' -H 'content-type: application/json' ${url}
  grpcurl ${plaintext}${grpcurl} snowlane.v1.IdService/NextId
`;
}

/** Zeros for a server that has already lost its worker ID again. */
function grantOf({ source }: StartFacts["server"]): { readonly datacenterId: number; readonly workerId: number } {
  return source.status().grant ?? { datacenterId: 0, workerId: 0 };
}

/** A server that listens on all interfaces is reached by the loopback address. */
function reachableAddress({ host, port }: Address): Address {
  if (host === "0.0.0.0") return { host: "127.0.0.1", port };
  return host === "::" ? { host: "::1", port } : { host, port };
}

/** Shells and curl take brackets for patterns. */
function quoteBrackets(text: string): string {
  return text.includes("[") ? `'${text}'` : text;
}
