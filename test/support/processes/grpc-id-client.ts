import { fromBinary, type MessageInitShape, toBinary, create } from "@bufbuild/protobuf";
import { Client, credentials } from "@grpc/grpc-js";
import {
  BatchNextIdsRequestSchema,
  BatchNextIdsResponseSchema,
  NextIdRequestSchema,
  NextIdResponseSchema,
} from "../../../src/gen/snowlane/v1/id_service_pb.ts";

/** The request of a stream. */
export type BatchRequest = MessageInitShape<typeof BatchNextIdsRequestSchema>;

/**
 * A client of one server by grpc-js, for servers that are killed: connect-node's session manager throws past every
 * catch where a connection ends just as it is given up.
 */
export class GrpcIdClient {
  readonly #client: Client;

  /**
   * @param address - `127.0.0.1:PORT`.
   * @param connection - `own`: opened for this client alone; otherwise clients of one address share one.
   */
  constructor(address: string, connection: "shared" | "own" = "shared") {
    const options = { "grpc.use_local_subchannel_pool": connection === "own" ? 1 : 0 };
    this.#client = new Client(address, credentials.createInsecure(), options);
  }

  /** Asks for one ID. */
  nextId(timeoutMs: number): Promise<bigint> {
    return new Promise((resolve, reject) => {
      this.#client.makeUnaryRequest(
        "/snowlane.v1.IdService/NextId",
        (request: MessageInitShape<typeof NextIdRequestSchema>) =>
          Buffer.from(toBinary(NextIdRequestSchema, create(NextIdRequestSchema, request))),
        (bytes) => fromBinary(NextIdResponseSchema, bytes),
        {},
        { deadline: deadlineIn(timeoutMs) },
        (error, response) => {
          if (response === undefined) reject(error ?? new Error("neither an answer nor an error"));
          else resolve(response.id);
        },
      );
    });
  }

  /** Asks for a stream of IDs; gives them message by message. */
  async *batchNextIds(request: BatchRequest, timeoutMs: number): AsyncGenerator<readonly bigint[], void, undefined> {
    const stream = this.#client.makeServerStreamRequest(
      "/snowlane.v1.IdService/BatchNextIds",
      (message: BatchRequest) =>
        Buffer.from(toBinary(BatchNextIdsRequestSchema, create(BatchNextIdsRequestSchema, message))),
      (bytes) => fromBinary(BatchNextIdsResponseSchema, bytes),
      request,
      { deadline: deadlineIn(timeoutMs) },
    );
    for await (const { ids } of stream as AsyncIterable<{ readonly ids: readonly bigint[] }>) yield ids;
  }

  /** Cancels what is under way. */
  close(): void {
    this.#client.close();
  }
}

function deadlineIn(timeoutMs: number): Date {
  return new Date(Date.now() + timeoutMs);
}
