import { expect, test } from "vitest";
import { AdminService, type GetStatusRequest } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { createDirectMethod } from "./direct-method.ts";
import type { HotContext } from "./hot-method.ts";

test("a request keeps nothing of the bytes that were lent for it", () => {
  const seen: GetStatusRequest[] = [];
  const method = createDirectMethod(AdminService.method.getStatus, (request) => {
    seen.push(request);
    return {};
  });
  // Field 99, which is unknown: "abc".
  const lent = Buffer.from("9a0603616263", "hex");
  const operation = method.read(lent);
  lent.fill(0);
  const answer = operation?.({} as HotContext);
  expect(Buffer.from(seen[0]?.$unknown?.[0]?.data ?? []).toString()).toBe("\u0003abc");
  expect(answer).toEqual(Buffer.alloc(5));
});

test("bytes that are not a message are not for it", () => {
  const method = createDirectMethod(AdminService.method.getStatus, () => ({}));
  expect(method.read(Buffer.from("0a", "hex"))).toBeUndefined();
});
