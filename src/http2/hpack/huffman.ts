/** The Huffman code of header strings: RFC 7541 section 5.2 and appendix B. */
import { CompressionError } from "./compression-error.ts";

/**
 * How many bits the code of each byte has, 0 to 255 (RFC 7541 appendix B). The code is canonical, so the lengths
 * determine it: codes are assigned by length, then by symbol, in ascending order.
 */
// biome-ignore format: sixteen by sixteen
const codeBits: readonly number[] = [
  13, 23, 28, 28, 28, 28, 28, 28, 28, 24, 30, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 30, 28, 28, 28, 28, 28, 28, 28, 28, 28,
  6, 10, 10, 12, 13, 6, 8, 11, 10, 10, 8, 11, 8, 6, 6, 6, 5, 5, 5, 6, 6, 6, 6, 6, 6, 6, 7, 8, 15, 6, 12, 10,
  13, 6, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 7, 8, 7, 8, 13, 19, 13, 14, 6,
  15, 5, 6, 5, 6, 5, 6, 6, 6, 5, 7, 7, 6, 6, 6, 5, 6, 7, 6, 5, 5, 6, 7, 7, 7, 7, 7, 15, 11, 14, 13, 28,
  20, 22, 20, 20, 22, 22, 22, 23, 22, 23, 23, 23, 23, 23, 24, 23, 24, 24, 22, 23, 24, 23, 23, 23, 23, 21, 22, 23, 22, 23, 23, 24,
  22, 21, 20, 22, 22, 23, 23, 21, 23, 22, 22, 24, 21, 22, 23, 23, 21, 21, 22, 21, 23, 22, 23, 23, 20, 22, 22, 22, 23, 22, 22, 23,
  26, 26, 20, 19, 22, 23, 22, 25, 26, 26, 26, 27, 27, 26, 24, 25, 19, 21, 26, 27, 27, 26, 27, 24, 21, 21, 26, 26, 28, 27, 27, 27,
  20, 24, 20, 21, 22, 21, 21, 23, 22, 22, 25, 25, 24, 24, 26, 23, 26, 27, 26, 26, 27, 27, 27, 27, 27, 28, 27, 27, 27, 27, 27, 26,
];
/**
 * The symbol after the 256 bytes ends a string; it must never appear (section 5.2), and its first bits are the padding.
 */
const endOfString = 256;
const endOfStringBits = 30;
const shortestCodeBits = 5;

/**
 * The code as a binary tree: `children[2 * node + bit]` is the next node, or `~symbol` at a leaf. Node 0 is the root.
 */
function growTree(): readonly number[] {
  const lengths = [...codeBits, endOfStringBits];
  const symbols = lengths.map((_, symbol) => symbol).toSorted((a, b) => lengths[a]! - lengths[b]! || a - b);
  const missing = 0; // no leaf and no inner node but the root has this value
  const children = [missing, missing];
  let code = 0;
  let codeLength = 0;
  for (const symbol of symbols) {
    code *= 2 ** (lengths[symbol]! - codeLength);
    codeLength = lengths[symbol]!;
    let node = 0;
    for (let bit = codeLength - 1; bit > 0; bit--) {
      const side = 2 * node + ((code >>> bit) & 1);
      if (children[side] === missing) {
        children[side] = children.length / 2;
        children.push(missing, missing);
      }
      node = children[side]!;
    }
    children[2 * node + (code & 1)] = ~symbol;
    code++;
  }
  return children;
}

/**
 * The effect of four bits in each state (a node of the tree): in the low 16 bits the next state, above them the decoded
 * byte plus one, or 0 where none is complete. No four bits complete two bytes, because the shortest code has five.
 * `impossible` marks that the end of string is reached.
 */
function tabulate(children: readonly number[]): Int32Array {
  const steps = new Int32Array(children.length * 8);
  for (let state = 0; state < children.length / 2; state++) {
    for (let nibble = 0; nibble < 16; nibble++) {
      let node = state;
      let decoded = 0;
      for (let bit = 3; bit >= 0 && node >= 0; bit--) {
        node = children[2 * node + ((nibble >> bit) & 1)]!;
        if (node >= 0) continue;
        if (~node === endOfString) break;
        decoded = ~node + 1;
        node = 0;
      }
      steps[state * 16 + nibble] = node < 0 ? impossible : (decoded << 16) | node;
    }
  }
  return steps;
}

const impossible = -1;
const tree = growTree();
const steps = tabulate(tree);
/** The states in which a string may end: at most seven bits into a code, all of them ones (section 5.2). */
const isFinal = new Uint8Array(tree.length / 2);
for (let node = 0, depth = 0; depth < 8; depth++) {
  isFinal[node] = 1;
  node = tree[2 * node + 1]!;
}

let scratch = Buffer.allocUnsafeSlow(4096);

/**
 * Decodes the string in `bytes` from `start` to `end`, exclusive: one character for each byte.
 *
 * @throws CompressionError if it contains the end of string, or ends in anything but up to seven ones.
 */
export function decodeHuffman(bytes: Buffer, start: number, end: number): string {
  const roomBytes = Math.ceil(((end - start) * 8) / shortestCodeBits);
  if (scratch.length < roomBytes) scratch = Buffer.allocUnsafeSlow(2 * roomBytes);
  let state = 0;
  let used = 0;
  for (let at = start; at < end; at++) {
    const byte = bytes[at]!;
    const high = steps[state * 16 + (byte >> 4)]!;
    if (high === impossible) throw malformed();
    if (high > 0xffff) scratch[used++] = (high >> 16) - 1;
    const low = steps[(high & 0xffff) * 16 + (byte & 15)]!;
    if (low === impossible) throw malformed();
    if (low > 0xffff) scratch[used++] = (low >> 16) - 1;
    state = low & 0xffff;
  }
  if (isFinal[state] === 0) throw malformed();
  return scratch.toString("latin1", 0, used);
}

function malformed(): CompressionError {
  return new CompressionError("a Huffman-coded string is malformed");
}
