import { constants } from "node:crypto";
import { readFileSync } from "node:fs";
import type { Socket } from "node:net";
import { createSecureContext, createServer, type SecureContextOptions, type TLSSocket } from "node:tls";
import { isDeepStrictEqual } from "node:util";
import { IdError } from "../../errors.ts";
import { handshakeTimeoutMs } from "./handshake-limit.ts";

/** Paths of PEM files. */
export interface TlsFiles {
  readonly certPath: string;
  readonly keyPath: string;
  /** Callers must show a certificate of one of these authorities; absent: they need none. */
  readonly clientCaPath: string | undefined;
}

/** Makes TLS connections of TCP connections. */
export interface TlsAcceptor {
  /**
   * Takes over a fresh connection. A caller that cannot agree with us on TLS, or has no certificate where one is
   * required, is cut off.
   */
  readonly admit: (socket: Socket) => void;
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
 * Reads the files, and again when they have changed: connections that are made from then on have the new certificate.
 * Files that do not fit together are reported to `onFault`, and the earlier ones stay in use.
 *
 * @param onSecure - Takes over a connection once its handshake is done.
 * @param lookMs - How often the files are checked.
 * @throws IdError INVALID_CONFIG as {@link readTlsContext}.
 */
export function createTlsAcceptor(
  files: TlsFiles,
  onSecure: (socket: TLSSocket, protocol: AlpnProtocol) => void,
  onFault: (error: unknown) => void,
  lookMs = 10_000,
): TlsAcceptor {
  let context = readTlsContext(files);
  const server = createServer(
    {
      ...context,
      ALPNProtocols: ["h2", "http/1.1"],
      handshakeTimeout: handshakeTimeoutMs,
      requestCert: files.clientCaPath !== undefined,
      rejectUnauthorized: files.clientCaPath !== undefined,
    },
    (socket) => onSecure(socket, socket.alpnProtocol === false ? undefined : (socket.alpnProtocol as AlpnProtocol)),
  );
  // A caller that gives up, or offers nothing that we accept, needs no log line.
  server.on("tlsClientError", (_error, socket) => socket.destroy());
  const looking = setInterval(() => {
    try {
      const found = readTlsContext(files);
      if (isDeepStrictEqual(found, context)) return;
      context = found;
      server.setSecureContext(found);
    } catch (error) {
      onFault(error);
    }
  }, lookMs).unref();
  return {
    admit: (socket) => {
      // From here on the handshake has a time limit of its own.
      socket.setTimeout(0);
      server.emit("connection", socket);
    },
    close: () => clearInterval(looking),
  };
}

/** @throws IdError INVALID_CONFIG if the files cannot be read or used. */
export function readTlsContext({ certPath, keyPath, clientCaPath }: TlsFiles): SecureContextOptions {
  try {
    const context: SecureContextOptions = {
      cert: readFileSync(certPath),
      key: readFileSync(keyPath),
      ...(clientCaPath === undefined ? {} : { ca: readFileSync(clientCaPath) }),
      minVersion: "TLSv1.2",
      ciphers,
      honorCipherOrder: true,
      // It would change the peer in the middle of HTTP/2, and costs the server more than the caller: RFC 9113, 9.2.1.
      secureOptions: constants.SSL_OP_NO_RENEGOTIATION,
    };
    // Fails where certificate and key do not belong together.
    createSecureContext(context);
    return context;
  } catch (cause) {
    const message = `The TLS files cannot be used: ${(cause as Error).message}.`;
    const metadata = { tls_cert: certPath, tls_key: keyPath, tls_client_ca: clientCaPath ?? "" };
    throw new IdError("INVALID_CONFIG", message, { metadata, cause });
  }
}
