/** Certificates, as PEM. */
export interface TlsOptions {
  /** Authorities to trust. Default: the roots of Node. */
  readonly ca?: string;
  /** This client's certificate and its key, for mutual TLS. */
  readonly cert?: string;
  readonly key?: string;
}
