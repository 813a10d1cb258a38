/** Cases of what a client reads and writes without a server. */
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { presetLayout } from "../../../src/snowflake/presets.ts";
import { parseId } from "../../../src/snowflake/parse.ts";
import { createTextCodec } from "../../../src/text/text-codec.ts";
import type { Case } from "./case.ts";
import { hold } from "./world.ts";

const ids = [1n, 4_095n, 4_096n, 1_541_815_603_606_036_480n, 2n ** 62n + 12_345n, 2n ** 63n - 1n];

export const textCases: readonly Case[] = [
  {
    rule: "texts 1",
    name: "read-alike",
    law: "An ID is read offline as the server reads it: its parts, and its texts as base 62, UUID and typed ID.",
    isNeeded: false,
    run: async (world) => {
      const [input, out] = [join(world.folder, "in.ids"), join(world.folder, "out.txt")];
      const data = Buffer.alloc(8 * ids.length);
      for (const [index, id] of ids.entries()) data.writeBigUInt64BE(id, 8 * index);
      writeFileSync(input, data);
      await world.program.send("parse", { in: input, out });
      const layout = presetLayout("twitter");
      const codec = createTextCodec({ layout, namespace: "default" });
      const expected = ids.map((id) => {
        const { ticks, datacenterId, workerId, sequence } = parseId(layout, id);
        const formats = [{ form: "base62" }, { form: "uuid" }, { form: "typed", typePrefix: "order" }] as const;
        const texts = formats.map((format) => codec.writer(format)(id));
        return [id, ticks, datacenterId, workerId, sequence, ...texts].join(" ");
      });
      const found = readFileSync(out, "utf8").trim().split("\n");
      for (const [index, line] of expected.entries())
        hold(found[index] === line, `${ids[index]} was read as ${found[index]} instead of ${line}`);
    },
  },
];
