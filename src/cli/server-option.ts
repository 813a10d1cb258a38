import { text } from "../config/setting-kinds.ts";
import type { Setting } from "../config/setting.ts";

/** `--server URL`, where a command can ask a server instead of the store. */
export function serverOption(doc: string): Setting<string> {
  return text({
    name: "server",
    placeholder: "URL",
    pattern: /^https?:\/\/[^\s/@]+\/?$/,
    hint: "a URL such as http://127.0.0.1:7609",
    doc,
    redact: (value) => value.replace(/\/\/.*@/, "//***@"),
  });
}
