/**
 * Clients with one rule switched off, by a patch of the text of ours: the controls of the conformance program. Each is
 * to break the cases that it names; it may break others, too.
 */
import { copyFileSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { rubyCall } from "../../support/fetch/ruby.ts";

/** One rule switched off. */
export interface BrokenClient {
  /** What it does wrong. */
  readonly wrong: string;
  /** Each must be broken. */
  readonly cases: readonly string[];
  /** Of the repository. */
  readonly file: string;
  /** The text that the file has once, and the text in its place. */
  readonly from: string;
  readonly to: string;
}

const thin = "test/clients/conformance/thin-client.rb";
const typescript = "clients/typescript/src";

export const brokenClients: readonly BrokenClient[] = [
  {
    wrong: "goes to another endpoint with each call",
    cases: ["stays"],
    file: thin,
    from: "    return 0 if up.include?(@current)\n",
    to: "",
  },
  {
    wrong: "gives an attempt all the time of its call",
    cases: [
      "hanging-server",
      "dark-calls",
      "frozen-calls",
      "dropped-calls",
      "dark-buffer",
      "frozen-buffer",
      "dropped-buffer",
    ],
    file: thin,
    from: "[limit_ms, deadline - now_ms].min",
    to: "deadline - now_ms",
  },
  {
    wrong: "tries each call once",
    cases: ["retried", "failover", "connections-end", "half-open"],
    file: thin,
    from: "(0..@retry_max).each",
    to: "(0..(@retry_max = 0)).each",
  },
  {
    wrong: "tries again up to nine times",
    cases: ["retried"],
    file: thin,
    from: '(keys["retry_max"] || 3).to_i',
    to: "9",
  },
  {
    wrong: "takes what a server cancelled for a lasting error",
    cases: ["dropped-requests"],
    file: thin,
    from: '    code = "UNAVAILABLE" if code == "CANCELED"\n',
    to: "",
  },
  {
    wrong: "tries every error again",
    cases: ["not-retried"],
    file: thin,
    from: "def retried? = code",
    to: "def retried? = true || code",
  },
  {
    wrong: "obeys RetryInfo without a bound",
    cases: ["retry-info"],
    file: thin,
    from: "[failure.retry_after_ms || 0, 1_000].min",
    to: "(failure.retry_after_ms || 0)",
  },
  {
    wrong: "takes a quota to another endpoint",
    cases: ["quota"],
    file: thin,
    from: 'last&.reason == "QUOTA_EXCEEDED" ? quota_pause(last) : choose',
    to: "(@current = (@endpoints - [@current]).sample || @current; 0)",
  },
  {
    wrong: "begins waits that outlast the deadline",
    cases: ["no-vain-wait"],
    file: thin,
    from: "      raise last || @current.last_failure if now_ms + pause_ms >= deadline\n",
    to: "",
  },
  {
    wrong: "takes no mistake at the first connection for one",
    cases: ["nobody-there", "tls-to-plain", "untrusted", "another-program"],
    file: thin,
    from: "is_first = !@has_answered &&",
    to: "is_first = false &&",
  },
  {
    wrong: "does not say what to do where a server speaks TLS",
    cases: ["plain-to-tls"],
    file: thin,
    from: "; if the server speaks TLS, begin the endpoint with https://",
    to: "",
  },
  {
    wrong: "waits where the path is wrong",
    cases: ["wrong-path"],
    file: thin,
    from: 'answer.code == "404" ? "unimplemented" : "unknown"',
    to: '"unavailable"',
  },
  {
    wrong: "takes the brackets of an IPv6 address for a part of it",
    cases: ["ipv6"],
    file: thin,
    from: "@uri.hostname",
    to: "@uri.host",
  },
  {
    wrong: "sends a refill once, with all the time of an attempt",
    cases: ["one-of-three-frozen"],
    file: thin,
    from: "(4 * @rtt_ms).clamp(100, 1_000) : 500",
    to: "2_000 : 2_000",
  },
  {
    wrong: "gives up a refill after 0.3 s, however slow its server is",
    cases: ["slow-buffer"],
    file: thin,
    from: "(4 * @rtt_ms).clamp(100, 1_000)",
    to: "(4 * @rtt_ms).clamp(100, 300)",
  },
  {
    wrong: "opens a connection for each request",
    cases: ["fleet-restart", "fleet-stall", "slow-server"],
    file: `${typescript}/grpc/grpc-channel.ts`,
    from: "    if (this.#current?.takesRequests !== true) {\n",
    to: "    if (true) {\n",
  },
  {
    wrong: "opens a second connection beside one that has not answered yet",
    cases: ["late-after-restart"],
    file: `${typescript}/grpc/grpc-channel.ts`,
    from: "this.#current?.hasAnsweredRequest !== true || nowMs",
    to: "nowMs",
  },
  {
    wrong: "asks no server for its deployment before the first ID",
    cases: ["two-deployments", "six-processes"],
    file: thin,
    from: "    return @deployment = 0 if @endpoints.size == 1\n",
    to: "    return @deployment = 0\n",
  },
  {
    wrong: "takes the IDs of any deployment",
    cases: ["another-deployment-later"],
    file: thin,
    from: "    raise mismatch(endpoint, number) if number != @deployment\n",
    to: "",
  },
  {
    wrong: "takes a server that does not tell its deployment for another one's",
    cases: ["one-deployment"],
    file: thin,
    from: "print.empty? ? nil : [print",
    to: "[print",
  },
  {
    wrong: "reserves for five seconds",
    cases: ["fresh"],
    file: thin,
    from: "[[@rate, grown, 8].max.ceil",
    to: "[[5 * @rate, grown, 8].max.ceil",
  },
  {
    wrong: "reserves again while it has stock",
    cases: ["even-rate"],
    file: thin,
    from: " if stock <= [@size / 4, 8 * @rate * (@rtt_ms || 0) / 1_000].max\n",
    to: "\n",
  },
  {
    wrong: "hands out IDs of any age",
    cases: ["suspend"],
    file: thin,
    from: "      drop_old\n",
    to: "",
  },
  {
    wrong: "takes every answer as it is",
    cases: ["invalid-answers"],
    file: thin,
    from: "    check(runs, count)\n",
    to: "",
  },
  {
    wrong: "gives each failure of a refill to the callers that wait",
    cases: ["restart"],
    file: thin,
    from: "@failure&.permanent?",
    to: "@failure",
  },
  {
    wrong: "gives up the calls on their way when a server sends GOAWAY",
    cases: ["goaway"],
    file: `${typescript}/grpc/http2-client.ts`,
    from: "const unprocessed = [...this.#streams.values()].filter(({ id }) => id > lastId);",
    to:
      "const unprocessed = [];\n" +
      "for (const { request } of this.#streams.values()) request.onReset(errorCode.internalError);\n" +
      "this.#streams.clear();",
  },
  {
    wrong: "keeps a dark connection whose callers have short deadlines",
    cases: ["dark-short-deadlines"],
    file: `${typescript}/grpc/client-socket.ts`,
    from: "return nowMs - (this.#silentSinceMs ?? Infinity) >= silenceMs;",
    to: "return false;",
  },
  {
    wrong: "does not say what is wrong with a certificate",
    cases: ["wrong-certificates"],
    file: `${typescript}/connection-mistake.ts`,
    from: '  CERT_HAS_EXPIRED: "expired",\n',
    to: "",
  },
  {
    wrong: "takes one of the addresses of a name",
    cases: ["names"],
    file: `${typescript}/node.ts`,
    from: "map(({ address }) => address);",
    to: "map(({ address }) => address).slice(0, 1);",
  },
  {
    wrong: "opens more streams over a connection than its server allows",
    cases: ["streams-apart"],
    file: `${typescript}/grpc/stream-channels.ts`,
    from: "const share = 0.9;",
    to: "const share = 9;",
  },
  {
    wrong: "takes two regions for two deployments",
    cases: ["two-regions"],
    file: `${typescript}/deployments.ts`,
    from: "areDisjoint(used.info, server.info)",
    to: "false",
  },
  {
    wrong: "takes a step of the wall clock for time that passed",
    cases: ["stepped-clock"],
    file: `${typescript}/moment.ts`,
    from: "wallMs - runningMs <= stepMs || this.#uptimeMs === undefined",
    to: "true",
  },
  {
    wrong: "uses its reserve before fresh IDs",
    cases: ["fresh-first"],
    file: `${typescript}/stock.ts`,
    from: "    const piece = this.#reserve.at(-1);\n    if (spare !== undefined || piece === undefined) return spare;\n",
    to: "    const piece = this.#reserve.at(0);\n    if (piece === undefined) return spare;\n    this.#spare = spare;\n",
  },
  {
    wrong: "takes chunks whose IDs do not rise",
    cases: ["invalid-chunks"],
    file: `${typescript}/chunk-check.ts`,
    from: "id <= lastId || id >",
    to: "id >",
  },
  {
    wrong: "takes no stream up again",
    cases: ["large-chunks"],
    file: `${typescript}/attempts.ts`,
    from: 'return code === "UNAVAILABLE" ||',
    to: "return",
  },
  {
    wrong: "reads the neighbour of an ID",
    cases: ["read-alike"],
    file: `${typescript}/offline.ts`,
    from: "parse(layout, wholeId(id))",
    to: "parse(layout, wholeId(id) ^ 1n)",
  },
];

/** How often the file of a broken client has the text that its patch replaces. */
export function countOfPatched({ file, from }: BrokenClient): number {
  return readFileSync(file, "utf8").split(from).length - 1;
}

/** How a broken client is started. @param folder - For its text. */
export async function brokenCall({ file, from, to }: BrokenClient, folder: string): Promise<readonly string[]> {
  const text = readFileSync(file, "utf8");
  const patched = join(folder, basename(file));
  writeFileSync(
    patched,
    text.replace(from, () => to),
  );
  if (file === thin) {
    copyFileSync("test/clients/conformance/thin-program.rb", join(folder, "thin-program.rb"));
    return [...(await rubyCall()), join(folder, "thin-program.rb")];
  }
  const variables = [`SNOWLANE_PATCHED=${file}`, `SNOWLANE_PATCHED_TEXT=${patched}`];
  const hook = ["--import", "./test/clients/conformance/patched-source.mjs"];
  return ["env", ...variables, process.execPath, ...hook, "clients/typescript/test/interop-program.ts"];
}
