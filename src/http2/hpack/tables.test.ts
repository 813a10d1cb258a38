import * as fc from "fast-check";
import { expect, test } from "vitest";
import { Field } from "./field.ts";
import { DynamicTable, staticTable, tableBytesMax } from "./tables.ts";

function text(index: number): string {
  return `${staticTable[index]?.name}=${staticTable[index]?.value}`;
}

test("the static table has the 61 entries of RFC 7541 appendix A", () => {
  expect(staticTable.length).toBe(62);
  expect([1, 2, 16, 31, 38, 61].map(text)).toEqual([
    ":authority=",
    ":method=GET",
    "accept-encoding=gzip, deflate",
    "content-type=",
    "host=",
    "www-authenticate=",
  ]);
});

test("a field larger than the table empties it and is not kept", () => {
  const table = new DynamicTable();
  table.insert(new Field("a", "b"));
  table.insert(new Field("a", "b".repeat(tableBytesMax)));
  expect(table.at(0)).toBeUndefined();
  table.insert(new Field("c", "d"));
  expect(table.at(0)?.name).toBe("c");
});

test("the table agrees with a plain list under any insertions and resizes", () => {
  const operation = fc.oneof(
    fc.record({ insert: fc.integer({ min: 0, max: 5000 }) }),
    fc.record({ resize: fc.integer({ min: 0, max: tableBytesMax }) }),
  );
  fc.assert(
    fc.property(fc.array(operation, { maxLength: 300 }), (operations) => {
      const table = new DynamicTable();
      let list: Field[] = [];
      let limit = tableBytesMax;
      for (const [index, step] of operations.entries()) {
        if ("insert" in step) {
          const field = new Field(`n${index}`, "v".repeat(step.insert % (index % 3 === 0 ? 5000 : 60)));
          list.unshift(field);
          table.insert(field);
        } else {
          limit = step.resize;
          table.resize(limit);
        }
        let weight = 0;
        list = list.filter((field) => (weight += field.sizeBytes) <= limit);
        expect(list.map((_, age) => table.at(age))).toEqual(list);
        expect(table.at(list.length)).toBeUndefined();
      }
    }),
  );
});
