/**
 * A process of pages that show Watch: `PORT COUNT`. It makes the calls of that many of them until it is told to end,
 * and exits with 1 if one failed.
 *
 * It has the lowest priority: the browsers of operators run on other machines than the server that is measured.
 */
import { Agent, type IncomingMessage, request } from "node:http";
import { setPriority } from "node:os";
import { buffer } from "node:stream/consumers";
import { create, fromBinary, toBinary } from "@bufbuild/protobuf";
import {
  GetStatusRequestSchema,
  GetStatusResponseSchema,
  ListWorkersRequestSchema,
} from "../../src/gen/snowlane/v1/admin_service_pb.ts";
import { ListSequencesRequestSchema } from "../../src/gen/snowlane/v1/sequence_service_pb.ts";

const lowestPriority = 19;
const listWorkers = toBinary(ListWorkersRequestSchema, create(ListWorkersRequestSchema, { pageSize: 1_000 }));
const listSequences = toBinary(ListSequencesRequestSchema, create(ListSequencesRequestSchema, { pageSize: 1_000 }));
/** What Chromium sends with each call of the page. */
const browserHeaders = {
  "user-agent": "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36",
  accept: "*/*",
  "accept-encoding": "gzip, deflate, br, zstd",
  "accept-language": "en-GB,en;q=0.9",
  "cache-control": "no-cache",
  pragma: "no-cache",
  "sec-ch-ua": '"Chromium";v="140", "Not=A?Brand";v="24"',
  "sec-ch-ua-mobile": "?0",
  "sec-ch-ua-platform": '"Linux"',
  "sec-fetch-dest": "empty",
  "sec-fetch-mode": "cors",
  "sec-fetch-site": "same-origin",
};

/**
 * Makes the calls of `count` pages that show Watch, at the times at which server-watch.ts makes them: over HTTP/1.1, on
 * connections of its own for each page. People do not open pages at the same moment, so each begins a while after the
 * one before: all of them within six seconds, and no two at the same part of two seconds.
 *
 * @returns What ends them, and throws what a call failed with.
 */
function watchAs(count: number, port: number): () => void {
  const ends = Array.from({ length: count }, (_, index) => watch(port, (index * (6_000 + 2_000 / count)) / count));
  return () => {
    for (const end of ends) end();
  };
}

/** One page, which begins after so long. */
function watch(port: number, afterMs: number): () => void {
  const origin = `http://127.0.0.1:${port}`;
  const agent = new Agent({ keepAlive: true, maxSockets: 6 });
  let failure: unknown;
  let isEnded = false;
  const call = async (path: string, body: Uint8Array, type = "application/proto"): Promise<Buffer> => {
    const connect = { "connect-protocol-version": "1", "connect-timeout-ms": "5000" };
    const headers = { ...browserHeaders, ...connect, origin, referer: `${origin}/`, "content-type": type };
    const answer = await new Promise<IncomingMessage>((resolve, reject) => {
      const options = { agent, method: "POST", headers: { ...headers, "content-length": body.length } };
      request(origin + path, options, resolve)
        .on("error", reject)
        .end(body);
    });
    const content = await buffer(answer);
    if (answer.statusCode !== 200) throw new Error(`${path}: ${answer.statusCode} ${content.toString()}`);
    return content;
  };
  let afterIndex = 0n;
  const getStatus = async (): Promise<void> => {
    const asked = toBinary(GetStatusRequestSchema, create(GetStatusRequestSchema, { afterIndex }));
    const { samples } = fromBinary(GetStatusResponseSchema, await call("/snowlane.v1.AdminService/GetStatus", asked));
    afterIndex = samples.at(-1)?.index ?? afterIndex;
  };
  const lookAtLists = async (): Promise<void> => {
    await Promise.all([
      call("/snowlane.v1.AdminService/ListWorkers", listWorkers),
      call("/snowlane.v1.SequenceService/ListSequences", listSequences),
    ]);
  };
  const lookAtAll = async (): Promise<void> => {
    await Promise.all([
      call("/snowlane.v1.IdService/GetInfo", new Uint8Array()),
      call("/grpc.health.v1.Health/Check", Buffer.from("{}"), "application/json"),
    ]);
    await getStatus();
    await lookAtLists();
  };
  // The server that is measured may be stopped under a call.
  const attempt = (make: () => Promise<void>): void =>
    void make().catch((error: unknown) => {
      if (!isEnded) failure ??= error;
    });
  const timers: NodeJS.Timeout[] = [];
  let periods = 0;
  const begin = (): void => {
    attempt(lookAtAll);
    const onPeriod = (): void => {
      attempt(getStatus);
      if (++periods % 3 !== 0) return;
      // The second look at all is the last: from then on the status tells that nothing has changed.
      attempt(periods === 3 ? lookAtAll : lookAtLists);
    };
    timers.push(setInterval(onPeriod, 2_000));
  };
  timers.push(setTimeout(begin, afterMs));
  return () => {
    isEnded = true;
    for (const timer of timers) clearInterval(timer);
    agent.destroy();
    if (failure !== undefined) throw failure;
  };
}

setPriority(lowestPriority);
const [port, count] = process.argv.slice(2).map(Number);
const end = watchAs(count!, port!);
process.once("disconnect", () => {
  end();
  process.exit();
});
