import { fromBinary } from "@bufbuild/protobuf";
import { anyUnpack } from "@bufbuild/protobuf/wkt";
import { Code, ConnectError } from "@connectrpc/connect";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import {
  data,
  type FieldPairs,
  Harness,
  headers,
  rstStream,
  settings,
  windowUpdate,
} from "../../../test/support/http2/http2-wire.ts";
import { IdError } from "../../errors.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { StatusSchema } from "../../gen/google/rpc/status_pb.ts";
import { type HotAnswer, type HotContext, type HotStream, LentMessage } from "../../service/hot/hot-method.ts";
import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { encodeFields } from "../../http2/hpack/encoder.ts";
import type { ServerStream, StreamHandler } from "../../http2/stream.ts";
import { CrossOrigin } from "./cors.ts";
import { envelopesOf } from "./hot-route.ts";
import { toConnectError } from "../../service/connect-error.ts";
import type { CallGuard } from "./call-guard.ts";
import { composeGuards } from "./guard-chain.ts";
import { HotCalls } from "./hot-calls.ts";
import { unknownPeer } from "./peer.ts";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const path = "/snowlane.v1.IdService/NextId";
const fields: FieldPairs = [
  [":method", "POST"],
  [":scheme", "http"],
  [":path", path],
  [":authority", "localhost"],
  ["content-type", "application/grpc"],
  ["te", "trailers"],
];
const head = "headers 1 :status=200 content-type=application/grpc cache-control=no-store";
const ok = "headers 1 grpc-status=0 end";
const plain = Buffer.of(0, 0, 0, 0, 2, 7, 7);
const framed = Buffer.of(0, 0, 0, 0, 3, 1, 2, 3);

interface SetUp {
  /** Undefined: not for a hot method. */
  readonly operation?: ((context: HotContext) => HotAnswer) | undefined;
  readonly guards?: readonly CallGuard[];
  readonly stallTimeoutMs?: number;
  /** Absent: the method is not expensive. */
  readonly queue?: (stream: ServerStream, begin: () => boolean) => void;
}

/** One hot method behind an engine without a socket; what is handed on is written down by `others`. */
function setUp({ operation = () => framed, guards = [], stallTimeoutMs = 30_000, queue }: SetUp = {}) {
  const asked: string[] = [];
  const others: string[] = [];
  const unforeseen: unknown[] = [];
  const toError = (error: unknown): ConnectError => toConnectError(error, (cause) => String(unforeseen.push(cause)));
  const other: StreamHandler = {
    onData: (stream, bytes, start, end) =>
      void others.push(`data ${bytes.toString("hex", start, end)}${stream.hasEnded ? " last" : ""}`),
    onEnd: () => void others.push("end"),
    onAbort: () => void others.push("abort"),
  };
  const calls = new HotCalls<Buffer, ServerStream>({
    envelopes: envelopesOf["HTTP/2"],
    crossOrigin: new CrossOrigin([]),
    encode: encodeFields,
    dateClock: undefined,
    methods: [
      {
        descriptor: IdService.method.nextId,
        hasPlainJson: true,
        kind: queue === undefined ? "hot" : "direct",
        read: (message) => {
          asked.push(message.toString("hex"));
          return message[0] === 0xff ? undefined : operation;
        },
      },
    ],
    others: () => {
      others.push("handed on");
      return other;
    },
    clock: { nowMs: () => 0, monotonicMs: () => harness.nowMs },
    stallTimeoutMs,
    guard: composeGuards(guards),
    ...(queue === undefined ? {} : { queue }),
    peerOf: () => unknownPeer,
    toError,
  });
  const harness: Harness = new Harness({
    onRequest: (stream) => calls.onRequest(stream),
    limits: { stallTimeoutMs },
  });
  const call = (body: Buffer, more: FieldPairs = []): readonly string[] =>
    harness.exchange(headers(1, "body", [...fields, ...more]), data(1, body, "end"));
  /** Lets microtasks and time pass, and gives what is sent meanwhile. */
  const after = async (ms: number): Promise<readonly string[]> => {
    harness.nowMs += ms;
    await vi.advanceTimersByTimeAsync(ms);
    return harness.output();
  };
  return { asked, others, unforeseen, calls, harness, call, after };
}

