/** Sends spans of calls to a receiver of OTLP. Loaded only where the environment names one: docs/adr/0137. */
import { diag, DiagLogLevel } from "@opentelemetry/api";
import { OTLPTraceExporter } from "@opentelemetry/exporter-trace-otlp-proto";
import { resourceFromAttributes } from "@opentelemetry/resources";
import { AlwaysOnSampler, BatchSpanProcessor, TracerProvider } from "@opentelemetry/sdk-trace";
import type { Clock } from "../../clock/clock.ts";
import type { TraceSettings } from "../../config/trace-settings.ts";
import { version } from "../../version.ts";
import type { CallGuard } from "../call/call-guard.ts";
import { CallTraces } from "./call-traces.ts";

/** How long one request to the receiver may take. Callers never wait for it. */
const exportTimeoutMs = 10_000;
/** Spans that wait for the receiver; further ones are dropped. */
const queueMax = 2_048;
const batchMax = 512;
const batchDelayMs = 1_000;
/** How long the end of a server waits for its last spans. */
const closeTimeoutMs = 1_000;

const silent = (): void => undefined;

/** Traces of calls. */
export interface Traces {
  /** Comes first among the guards. */
  readonly guard: CallGuard;
  /** See {@link CallTraces.counts}. They only grow. */
  readonly counts: () => CallTraces["counts"];
  /** Sends the spans that are left, for a second at most. Never rejects. */
  readonly close: () => Promise<void>;
}

/** The resource and the limit of {@link openTraces}, and how it reports that spans are lost. */
export interface TracesOptions {
  /** The resource that the environment names. */
  readonly settings: TraceSettings;
  /** See {@link CallTracesOptions.callsPerSecond}. */
  readonly callsPerSecond: number;
  readonly clock: Clock;
  /** Called with the reason, in words, each time that spans could not be sent. */
  readonly onProblem: (cause: string) => void;
}

/** Begins to trace. The receiver's address, headers, certificates and time limits are those of the environment. */
export function openTraces({ settings, callsPerSecond, clock, onProblem }: TracesOptions): Traces {
  const tell = (message: string): void => onProblem(wordsOf(message));
  diag.setLogger({ error: tell, warn: tell, info: silent, debug: silent, verbose: silent }, DiagLogLevel.WARN);
  const provider = new TracerProvider({
    // It is decided before a span is made which calls are traced.
    sampler: new AlwaysOnSampler(),
    resource: resourceFromAttributes({ ...settings.attributes, "service.version": version }),
    spanProcessors: [
      new BatchSpanProcessor({
        exporter: new OTLPTraceExporter(),
        maxQueueSize: queueMax,
        maxExportBatchSize: batchMax,
        scheduledDelayMillis: batchDelayMs,
        exportTimeoutMillis: exportTimeoutMs,
      }),
    ],
  });
  const guard = new CallTraces({ tracer: provider.getTracer("snowlane", version), clock, callsPerSecond });
  return {
    guard,
    counts: () => guard.counts,
    close: async () => {
      const late = Promise.withResolvers<void>();
      const timer = setTimeout(late.resolve, closeTimeoutMs);
      await Promise.race([provider.shutdown().catch(silent), late.promise]);
      clearTimeout(timer);
      diag.disable();
    },
  };
}

/**
 * The words of a problem. The SDK writes an error as JSON, with all that the receiver said: that may be long, and
 * repeat the fields that it was sent. https://github.com/open-telemetry/opentelemetry-js: `loggingErrorHandler`.
 */
function wordsOf(problem: string): string {
  if (!problem.startsWith('{"')) return problem;
  const { message, code } = JSON.parse(problem) as { readonly message?: string; readonly code?: string };
  if (code !== undefined && /^\d+$/.test(code)) return `The receiver answered with the HTTP status ${code}.`;
  return message ?? code ?? "The SDK gives no cause.";
}
