import { create, toBinary } from "@bufbuild/protobuf";
import { Code } from "@connectrpc/connect";
import { describe, expect, test } from "vitest";
import { BatchNextIdsResponseSchema } from "../../../../src/gen/snowlane/v1/id_service_pb.ts";
import { frameType } from "../../../../src/http2/frame.ts";
import { data, ping, uint32 } from "../../../../test/support/http2/http2-wire.ts";
import type { RawRequest } from "../../../../test/support/http2/raw-http2-server.ts";
import { answerNextId, connect, errorOf, head, serve, trailers } from "../../test/raw-call.ts";

describe("streams", () => {
  const chunk = (first: bigint, count: number): Buffer => {
    const ids = Array.from({ length: count }, (_, index) => first + BigInt(index));
    const message = toBinary(BatchNextIdsResponseSchema, create(BatchNextIdsResponseSchema, { ids }));
    const prefix = Buffer.concat([Buffer.of(0), uint32(message.length)]);
    return Buffer.concat([prefix, message]);
  };
  const frames = (streamId: number, bytes: Buffer, sizeBytes: number): Buffer => {
    const parts: Buffer[] = [];
    for (let at = 0; at < bytes.length; at += sizeBytes) parts.push(data(streamId, bytes.subarray(at, at + sizeBytes)));
    return Buffer.concat(parts);
  };

  test("messages come whole, however they are cut", async () => {
    const body = Buffer.concat([chunk(1n, 300), chunk(301n, 1), chunk(302n, 500)]);
    const server = await serve(({ streamId, connection }) => {
      const size = [1, 7, 1_000, 16_384][connection.number] ?? 1;
      connection.send(head(streamId), frames(streamId, body, size), trailers(streamId, [["grpc-status", "0"]]));
    });
    for (let round = 0; round < 4; round++) {
      const counts: number[] = [];
      let last = 0n;
      for await (const { ids } of connect(server.url).batchNextIds({ count: 801n })) {
        counts.push(ids.length);
        expect(ids[0]).toBe(last + 1n);
        last = ids.at(-1) ?? 0n;
      }
      expect(counts).toEqual([300, 1, 500]);
    }
  });

  test("a reader that stops holds the server up after one window, and a reader that goes on lets it go on", async () => {
    let sentBytes = 0;
    let windowBytes = 65_535;
    const piece = chunk(1n, 1_000);
    const pump = ({ streamId, connection }: RawRequest): void => {
      for (; windowBytes >= piece.length; windowBytes -= piece.length, sentBytes += piece.length)
        connection.send(data(streamId, piece));
    };
    const server = await serve((request) => {
      request.connection.send(head(request.streamId));
      pump(request);
    });
    const reader = connect(server.url).batchNextIds({ count: 1_000_000n })[Symbol.asyncIterator]();
    await reader.next();
    const [connection] = server.connections;
    const updates = (): number => {
      const ofStream = connection!.frames.filter(
        ({ type, streamId }) => type === frameType.windowUpdate && streamId === 1,
      );
      return ofStream.reduce((sum, { payload }) => sum + payload.readUInt32BE(0), 0);
    };
    // The client answers a PING when it has read what came before.
    connection!.send(ping());
    await expect.poll(() => connection!.received(frameType.ping).length).toBe(1);
    expect(updates()).toBe(0);
    for (let count = 1; count < Math.floor(sentBytes / piece.length); count++) await reader.next();
    void reader.next().catch(() => undefined);
    await expect.poll(updates).toBe(sentBytes);
  });

  test("leaving a stream in the middle resets it, and the connection goes on", async () => {
    const server = await serve(({ connection, streamId }) =>
      connection.send(head(streamId), data(streamId, chunk(BigInt(streamId), 2))),
    );
    const client = connect(server.url);
    const controller = new AbortController();
    const reader = client.batchNextIds({ count: 10n }, { signal: controller.signal })[Symbol.asyncIterator]();
    expect((await reader.next()).value?.ids).toEqual([1n, 2n]);
    controller.abort();
    expect((await errorOf(reader.next())).code).toBe(Code.Canceled);
    await expect.poll(() => server.connections[0]?.received(frameType.rstStream)).toEqual(["00000008"]);
    // Frames of the stream that are still on their way are skipped.
    server.connections[0]?.send(data(1, chunk(3n, 2)), trailers(1, [["grpc-status", "0"]]));
    const next = client.batchNextIds({ count: 10n })[Symbol.asyncIterator]();
    expect((await next.next()).value?.ids).toEqual([3n, 4n]);
    expect(server.connections).toHaveLength(1);
  });

  test("messages that came before an error are given first", async () => {
    const server = await serve(({ streamId, connection }) =>
      connection.send(
        head(streamId),
        data(streamId, Buffer.concat([chunk(1n, 1), chunk(2n, 1)])),
        trailers(streamId, [["grpc-status", "14"]]),
      ),
    );
    const reader = connect(server.url).batchNextIds({ count: 10n })[Symbol.asyncIterator]();
    expect((await reader.next()).value?.ids).toEqual([1n]);
    expect((await reader.next()).value?.ids).toEqual([2n]);
    expect((await errorOf(reader.next())).code).toBe(Code.Unavailable);
  });

  test("a reader that pauses holds up no other call", async () => {
    const big = chunk(1n, 8_000);
    const server = await serve((request) => {
      if (request.fields[":path"]?.endsWith("/NextId") === true) answerNextId(request);
      else request.connection.send(head(request.streamId), frames(request.streamId, big, 16_384));
    });
    const client = connect(server.url);
    const readers = Array.from({ length: 40 }, () =>
      client.batchNextIds({ count: 1_000_000n })[Symbol.asyncIterator](),
    );
    await Promise.all(readers.map((reader) => reader.next()));
    expect((await client.nextId({}, { timeoutMs: 5_000 })).id).toBe(1n);
    expect(server.connections).toHaveLength(2);
  });

  test("streams share connections, nine tenths of what the server allows on each, and leave the calls theirs", async () => {
    const server = await serve((request) => {
      if (request.fields[":path"]?.endsWith("/NextId") === true) answerNextId(request);
      else request.connection.send(head(request.streamId), data(request.streamId, chunk(1n, 1)));
    });
    const client = connect(server.url);
    const controllers: AbortController[] = [];
    const open = async (): Promise<void> => {
      const controller = new AbortController();
      controllers.push(controller);
      const reader = client.batchNextIds({ count: 9n }, { signal: controller.signal })[Symbol.asyncIterator]();
      await reader.next();
      // Stays open, as that of a reader that pauses, until it is cancelled.
      void reader.next().catch(() => undefined);
    };
    for (let count = 0; count < 90; count++) await open();
    expect(server.connections).toHaveLength(1);
    for (let count = 0; count < 11; count++) await open();
    expect((await client.nextId({})).id).toBe(1n);
    expect(server.connections).toHaveLength(3);
    for (const controller of controllers.slice(90)) controller.abort();
    await expect.poll(() => server.connections[1]?.socket.closed).toBe(true);
    for (const controller of controllers) controller.abort();
    await open();
    expect(server.connections.map(({ socket }) => socket.closed)).toEqual([false, true, false]);
  });
});
