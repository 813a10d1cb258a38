/** REBASE: the move to another worker ID, after the clock went back further than timestamps may lead it. */
import type { Grant } from "../lease/grant.ts";
import type { GrantedGenerator } from "./granted-generator.ts";
import type { ProtocolContext } from "../lease/protocol-context.ts";
import type { Granted, GrantSearch } from "./grant-search.ts";

/** The outcome of one try to rebase. */
export type RebaseStep =
  /** The clock is near enough again: the grant that is held can be kept. */
  | { readonly kind: "over" }
  /** Timestamps are `aheadMs` ahead of the clock, and a worker ID whose mark is not above it was granted. */
  | { readonly kind: "granted"; readonly granted: Granted; readonly aheadMs: number }
  /** As above, but there is no such worker ID; `pinned`: the settings allow no other. */
  | { readonly kind: "no-spare" | "pinned"; readonly aheadMs: number };

/** How often a spare worker ID is looked for, give or take half of it. */
const lookAgainMs = 1_000;

/** Decides when to look for a spare worker ID, and looks for one. */
export class Rebase {
  readonly #context: ProtocolContext;
  readonly #search: GrantSearch;
  readonly #generator: GrantedGenerator;
  #dueAtMs = Number.POSITIVE_INFINITY;

  constructor(context: ProtocolContext, search: GrantSearch, generator: GrantedGenerator) {
    this.#context = context;
    this.#search = search;
    this.#generator = generator;
  }

  /** When {@link step} is due: monotonic time; Infinity = there is nothing to do. */
  get dueAtMs(): number {
    return this.#dueAtMs;
  }

  /** Whether the last timestamp is further ahead of the clock than it may be. */
  get isNeeded(): boolean {
    return this.#aheadMs() > this.#context.settings.leadMaxMs;
  }

  /** Makes {@link step} due. */
  begin(): void {
    this.#dueAtMs = this.#context.judge.monotonicMs();
  }

  /** Makes {@link step} no longer due. */
  end(): void {
    this.#dueAtMs = Number.POSITIVE_INFINITY;
  }

  /** Looks once for a worker ID to move to. The grant that is held stays as it is, and in use. */
  async step(held: Grant): Promise<RebaseStep> {
    const { judge, ports, settings } = this.#context;
    const aheadMs = this.#aheadMs();
    if (aheadMs <= settings.leadMaxMs) return { kind: "over" };
    this.#dueAtMs = judge.monotonicMs() + lookAgainMs * (0.5 + ports.random());
    if (settings.range.count === 1) return { kind: "pinned", aheadMs };
    const outcome = await this.#search.acquire({ excluded: new Set([held.workerIndex]), markAheadMaxMs: 0 });
    return outcome.kind === "granted" ? { kind: "granted", granted: outcome, aheadMs } : { kind: "no-spare", aheadMs };
  }

  /** How far the last timestamp is ahead of the clock. */
  #aheadMs(): number {
    return this.#generator.lastMs - this.#context.judge.nowMs();
  }
}