/** The fields of a line of output. */
function fieldsOf(line: string | undefined): Readonly<Record<string, string>> {
  return Object.fromEntries(
    (line ?? "").split(" ").map((part) => [part.split("=")[0], part.slice(part.indexOf("=") + 1)]),
  );
}

test("a plain call is answered in the moment in which its last byte comes", () => {
  const { call, asked } = setUp();
  expect(call(plain)).toEqual([head, "data 1 8", ok]);
  expect(asked).toEqual(["0707"]);
});

test("answers that are lent and wait for a window are copied (two calls got one ID)", () => {
  const bytes = Buffer.of(0, 0, 0, 0, 3, 0, 0, 0);
  const lent = new LentMessage(bytes);
  const { harness } = setUp({
    operation: () => {
      bytes[7]! += 1;
      return lent;
    },
  });
  harness.exchange(settings([4, 0]));
  harness.exchange(...[1, 3].flatMap((id) => [headers(id, "body", fields), data(id, plain, "end")]));
  const bodies = [1, 3].map((id) => {
    harness.connection.receive(windowUpdate(id, bytes.length), harness.nowMs);
    const frameHeadBytes = 9;
    return harness.rawOutput().toString("hex", frameHeadBytes, frameHeadBytes + bytes.length);
  });
  expect(bodies).toEqual(["0000000003000001", "0000000003000002"]);
});

test("a body in pieces is one body, with an end of its own or with trailers", () => {
  for (const cut of [0, 1, 4, 5, 6, 7]) {
    for (const end of [data(1, 0, "end"), headers(1, "end", [["x", "y"]])]) {
      const { harness, asked } = setUp();
      const first = [headers(1, "body", fields), data(1, plain.subarray(0, cut)), data(1, plain.subarray(cut))];
      expect(harness.exchange(...first)).toEqual([]);
      expect(harness.exchange(end)).toEqual([head, "data 1 8", ok]);
      expect(asked).toEqual(["0707"]);
    }
  }
});

test.each([
  ["a compressed message", Buffer.of(1, 0, 0, 0, 1, 9)],
  ["two messages", Buffer.concat([plain, plain])],
  ["a message that is cut short", plain.subarray(0, 6)],
  ["a prefix that is cut short", plain.subarray(0, 3)],
  ["no message", Buffer.alloc(0)],
  ["a request that the method leaves to others", Buffer.of(0, 0, 0, 0, 1, 0xff)],
])("%s goes the way of all others, whole", (_name, body) => {
  const { call, others } = setUp();
  expect(call(body)).toEqual([]);
  const sent = body.length === 0 ? [] : [`data ${body.toString("hex")} last`];
  expect(others).toEqual(["handed on", ...sent, "end"]);
});

test("a body beyond the limit is handed on as soon as that is known, and what follows it too", () => {
  const announced = setUp();
  announced.harness.exchange(headers(1, "body", fields), data(1, Buffer.of(0, 0xff, 0xff, 0xff)));
  expect(announced.others).toEqual([]);
  announced.harness.exchange(data(1, Buffer.of(0xff)), data(1, Buffer.of(1)));
  expect(announced.others).toEqual(["handed on", "data 00ffffffff", "data 01"]);
  const sent = setUp();
  sent.harness.exchange(headers(1, "body", fields), data(1, 0));
  for (let bytes = 0; bytes < 4_200; bytes += 100) sent.harness.exchange(data(1, Buffer.alloc(100)));
  expect(sent.others[0]).toBe("handed on");
  expect(sent.others.slice(1).join("").replaceAll("data ", "")).toBe("00".repeat(4_200));
});

test("a request that ends with its head is left to others", () => {
  const { harness, others } = setUp();
  harness.exchange(headers(1, "end", fields));
  expect(others).toEqual(["handed on", "end"]);
});

