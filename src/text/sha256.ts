/**
 * SHA-256 (FIPS 180-4) in plain arithmetic, because texts must be equal and computed at once in every runtime:
 * node:crypto is not in browsers, and WebCrypto answers by promises only. docs/adr/0032 has the decision.
 */

const blockLength = 64;
const roundConstants = new Int32Array(primeRoots(64, 1 / 3));
const initialState = new Int32Array(primeRoots(8, 1 / 2));

/** First 32 bits of the fractional parts of the roots of the first primes: how FIPS 180-4 defines its constants. */
function primeRoots(count: number, exponent: number): number[] {
  const primes: number[] = [];
  for (let n = 2; primes.length < count; n++) {
    if (primes.every((prime) => n % prime !== 0)) primes.push(n);
  }
  return primes.map((prime) => Math.floor((prime ** exponent % 1) * 2 ** 32));
}

/** SHA-256 of a message: 32 bytes. */
export function sha256(message: Uint8Array): Uint8Array {
  const padded = new Uint8Array(Math.ceil((message.length + 9) / blockLength) * blockLength);
  padded.set(message);
  padded[message.length] = 0x80;
  const view = new DataView(padded.buffer);
  const bits = message.length * 8;
  view.setUint32(padded.length - 8, Math.floor(bits / 2 ** 32));
  view.setUint32(padded.length - 4, bits);
  const state = new Int32Array(initialState);
  for (let offset = 0; offset < padded.length; offset += blockLength) compress(state, view, offset);
  const digest = new DataView(new ArrayBuffer(32));
  for (let i = 0; i < 8; i++) digest.setInt32(i * 4, state[i]!);
  return new Uint8Array(digest.buffer);
}

const schedule = new Int32Array(64);

function compress(state: Int32Array, view: DataView, offset: number): void {
  for (let i = 0; i < 16; i++) schedule[i] = view.getInt32(offset + i * 4);
  for (let i = 16; i < 64; i++) {
    const w15 = schedule[i - 15]!;
    const w2 = schedule[i - 2]!;
    const small0 = rotateRight(w15, 7) ^ rotateRight(w15, 18) ^ (w15 >>> 3);
    const small1 = rotateRight(w2, 17) ^ rotateRight(w2, 19) ^ (w2 >>> 10);
    schedule[i] = schedule[i - 16]! + small0 + schedule[i - 7]! + small1;
  }
  let a = state[0]!;
  let b = state[1]!;
  let c = state[2]!;
  let d = state[3]!;
  let e = state[4]!;
  let f = state[5]!;
  let g = state[6]!;
  let h = state[7]!;
  for (let i = 0; i < 64; i++) {
    const big1 = rotateRight(e, 6) ^ rotateRight(e, 11) ^ rotateRight(e, 25);
    const t1 = (h + big1 + ((e & f) ^ (~e & g)) + roundConstants[i]! + schedule[i]!) | 0;
    const big0 = rotateRight(a, 2) ^ rotateRight(a, 13) ^ rotateRight(a, 22);
    const t2 = (big0 + ((a & b) ^ (a & c) ^ (b & c))) | 0;
    h = g;
    g = f;
    f = e;
    e = (d + t1) | 0;
    d = c;
    c = b;
    b = a;
    a = (t1 + t2) | 0;
  }
  state[0]! += a;
  state[1]! += b;
  state[2]! += c;
  state[3]! += d;
  state[4]! += e;
  state[5]! += f;
  state[6]! += g;
  state[7]! += h;
}

function rotateRight(word: number, bits: number): number {
  return (word >>> bits) | (word << (32 - bits));
}
