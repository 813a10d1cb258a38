import { hash } from "node:crypto";
import { readFileSync, statSync } from "node:fs";
import * as v from "valibot";
import { refuseProblems, type SettingProblem } from "../../config/load-settings.ts";
import { accessOf, writableHint } from "../../config/secret-file.ts";
import { permissions } from "../call/method-table.ts";
import { canonicalName } from "./certificate-names.ts";

/** The largest file, in bytes. */
const fileBytesMax = 1_048_576;
const principalsMax = 1_000;
const tokensMax = 16;
const certificatesMax = 16;
/** The largest quota of IDs or calls a second; a larger one would limit nothing. */
const perSecondMax = 1_000_000_000;
const streamsMaxMax = 1_000_000;

/** The names that principals may have. */
export const principalName = {
  pattern: /^[a-z0-9][a-z0-9._-]{0,62}$/,
  hint: "1 to 63 lower-case letters, digits and ._-, beginning with a letter or a digit",
};
const tokenHint = "sha256: and 64 lower-case hex digits, as snowlane token prints, and never the token itself";
const certificateHint =
  "uri:, dns:, email: or ip: and a name of letters, digits and ._:/@*+~-, such as dns:checkout.prod.svc";
const permissionHint = `one or more of ${permissions.join(", ")}`;
const principalHint = "an object with name, permissions, tokens or certificates, and quotas; and with no other key";
const fileHint = 'one JSON object, { "principals": [...] }, with no other key';

/** A limit of at least 1. With a limit of 0, a principal could do nothing. */
function limit(max: number) {
  const hint = `a whole number from 1 to ${max}; leave it out for no limit`;
  return v.optional(v.pipe(v.number(hint), v.integer(hint), v.minValue(1, hint), v.maxValue(max, hint)));
}

/** A list of at most `max` items. A list that is too long is reported together with its bad items. */
function listOf<Item extends v.GenericSchema>(item: Item, max: number) {
  return v.pipe(
    v.array(item, "a list"),
    v.rawCheck(({ dataset: { value }, addIssue }) => {
      if (Array.isArray(value) && value.length > max) addIssue({ message: `at most ${max}` });
    }),
  );
}

const principalSchema = v.strictObject(
  {
    name: v.pipe(v.string(principalName.hint), v.regex(principalName.pattern, principalName.hint)),
    tokens: v.optional(listOf(v.pipe(v.string(tokenHint), v.regex(/^sha256:[0-9a-f]{64}$/, tokenHint)), tokensMax), []),
    certificates: v.optional(
      listOf(
        v.pipe(
          v.string(certificateHint),
          v.check((text) => canonicalName(text) !== undefined, certificateHint),
          v.transform((text) => canonicalName(text) ?? text),
        ),
        certificatesMax,
      ),
      [],
    ),
    permissions: v.pipe(v.array(v.picklist(permissions, permissionHint), "a list"), v.minLength(1, permissionHint)),
    idsPerSecond: limit(perSecondMax),
    callsPerSecond: limit(perSecondMax),
    streamsMax: limit(streamsMaxMax),
  },
  principalHint,
);
const fileSchema = v.strictObject({ principals: listOf(principalSchema, principalsMax) }, fileHint);

/**
 * Names, tokens and certificates, each of which may occur once in a file; they are also read from a file with other
 * faults.
 */
const anyTexts = v.fallback(v.array(v.unknown()), []);
const anyPrincipal = v.object({ name: v.optional(v.unknown()), tokens: anyTexts, certificates: anyTexts });
const anyFileSchema = v.fallback(
  v.object({ principals: v.array(v.fallback(anyPrincipal, { tokens: [], certificates: [] })) }),
  { principals: [] },
);

/** One entry of a file of principals; its names of certificates are canonical. */
export type PrincipalEntry = v.InferOutput<typeof principalSchema>;

/** The keys that a fault may be placed at: no other text of the file is shown. */
const keys: ReadonlySet<unknown> = new Set(["principals", ...Object.keys(principalSchema.entries)]);

/**
 * Reads the bytes of a file of principals.
 *
 * @throws IdError INVALID_CONFIG if it is not a file, cannot be read, is too large, or others may write it.
 */
