/** Certificates, or a function that returns them for each new connection. */
export type TlsSource = TlsOptions | (() => TlsOptions) | undefined;

/** Certificates, as PEM. */
export interface TlsOptions {
  /** Authorities to trust. Default: the roots of Node. */
  readonly ca?: string;
  /** This client's certificate, for mutual TLS. Needs `key`. Default: none. */
  readonly cert?: string;
  /** The private key of `cert`. */
  readonly key?: string;
}
