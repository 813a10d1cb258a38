import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";

/** What a guard sees of a call, whichever way the call takes through the server. */
export interface GuardedCall {
  /** `/` package.Service `/` Method. */
  readonly path: string;
  /** The value of a field of the request's head, by its name in lower case. */
  header(name: string): string | undefined;
}

/**
 * Stands before every call of every method, hot or not: authentication, quotas, metrics. One object serves all calls.
 * Both ways through the server ask the same guards in the same order: Connect's handlers by
 * {@link guardInterceptor}, the hot methods by hot-calls.ts.
 */
export interface CallGuard {
  /**
   * Lets a call begin. Its request has come and can be read; nothing was done for it yet. What cannot be read never
   * comes here: it is refused before.
   *
   * @throws IdError or ConnectError: what the caller gets instead.
   */
  begin(call: GuardedCall): void;
  /** Called once for each call that `begin` let pass, with the error that it ended with; undefined for OK. */
  end?(call: GuardedCall, error: ConnectError | undefined): void;
}

/** Makes of what was thrown in a call what its caller gets. */
export type ToCallError = (error: unknown, path: string) => ConnectError;

/**
 * Asks the guards in turn.
 *
 * @throws What a guard throws. Those that were asked before it are told.
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

/** What a call ends with whose caller went away. */
export function callerGone(): ConnectError {
  return new ConnectError("the caller has gone", Code.Canceled);
}

/** Asks the guards for every call that goes through Connect's handlers. To stand before all other interceptors. */
export function guardInterceptor(guards: readonly CallGuard[], toError: ToCallError): Interceptor {
  return (next) => async (request) => {
    const call: GuardedCall = {
      path: `/${request.service.typeName}/${request.method.name}`,
      header: (name) => request.header.get(name) ?? undefined,
    };
    // The body of a call may come after its deadline: then nothing is done for it.
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
  // What holds if nobody asks for the rest.
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
