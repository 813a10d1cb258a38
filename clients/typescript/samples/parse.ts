import { createTextCodec, idRange, parseId, presetLayout, textForms } from "@snowlane/client";

const layout = presetLayout("twitter");
const parsed = parseId(layout, 1541815603606036480n);
console.log(`ticks ${parsed.ticks}`);
console.log(`created ${new Date(parsed.createTimeMs).toISOString()}`);
console.log(`datacenter ${parsed.datacenterId}`);
console.log(`worker ${parsed.workerId}`);
console.log(`sequence ${parsed.sequence}`);

const codec = createTextCodec(layout);
for (const form of textForms) {
  const format = form === "typed" ? { form, typePrefix: "order" } : { form };
  console.log(`${form} ${codec.write(parsed.id, format)}`);
}

const second = new Date("2022-06-28T16:07:40Z");
const { firstId, lastId } = idRange(layout, second, new Date(second.getTime() + 1_000));
console.log(`range ${firstId} ${lastId}`);
