import type { CallGuard } from "../call/call-guard.ts";
import { WatchedFiles } from "../listen/watched-files.ts";
import { Authentication } from "./authentication.ts";
import { parsePrincipals, readPrincipalBytes } from "./principal-file.ts";
import { Principals, type PrincipalsOptions } from "./principals.ts";

/** Authentication by a file that may be replaced while the server runs. */
export interface WatchedPrincipals {
  readonly guard: CallGuard;
  /** The principals in use, each with the counts of IDs and values that were handed out to it. */
  readonly allowances: Principals["allowances"];
  /** Checks at once whether the file has changed. */
  readonly look: () => void;
  readonly close: () => void;
}

/** Which file {@link watchPrincipals} reads, how often, and how it reports changes and faults. */
export interface WatchedPrincipalsOptions extends PrincipalsOptions {
  /** The path of the file of principals. */
  readonly path: string;
  /** Called with the number of principals of each later file that is in use. */
  readonly onChange: (count: number) => void;
  /** Called once, with the first file that has a token: from then on tokens go over the network. */
  readonly onFirstToken: () => void;
  /** Called with the reason why a later file is not used; the earlier one stays. */
  readonly onFault: (error: unknown) => void;
  /** How often the file is checked, in milliseconds. Default: 10,000. */
  readonly lookMs?: number;
}

/** Reads a file of principals, and again when it has changed. @throws IdError INVALID_CONFIG. */
export function watchPrincipals(options: WatchedPrincipalsOptions): WatchedPrincipals {
  const { path, onChange, onFirstToken, clock, idsPerSecond, ...watch } = options;
  const bytes = readPrincipalBytes(path);
  const entries = parsePrincipals(bytes, path);
  let isTold = false;
  const tellOfTokens = (found: typeof entries): void => {
    if (isTold || !found.some(({ tokens }) => tokens.length > 0)) return;
    isTold = true;
    onFirstToken();
  };
  tellOfTokens(entries);
  const principals = new Principals(entries, { clock, idsPerSecond });
  const files = new WatchedFiles(bytes, {
    ...watch,
    read: () => readPrincipalBytes(path),
    onChange: (changed) => {
      const found = parsePrincipals(changed, path);
      principals.replace(found);
      onChange(found.length);
      tellOfTokens(found);
    },
  });
  return {
    guard: new Authentication(principals),
    allowances: () => principals.allowances(),
    look: () => files.look(),
    close: () => files.close(),
  };
}
