import type { Endpoint } from "./remote-url.ts";

/**
 * The text of an error, for use within a sentence: without the full stop at the end of some servers' texts, and without
 * the gRPC code at the beginning of etcd's. Node's AggregateError, for a name with several addresses, has no message of
 * its own.
 */
export function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(describe).join("; ");
  return cause.message === "" ? cause.name : withoutStop(cause.message.replace(/^\[[a-z_]+\] /, ""));
}

/** A sentence without its full stop, so that it can be continued. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/[.\s]+$/, "");
}

/** A server as people write it: `db1:5432`. */
export function nameOf({ host, port }: Endpoint): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Describes why none of several servers can be used: each with its name, unless its text contains the name already. */
export function noneTakesUs(
  problems: readonly { readonly server: Endpoint; readonly problem: unknown }[],
): AggregateError {
  const texts = problems.map(({ server, problem }) => {
    const text = describe(problem);
    return text.includes(`${server.host}:${server.port}`) ? text : `${nameOf(server)}: ${text}`;
  });
  return new AggregateError(
    problems.map(({ problem }) => problem),
    texts.join("; "),
  );
}
