import { ConnectError, type Interceptor } from "@connectrpc/connect";
import type { ToCallError } from "../../service/connect-error.ts";
import { callerGone } from "./call-errors.ts";

/** The parts of a call that a guard sees, whichever way the call takes through the server. */
export interface GuardedCall {
  /** `/` package.Service `/` Method. */
  readonly path: string;
  /** The value of a field of the request's head, by its name in lower case. */
  header(name: string): string | undefined;
}

/**
 * Stands before every call of every method, hot or not: authentication, quotas, metrics. One object serves all calls.
 * Both ways through the server ask the same guards in the same order: Connect's handlers by {@link guardInterceptor},
 * the hot methods by hot-calls.ts. docs/adr/0044 says why the hot methods ask them between reading and doing.
 */
export interface CallGuard {
  /**
   * Lets a call begin. Its request has come and can be read; nothing was done for it yet. A request that cannot be read
   * is refused before.
   *
   * @throws IdError or ConnectError, which the caller then gets.
   */
  begin(call: GuardedCall): void;
  /** Called once for each call that `begin` let pass, with the error that it ended with; undefined for OK. */
  end?(call: GuardedCall, error: ConnectError | undefined): void;
}

/**
 * Asks the guards in turn.
 *
 * @throws The error of a guard. The guards that were asked before it are told of the end.
 */
export function beginCall(guards: readonly CallGuard[], call: GuardedCall, toError: ToCallError): void {
  let count = 0;
  try {
    for (; count < guards.length; count++) guards[count]!.begin(call);
  } catch (thrown) {
    const error = toError(thrown, call.path);
    endCall(guards.slice(0, count), call, error);
    throw error;
  }
}

/** Tells the guards how a call ended. */
export function endCall(guards: readonly CallGuard[], call: GuardedCall, error: ConnectError | undefined): void {
  for (const guard of guards) guard.end?.(call, error);
}

/** Asks the guards for every call that goes through Connect's handlers. Must stand before all other interceptors. */
export function guardInterceptor(guards: readonly CallGuard[], toError: ToCallError): Interceptor {
  return (next) => async (request) => {
    const call: GuardedCall = {
      path: `/${request.service.typeName}/${request.method.name}`,
      header: (name) => request.header.get(name) ?? undefined,
    };
    // The body of a call may come after its deadline; then nothing is done for the call.
    request.signal.throwIfAborted();
    beginCall(guards, call, toError);
    const end = (error: ConnectError | undefined): void => endCall(guards, call, error);
    try {
      const response = await next(request);
      if (response.stream) return { ...response, message: watched(response.message, end) };
      end(undefined);
      return response;
    } catch (error) {
      end(ConnectError.from(error));
      throw error;
    }
  };
}

async function* watched<T>(messages: AsyncIterable<T>, end: (error: ConnectError | undefined) => void) {
  // It stays so if the reader never asks for the rest.
  let error: ConnectError | undefined = callerGone();
  try {
    yield* messages;
    error = undefined;
  } catch (thrown) {
    error = ConnectError.from(thrown);
    throw thrown;
  } finally {
    end(error);
  }
}
