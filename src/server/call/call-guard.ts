import { ConnectError, createContextKey, type Interceptor } from "@connectrpc/connect";
import { systemClock } from "../../clock/clock.ts";
import { allowanceKey } from "../../service/call-context.ts";
import type { ToCallError } from "../../service/connect-error.ts";
import { callerGone } from "./call-errors.ts";
import { type MethodTraits, traitsOf } from "./method-table.ts";
import { type Peer, peerKey } from "./peer.ts";
import type { Principal } from "./principal.ts";
import type { TraceParent } from "./trace-parent.ts";

/** A caller before its request is read: its address, its certificate, and the fields of its head. */
export interface Caller {
  /** The other end of the connection, or the caller that a trusted proxy names. */
  readonly peer: Peer;
  /** The value of a field of the request's head, by its name in lower case. */
  header(name: string): string | undefined;
}

/** A call as its guards see it, whichever way it takes through the server. */
export interface GuardedCall extends Caller {
  /** The method that is called: its path, who may call it, and whether it streams. */
  readonly traits: MethodTraits;
  /** The findings of guards that were asked before. A guard may add to them. */
  readonly notes: CallNotes;
  /**
   * When it began, on the monotonic clock. Undefined for a call that is answered in the turn in which its request came:
   * such calls are timed together.
   */
  readonly startedMs: number | undefined;
}

/**
 * The findings of guards about a call. On the hot path all calls with one head on one connection share their notes,
 * so what depends on the head alone is found once. Elsewhere each call has notes of its own.
 */
export interface CallNotes {
  /** Undefined where callers need no credentials. */
  principal: Principal | undefined;
  /** The generation of the principals that let this call in; 0 before that. */
  generation: number;
  /** Read only where calls are traced; `none` where the head has no `traceparent`. */
  traceParent: TraceParent | "none" | undefined;
}

/** Notes without any findings. */
export function newNotes(): CallNotes {
  return { principal: undefined, generation: 0, traceParent: undefined };
}

/**
 * Runs before every call of every method, hot or not: authentication, quotas, metrics. One object serves all calls.
 * Both ways through the server ask the same guard: Connect's handlers by {@link guardInterceptor}, the hot methods by
 * hot-calls.ts. docs/adr/0044 says why the hot methods ask it between reading and doing.
 */
export interface CallGuard {
  /**
   * Lets a call begin. Its request has arrived and can be read; nothing has been done for it yet. A request that cannot
   * be read is refused earlier.
   *
   * @throws IdError or ConnectError, which the caller then gets.
   */
  begin(call: GuardedCall): void;
  /** Called right after `begin` threw, with the error that the caller gets. Guards that were asked before end it. */
  endAfterRefusal?(call: GuardedCall, error: ConnectError): void;
  /** Asked before each message of a stream that `begin` let pass. @throws As `begin`; the stream then ends with it. */
  goOn?(call: GuardedCall): void;
  /** Called once for each call that `begin` let pass, with the error that it ended with; undefined for OK. */
  end?(call: GuardedCall, error: ConnectError | undefined): void;
  /**
   * Called for a call that ended before `begin` could be: its request did not arrive whole, or could not be read.
   *
   * @param traits - Undefined where there is no such method.
   * @param caller - Undefined where nothing is known of it.
   */
  unread?(traits: MethodTraits | undefined, error: ConnectError, caller?: Caller): void;
  /**
   * Called before the request of a call that is not plain is read. It takes nothing from a quota: `begin` or `unread`
   * follow.
   *
   * @throws As `begin`: the request is then never read.
   */
  arrive?(caller: Caller): void;
}

/** Whether a guard was asked for a call that goes through Connect's handlers. */
export const guardedKey = createContextKey(false, { description: "guarded" });

/** Asks the guard for every call that goes through Connect's handlers. Must come before all other interceptors. */
export function guardInterceptor(guard: CallGuard, toError: ToCallError): Interceptor {
  return (next) => async (request) => {
    const call: GuardedCall = {
      traits: traitsOf(`/${request.service.typeName}/${request.method.name}`),
      peer: request.contextValues.get(peerKey),
      notes: newNotes(),
      startedMs: systemClock.monotonicMs(),
      header: (name) => request.header.get(name) ?? undefined,
    };
    request.contextValues.set(guardedKey, true);
    try {
      guard.begin(call);
    } catch (thrown) {
      const error = toError(thrown, call.traits.path);
      guard.endAfterRefusal?.(call, error);
      throw error;
    }
    request.contextValues.set(allowanceKey, call.notes.principal?.allowance);
    const end = (error: ConnectError | undefined): void => guard.end?.(call, error);
    try {
      const response = await next(request);
      if (response.stream) {
        const goOn = (): void => {
          try {
            guard.goOn?.(call);
          } catch (error) {
            throw toError(error, call.traits.path);
          }
        };
        return { ...response, message: watched(response.message, goOn, end) };
      }
      end(undefined);
      return response;
    } catch (error) {
      end(ConnectError.from(error));
      throw error;
    }
  };
}

async function* watched<T>(
  messages: AsyncIterable<T>,
  goOn: () => void,
  end: (error: ConnectError | undefined) => void,
) {
  // The error stays this one if the reader never asks for the rest.
  let error: ConnectError | undefined = callerGone();
  try {
    for await (const message of messages) {
      goOn();
      yield message;
    }
    error = undefined;
  } catch (thrown) {
    error = ConnectError.from(thrown);
    throw thrown;
  } finally {
    end(error);
  }
}
