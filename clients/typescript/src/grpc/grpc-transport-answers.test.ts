import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { data, type FieldPairs, headers } from "../../../../test/support/http2/http2-wire.ts";
import { nextIdAnswer } from "../../../../test/support/http2/raw-http2-server.ts";
import { connect, failureOf, head, serve, trailers } from "../../test/raw-call.ts";

describe("answers that are not gRPC's", () => {
  test.each([
    [400, Code.Internal],
    [401, Code.Unauthenticated],
    [403, Code.PermissionDenied],
    [404, Code.Unimplemented],
    [429, Code.Unavailable],
    [502, Code.Unavailable],
    [503, Code.Unavailable],
    [504, Code.Unavailable],
    [500, Code.Unknown],
    [302, Code.Unknown],
  ])("HTTP %i", async (status, code) => {
    const html: FieldPairs = [
      [":status", String(status)],
      ["content-type", "text/html"],
    ];
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([headers(streamId, "body", html), data(streamId, Buffer.from("<html>Bad Gateway</html>"), "end")]),
    );
    expect(error).toMatchObject({ code, rawMessage: `HTTP ${status}` });
    expect(error.metadata.get("content-type")).toBe("text/html");
  });

  test("a page with status 200 is not an answer", async () => {
    const html: FieldPairs = [
      [":status", "200"],
      ["content-type", "text/html"],
    ];
    const error = await failureOf(({ streamId }) => headers(streamId, "end", html));
    expect(error).toMatchObject({ code: Code.Unknown, rawMessage: "unsupported content type text/html" });
  });

  test("an informational head is skipped", async () => {
    const server = await serve(({ streamId, connection }) =>
      connection.send(headers(streamId, "body", [[":status", "103"]]), nextIdAnswer(streamId, 7n)),
    );
    expect((await connect(server.url).nextId({})).id).toBe(7n);
  });

  const message = (hex: string): Buffer => Buffer.from(hex, "hex");
  const okTrailers: FieldPairs = [["grpc-status", "0"]];
  const brokenBodies: readonly (readonly [what: string, body: string, code: Code, text: RegExp])[] = [
    ["a compressed message", "01000000021f8b", Code.Internal, /compressed/],
    ["a message above the limit", "0000400001", Code.ResourceExhausted, /4194305 bytes/],
    ["a malformed message", "000000000109", Code.Internal, /./],
    ["a message cut short", "00000000050900", Code.Internal, /cut short/],
    ["a prefix cut short", "0000", Code.Internal, /cut short/],
    [
      "two messages",
      "000000000909010000000000000000000000090901000000000000 00".replace(" ", ""),
      Code.Unimplemented,
      /extra/,
    ],
    ["no message", "", Code.Unimplemented, /missing/],
  ];
  test.each(brokenBodies)("%s", async (_what, body, code, text) => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([head(streamId), data(streamId, message(body)), trailers(streamId, okTrailers)]),
    );
    expect(error.code).toBe(code);
    expect(error.rawMessage).toMatch(text);
  });

  test("an answer without a status", async () => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([head(streamId), data(streamId, message("000000000909 0100000000000000".replace(" ", "")), "end")]),
    );
    expect(error).toMatchObject({ code: Code.Internal, rawMessage: "protocol error: missing status" });
  });

  test("an error after a whole message counts", async () => {
    const error = await failureOf(({ streamId }) =>
      Buffer.concat([
        head(streamId),
        data(streamId, message("0000000009090100000000000000")),
        trailers(streamId, [["grpc-status", "10"]]),
      ]),
    );
    expect(error.code).toBe(Code.Aborted);
  });
});