test("an error comes in the head that ends the stream: percent-encoded, and with its details", () => {
  const { call, unforeseen } = setUp({
    operation: () => {
      throw new IdError("COUNT_OUT_OF_RANGE", "100 % too many\n¡", { metadata: { count: 7 } });
    },
  });
  const [line, ...more] = call(plain);
  expect(more).toEqual([]);
  expect(line).toMatch(/ end$/);
  const answered = fieldsOf(line);
  expect(answered).toMatchObject({ ":status": "200", "content-type": "application/grpc", "grpc-status": "3" });
  expect(answered["grpc-message"]).toMatch(/^[\x20-\x7e]+$/);
  expect(decodeURIComponent(answered["grpc-message"] ?? "")).toContain("100");
  const status = fromBinary(StatusSchema, Buffer.from(answered["grpc-status-details-bin"] ?? "", "base64"));
  expect([status.code, status.message]).toEqual([3, "100 % too many\n¡"]);
  expect(anyUnpack(status.details[0]!, ErrorInfoSchema)).toMatchObject({
    reason: "COUNT_OUT_OF_RANGE",
    metadata: { count: "7" },
  });
  expect(unforeseen).toEqual([]);
});

test("what nobody foresaw is INTERNAL and is reported, without a word about it to the caller", () => {
  const { call, unforeseen } = setUp({
    operation: () => {
      throw new Error("secret");
    },
  });
  const [line = ""] = call(plain);
  expect(fieldsOf(line)["grpc-status"]).toBe("13");
  expect(line).not.toContain("secret");
  expect(unforeseen).toHaveLength(1);
});

test("a body that comes after the deadline is DEADLINE_EXCEEDED, and nothing is done for it", () => {
  let doneCount = 0;
  const operation = (): HotAnswer => {
    doneCount++;
    return framed;
  };
  const { harness } = setUp({ operation });
  harness.exchange(
    headers(1, "body", [...fields, ["grpc-timeout", "50m"]]),
    headers(3, "body", [...fields, ["grpc-timeout", "60m"]]),
  );
  harness.nowMs += 50;
  const [late] = harness.exchange(data(1, plain, "end"));
  expect(fieldsOf(late)["grpc-status"]).toBe("4");
  expect(harness.exchange(data(3, plain, "end"))).toContain("headers 3 grpc-status=0 end");
  expect(doneCount).toBe(1);
});

test("a call that waits ends at its deadline, and its method is informed", async () => {
  let signal: AbortSignal | undefined;
  const { calls, call, after } = setUp({
    operation: (context) => {
      signal = context.signal;
      expect(context.timeoutMs()).toBe(200);
      return new Promise(() => undefined);
    },
  });
  expect(call(plain, [["grpc-timeout", "200m"]])).toEqual([]);
  expect(calls.runningCount).toBe(1);
  expect(await after(199)).toEqual([]);
  const [line] = await after(1);
  expect(fieldsOf(line)["grpc-status"]).toBe("4");
  expect(ConnectError.from(signal?.reason).code).toBe(Code.DeadlineExceeded);
  expect(calls.runningCount).toBe(0);
});

test("a call that waits and is cancelled ends, and what it was promised is dropped", async () => {
  const { promise, resolve } = Promise.withResolvers<Uint8Array>();
  let signal: AbortSignal | undefined;
  const { calls, call, harness, after } = setUp({
    operation: (context) => {
      ({ signal } = context);
      return promise;
    },
  });
  call(plain);
  expect(harness.exchange(rstStream(1))).toEqual([]);
  expect(ConnectError.from(signal?.reason).code).toBe(Code.Canceled);
  expect(calls.runningCount).toBe(0);
  resolve(framed);
  expect(await after(0)).toEqual([]);
  expect(harness.faults).toEqual([]);
});

test("a rejection is an error like any other", async () => {
  const { call, after } = setUp({ operation: () => Promise.reject(new ConnectError("no", Code.Unavailable)) });
  call(plain);
  const [line] = await after(0);
  expect(fieldsOf(line)).toMatchObject({ "grpc-status": "14", "grpc-message": "no" });
});

/** A stream of `count` messages of 1,000 bytes, each there at once or as a promise. */
function messages(count: number, mode: "now" | "late"): HotStream {
  let left = count;
  const message = Buffer.alloc(1_000);
  return {
    next: () => {
      const next = left-- > 0 ? message : undefined;
      return mode === "now" ? next : Promise.resolve(next);
    },
  };
}

