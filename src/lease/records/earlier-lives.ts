/**
 * The lives that the store had shortly before the present one: `<hash>@<Unix milliseconds>` of each, the latest first.
 *
 * A life that soon comes back indicates two servers that answer in turn. docs/adr/0150 has the decision.
 */
import { createHash } from "node:crypto";

/** How many earlier lives are kept. */
const livesMax = 3;

/** Longest text: 16 hex digits, an @ and 14 digits for each, and blanks between them. */
export const earlierLivesLengthMax = livesMax * 32;

/** Adds the life that ends now. */
export function addEarlierLife(earlier: string | undefined, identity: string, endMs: number): string {
  const hash = hashOf(identity);
  const others = piecesOf(earlier).filter((piece) => piece.hash !== hash);
  return [{ hash, endMs }, ...others]
    .slice(0, livesMax)
    .map((piece) => `${piece.hash}@${piece.endMs}`)
    .join(" ");
}

/** When an earlier life with this identity ended: Unix milliseconds; undefined if none of those kept has it. */
export function endOfLife(earlier: string | undefined, identity: string): number | undefined {
  const hash = hashOf(identity);
  return piecesOf(earlier).find((piece) => piece.hash === hash)?.endMs;
}

function piecesOf(earlier: string | undefined): readonly { readonly hash: string; readonly endMs: number }[] {
  if (earlier === undefined || earlier === "") return [];
  return earlier.split(" ").map((piece) => {
    const [hash = "", endMs = ""] = piece.split("@");
    return { hash, endMs: Number(endMs) };
  });
}

/** The hash does not depend on the order of the parts. */
function hashOf(identity: string): string {
  const parts = identity.split(" ").toSorted().join(" ");
  return createHash("sha256").update(parts).digest("hex").slice(0, 16);
}
