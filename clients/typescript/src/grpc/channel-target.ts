import type { TlsSource } from "./tls-options.ts";

/** Where a channel goes, and how. */
export interface ChannelTarget {
  /** Scheme, host and port of the server. */
  readonly url: URL;
  /** The address of the host that is called; undefined: the system looks it up. */
  readonly address?: string | undefined;
  readonly tls: TlsSource;
  /** Called when a connection that answered nothing is replaced. */
  readonly onReplaced?: (() => void) | undefined;
}
