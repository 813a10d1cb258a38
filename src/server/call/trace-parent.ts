/** The caller's place in a trace: https://www.w3.org/TR/trace-context/#traceparent-header. */
export interface TraceParent {
  /** 32 hex digits. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  readonly isSampled: boolean;
}

const zeros = /^0+$/;

/** Reads a `traceparent`; undefined where it is absent, or malformed and therefore ignored. */
export function readTraceParent(text: string | undefined): TraceParent | undefined {
  if (text === undefined) return undefined;
  const [, version, traceId = "", spanId = "", flags = "", rest = ""] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text) ?? [];
  if (version === undefined || version === "ff" || zeros.test(traceId) || zeros.test(spanId)) return undefined;
  // A later version may have more fields; this one may not.
  if (version === "00" && rest !== "") return undefined;
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 };
}
