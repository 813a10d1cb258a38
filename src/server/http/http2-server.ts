import type { Socket } from "node:net";
import type { Limits } from "../../http2/limits.ts";
import type { TlsFiles } from "../listen/tls.ts";
import type { HostCheck } from "./host-check.ts";
import type { TrustedProxies } from "./trusted-proxies.ts";

/** The settings with which a connection is served. */
export interface ConnectionOptions {
  /** How long a reader may take nothing before its call ends. */
  readonly stallTimeoutMs: number;
  /** How long calls in flight may take once the server, or their connection, drains. */
  readonly drainTimeoutMs: number;
  /** The age at which a connection is drained; undefined: none. */
  readonly connectionAgeMs?: number | undefined;
  /** Which of the two serves HTTP/2: Node's own, or the engine of src/http2. */
  readonly http2: "node" | "engine";
  /** Absent: cleartext. */
  readonly tls: TlsFiles | undefined;
  /** The proxies that may name their callers; undefined: no proxy may. */
  readonly trustedProxies: TrustedProxies | undefined;
  /** The check for HTTP/1.1 in cleartext. Undefined: the server may be called by every name. */
  readonly hostCheck: HostCheck | undefined;
  /** The limits of the engine; node:http2 uses only the one on the streams of a connection. */
  readonly http2Limits: Partial<Limits>;
  /** Called with an error that a handler or a server itself threw: a fault of ours. */
  readonly onFault: (error: unknown) => void;
  /** Called when other files of TLS are in use from now on. */
  readonly onTlsChange?: () => void;
  /** Called with changed files of TLS that cannot be used; the earlier ones stay. Default: `onFault`. */
  readonly onTlsFault?: (error: unknown) => void;
  /** Called with the cause, and the address of a caller, of each TLS handshake that failed. */
  readonly onRefusedHandshake?: (error: Error, address: string) => void;
}

/** Serves HTTP/2 connections: engine-http2.ts and node-http2.ts each make one. */
export interface Http2Server {
  readonly accept: (socket: Socket) => void;
  readonly drain: () => Promise<void>;
  readonly close: () => void;
}
