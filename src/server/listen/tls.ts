import { constants, X509Certificate } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import { accessOf, writableHint } from "../../config/secret-file.ts";
import { IdError } from "../../errors.ts";
import { callerAddressOf, nameCaller, namedCallerOf } from "./caller-address.ts";
import { handshakeTimeoutMs } from "./handshake-limit.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  readonly certPath: string;
  readonly keyPath: string;
  /**
   * Callers may show a certificate of one of these authorities, and no other; absent: they are not asked for a
   * certificate.
   */
  readonly clientCaPath: string | undefined;
  /** Whether they must show one. Default: required. */
  readonly clientAuth?: "required" | "optional";
}

/** The functions that an acceptor calls. */
export interface TlsPorts {
  /** Takes over a connection once its handshake is done. */
  readonly onSecure: (socket: TLSSocket, protocol: AlpnProtocol) => void;
  /** Called when changed files are in use. */
  readonly onChange?: (() => void) | undefined;
  /** Called with changed files that cannot be used, as {@link WatchedFiles} does. */
  readonly onFault: (error: unknown) => void;
  /** Called with the cause, and the address of a caller whose handshake failed. */
  readonly onRefused?: ((error: Error, address: string) => void) | undefined;
}

/** Makes TLS connections of TCP connections. */
export interface TlsAcceptor {
  /**
   * Takes over a fresh connection. A caller that cannot agree with us on TLS, or has no certificate where one is
   * required, is cut off.
   */
  readonly admit: (socket: Socket) => void;
  /** When the certificate that is in use ends: Unix milliseconds. */
  readonly expiresMs: () => number;
  /** Checks at once whether the files have changed. */
  readonly look: () => void;
  readonly close: () => void;
}

/** The protocols that a caller may choose by ALPN; undefined where it offered none. */
export type AlpnProtocol = "h2" | "http/1.1" | undefined;

/**
 * TLS 1.2 with forward secrecy and authenticated encryption only; all suites of TLS 1.3 are of that kind. RFC 9113
 * section 9.2.2.
 */
const ciphers = [
  "TLS_AES_128_GCM_SHA256",
  "TLS_AES_256_GCM_SHA384",
  "TLS_CHACHA20_POLY1305_SHA256",
  "ECDHE-ECDSA-AES128-GCM-SHA256",
  "ECDHE-RSA-AES128-GCM-SHA256",
  "ECDHE-ECDSA-AES256-GCM-SHA384",
  "ECDHE-RSA-AES256-GCM-SHA384",
  "ECDHE-ECDSA-CHACHA20-POLY1305",
  "ECDHE-RSA-CHACHA20-POLY1305",
].join(":");

/**
 * Reads the files, and again when they have changed: connections that are made from then on use the new certificate.
 * Files that do not fit together are reported to `onFault`, and the earlier ones stay in use.
 *
 * @param lookMs - How often the files are checked.
 * @throws IdError INVALID_CONFIG as {@link readTlsContext}.
 */
export function createTlsAcceptor(
  files: TlsFiles,
  { onSecure, onChange, onFault, onRefused }: TlsPorts,
  lookMs = 10_000,
): TlsAcceptor {
  const { clientCaPath, clientAuth = "required" } = files;
  const context = readTlsContext(files);
  /**
   * Callers that a proxy named, by its end of the connection: a TLS socket is not the same object as its TCP socket.
   */
  const callers = new Map<string, string>();
  const server = createServer(
    {
      ...context,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: clientCaPath !== undefined,
      rejectUnauthorized: clientCaPath !== undefined && clientAuth === "required",
    },
    (socket) => {
      const caller = callers.get(endOf(socket));
      if (caller !== undefined) nameCaller(socket, caller);
      if (clientAuth === "optional" && showsUnknown(socket)) socket.destroy();
      else onSecure(socket, socket.alpnProtocol === false ? undefined : (socket.alpnProtocol as AlpnProtocol));
    },
  );
  server.on("tlsClientError", (error, socket) => {
    onRefused?.(error, callers.get(endOf(socket)) ?? callerAddressOf(socket));
    socket.destroy();
  });
  let expiresMs = expiryOf(context);
  const watched = new WatchedFiles(context, {
    read: () => readTlsContext(files),
    onChange: (found) => {
      server.setSecureContext(found);
      expiresMs = expiryOf(found);
      onChange?.();
    },
    onFault,
    lookMs,
  });
  return {
    admit: (socket) => {
      // From here on the handshake has a time limit of its own.
      socket.setTimeout(0);
      const caller = namedCallerOf(socket);
      if (caller !== undefined) {
        const end = endOf(socket);
        callers.set(end, caller);
        socket.once("close", () => callers.delete(end));
      }
      server.emit("connection", socket);
    },
    expiresMs: () => expiresMs,
    look: () => watched.look(),
    close: () => watched.close(),
  };
}

