/** How a command reaches a server: where it is, how it is trusted, and the credentials of the caller. */
import { readFileSync } from "node:fs";
import { isLoopback, socketPathOf } from "../../config/address.ts";
import type { SettingProblem } from "../../config/load-settings.ts";
import { text } from "../../config/setting-kinds.ts";
import { redactStray } from "../../config/store-url.ts";
import type { Setting, SettingValues } from "../../config/setting.ts";
import { CommandError, exitCodes } from "../exit-code.ts";

/** The options of a command that can ask a server. @param doc - Of `--server`. */
export function serverOptions(doc: string) {
  return {
    server: serverOption(doc),
    ca: text({
      name: "ca",
      placeholder: "FILE",
      doc: "Trusts a server whose certificate one of these authorities (PEM) has signed. Default: those that Node trusts.",
    }),
    cert: text({
      name: "cert",
      placeholder: "FILE",
      doc: "Shows the server this client certificate, with its chain (PEM). Needs --key.",
    }),
    key: text({ name: "key", placeholder: "FILE", doc: "The private key of --cert (PEM)." }),
    tokenFile: text({
      name: "tokenFile",
      placeholder: "FILE",
      pattern: /^(?!snw_)/,
      hint: "the name of a file that holds the token, not the token itself",
      redact: () => "***",
      doc: "Sends the token that is the one line of this file. A token on the command line would show in the process list.",
    }),
  };
}

function serverOption(doc: string): Setting<string> {
  return text({
    name: "server",
    placeholder: "URL",
    pattern: /^(?:https?:\/\/[^\s/@]+\/?|unix:\/[^\0]{1,106})$/,
    hint: "a URL such as http://127.0.0.1:7609, or unix:/PATH",
    doc,
    redact: (value) => value.replace(/\/\/.*@/, "//***@"),
  });
}

/** The values of {@link serverOptions}. */
export type ServerOptionValues = SettingValues<ReturnType<typeof serverOptions>>;

/** A server, and how to call it. */
export interface ServerAccess {
  /** As it was given. */
  readonly url: string;
  /** The path of the server's Unix socket; absent where it is called over TCP. */
  readonly socketPath?: string;
  /** The options for node:tls. */
  readonly tls: { readonly ca?: Buffer; readonly cert?: Buffer; readonly key?: Buffer };
  /** The value of the field `authorization`; undefined without a token. */
  readonly authorization: string | undefined;
}

const fileBytesMax = 1_048_576;
const tokenLengthMax = 4_096;

/** The problems of the options together: one for each at most. */
export function problemsOfAccess({ server, ca, cert, key, tokenFile }: ServerOptionValues): readonly SettingProblem[] {
  const given = { "--ca": ca, "--cert": cert, "--key": key, "--token-file": tokenFile };
  const hints = server === undefined ? withoutServer : hintsOf(new URL(server), cert !== undefined, key !== undefined);
  return Object.entries(given).flatMap(([place, value]) => {
    const hint = hints[place];
    return value === undefined || hint === undefined ? [] : [{ place, value, hint }];
  });
}

/** The hints for options that do not fit, by their flags. */
type Hints = Readonly<Record<string, string | undefined>>;

const lost = "Give --server too, or leave it out.";
const withoutServer: Hints = { "--ca": lost, "--cert": lost, "--key": lost, "--token-file": lost };

function hintsOf({ protocol, hostname }: URL, hasCert: boolean, hasKey: boolean): Hints {
  if (protocol === "https:") {
    return { "--cert": hasKey ? undefined : "Give --key too.", "--key": hasCert ? undefined : "Give --cert too." };
  }
  const forTls = "It is for TLS: begin --server with https://, or leave it out.";
  const isNear = protocol === "unix:" || isLoopback(hostname.replace(/^\[(.*)\]$/, "$1"));
  const forToken = isNear ? undefined : "The token would cross the network in plaintext: begin --server with https://.";
  return { "--ca": forTls, "--cert": forTls, "--key": forTls, "--token-file": forToken };
}

/** Reads the files of the options. @throws CommandError that names the file; no text of it is shown. */
export async function readAccess(options: ServerOptionValues & { readonly server: string }): Promise<ServerAccess> {
  const tls = await readTlsFiles(options);
  const token = read("--token-file", options.tokenFile)?.toString("latin1").trim();
  if (token !== undefined && (token.length > tokenLengthMax || !/^[\x21-\x7e]+$/.test(token))) {
    throw refused("--token-file", options.tokenFile, "It holds no token: one line of ASCII without spaces.");
  }
  const { server: url } = options;
  const socketPath = socketPathOf({ host: url, port: 0 });
  const authorization = token === undefined ? undefined : `Bearer ${token}`;
  return { url, ...(socketPath === undefined ? {} : { socketPath }), tls, authorization };
}

/** Loads TLS only where there are such files, because a probe runs every few seconds. */
async function readTlsFiles(options: ServerOptionValues): Promise<ServerAccess["tls"]> {
  const [ca, cert, key] = [read("--ca", options.ca), read("--cert", options.cert), read("--key", options.key)];
  const tls = { ...(ca && { ca }), ...(cert && { cert }), ...(key && { key }) };
  if (Object.keys(tls).length === 0) return tls;
  const [{ X509Certificate }, { createSecureContext }] = await Promise.all([import("node:crypto"), import("node:tls")]);
  if (ca !== undefined) check("--ca", options.ca, "certificate", () => void new X509Certificate(ca));
  if (cert !== undefined) check("--cert", options.cert, "certificate", () => void new X509Certificate(cert));
  check("--key", options.key, "private key that fits --cert", () => void createSecureContext(tls));
  return tls;
}

function read(place: string, path: string | undefined): Buffer | undefined {
  if (path === undefined) return undefined;
  try {
    const bytes = readFileSync(path);
    if (bytes.length <= fileBytesMax) return bytes;
  } catch (error) {
    throw refused(place, path, `Name a file that can be read: ${redactStray((error as Error).message)}.`);
  }
  throw refused(place, path, `Name a file of at most ${fileBytesMax} bytes.`);
}

function check(place: string, path: string | undefined, what: string, use: () => void): void {
  try {
    use();
  } catch {
    throw refused(place, path, `It holds no ${what} in PEM.`);
  }
}

function refused(place: string, path: string | undefined, hint: string): CommandError {
  return new CommandError(`${place} ${redactStray(path ?? "")}: ${hint}`, exitCodes.usage);
}
