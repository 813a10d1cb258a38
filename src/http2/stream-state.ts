/**
 * The states of a stream on the server's side: RFC 9113 section 5.1, without push.
 *
 *                               +--------+
 *                               |  idle  |
 *                               +--------+
 *                                   |
 *                                   | recv HEADERS
 *                                   v
 *                               +--------+
 *              recv END_STREAM  |        |  send END_STREAM, then RST_STREAM(NO_ERROR),
 *              .----------------|  open  |  or send or recv RST_STREAM
 *              |                |        |----------------.
 *              v                +--------+                |
 *       +-------------+                                   |
 *       | half-closed |                                   |
 *       |  (remote)   |                                   |
 *       +-------------+                                   |
 *              |                                          |
 *              |  send END_STREAM,                        |
 *              |  or send or recv RST_STREAM              |
 *              |                +--------+                |
 *              '--------------->| closed |<---------------'
 *                               +--------+
 *
 * A stream object exists from `open` on; StreamIds knows which numbers are idle, and why a closed one was closed. Two
 * states of the RFC are missing. `reserved` needs push. `half-closed (local)` lasts no time here: a response that is
 * complete before its request asks the client to stop sending, by RST_STREAM(NO_ERROR) as section 8.1 allows, and so
 * closes the stream.
 *
 * Example, a unary call: HEADERS makes it open, DATA with END_STREAM half-closed; the response's head, its one message
 * and its trailers leave, and it is closed.
 */

/**
 * The state of one stream. `halfClosed`: the client has sent all of the request.
 *
 * `response` says how far the response is. `awaited`: its head was not sent, informational ones aside. `body`: the head
 * was sent; body and trailers may follow. `ending`: the handler has ended the response, and bytes of the body still
 * wait for a window or for the socket. `over`: no more of it is sent.
 */
export type StreamState =
  | { readonly kind: "open" | "halfClosed"; readonly response: "awaited" | "body" }
  | { readonly kind: "open" | "halfClosed"; readonly response: "ending"; readonly trailers: Buffer | undefined }
  | { readonly kind: "closed"; readonly response: "over" };

/** The states that hold nothing, made once for all streams. */
export const streamStates = {
  open: { awaited: { kind: "open", response: "awaited" }, body: { kind: "open", response: "body" } },
  halfClosed: { awaited: { kind: "halfClosed", response: "awaited" }, body: { kind: "halfClosed", response: "body" } },
  closed: { kind: "closed", response: "over" },
} as const satisfies Record<string, StreamState | Record<string, StreamState>>;

/** The state after the client's END_STREAM. */
export function afterRequestEnd(state: StreamState): StreamState {
  if (state.kind === "closed") return state;
  return state.response === "ending" ? { ...state, kind: "halfClosed" } : streamStates.halfClosed[state.response];
}

/** The state after the response's head. */
export function afterResponseHead(state: StreamState): StreamState {
  return state.kind === "closed" ? state : streamStates[state.kind].body;
}

/** The state after the handler has ended the response, if bytes of the body still wait. */
export function afterResponseEnd(state: StreamState, trailers: Buffer | undefined): StreamState {
  return state.kind === "closed" ? state : { kind: state.kind, response: "ending", trailers };
}
