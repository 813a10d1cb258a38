import { Code, ConnectError } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { errorReasons, IdError } from "../errors.ts";
import { BadRequestSchema, ErrorInfoSchema, RetryInfoSchema } from "../gen/google/rpc/error_details_pb.ts";
import { codeOfReason, toConnectError } from "./connect-error.ts";
import { RequestError } from "./message/request-error.ts";

const unexpected = (error: unknown): never => {
  throw error;
};

test("an error of ours carries its reason, domain and metadata", () => {
  const error = toConnectError(new IdError("BURST_EXCEEDED", "Too many.", { metadata: { wait_ms: 5 } }), unexpected);
  expect(error.code).toBe(Code.Unavailable);
  expect(error.rawMessage).toBe("Too many.");
  expect(error.findDetails(ErrorInfoSchema)).toMatchObject([
    { reason: "BURST_EXCEEDED", domain: "snowlane.dev", metadata: { wait_ms: "5" } },
  ]);
  expect(error.findDetails(RetryInfoSchema)).toEqual([]);
});

test("RetryInfo says when, rounded up to whole milliseconds", () => {
  const retry = (retryAfterMs: number) =>
    toConnectError(new IdError("SHUTTING_DOWN", "", { retryAfterMs }), unexpected).findDetails(RetryInfoSchema)[0];
  expect(retry(1500)?.retryDelay).toMatchObject({ seconds: 1n, nanos: 500_000_000 });
  expect(retry(0.2)?.retryDelay).toMatchObject({ seconds: 0n, nanos: 1_000_000 });
  expect(retry(0)?.retryDelay).toMatchObject({ seconds: 0n, nanos: 0 });
});

test("a field that is at fault is named", () => {
  const error = toConnectError(new RequestError("INVALID_LAYOUT", "layout", "No."), unexpected);
  const [violation] = error.findDetails(BadRequestSchema)[0]?.fieldViolations ?? [];
  expect(violation).toMatchObject({ field: "layout", description: "No.", reason: "INVALID_LAYOUT" });
});

test("anything unforeseen leaves as INTERNAL without its cause, which is handed on", () => {
  for (const cause of [new Error("password=hunter2"), "text", undefined, new IdError("LAYOUT_MISMATCH", "secret")]) {
    const seen: unknown[] = [];
    const error = toConnectError(cause, (unforeseen) => `reference${seen.push(unforeseen)}`);
    expect(error.code).toBe(Code.Internal);
    const [info] = error.findDetails(ErrorInfoSchema);
    expect(info).toMatchObject({ reason: "INTERNAL", domain: "snowlane.dev", metadata: { reference: "reference1" } });
    expect(error.rawMessage).toContain("reference1");
    expect(JSON.stringify([error.rawMessage, error.cause, info])).not.toMatch(/hunter2|secret|text/);
    expect(seen).toEqual([cause]);
  }
});

test("what Connect raises passes as it is", () => {
  const error = new ConnectError("no", Code.Canceled);
  expect(toConnectError(error, unexpected)).toBe(error);
});

test("every reason but those of a start has a code", () => {
  const atStart = new Set(["NO_FREE_WORKER_ID", "LAYOUT_MISMATCH", "INVALID_CONFIG"]);
  expect(Object.keys(codeOfReason)).toEqual(errorReasons.filter((reason) => !atStart.has(reason)));
});
