import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { onTestFinished } from "vitest";
import { fetchPythonVenv } from "../fetch/python-venv.ts";

/** A span as OTLP has it, in protobuf's JSON: bytes in base64, numbers of 64 bits as texts. */
interface ReceivedSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status?: { readonly code?: string };
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue?: string; readonly intValue?: string };
}

/** One request of an exporter. */
interface ReceivedTraces {
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly resource: Readonly<Record<string, string>>;
  readonly spans: readonly ReceivedSpan[];
}

/** A receiver of OTLP in a process of its own, which decodes with the protos that OpenTelemetry publishes. */
export interface OtlpReceiver {
  /** `http://127.0.0.1:PORT`. */
  readonly url: string;
  /** Requests so far; grows. */
  readonly received: readonly ReceivedTraces[];
}

/** Starts a receiver, which ends with the test. */
export async function startOtlpReceiver(): Promise<OtlpReceiver> {
  const python = await fetchPythonVenv("otlp", readFileSync("test/support/otlp/requirements.txt", "utf8"));
  const child = spawn(python, ["test/support/otlp/otlp_receiver.py"], { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill());
  const lines = createInterface({ input: child.stdout });
  const [port] = await once(lines, "line");
  const received: ReceivedTraces[] = [];
  lines.on("line", (line) => received.push(readRequest(JSON.parse(line))));
  return { url: `http://127.0.0.1:${port}`, received };
}

interface Request extends Pick<ReceivedTraces, "path" | "headers"> {
  readonly message: {
    readonly resourceSpans?: readonly {
      readonly resource: { readonly attributes: readonly Attribute[] };
      readonly scopeSpans: readonly { readonly spans: readonly ReceivedSpan[] }[];
    }[];
  };
}

function readRequest({ path, headers, message: { resourceSpans = [] } }: Request): ReceivedTraces {
  const spans = resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap((scope) => scope.spans));
  return { path, headers, resource: attributesOf(resourceSpans[0]?.resource.attributes ?? []), spans };
}

/** The attributes of a span or a resource as texts. */
export function attributesOf(attributes: readonly Attribute[]): Readonly<Record<string, string>> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? ""]));
}
