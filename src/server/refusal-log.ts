import type { ConnectError } from "@connectrpc/connect";
import { ErrorInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { type Caller, type CallGuard, type GuardedCall, newNotes } from "./call/call-guard.ts";
import type { MethodTraits } from "./call/method-table.ts";
import type { Log } from "./log.ts";

const refusals: ReadonlySet<string> = new Set(["MISSING_CREDENTIALS", "METHOD_DENIED", "QUOTA_EXCEEDED"]);

/** Writes a line for each call that a later guard refuses, so it comes before all guards that refuse. */
export class RefusalLog implements CallGuard {
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  begin(): void {
    // Only the end of a call says that it was refused.
  }

  end(call: GuardedCall, error: ConnectError | undefined): void {
    if (error !== undefined) this.refuse(call, ...infoOf(error));
  }

  /** Logs a caller whose quota was used up before its request was read. */
  unread(traits: MethodTraits | undefined, error: ConnectError, caller?: Caller): void {
    if (traits === undefined || caller === undefined) return;
    this.refuse({ ...caller, traits, notes: newNotes() }, ...infoOf(error));
  }

  /**
   * Writes the line of one call, if its reason is one of a refusal.
   *
   * @param named - The principal that the error names: that of a call which was refused before its request was read.
   */
  refuse(
    { traits, notes, peer }: Pick<GuardedCall, "traits" | "notes" | "peer">,
    reason: string,
    named?: string,
  ): void {
    if (!refusals.has(reason)) return;
    const principal = notes.principal?.name ?? named;
    this.#log.info("A call was refused", {
      reason,
      method: traits.path.slice(1),
      principal,
      address: peer.remoteAddress,
    });
  }

  /** Logs a request that called the server by a name that is not allowed. @param address - Of the caller. */
  refuseHost(address: string): void {
    this.#log.info("A call was refused", { reason: "HOST_NOT_ALLOWED", address });
  }
}

function infoOf(error: ConnectError): [reason: string, principal: string | undefined] {
  const [info] = error.findDetails(ErrorInfoSchema);
  return [info?.reason ?? "", info?.metadata["principal"]];
}
