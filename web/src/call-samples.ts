import { text as goCode } from "../../clients/go/samples/basic/main.go?text";
import { text as javaCode } from "../../clients/java/samples/Basic.java?text";
import { text as pythonCode } from "../../clients/python/samples/basic.py?text";
import { text as typescriptCode } from "../../clients/typescript/samples/basic.ts?text";

/** The languages in which a call is shown. */
export const callLanguages = ["curl", "typescript", "go", "java", "python"] as const;

/** One of {@link callLanguages}. */
export type CallLanguage = (typeof callLanguages)[number];

/** Their names. */
export const callLanguageNames: Readonly<Record<CallLanguage, string>> = {
  curl: "curl",
  typescript: "TypeScript",
  go: "Go",
  java: "Java",
  python: "Python",
};

/** The samples of the clients, which are tested where they stand. */
const samples: Readonly<Record<Exclude<CallLanguage, "curl">, string>> = {
  typescript: typescriptCode,
  go: goCode,
  java: javaCode,
  python: pythonCode,
};

/** The address in the samples, which becomes that of the page. */
const sampleAddress = "http://127.0.0.1:7609";

/** The code that gets an ID from the server at an origin. */
export function callSample(language: CallLanguage, origin: string): string {
  if (language !== "curl") return samples[language].trimEnd().replaceAll(sampleAddress, origin);
  // No line is indented: a panel that folds a long one would leave an empty line.
  return `curl -d '{}' \\\n-H 'content-type: application/json' \\\n'${origin}/snowlane.v1.IdService/NextId'`;
}
