/**
 * The URL of a remote store: `scheme://[user[:password]@]host[:port][,host[:port]…][/path][?name=value&…]`.
 *
 * A user, a password and a path are percent-encoded. Certificates and passwords may be in files, which are read again
 * for each connection, so that renewed ones are used without a restart.
 */
import { readFile } from "node:fs/promises";
import { isIP } from "node:net";
import { checkServerIdentity, type ConnectionOptions } from "node:tls";
import { IdError } from "../../errors.ts";

/** One server of a store. */
export interface Endpoint {
  readonly host: string;
  readonly port: number;
}

/** A parsed URL. */
export interface RemoteUrl {
  readonly scheme: string;
  /** At least one, in the order given. */
  readonly endpoints: readonly Endpoint[];
  readonly user: string | undefined;
  readonly password: string | undefined;
  /** Without the first slash; empty if there is none. */
  readonly path: string;
  readonly parameters: ReadonlyMap<string, string>;
}

/** The forms of URL that a store accepts. */
export interface RemoteUrlRules {
  /** The schemes of this store, without `://`; the first one is shown in errors. */
  readonly schemes: readonly string[];
  /** The port of a server if the URL does not give it. */
  readonly defaultPort: number;
  /** Names of its own parameters, in addition to {@link commonParameters}. */
  readonly parameters: readonly string[];
}

/** Parameters that every remote store takes. */
const commonParameters = ["tls", "caFile", "certFile", "keyFile", "tlsServerName", "passwordFile"] as const;

