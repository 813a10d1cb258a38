import type { ConnectError } from "@connectrpc/connect";
import { ROOT_CONTEXT, SpanKind, SpanStatusCode, trace, type Tracer, TraceFlags } from "@opentelemetry/api";
import { Code } from "@connectrpc/connect";
import type { Clock } from "../../clock/clock.ts";
import { ErrorInfoSchema } from "../../gen/google/rpc/error_details_pb.ts";
import { TokenBucket } from "../../queue/token-bucket.ts";
import type { CallGuard, GuardedCall } from "../call/call-guard.ts";
import { readTraceParent, type TraceParent } from "../call/trace-parent.ts";

/** Where the spans of {@link CallTraces} go, and how many there may be. */
export interface CallTracesOptions {
  /** Makes the spans. */
  readonly tracer: Pick<Tracer, "startSpan">;
  readonly clock: Clock;
  /** The most calls that are traced in a second, at least 1. Further calls are served and not traced. */
  readonly callsPerSecond: number;
}

/**
 * Codes that are a fault of the server: https://opentelemetry.io/docs/specs/semconv/rpc/grpc/, "Server". The others are
 * ordinary answers.
 */
const faults: ReadonlySet<Code> = new Set([
  Code.Unknown,
  Code.DeadlineExceeded,
  Code.Unimplemented,
  Code.Internal,
  Code.Unavailable,
  Code.DataLoss,
]);

/**
 * Makes a span of each call whose caller's `traceparent` says that it is sampled. Comes first among the guards, so that
 * refused calls have spans, too. Nothing is made for other calls, and the caller waits for nothing. docs/adr/0137 has
 * the reasons.
 */
export class CallTraces implements CallGuard {
  readonly #tracer: CallTracesOptions["tracer"];
  readonly #clock: Clock;
  readonly #bucket: TokenBucket;
  readonly #begun = new WeakMap<GuardedCall, { readonly parent: TraceParent; readonly startMs: number }>();
  #traced = 0;
  #untraced = 0;

  constructor({ tracer, clock, callsPerSecond }: CallTracesOptions) {
    this.#tracer = tracer;
    this.#clock = clock;
    this.#bucket = new TokenBucket({ perSecond: callsPerSecond, clock });
  }

  /** How many calls were sampled by their callers: those that are traced, and those beyond the limit. */
  get counts(): { readonly traced: number; readonly untraced: number } {
    return { traced: this.#traced, untraced: this.#untraced };
  }

  begin(call: GuardedCall): void {
    const { notes } = call;
    notes.traceParent ??= readTraceParent(call.header("traceparent")) ?? "none";
    const parent = notes.traceParent;
    if (parent === "none" || !parent.isSampled) return;
    if (!this.#bucket.takeOne()) {
      this.#untraced += 1;
      return;
    }
    this.#traced += 1;
    this.#begun.set(call, { parent, startMs: this.#clock.monotonicMs() });
  }

  end(call: GuardedCall, error: ConnectError | undefined): void {
    if (call.notes.traceParent === "none") return;
    const begun = this.#begun.get(call);
    if (begun === undefined) return;
    this.#begun.delete(call);
    const { traceId, spanId } = begun.parent;
    const context = trace.setSpanContext(ROOT_CONTEXT, {
      traceId,
      spanId,
      traceFlags: TraceFlags.SAMPLED,
      isRemote: true,
    });
    const path = call.traits.path.slice(1);
    const [service = "", method = ""] = path.split("/");
    const endMs = this.#clock.nowMs();
    const span = this.#tracer.startSpan(
      path,
      {
        kind: SpanKind.SERVER,
        startTime: endMs - (this.#clock.monotonicMs() - begun.startMs),
        attributes: {
          "rpc.system": call.header("content-type")?.startsWith("application/grpc") === true ? "grpc" : "connect_rpc",
          "rpc.service": service,
          "rpc.method": method,
          "rpc.grpc.status_code": error?.code ?? 0,
          ...reasonOf(error),
        },
      },
      context,
    );
    if (error !== undefined && faults.has(error.code)) span.setStatus({ code: SpanStatusCode.ERROR });
    span.end(endMs);
  }
}

function reasonOf(error: ConnectError | undefined): Readonly<Record<string, string>> {
  const reason = error?.findDetails(ErrorInfoSchema)[0]?.reason;
  return reason === undefined ? {} : { "snowlane.reason": reason };
}