/** Identifies a connection among all open ones. */
function endOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

/** When the server's own certificate, the first of its chain, expires. */
function expiryOf({ cert }: SecureContextOptions): number {
  return new X509Certificate(cert as Buffer).validToDate.getTime();
}

/** Whether a caller has shown a certificate that is not of our authorities. */
function showsUnknown(socket: TLSSocket): boolean {
  return !socket.authorized && Object.keys(socket.getPeerCertificate()).length > 0;
}

/** @throws IdError INVALID_CONFIG that names the file and its flag, if one cannot be read or used. */
export function readTlsContext({ certPath, keyPath, clientCaPath }: TlsFiles): SecureContextOptions {
  const [certHint, keyHint] = ["Give a certificate chain in PEM", "Give a private key in PEM, without a passphrase"];
  const cert = readPem("--tls-cert", certPath, certHint, (text) => createSecureContext({ cert: text }));
  const key = readPem("--tls-key", keyPath, keyHint, (text) => createSecureContext({ key: text }));
  const ca =
    clientCaPath === undefined
      ? undefined
      : readPem("--tls-client-ca", clientCaPath, "Give the authorities' certificates in PEM", checkAuthorities);
  const context: SecureContextOptions = {
    cert,
    key,
    ...(ca === undefined ? {} : { ca }),
    minVersion: "TLSv1.2",
    ciphers,
    honorCipherOrder: true,
    // Renegotiation would change the peer in the middle of HTTP/2, and costs the server more than the caller: RFC 9113,
    // 9.2.1.
    secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
  };
  try {
    createSecureContext(context);
    return context;
  } catch (cause) {
    const message = `--tls-key ${keyPath} does not belong to the certificate of --tls-cert ${certPath} (${why(cause)}).`;
    throw unusable(`${message} Give the key that the certificate was made for.`, keyPath, cause);
  }
}

/** Reads a file, and tries it alone, so that the error can say which one is wrong. */
function readPem(flag: string, path: string, hint: string, check: (pem: Buffer) => void): Buffer {
  let pem: Buffer;
  try {
    if (accessOf(path).othersWrite) throw unusable(`${flag} ${path} cannot be used. ${writableHint}`, path, undefined);
    pem = readFileSync(path);
  } catch (cause) {
    if (cause instanceof IdError) throw cause;
    throw unusable(`${flag} ${path} cannot be read: ${why(cause)}. ${hint} that this user may read.`, path, cause);
  }
  try {
    check(pem);
    return pem;
  } catch (cause) {
    throw unusable(`${flag} ${path} cannot be used: ${why(cause)}. ${hint}.`, path, cause);
  }
}

/** A context would ignore a text without a certificate, and refuse every caller. */
function checkAuthorities(pem: Buffer): void {
  void new X509Certificate(pem);
}

function why(cause: unknown): string {
  return (cause as Error).message;
}

function unusable(message: string, path: string, cause: unknown): IdError {
  return new IdError("INVALID_CONFIG", message, { metadata: { path }, cause });
}
