import { create, toBinary } from "@bufbuild/protobuf";
import { Code, ConnectError, type ConnectRouter, createClient, createRouterTransport } from "@connectrpc/connect";
import { expect, test } from "vitest";
import { grpcFrame } from "../../../test/support/http2/http-call.ts";
import { IdError } from "../../errors.ts";
import { BatchNextIdsRequestSchema, IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { toConnectError } from "../../service/connect-error.ts";
import { type CallGuard, guardInterceptor } from "./call-guard.ts";
import { createDispatch } from "./dispatch.ts";

/** Calls through Connect's handlers with one guard, which records how it is called. */
function setUp(refusal?: Error) {
  const notes: string[] = [];
  const guard: CallGuard = {
    begin: (call) => {
      notes.push(`${call.traits.path} ${call.header("authorization")}`);
      if (refusal !== undefined) throw refusal;
    },
    end: (_call, error) => void notes.push(error === undefined ? "ok" : Code[error.code]),
  };
  const interceptor = guardInterceptor(guard, (error) => toConnectError(error, () => ""));
  const routes = (router: ConnectRouter): void => {
    router.service(IdService, {
      nextId: () => ({ id: 1n }),
      reserveIds: () => {
        throw new ConnectError("no", Code.Unavailable);
      },
      async *batchNextIds({ count }) {
        for (let left = Number(count); left > 0; left--) yield { ids: [1n] };
        if (count > 2n) throw new ConnectError("enough", Code.ResourceExhausted);
      },
    });
  };
  const transport = createRouterTransport(routes, { router: { interceptors: [interceptor] } });
  return { notes, routes, interceptor, client: createClient(IdService, transport) };
}

const headers = { authorization: "Bearer x" };

test("a guard is asked about each call, by path and fields, and hears of its end", async () => {
  const { notes, client } = setUp();
  await client.nextId({}, { headers });
  expect(notes).toEqual(["/snowlane.v1.IdService/NextId Bearer x", "ok"]);
});

test("the end of a call that fails is reported with its code", async () => {
  const { notes, client } = setUp();
  await expect(client.reserveIds({ count: 1 }, { headers })).rejects.toMatchObject({ code: Code.Unavailable });
  expect(notes.at(-1)).toBe("Unavailable");
});

test("a refusal is what the caller gets, and nothing is done", async () => {
  const { notes, client } = setUp(new IdError("METHOD_DENIED", "not you"));
  await expect(client.nextId({}, { headers })).rejects.toMatchObject({ code: Code.PermissionDenied });
  expect(notes).toEqual(["/snowlane.v1.IdService/NextId Bearer x"]);
});

test("the end of a stream is reported when it is over, whole or failed", async () => {
  const { notes, client } = setUp();
  for await (const _ of client.batchNextIds({ count: 2n }, { headers }));
  await expect(async () => {
    for await (const _ of client.batchNextIds({ count: 3n }, { headers }));
  }).rejects.toMatchObject({ code: Code.ResourceExhausted });
  expect(notes.filter((note) => !note.startsWith("/"))).toEqual(["ok", "ResourceExhausted"]);
});

async function* bodyOf(request: Uint8Array): AsyncGenerator<Uint8Array> {
  yield request;
}

test("a stream that its reader leaves is reported as cancelled", async () => {
  const { notes, routes, interceptor } = setUp();
  const { signal } = new AbortController();
  const dispatch = createDispatch({ routes, interceptors: [interceptor], shutdownSignal: signal });
  const { body } = await dispatch({
    httpVersion: "2.0",
    method: "POST",
    url: "http://localhost/",
    path: "/snowlane.v1.IdService/BatchNextIds",
    header: new Headers({ "content-type": "application/grpc", ...headers }),
    body: bodyOf(grpcFrame(toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, { count: 1_000n })))),
    signal,
  });
  const chunks = body![Symbol.asyncIterator]();
  expect((await chunks.next()).done).toBe(false);
  await chunks.return!();
  await expect.poll(() => notes).toEqual(["/snowlane.v1.IdService/BatchNextIds Bearer x", "Canceled"]);
});
