import { create, toBinary } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import type { HealthBoard, Watcher } from "./health-board.ts";
import type { HotMethod, HotStream } from "./hot-method.ts";
import { withPrefix } from "./write-protobuf.ts";

/** The field `service` of a request, and the longest name whose length fits into one byte. */
const [serviceTag, nameBytesMax] = [0x0a, 0x7f];

/**
 * Health/Watch. A stream uses only a few hundred bytes while nothing changes: a caller without credentials may have
 * many, for as long as it likes.
 */
export function createHealthWatch(board: HealthBoard): HotMethod {
  const frames = new Map(
    [ServingStatus.SERVING, ServingStatus.NOT_SERVING, ServingStatus.SERVICE_UNKNOWN].map((status) => [
      status,
      withPrefix(0, toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status }))),
    ]),
  );
  return {
    descriptor: Health.method.watch,
    hasPlainJson: false,
    kind: "hot",
    read: (message) => {
      const service = readService(message);
      return service === undefined ? undefined : () => new HealthStream(board, service, frames);
    },
  };
}

/** The name in a request; undefined if it is not plain. */
function readService(message: Buffer): string | undefined {
  if (message.length === 0) return "";
  if (message[0] !== serviceTag || message[1] !== message.length - 2 || message[1] > nameBytesMax) return undefined;
  const name = message.toString("utf8", 2);
  return name.includes("\ufffd") ? undefined : name;
}

class HealthStream implements HotStream, Watcher {
  readonly #board: HealthBoard;
  readonly #service: string;
  readonly #frames: ReadonlyMap<ServingStatus, Uint8Array>;
  #sent: ServingStatus | undefined;
  #changed: PromiseWithResolvers<Uint8Array | undefined> | undefined;

  constructor(board: HealthBoard, service: string, frames: ReadonlyMap<ServingStatus, Uint8Array>) {
    this.#board = board;
    this.#service = service;
    this.#frames = frames;
    board.add(this);
  }

  next(): Uint8Array | Promise<Uint8Array | undefined> {
    const frame = this.#take();
    if (frame !== undefined) return frame;
    this.#changed = Promise.withResolvers();
    return this.#changed.promise;
  }

  onChange(): void {
    if (this.#changed === undefined) return;
    try {
      const frame = this.#take();
      if (frame === undefined) return;
      this.#changed.resolve(frame);
    } catch (error) {
      this.#changed.reject(error);
    }
    this.#changed = undefined;
  }

  close(): void {
    this.#board.delete(this);
  }

  /** Returns the status if it has changed. @throws The reason of a drain, once the last change was returned. */
  #take(): Uint8Array | undefined {
    const status = this.#board.statusOf(this.#service);
    if (status === this.#sent) {
      this.#board.drainSignal.throwIfAborted();
      return undefined;
    }
    this.#sent = status;
    return this.#frames.get(status);
  }
}
