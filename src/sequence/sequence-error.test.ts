import { expect, test } from "vitest";
import { IdError, type IdErrorDetails } from "../errors.ts";
import { callerError } from "./sequence-error.ts";

test("no error of a database says where it is (callers were shown the path of one that went back)", () => {
  const metadata = { store: "sqlite", path: "/srv/ids.db" };
  const ofDatabase = (reason: "STORE_WENT_BACK" | "STORE_UNAVAILABLE" | "INVALID_CONFIG", more: IdErrorDetails = {}) =>
    new IdError(reason, "/srv/ids.db is not what it was: root@db.internal says so.", { metadata, ...more });
  for (const [cause, reason] of [
    [ofDatabase("STORE_WENT_BACK"), "STORE_WENT_BACK"],
    [ofDatabase("STORE_UNAVAILABLE"), "STORE_UNAVAILABLE"],
    [ofDatabase("STORE_UNAVAILABLE", { metadata: {} }), "STORE_UNAVAILABLE"],
    [ofDatabase("INVALID_CONFIG"), "STORE_UNAVAILABLE"],
    [new TypeError("/srv/ids.db"), "STORE_UNAVAILABLE"],
  ] as const) {
    const error = callerError(cause);
    expect(error).toMatchObject({ reason, cause, message: expect.not.stringMatching(/srv|internal/), metadata: {} });
    // It comes through here again on its way.
    expect(callerError(error)).toBe(error);
  }
});

test("an error of what the database holds is shown as it is", () => {
  const stopped = new IdError("STORE_WENT_BACK", "It was stopped.", { metadata: { stopped: "the counter is gone" } });
  expect(callerError(stopped)).toBe(stopped);
});

test("a caller is told when to call again: when the database says, or in a second", () => {
  const said = new IdError("STORE_UNAVAILABLE", "It opens.", { retryAfterMs: 7 });
  expect(callerError(said)).toMatchObject({ retryAfterMs: 7, cause: said });
  expect(callerError(new IdError("STORE_UNAVAILABLE", "It is away."))).toMatchObject({ retryAfterMs: 1_000 });
});
