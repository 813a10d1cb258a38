import { expect, test } from "vitest";
import { IdError } from "../../errors.ts";
import { answerProbe } from "./probes.ts";

/** The answer of `/readyz` while a call for an ID would get this error. */
async function readyzOf(error: IdError): Promise<readonly [status: number, text: string]> {
  const { status, body } = answerProbe({ path: "/readyz", method: "GET" }, () => error)!;
  const chunks: Uint8Array[] = [];
  for await (const chunk of body!) chunks.push(chunk);
  return [status, Buffer.concat(chunks).toString()];
}

test("a probe shows what a call would get, and of the error of a start its reason alone", async () => {
  const waits = new IdError("STORE_UNAVAILABLE", "The store cannot be used.");
  expect(await readyzOf(waits)).toEqual([503, "STORE_UNAVAILABLE: The store cannot be used.\n"]);
  const refused = new IdError("INVALID_CONFIG", "The postgres store refuses us: no password for root at db.internal.");
  expect(await readyzOf(refused)).toEqual([503, "INVALID_CONFIG: The start has failed, and the log has the cause.\n"]);
});