const urlPattern =
  /^(?<scheme>[a-z][a-z0-9+]*):\/\/(?:(?<user>[^@/?#]*)@)?(?<hosts>[^@/?#]+)(?:\/(?<path>[^?#]*))?(?:\?(?<query>[^#]*))?$/;
const endpointPattern = /^(?:\[(?<ipv6>[0-9A-Fa-f:.]+)\]|(?<host>[A-Za-z0-9._-]+))(?::(?<port>\d{1,5}))?$/;

/** @throws IdError INVALID_CONFIG. Its message contains no part of the URL that could be a secret. */
export function parseRemoteUrl(text: string, rules: RemoteUrlRules): RemoteUrl {
  const groups = urlPattern.exec(text)?.groups;
  const scheme = groups?.["scheme"];
  if (groups === undefined || scheme === undefined || !rules.schemes.includes(scheme)) {
    const hint = /@.*@/.test(text) ? ". Write @ in a password as %40, : as %3A, / as %2F" : "";
    const form = `${rules.schemes[0]}://[user[:password]@]host[:port][/path][?name=value]`;
    throw invalidUrl(`it is not of the form ${form}${hint}`);
  }
  const [user, password] = splitOnce(groups["user"] ?? "", ":");
  return {
    scheme,
    endpoints: (groups["hosts"] ?? "").split(",").map((endpoint) => parseEndpoint(endpoint, rules.defaultPort)),
    user: user === "" ? undefined : decode(user),
    password: password === undefined ? undefined : decode(password),
    path: decode(groups["path"] ?? ""),
    parameters: parseParameters(groups["query"] ?? "", [...rules.parameters, ...commonParameters]),
  };
}

/** Reads the password: from the file, otherwise from the URL, otherwise the given one. */
export async function readPassword(url: RemoteUrl, given: string | undefined): Promise<string | undefined> {
  return (await readPasswordFile(url, "passwordFile")) ?? url.password ?? given;
}

/** Reads the password in the file that a parameter names; undefined without the parameter. */
export async function readPasswordFile({ parameters }: RemoteUrl, name: string): Promise<string | undefined> {
  const path = parameters.get(name);
  if (path === undefined) return undefined;
  return (await readSecret(name, path)).toString().replace(/\r?\n$/, "");
}

/**
 * Reads the options for `tls.connect`; undefined without TLS. Certificates are always verified.
 *
 * @param isImplied - Whether the scheme alone implies TLS.
 */
export async function readTls(
  url: RemoteUrl,
  endpoint: Endpoint,
  isImplied = false,
): Promise<ConnectionOptions | undefined> {
  const { parameters } = url;
  const files = { ca: "caFile", cert: "certFile", key: "keyFile" } as const;
  const isAsked = Object.values(files).some((name) => parameters.has(name)) || parseFlag(parameters, "tls") === true;
  if (!isAsked && !isImplied) return undefined;
  const contents: { ca?: Buffer; cert?: Buffer; key?: Buffer } = {};
  for (const [option, name] of Object.entries(files) as [keyof typeof files, string][]) {
    const path = parameters.get(name);
    if (path !== undefined) contents[option] = await readSecret(name, path);
  }
  const serverName = tlsServerName(url, endpoint);
  return {
    ...contents,
    // SNI takes names only; an address is still verified against the certificate.
    ...(isIP(serverName) === 0 ? { servername: serverName } : {}),
    checkServerIdentity: (_host, certificate) => checkServerIdentity(serverName, certificate),
  };
}

/** The name or address for which a server's certificate must be valid. */
export function tlsServerName({ parameters }: RemoteUrl, { host }: Endpoint): string {
  return parameters.get("tlsServerName") ?? host;
}

/** A parameter that is `true` or `false`; undefined if absent. */
function parseFlag(parameters: ReadonlyMap<string, string>, name: string): boolean | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (text === "true" || text === "false") return text === "true";
  throw invalidUrl(`its parameter ${name} is neither true nor false`);
}

/** A parameter that is a whole number of 0 to `max`, inclusive; undefined if absent. */
export function parseCount(parameters: ReadonlyMap<string, string>, name: string, max: number): number | undefined {
  const text = parameters.get(name);
  if (text === undefined) return undefined;
  if (/^\d{1,9}$/.test(text) && Number(text) <= max) return Number(text);
  throw invalidUrl(`its parameter ${name} is not a whole number from 0 to ${max}`);
}

function parseEndpoint(text: string, defaultPort: number): Endpoint {
  const groups = endpointPattern.exec(text)?.groups;
  const host = groups?.["ipv6"] ?? groups?.["host"];
  const port = groups?.["port"] === undefined ? defaultPort : Number(groups["port"]);
  if (host === undefined || port < 1 || port > 65_535) {
    throw invalidUrl("one of its hosts is not a name or an address with a port from 1 to 65535");
  }
  return { host, port };
}

function parseParameters(query: string, known: readonly string[]): ReadonlyMap<string, string> {
  const parameters = new Map<string, string>();
  for (const part of query.split("&").filter((part) => part !== "")) {
    const [name, value] = splitOnce(part, "=");
    if (!known.includes(name)) {
      const shown = /^[\w-]{1,40}$/.test(name) ? name : "…";
      throw invalidUrl(`it has an unknown parameter ${shown}; known are ${known.join(", ")}`);
    }
    if (parameters.has(name)) throw invalidUrl(`its parameter ${name} occurs twice`);
    parameters.set(name, decode(value ?? ""));
  }
  return parameters;
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const place = text.indexOf(separator);
  return place < 0 ? [text, undefined] : [text.slice(0, place), text.slice(place + separator.length)];
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    throw invalidUrl("its percent-encoding is broken");
  }
}

async function readSecret(parameter: string, path: string): Promise<Buffer> {
  try {
    return await readFile(path);
  } catch (cause) {
    const problem = (cause as NodeJS.ErrnoException).code ?? "unknown error";
    const message = `The file of the store URL's parameter ${parameter} cannot be read (${problem}): ${path}.`;
    throw new IdError("INVALID_CONFIG", message, { metadata: { parameter, path, problem }, cause });
  }
}

/** The error for a store URL; `problem` must not contain a part of the URL that could be a secret. */
export function invalidUrl(problem: string): IdError {
  return new IdError("INVALID_CONFIG", `The store URL is not valid: ${problem}.`, { metadata: { problem } });
}