export function readPrincipalBytes(path: string): Buffer {
  let hint: string;
  try {
    const found = statSync(path);
    // Reading a pipe or a device might never end.
    if (found.isFile() && found.size <= fileBytesMax) {
      if (!accessOf(path).othersWrite) return readFileSync(path);
      hint = writableHint;
    } else {
      hint = `Name a file of at most ${fileBytesMax} bytes.`;
    }
  } catch (error) {
    hint = `Name a file that can be read: ${(error as Error).message}.`;
  }
  return refuseProblems([{ place: "--principals", value: path, hint }]);
}

/**
 * Parses a file of principals. No error shows a text of the file that could be a token.
 *
 * @param path - For the errors.
 * @throws IdError INVALID_CONFIG with all faults of the file.
 */
export function parsePrincipals(bytes: Buffer, path: string): readonly PrincipalEntry[] {
  let content: unknown;
  try {
    content = JSON.parse(bytes.toString("utf8"));
  } catch (error) {
    return refuseProblems([{ place: "--principals", value: path, hint: `It is not JSON${placeOf(error)}.` }]);
  }
  const parsed = v.safeParse(fileSchema, content);
  const issues = parsed.issues?.map((issue) => ({ place: pathOf(issue), hint: issue.message })) ?? [];
  const problems = [...issues, ...repeatedTexts(content), ...guessableTokens(content)];
  if (parsed.success && problems.length === 0) return parsed.output.principals;
  return refuseProblems(problems.map(({ place, hint }) => ({ place: `${place} in ${path}`, hint })));
}

/** JSON.parse quotes the text around a fault, which may be a token. Only the position is shown. */
function placeOf(error: unknown): string {
  return / at position \d+(?: \(line \d+ column \d+\))?/.exec(String(error))?.[0] ?? "";
}

/** `principals[2].tokens[0]`. */
function pathOf({ path }: Pick<v.BaseIssue<unknown>, "path">): string {
  const parts = path?.map(({ key }) => {
    if (typeof key === "number") return `[${key}]`;
    return keys.has(key) ? `.${String(key)}` : "";
  });
  return parts?.join("").slice(1) || "--principals";
}

/** Names, tokens and certificates that occur twice in the content of a file, which may have other faults. */
function repeatedTexts(content: unknown): readonly Pick<SettingProblem, "place" | "hint">[] {
  const seen = new Map<string, string>();
  const problems: Pick<SettingProblem, "place" | "hint">[] = [];
  const look = (kind: string, text: unknown, place: string): void => {
    if (typeof text !== "string") return;
    const key = `${kind} ${kind === "certificates" ? (canonicalName(text) ?? text) : text}`;
    const before = seen.get(key);
    if (before === undefined) seen.set(key, place);
    else problems.push({ place, hint: `It is already at ${before}: remove one of the two.` });
  };
  for (const [index, principal] of v.parse(anyFileSchema, content).principals.entries()) {
    look("name", principal.name, `principals[${index}].name`);
    for (const kind of ["tokens", "certificates"] as const) {
      for (const [at, text] of principal[kind].entries()) look(kind, text, `principals[${index}].${kind}[${at}]`);
    }
  }
  return problems;
}

/** Texts that people use for a first try. */
const wordsTried = ["admin", "changeme", "password", "root", "secret", "snowlane", "test", "token", "snw_", "123456"];
const printable = Array.from({ length: 95 }, (_, index) => String.fromCodePoint(32 + index));

/** Texts that anyone would try first: the words above, up to two characters, and numbers of up to four digits. */
function* guesses(): Generator<string> {
  yield "";
  yield* wordsTried;
  for (const first of printable) {
    yield first;
    for (const second of printable) yield first + second;
  }
  for (let digits = 3; digits <= 4; digits += 1) {
    for (let number = 0; number < 10 ** digits; number += 1) yield String(number).padStart(digits, "0");
  }
}

/** Tokens whose text can be guessed. The text itself is not shown. */
function guessableTokens(content: unknown): readonly Pick<SettingProblem, "place" | "hint">[] {
  const places = new Map<unknown, string>();
  const names: string[] = [];
  for (const [index, principal] of v.parse(anyFileSchema, content).principals.entries()) {
    if (typeof principal.name === "string") names.push(principal.name);
    for (const [at, text] of principal.tokens.entries()) places.set(text, `principals[${index}].tokens[${at}]`);
  }
  if (places.size === 0) return [];
  const hint = "The token behind it is easy to guess. Make one with snowlane token.";
  const found = [...guesses(), ...names].map((guess) => places.get(`sha256:${hash("sha256", guess, "hex")}`));
  return [...new Set(found)].filter((place) => place !== undefined).map((place) => ({ place, hint }));
}
