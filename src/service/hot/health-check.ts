import { create, toBinary } from "@bufbuild/protobuf";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponseSchema,
  HealthCheckResponse_ServingStatus as ServingStatus,
} from "../../gen/grpc/health/v1/health_pb.ts";
import type { HotMethod, HotOperation } from "./hot-method.ts";
import { withPrefix } from "./write-protobuf.ts";

/**
 * Health/Check of the existing services. There are few possible requests and two answers, so all are written in
 * advance.
 */
export function createHealthCheck(services: Iterable<string>, isServing: (service: string) => boolean): HotMethod {
  const serving = frameOf(ServingStatus.SERVING);
  const notServing = frameOf(ServingStatus.NOT_SERVING);
  const operations = new Map<string, HotOperation>();
  for (const service of services) {
    const request = toBinary(HealthCheckRequestSchema, create(HealthCheckRequestSchema, { service }));
    operations.set(Buffer.from(request).toString("latin1"), () => (isServing(service) ? serving : notServing));
  }
  return {
    descriptor: Health.method.check,
    hasPlainJson: true,
    kind: "hot",
    read: (message) => operations.get(message.toString("latin1")),
  };
}

function frameOf(status: ServingStatus): Uint8Array {
  return withPrefix(0, toBinary(HealthCheckResponseSchema, create(HealthCheckResponseSchema, { status })));
}