test.each(["now", "late"] as const)(
  "a stream goes as far as its reader's window, and on as that widens (%s)",
  async (mode) => {
    let askedCount = 0;
    const source = messages(10, mode);
    const next: HotStream["next"] = () => {
      askedCount++;
      return source.next();
    };
    const { harness, calls, call, after } = setUp({ operation: () => ({ next }) });
    harness.exchange(settings([4, 2_500]));
    const first = [...call(plain), ...(await after(0))];
    expect(first).toEqual([head, "data 1 1000", "data 1 1000", "data 1 500"]);
    expect(askedCount).toBe(3);
    const rest = [...harness.exchange(windowUpdate(1, 10_000)), ...(await after(0))];
    expect(rest.at(-1)).toBe(ok);
    expect(rest.filter((line) => line.startsWith("data")).map((line) => Number(line.split(" ")[2]))).toEqual([
      500,
      ...Array.from({ length: 7 }, () => 1_000),
    ]);
    expect(calls.runningCount).toBe(0);
  },
);

test("an error in the middle of a stream comes in its trailers", () => {
  let count = 0;
  const next = (): Uint8Array => {
    if (count++ < 2) return framed;
    throw new IdError("WORKER_LEASE_LOST", "gone");
  };
  const { call, calls } = setUp({ operation: () => ({ next }) });
  const lines = call(plain);
  expect(lines.slice(0, -1)).toEqual([head, "data 1 8", "data 1 8"]);
  expect(fieldsOf(lines.at(-1))["grpc-status"]).toBe("14");
  expect(lines.at(-1)).toMatch(/ end$/);
  expect(calls.runningCount).toBe(0);
});

test("a stream whose reader keeps it waiting ends at its deadline", async () => {
  const { harness, call, after } = setUp({ operation: () => messages(10, "now") });
  harness.exchange(settings([4, 1_000]));
  call(plain, [["grpc-timeout", "1S"]]);
  await after(1_000);
  // The messages that wait for the window go first, and the error after them.
  const lines = harness.exchange(windowUpdate(1, 20_000));
  expect(fieldsOf(lines.at(-1))["grpc-status"]).toBe("4");
});

test("what runs can be ended from outside, and says why", async () => {
  const { harness, calls, call, after } = setUp({ operation: () => new Promise(() => undefined) });
  call(plain);
  harness.exchange(headers(3, "body", fields), data(3, plain, "end"));
  expect(calls.runningCount).toBe(2);
  calls.endAll(new ConnectError("going", Code.Unavailable));
  const lines = await after(0);
  expect(lines.map((line) => fieldsOf(line)["grpc-message"])).toEqual(["going", "going"]);
  expect(calls.runningCount).toBe(0);
});

test("fields that a method sets leave with the head and with the trailers", () => {
  const { call } = setUp({
    operation: (context) => {
      context.responseFields = [["x-a", "1"]];
      context.responseTrailers = [["x-b", "2"]];
      return framed;
    },
  });
  expect(call(plain)).toEqual([`${head} x-a=1`, "data 1 8", "headers 1 grpc-status=0 x-b=2 end"]);
});

/** A guard that records how it is called. */
function noting(name: string, notes: string[], refusal?: Error): CallGuard {
  return {
    begin: (call) => {
      notes.push(`${name} begin ${call.traits.path} ${call.header("authorization")}`);
      if (refusal !== undefined) throw refusal;
    },
    end: (_call, error) => void notes.push(`${name} end ${error === undefined ? "ok" : Code[error.code]}`),
  };
}

test("guards are asked after the request was read and before anything is done, and informed once how it ended", () => {
  const notes: string[] = [];
  const guards = [noting("first", notes), noting("second", notes)];
  const { call, harness } = setUp({ guards, operation: () => (notes.push("done"), framed) });
  call(plain, [["authorization", "Bearer x"]]);
  expect(notes).toEqual([
    `first begin ${path} Bearer x`,
    `second begin ${path} Bearer x`,
    "done",
    "first end ok",
    "second end ok",
  ]);
  // The stream is over: nothing more comes.
  harness.exchange(rstStream(1));
  harness.connection.abort();
  expect(notes).toHaveLength(5);
});

test("a guard's refusal is the caller's error; guards before it are informed, guards after it are not asked", () => {
  const notes: string[] = [];
  const refusal = new IdError("MISSING_CREDENTIALS", "who are you?");
  const guards = [noting("first", notes), noting("second", notes, refusal), noting("third", notes)];
  const { call } = setUp({ guards, operation: () => expect.unreachable() });
  expect(fieldsOf(call(plain)[0])["grpc-status"]).toBe("16");
  expect(notes.map((note) => note.split(" ").slice(0, 2).join(" "))).toEqual([
    "first begin",
    "second begin",
    "first end",
  ]);
});

