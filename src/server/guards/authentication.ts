import { Code, type ConnectError } from "@connectrpc/connect";
import { IdError } from "../../errors.ts";
import type { Caller, CallGuard, GuardedCall } from "../call/call-guard.ts";
import type { MethodTraits } from "../call/method-table.ts";
import type { Principal } from "../call/principal.ts";
import type { Principals } from "./principals.ts";

/**
 * Lets in only principals that may call the method. A call whose head was let in before, on the same connection and
 * under the same principals, is not checked again. A stream ends with its next message once its caller is removed.
 *
 * A wrong token and a missing one get the same answer. docs/adr/0130 has the reasons.
 */
export class Authentication implements CallGuard {
  readonly #principals: Principals;

  constructor(principals: Principals) {
    this.#principals = principals;
  }

  /** @throws IdError MISSING_CREDENTIALS, METHOD_DENIED. */
  begin(call: GuardedCall): void {
    const { notes } = call;
    const { generation } = this.#principals;
    if (notes.generation === generation) return;
    notes.principal = this.#find(call);
    this.#permit(call, notes.principal);
    notes.generation = generation;
  }

  /** @throws As {@link begin}. */
  goOn(call: GuardedCall): void {
    this.begin(call);
  }

  /**
   * A request that cannot be read counts as a call: otherwise a caller with a quota could send any number of them.
   *
   * @throws IdError QUOTA_EXCEEDED where its calls are used up.
   */
  arrive(caller: Caller): void {
    this.#principals.find(caller.header("authorization"), caller.peer)?.allowance.checkCall();
  }

  unread(_traits: MethodTraits | undefined, { code }: ConnectError, caller?: Caller): void {
    if (caller === undefined || code === Code.Canceled || code === Code.DeadlineExceeded) return;
    this.#principals.find(caller.header("authorization"), caller.peer)?.allowance.noteCall();
  }

  #find(call: GuardedCall): Principal | undefined {
    if (call.traits.access === "open") return undefined;
    const principal = this.#principals.find(call.header("authorization"), call.peer);
    if (principal === undefined) {
      const message = "This call needs credentials: a token that the server knows, or a client certificate.";
      throw new IdError("MISSING_CREDENTIALS", message);
    }
    return principal;
  }

  #permit({ traits: { path, access } }: GuardedCall, principal: Principal | undefined): void {
    if (principal === undefined || access === "open") return;
    if (principal.permissions.has(access) || principal.permissions.has("all")) return;
    principal.allowance.noteRefusal();
    const message = `These credentials do not permit ${path}, which needs the permission ${access}.`;
    throw new IdError("METHOD_DENIED", message, { metadata: { method: path.slice(1), permission: access } });
  }
}
