import type { Endpoint } from "./remote-url.ts";

/**
 * The text of an error, to stand within a sentence: without the full stops that some servers end theirs with, and
 * without the code of gRPC before etcd's. Node's own AggregateError, of a name with several addresses, has no message.
 */
export function describe(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  if (cause instanceof AggregateError && cause.message === "") return cause.errors.map(describe).join("; ");
  return cause.message === "" ? cause.name : withoutStop(cause.message.replace(/^\[[a-z_]+\] /, ""));
}

/** A sentence without its full stop, to go on after it. */
export function withoutStop(sentence: string): string {
  return sentence.replace(/[.\s]+$/, "");
}

/** A server as people write it: `db1:5432`. */
export function nameOf({ host, port }: Endpoint): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}`;
}

/** Says of several servers why none of them can be used: each with its name, unless its text has the name already. */
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
