/** The lines of refusals that HTTP itself knows: each says what to send. People meet them with curl or a browser. */

const call = "POST /snowlane.v1.IdService/NextId with content-type: application/json and the body {}";

/** 404. */
export const unknownPathLine = `There is no such page or method. Try ${call}.\n`;
/** 405. */
export const wrongMethodLine = `Call this method by POST, for example ${call}.\n`;
/** 415. */
export const wrongTypeLine =
  "Send content-type: application/json with the body {}, or application/proto; for a stream " +
  "application/connect+json or application/connect+proto; and over gRPC application/grpc or application/grpc-web.\n";

/** For each method of a stream, the one that gives the same to a caller with plain JSON. */
const unaryOf: Readonly<Record<string, string>> = {
  "/snowlane.v1.IdService/BatchNextIds": "NextIds, which gives a list of IDs,",
  "/snowlane.v1.SequenceService/BatchNextValues": "ReserveValues, which gives runs of values,",
  "/grpc.health.v1.Health/Watch": "Check",
};

/** 415 of a method that answers with a stream, whose caller sent plain JSON or plain protobuf; undefined for others. */
export function streamLine(path: string): string | undefined {
  const unary = unaryOf[path];
  if (unary === undefined) return undefined;
  const name = path.slice(path.lastIndexOf("/") + 1);
  return `${name} answers with a stream. With content-type: application/json call ${unary} instead. ${wrongTypeLine}`;
}

/** 415 of a GET, which has no content type. */
export const wrongQueryLine =
  "Send connect=v1, encoding=json and message={} in the query of a GET, each percent-encoded; or a message by POST.\n";

/** `/metrics` where several servers share the port. */
export const sharedPortLine =
  "Several servers share this port, so a scrape would reach any of them. Give each one --admin-listen.\n";
