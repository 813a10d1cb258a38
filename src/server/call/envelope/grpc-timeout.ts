/** The longest deadline that is kept: setTimeout fires at once above it. A deadline beyond it (24 days) is dropped. */
export const timeoutMsMax = 2 ** 31 - 1;

const pattern = /^(\d{1,8})([HMSmun])$/;
const unitMs: Readonly<Record<string, number>> = { H: 3_600_000, M: 60_000, S: 1_000, m: 1, u: 1e-3, n: 1e-6 };

/**
 * Reads the value of `grpc-timeout` in milliseconds; undefined if it is malformed. The grammar is at most eight digits
 * and a unit ("Timeout" in grpc/grpc doc/PROTOCOL-HTTP2.md).
 */
export function readGrpcTimeoutMs(value: string): number | undefined {
  const match = pattern.exec(value);
  return match === null ? undefined : Number(match[1]) * unitMs[match[2]!]!;
}
