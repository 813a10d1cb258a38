import { grpcFrame } from "./http-call.ts";
import { nextIdFields } from "./http2-floods.ts";
import { RawClient } from "./http2-raw-client.ts";
import { data, headers, hello } from "./http2-wire.ts";

const emptyMessage = grpcFrame(new Uint8Array(0));

/** Connects, asks for one ID, waits until it is there, and leaves. */
export async function callOnce(port: number): Promise<void> {
  const caller = await RawClient.connect(port);
  caller.send(hello, headers(1, "body", nextIdFields), data(1, emptyMessage, "end"));
  await caller.until((lines) => lines.some((line) => line.startsWith("headers 1 grpc-status=0")));
  caller.destroy();
}
