import { hash, timingSafeEqual } from "node:crypto";
import type { Clock } from "../../clock/clock.ts";
import { Allowance, type Quota } from "../../queue/allowance.ts";
import type { Peer } from "../call/peer.ts";
import type { Principal } from "../call/principal.ts";
import { readSubjectAltName } from "./certificate-names.ts";
import type { PrincipalEntry } from "./principal-file.ts";

/**
 * RFC 6750 section 2.1; the case of its scheme does not matter (RFC 9110 section 11.1). A longer token is not even
 * hashed.
 */
const bearerPattern = /^bearer +([\x21-\x7e]{1,512})$/i;

/** The clock and the default of the quotas of {@link Principals}. */
export interface PrincipalsOptions {
  readonly clock: Clock;
  /** The quota of principals whose entry has none: IDs and values a second, at least 1; undefined = no limit. */
  readonly idsPerSecond: number | undefined;
}

/**
 * The principals that may call, by token and by certificate. docs/adr/0130 says why tokens are hashed as they are.
 *
 * Whole values of `authorization`, and names of certificates, that were good are remembered: at most as many as there
 * are tokens and names. Values that were not good are never remembered.
 */
export class Principals {
  /** The principals by the digests of their tokens, in hex digits. */
  readonly #byToken = new Map<string, { readonly digest: Buffer; readonly principal: Principal }>();
  readonly #byCertificate = new Map<string, Principal>();
  readonly #goodValues = new Map<string, Principal>();
  readonly #goodNames = new Map<string, Principal>();
  /**
   * The allowances by the names of principals. They outlive a change of the file, so a new file does not refill a
   * quota.
   */
  #allowances = new Map<string, Allowance>();
  readonly #options: PrincipalsOptions;
  #generation = 0;

  constructor(entries: readonly PrincipalEntry[], options: PrincipalsOptions) {
    this.#options = options;
    this.replace(entries);
  }

  /** Starts at 1, and grows with each {@link replace}. */
  get generation(): number {
    return this.#generation;
  }

  /**
   * The names of the principals, each with the counts of what was handed out to it and refused. Removed principals are
   * left out.
   */
  allowances(): ReadonlyMap<string, Pick<Allowance, "idsCount" | "refusedCount" | "idsPerSecond">> {
    return this.#allowances;
  }

  /** Replaces the principals by these. */
  replace(entries: readonly PrincipalEntry[]): void {
    for (const map of [this.#byToken, this.#byCertificate, this.#goodValues, this.#goodNames]) map.clear();
    const allowances = new Map<string, Allowance>();
    for (const { name, permissions, tokens, certificates, ...quota } of entries) {
      const allowance = this.#allowanceOf(name, quota);
      allowances.set(name, allowance);
      const principal: Principal = { name, permissions: new Set(permissions), allowance };
      for (const token of tokens) {
        const hex = token.slice("sha256:".length);
        this.#byToken.set(hex, { digest: Buffer.from(hex, "hex"), principal });
      }
      for (const certificate of certificates) this.#byCertificate.set(certificate, principal);
    }
    this.#allowances = allowances;
    this.#generation++;
  }

  /**
   * Finds the principal of a call. One with `authorization` is judged by that alone, even beside a good certificate.
   *
   * @returns undefined if the call shows nothing that is known.
   */
  find(authorization: string | undefined, peer: Peer): Principal | undefined {
    if (authorization !== undefined) return this.#ofToken(authorization);
    const { subjectAltName } = peer;
    return subjectAltName === undefined ? undefined : this.#ofCertificate(subjectAltName);
  }

  #allowanceOf(name: string, { idsPerSecond, callsPerSecond, streamsMax }: Partial<Quota>): Allowance {
    const quota = { idsPerSecond: idsPerSecond ?? this.#options.idsPerSecond, callsPerSecond, streamsMax };
    const allowance = this.#allowances.get(name) ?? new Allowance(name, this.#options.clock);
    allowance.limit(quota);
    return allowance;
  }

  #ofToken(authorization: string): Principal | undefined {
    const known = this.#goodValues.get(authorization);
    if (known !== undefined) return known;
    const token = bearerPattern.exec(authorization)?.[1];
    if (token === undefined) return undefined;
    const digest = hash("sha256", token, "buffer");
    const found = this.#byToken.get(digest.toString("hex"));
    if (found === undefined || !timingSafeEqual(found.digest, digest)) return undefined;
    if (this.#goodValues.size < this.#byToken.size) this.#goodValues.set(authorization, found.principal);
    return found.principal;
  }

  /** Finds a principal by the first known name of the certificate. */
  #ofCertificate(subjectAltName: string): Principal | undefined {
    const known = this.#goodNames.get(subjectAltName);
    if (known !== undefined) return known;
    const name = readSubjectAltName(subjectAltName).find((candidate) => this.#byCertificate.has(candidate));
    const principal = name === undefined ? undefined : this.#byCertificate.get(name);
    if (principal !== undefined && this.#goodNames.size < this.#byCertificate.size) {
      this.#goodNames.set(subjectAltName, principal);
    }
    return principal;
  }
}
