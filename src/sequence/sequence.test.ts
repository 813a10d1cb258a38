import { describe, expect, test } from "vitest";
import {
  changeDefinition,
  completeDefinition,
  endCountOf,
  etagOf,
  indexFrom,
  type SequenceDraft,
  valueAt,
} from "./sequence.ts";

const refusalOf = (field: string) =>
  expect.objectContaining({ reason: "INVALID_SEQUENCE", metadata: expect.objectContaining({ field }) });

describe("a definition", () => {
  test("takes its defaults", () => {
    expect(completeDefinition({ name: "orders" })).toEqual({
      name: "orders",
      description: "",
      startValue: 1n,
      increment: 1n,
      valueMax: 2n ** 63n - 1n,
      allocation: "segments",
      stepMin: 100,
      stepMax: 1_000_000,
      period: "none",
      timeZone: "",
      yearStart: "",
      lateMaxMs: 0,
      textTemplate: "",
      disabled: false,
    });
    expect(completeDefinition({ name: "orders", stepMin: 2_000_000 }).stepMax).toBe(2_000_000);
    expect(completeDefinition({ name: "orders", allocation: "strict" })).toMatchObject({ stepMin: 0, stepMax: 0 });
  });

  test.each<[string, Partial<SequenceDraft>]>([
    ["name", { name: "" }],
    ["name", { name: "a".repeat(64) }],
    ["name", { name: "Orders" }],
    ["name", { name: "-a" }],
    ["name", { name: "a." }],
    ["name", { name: "a\n" }],
    ["description", { description: "a\u0000" }],
    ["description", { description: "x".repeat(201) }],
    ["description", { description: "\ud800" }],
    ["start_value", { startValue: -1n }],
    ["value_max", { startValue: 10n, valueMax: 9n }],
    ["increment", { increment: -1n }],
    ["increment", { increment: 2n ** 31n + 1n }],
    ["step_min", { stepMin: -1 }],
    ["step_min", { stepMin: 2 ** 30 + 1 }],
    ["step_max", { stepMin: 10, stepMax: 9 }],
    ["step_min", { allocation: "strict", stepMin: 1 }],
    ["step_max", { allocation: "strict", stepMax: 1 }],
    ["time_zone", { timeZone: "UTC" }],
    ["text_template", { textTemplate: "{yyyy}" }],
  ])("is refused for its %s: %o", (field, draft) => {
    expect(() => completeDefinition({ name: "orders", ...draft })).toThrow(refusalOf(field));
  });

  test("changes its maximum upward only, and has another etag then", () => {
    const definition = completeDefinition({ name: "orders", valueMax: 100n });
    expect(() => changeDefinition(definition, { valueMax: 99n })).toThrow(refusalOf("value_max"));
    const changed = changeDefinition(definition, { valueMax: 101n });
    expect(changed.valueMax).toBe(101n);
    expect(etagOf(changed)).not.toBe(etagOf(definition));
    expect(etagOf(changeDefinition(definition, { disabled: false }))).toBe(etagOf(definition));
    expect(changeDefinition(definition, { valueMax: 0n }).valueMax).toBe(2n ** 63n - 1n);
  });

  test("counts its values exactly", () => {
    const definition = completeDefinition({ name: "a", startValue: 5n, increment: 10n, valueMax: 35n });
    expect(endCountOf(definition)).toBe(4n);
    expect([0n, 1n, 3n].map((index) => valueAt(definition, index))).toEqual([5n, 15n, 35n]);
    expect([1n, 5n, 6n, 15n, 16n, 35n].map((value) => indexFrom(definition, value))).toEqual([0n, 0n, 1n, 1n, 2n, 3n]);
    expect(endCountOf(completeDefinition({ name: "a" }))).toBe(2n ** 63n - 1n);
  });
});