test("guards hear of a cancel, a deadline and an error; and nothing of what is left to others", async () => {
  const notes: string[] = [];
  const guards = [noting("guard", notes)];
  const cancelled = setUp({ guards, operation: () => new Promise(() => undefined) });
  cancelled.call(plain);
  cancelled.harness.exchange(rstStream(1));
  const late = setUp({ guards, operation: () => messages(9, "late") });
  late.harness.exchange(settings([4, 10]));
  late.call(plain, [["grpc-timeout", "1S"]]);
  await late.after(1_000);
  setUp({ guards, operation: () => Promise.reject(new ConnectError("no", Code.Unavailable)) }).call(plain);
  await vi.advanceTimersByTimeAsync(0);
  setUp({ guards }).call(Buffer.of(0, 0, 0, 0, 1, 0xff));
  expect(notes.filter((note) => note.includes("end"))).toEqual([
    "guard end Canceled",
    "guard end DeadlineExceeded",
    "guard end Unavailable",
  ]);
  expect(notes.filter((note) => note.includes("begin"))).toHaveLength(3);
});

test("a reader that stalls gets an error that says so", async () => {
  const { harness, call } = setUp({ operation: () => messages(100, "now"), stallTimeoutMs: 1_000 });
  harness.exchange(settings([4, 1_000]));
  call(plain);
  const lines = harness.wait(1_500);
  const told = [...lines, ...harness.exchange(windowUpdate(1, 100_000))].find((line) => line.endsWith(" end"));
  expect(fieldsOf(told)["grpc-status"]).toBe("14");
  const details = Buffer.from(fieldsOf(told)["grpc-status-details-bin"] ?? "", "base64").toString("latin1");
  expect(details).toContain("STREAM_STALLED");
});

test("a body in frames of one byte is copied once (all that had come was copied again for each frame)", () => {
  const { harness, asked } = setUp();
  const joined = vi.spyOn(Buffer, "concat");
  const copied = vi.spyOn(Buffer.prototype, "copy");
  const message = Buffer.alloc(3_900, 7);
  const body = [...Buffer.of(0, 0, 0, 3_900 >> 8, 3_900 & 255), ...message];
  const frames = body.map((byte, index) => data(1, Buffer.of(byte), index === body.length - 1 ? "end" : "more"));
  joined.mockClear();
  for (const frame of [headers(1, "body", fields), ...frames]) harness.connection.receive(frame, harness.nowMs);
  expect(asked).toEqual([message.toString("hex")]);
  // Some of the calls are the harness's own.
  expect(joined.mock.calls.length).toBeLessThan(50);
  // One for each frame, and some for a buffer that grows.
  expect(copied.mock.calls.length).toBeLessThan(body.length + 50);
  vi.restoreAllMocks();
});

test("an expensive call begins in its turn, and not at all if its caller or its deadline does not last until then", async () => {
  const turns: (() => boolean)[] = [];
  const notes: string[] = [];
  const queue = (_: ServerStream, begin: () => boolean): void => void turns.push(begin);
  const guards = [{ ...noting("guard", notes), unread: () => void notes.push("unread") }];
  const setUpQueued = () => setUp({ queue, guards, operation: () => (notes.push("done"), framed) });
  const { call, harness } = setUpQueued();
  expect(call(plain)).toEqual([]);
  expect(notes).toEqual([]);
  expect(turns.pop()?.()).toBe(true);
  expect(harness.output()).toEqual([head, "data 1 8", ok]);
  expect(notes.splice(0)).toEqual([`guard begin ${path} undefined`, "done", "guard end ok"]);

  const cancelled = setUpQueued();
  cancelled.call(plain);
  cancelled.harness.exchange(rstStream(1, 8));
  expect(turns.pop()?.()).toBe(false);
  expect(notes.splice(0)).toEqual(["unread"]);

  const late = setUpQueued();
  late.call(plain, [["grpc-timeout", "5m"]]);
  await late.after(6);
  expect(turns.pop()?.()).toBe(true);
  expect(fieldsOf(late.harness.output()[0])["grpc-status"]).toBe(String(Code.DeadlineExceeded));
  expect(notes).not.toContain("done");
});
