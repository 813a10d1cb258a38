/**
 * The service that Connect's conformance suite calls: docs/testing_servers.md of connectrpc/conformance says what each
 * method does.
 */
import { create, fromBinary, type Message, toBinary } from "@bufbuild/protobuf";
import { type Any, anyPack } from "@bufbuild/protobuf/wkt";
import { type Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { setTimeout as sleep } from "node:timers/promises";
import type { HotContext, HotMethod } from "../../src/service/hot/hot-method.ts";
import type { ConformanceProtos } from "./conformance-protos.ts";

interface HeaderMessage {
  readonly name: string;
  readonly value: readonly string[];
}

interface ErrorMessage {
  readonly code: Code;
  readonly message?: string;
  readonly details: readonly Any[];
}

interface UnaryDefinition {
  readonly responseHeaders: readonly HeaderMessage[];
  readonly responseTrailers: readonly HeaderMessage[];
  readonly responseDelayMs: number;
  readonly response:
    | { readonly case: "responseData"; readonly value: Uint8Array }
    | { readonly case: "error"; readonly value: ErrorMessage }
    | { readonly case: undefined };
}

interface StreamDefinition {
  readonly responseHeaders: readonly HeaderMessage[];
  readonly responseTrailers: readonly HeaderMessage[];
  readonly responseDelayMs: number;
  readonly responseData: readonly Uint8Array[];
  readonly error?: ErrorMessage;
}

type RequestMessage<Definition> = Message & { readonly responseDefinition?: Definition; readonly fullDuplex?: boolean };

/** What a call says of itself, whichever way it came. */
interface Call {
  readonly signal: AbortSignal;
  readonly requestHeaders: readonly HeaderMessage[];
  readonly timeoutMs: number | undefined;
  readonly queryParams: readonly HeaderMessage[];
  addHeaders(headers: readonly HeaderMessage[]): void;
  addTrailers(trailers: readonly HeaderMessage[]): void;
}

/** One implementation for Connect's handlers and for the hot path. */
export class ConformanceService {
  readonly #protos: ConformanceProtos;

  constructor(protos: ConformanceProtos) {
    this.#protos = protos;
  }

  /** For a Connect router. */
  implementation() {
    return {
      unary: (request: RequestMessage<UnaryDefinition>, context: HandlerContext) =>
        this.#unary(request.responseDefinition, [request], callOf(context)),
      idempotentUnary: (request: RequestMessage<UnaryDefinition>, context: HandlerContext) =>
        this.#unary(request.responseDefinition, [request], callOf(context)),
      clientStream: async (requests: AsyncIterable<RequestMessage<UnaryDefinition>>, context: HandlerContext) => {
        const all: RequestMessage<UnaryDefinition>[] = [];
        for await (const request of requests) all.push(request);
        return await this.#unary(all[0]?.responseDefinition, all, callOf(context));
      },
      serverStream: (request: RequestMessage<StreamDefinition>, context: HandlerContext) =>
        this.#stream(request.responseDefinition, [request], callOf(context)),
      bidiStream: (requests: AsyncIterable<RequestMessage<StreamDefinition>>, context: HandlerContext) =>
        this.#bidi(requests, callOf(context)),
    };
  }

  /** Unary and ServerStream from bytes to bytes. */
  hotMethods(): readonly HotMethod[] {
    const { method } = this.#protos.service;
    return [
      {
        descriptor: method["unary"]!,
        hasPlainJson: false,
        kind: "hot",
        read: (message) => {
          const request = this.#read("UnaryRequest", message) as RequestMessage<UnaryDefinition>;
          return (context) =>
            this.#unary(request.responseDefinition, [request], hotCallOf(context)).then((answer) =>
              this.#frame("UnaryResponse", answer),
            );
        },
      },
      {
        descriptor: method["serverStream"]!,
        hasPlainJson: false,
        kind: "hot",
        read: (message) => {
          const request = this.#read("ServerStreamRequest", message) as RequestMessage<StreamDefinition>;
          return (context) => {
            const answers = this.#stream(request.responseDefinition, [request], hotCallOf(context));
            return new PulledStream(answers, (answer) => this.#frame("ServerStreamResponse", answer));
          };
        },
      },
    ];
  }

  async #unary(definition: UnaryDefinition | undefined, requests: readonly Message[], call: Call): Promise<object> {
    call.addHeaders(definition?.responseHeaders ?? []);
    call.addTrailers(definition?.responseTrailers ?? []);
    await pause(definition?.responseDelayMs ?? 0, call.signal);
    const requestInfo = this.#requestInfo(requests, call);
    const response = definition?.response;
    if (response?.case === "error") throw this.#error(response.value, requestInfo);
    const data = response?.case === "responseData" ? response.value : new Uint8Array(0);
    return { payload: { data, requestInfo } };
  }

  async *#stream(definition: StreamDefinition | undefined, requests: readonly Message[], call: Call) {
    call.addHeaders(definition?.responseHeaders ?? []);
    call.addTrailers(definition?.responseTrailers ?? []);
    let requestInfo: object | undefined = this.#requestInfo(requests, call);
    for (const data of definition?.responseData ?? []) {
      await pause(definition?.responseDelayMs ?? 0, call.signal);
      yield { payload: { data, requestInfo } };
      requestInfo = undefined;
    }
    if (definition?.error !== undefined) throw this.#error(definition.error, requestInfo);
  }

  async *#bidi(requests: AsyncIterable<RequestMessage<StreamDefinition>>, call: Call) {
    let definition: StreamDefinition | undefined;
    let isFullDuplex = false;
    let unsent: Message[] = [];
    let sentCount = 0;
    let requestCount = 0;
    for await (const request of requests) {
      unsent.push(request);
      if (requestCount++ === 0) {
        definition = request.responseDefinition;
        isFullDuplex = request.fullDuplex ?? false;
        call.addHeaders(definition?.responseHeaders ?? []);
        call.addTrailers(definition?.responseTrailers ?? []);
      }
      if (!isFullDuplex) continue;
      const data = definition?.responseData[sentCount];
      if (data === undefined) break;
      const info =
        sentCount++ === 0 ? this.#requestInfo(unsent, call) : { requests: unsent.map((one) => this.#pack(one)) };
      unsent = [];
      await pause(definition?.responseDelayMs ?? 0, call.signal);
      yield { payload: { data, requestInfo: info } };
    }
    for (const data of definition?.responseData.slice(sentCount) ?? []) {
      await pause(definition?.responseDelayMs ?? 0, call.signal);
      yield { payload: { data, requestInfo: sentCount++ === 0 ? this.#requestInfo(unsent, call) : undefined } };
    }
    if (definition?.error !== undefined) {
      throw this.#error(definition.error, sentCount === 0 ? this.#requestInfo(unsent, call) : undefined);
    }
  }

  #requestInfo(requests: readonly Message[], call: Call): object {
    return {
      requestHeaders: call.requestHeaders,
      ...(call.timeoutMs === undefined ? {} : { timeoutMs: BigInt(Math.round(call.timeoutMs)) }),
      requests: requests.map((request) => this.#pack(request)),
      ...(call.queryParams.length === 0 ? {} : { connectGetInfo: { queryParams: call.queryParams } }),
    };
  }

  #pack(message: Message): Any {
    return anyPack(this.#protos.message(message.$typeName.split(".").at(-1)!), message);
  }

  #error({ code, message, details }: ErrorMessage, requestInfo: object | undefined): ConnectError {
    const error = new ConnectError(message ?? "", code);
    const desc = this.#protos.message("ConformancePayload.RequestInfo");
    error.details = [
      ...details.map(({ typeUrl, value }) => ({ type: typeUrl.split("/").at(-1)!, value })),
      ...(requestInfo === undefined ? [] : [{ desc, value: requestInfo as Record<string, unknown> }]),
    ];
    return error;
  }

  #read(name: string, message: Buffer): Message {
    return fromBinary(this.#protos.message(name), message);
  }

  #frame(name: string, init: object): Uint8Array {
    const desc = this.#protos.message(name);
    const message = toBinary(desc, create(desc, init as never));
    const prefix = Buffer.alloc(5);
    prefix.writeUInt32BE(message.length, 1);
    return Buffer.concat([prefix, message]);
  }
}

