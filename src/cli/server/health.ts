import { type Settings, withFallback } from "../../config/setting.ts";
import type { Command } from "../command.ts";
import { connectionProblem, portHint } from "./connection-problem.ts";
import { CommandError, exitCodes } from "../exit-code.ts";
import { problemsOfAccess, readAccess, type ServerAccess, serverOptions } from "./server-access.ts";

const asked = serverOptions("The server that is asked.");
const options = { ...asked, server: withFallback(asked.server, "http://127.0.0.1:7609") };

/** How long the server may take to answer, in ms. */
const answerTimeoutMs = 2_000;

/** A larger answer does not come from a server of ours. */
const answerMaxBytes = 4_096;

/** `snowlane health`: the probe of a container that has nothing else to ask with. */
export const health: Command<Settings, typeof options> = {
  name: "health",
  summary: "Asks a server whether it serves, and answers by the exit code",
  settings: {},
  options,
  examples: ["snowlane health", "snowlane health --server https://ids.example.com:7609"],
  check: (_settings, options) => problemsOfAccess(options),
  run: async ({ options, stdout }) => {
    const { server } = options;
    const { status, body } = await ask(await readAccess(options));
    const answer = status === 200 ? servingStatus(body) : undefined;
    if (answer === undefined) {
      throw new CommandError(
        `The server at ${server} is not a Snowlane server: it answers with ${status}.`,
        exitCodes.refused,
      );
    }
    if (answer !== "SERVING") {
      throw new CommandError(`The server at ${server} says ${answer}. Its log says why.`, exitCodes.refused);
    }
    stdout.write("SERVING\n");
    return exitCodes.done;
  },
};

/** @returns The status of a grpc.health.v1.HealthCheckResponse in JSON; undefined for any other text. */
function servingStatus(body: string): string | undefined {
  try {
    const { status } = JSON.parse(body) as { readonly status?: unknown };
    return typeof status === "string" ? status : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Asks by node:http, which loads in a third of the time that `fetch` or a gRPC client takes: probes run every few
 * seconds.
 */
async function ask({ url: server, socketPath, tls, authorization }: ServerAccess) {
  const url = new URL("/grpc.health.v1.Health/Check", socketPath === undefined ? server : "http://localhost");
  const { request } = url.protocol === "https:" ? await import("node:https") : await import("node:http");
  const { promise, resolve, reject } = Promise.withResolvers<{ readonly status: number; readonly body: string }>();
  const call = request(url, {
    method: "POST",
    headers: { "content-type": "application/json", ...(authorization === undefined ? {} : { authorization }) },
    ...tls,
    ...(socketPath === undefined ? {} : { socketPath }),
    signal: AbortSignal.timeout(answerTimeoutMs),
  });
  call.on("error", reject);
  call.on("response", (response) => {
    let body = "";
    response.setEncoding("utf8");
    response.on("error", reject);
    response.on("data", (text: string) => {
      body += text;
      if (body.length > answerMaxBytes) response.destroy(new Error("the answer is too long"));
    });
    response.on("end", () => resolve({ status: response.statusCode ?? 0, body }));
  });
  call.end("{}");
  try {
    return await promise;
  } catch (error) {
    const { code, name, message } = error as NodeJS.ErrnoException;
    const reason =
      name === "AbortError" || name === "TimeoutError" ? `no answer within ${answerTimeoutMs / 1_000} s` : message;
    const connection = connectionProblem(server, message);
    if (connection !== undefined) throw new CommandError(connection, exitCodes.refused);
    const text = code === "ECONNREFUSED" ? "the connection was refused" : reason;
    throw new CommandError(`No server serves at ${server}: ${text}.${portHint(server)}`, exitCodes.refused);
  }
}
