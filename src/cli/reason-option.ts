import { text } from "../config/setting-kinds.ts";

/** A `--reason` that fits into a record and a log line. */
export function reasonOption(doc: string) {
  return text({
    name: "reason",
    pattern: /^[ -~]{1,200}$/,
    hint: "1 to 200 printable ASCII characters",
    doc,
  });
}
