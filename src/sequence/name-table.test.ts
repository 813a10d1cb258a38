import * as fc from "fast-check";
import { expect, test } from "vitest";
import { NameTable } from "./name-table.ts";

function find<T extends object>(table: NameTable<T>, name: string): T | undefined {
  // As a name lies in a message.
  const bytes = Buffer.from(`##${name}#`);
  return table.find(bytes, 2, bytes.length - 1);
}

test("a table with names added and removed in any order holds what a Map holds", () => {
  // Few and short names, so that many collide; and long ones.
  const name = fc.oneof(
    fc.string({ unit: fc.constantFrom("a", "b", "."), minLength: 1, maxLength: 3 }),
    fc.constant("z".repeat(63)),
  );
  fc.assert(
    fc.property(fc.array(fc.record({ name, isAdded: fc.boolean() }), { maxLength: 200 }), (steps) => {
      const table = new NameTable<{ readonly index: number }>();
      const expected = new Map<string, { readonly index: number }>();
      for (const [index, { name, isAdded }] of steps.entries()) {
        if (!isAdded) table.delete(name);
        else if (!expected.has(name)) table.add(name, { index });
        if (!isAdded) expected.delete(name);
        else if (!expected.has(name)) expected.set(name, { index });
      }
      for (const { name } of steps) expect(find(table, name)).toEqual(expected.get(name));
    }),
  );
});

test("10,000 names are found, and others are not", () => {
  const table = new NameTable<{ readonly index: number }>();
  for (let index = 0; index < 10_000; index++) table.add(`orders-${index}`, { index });
  for (let index = 0; index < 10_000; index++) expect(find(table, `orders-${index}`)).toEqual({ index });
  for (const name of ["", "orders", "orders-10000", "Orders-1", "orders-1\0"])
    expect(find(table, name)).toBeUndefined();
});