/** Messages of a generator, each asked for when the one before has been taken. */
class PulledStream {
  readonly #answers: AsyncGenerator<object>;
  readonly #frame: (answer: object) => Uint8Array;

  constructor(answers: AsyncGenerator<object>, frame: (answer: object) => Uint8Array) {
    this.#answers = answers;
    this.#frame = frame;
  }

  async next(): Promise<Uint8Array | undefined> {
    const { done, value } = await this.#answers.next();
    return done === true ? undefined : this.#frame(value);
  }
}

/** A call that ends meanwhile ends with what ended it. */
async function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0) return;
  await sleep(ms, undefined, { signal }).catch(() => undefined);
  if (signal.aborted) throw signal.reason;
}

function callOf(context: HandlerContext): Call {
  const url = new URL(context.url);
  return {
    signal: context.signal,
    requestHeaders: [...context.requestHeader].map(([name, value]) => ({ name, value: [value] })),
    timeoutMs: context.timeoutMs(),
    queryParams:
      context.requestMethod === "GET" ? [...url.searchParams].map(([name, value]) => ({ name, value: [value] })) : [],
    addHeaders: (headers) => addAll(context.responseHeader, headers),
    addTrailers: (trailers) => addAll(context.responseTrailer, trailers),
  };
}

function addAll(target: Headers, messages: readonly HeaderMessage[]): void {
  for (const { name, value } of messages) for (const one of value) target.append(name, one);
}

function hotCallOf(context: HotContext): Call {
  return {
    signal: context.signal,
    requestHeaders: grouped(context.requestFields),
    timeoutMs: context.timeoutMs(),
    queryParams: [],
    addHeaders: (headers) => {
      context.responseFields = headers.flatMap(toFields);
    },
    addTrailers: (trailers) => {
      context.responseTrailers = trailers.flatMap(toFields);
    },
  };
}

function grouped(fields: HotContext["requestFields"]): readonly HeaderMessage[] {
  const names = [...new Set(fields.map(({ name }) => name))];
  return names.map((name) => ({
    name,
    value: fields.filter((field) => field.name === name).map(({ value }) => value),
  }));
}

function toFields({ name, value }: HeaderMessage): readonly (readonly [string, string])[] {
  return value.map((one) => [name.toLowerCase(), one] as const);
}
