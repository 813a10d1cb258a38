/**
 * Numbers of 14 to 20 digits that occur in programs and logs and are never IDs: limits of types, the number that
 * cgroups write for "no limit", and the constants of common hashes and random generators.
 */
const constants: ReadonlySet<string> = new Set([
  // FNV-1a: https://www.rfc-editor.org/rfc/rfc9923
  "14695981039346656037",
  // 2^64 divided by the golden ratio, as in SplitMix64: https://prng.di.unimi.it/splitmix64.c
  "11400714819323198485",
  "11400714819323198549",
  // The multiplier and increment of Knuth's MMIX generator and of PCG: https://www.pcg-random.org
  "6364136223846793005",
  "1442695040888963407",
  // The multipliers of xorshift*: https://vigna.di.unimi.it/ftp/papers/xorshift.pdf
  "2685821657736338717",
  "1181783497276652981",
  // L'Ecuyer's multipliers: https://doi.org/10.1090/S0025-5718-99-00996-5
  "2862933555777941757",
  "3935559000370003845",
  // The multipliers of SplitMix64 and MurmurHash3: https://github.com/aappleby/smhasher/wiki/MurmurHash3
  "13787848793156543929",
  "10723151780598845931",
  "18397679294719823053",
  "14181476777654086739",
  // memory.max without a limit: https://docs.kernel.org/admin-guide/cgroup-v1/memory.html
  "9223372036854771712",
]);

/** Ticks of 100 ns since the year 1 (.NET) from 1990 to 2039, of 18 digits. */
const dotnetTicks = { first: 627_667_488_000_000_000n, end: 643_445_856_000_000_000n };

/**
 * Whether a number is within 1,024 of a power of two from 2^46 on: the bounds of types, masks, and the primes next to
 * them.
 */
function isBesideAPowerOfTwo(value: bigint): boolean {
  const bits = value.toString(2).length;
  return [bits - 1, bits].some((power) => power >= 46 && isWithin(value, 2n ** BigInt(power), 1_024n));
}

function isWithin(value: bigint, other: bigint, distance: bigint): boolean {
  return value >= other - distance && value <= other + distance;
}

/** The first digits of 2^63 and 2^64, as programs cut or round them. */
const boundsBegun = /^(?:922337203685477[56]|1844674407370955)/;

/** The first digits of pi, e, the golden ratio, roots, logarithms, and the constants of Euler, Catalan and Apéry. */
const constantsBegun =
  /^(?:31415926535897|27182818284590|16180339887498|61803398874989|14142135623730|17320508075688|22360679774997|69314718055994|30102999566398|43429448190325|23025850929940|57721566490153|91596559417721|12020569031595|62831853071795|70710678118654)/;

const factorials = new Set<bigint>();
for (let product = 1n, factor = 1n; factor <= 20n; factor++) factorials.add((product *= factor));
const fibonacci = new Set<bigint>();
for (let [one, two] = [1n, 1n]; one < 2n ** 64n; [one, two] = [two, one + two]) fibonacci.add(one);

/** Whether a number is a factorial, a Fibonacci number, or a power of a whole number: one in 10^9 IDs is by chance. */
function isOfArithmetic(value: bigint): boolean {
  if (factorials.has(value) || fibonacci.has(value)) return true;
  return [2, 3, 5, 7, 11, 13, 17].some(
    (power) => BigInt(Math.round(Number(value) ** (1 / power))) ** BigInt(power) === value,
  );
}

/** Whether digits repeat their first half or less, count upwards, or read the same backwards. */
function isPattern(digits: string): boolean {
  for (let period = 1; period <= digits.length / 2; period++) if (digits.startsWith(digits.slice(period))) return true;
  if ("123456789101112131415161718192021".startsWith(digits)) return true;
  return digits.length >= 15 && Array.from(digits).toReversed().join("") === digits;
}

/** N6: whether digits are a constant, a bound, a pattern, a row such as 1234567890, round, or of arithmetic. */
export function isKnownNumber(digits: string, value: bigint): boolean {
  if (new Set(digits).size <= 3) return true;
  if ("123456789012345678901234567890".includes(digits) || "98765432109876543210".includes(digits)) return true;
  if (/0{8,}$/.test(digits) || boundsBegun.test(digits) || constantsBegun.test(digits) || isPattern(digits))
    return true;
  return isBesideAPowerOfTwo(value) || constants.has(digits) || isOfArithmetic(value);
}

/** The first values of SHA-512 and BLAKE2b below 2^63. @see https://www.rfc-editor.org/rfc/rfc7693 */
const hexConstants: ReadonlySet<string> = new Set([
  "6a09e667f3bcc908",
  "3c6ef372fe94f82b",
  "510e527fade682d1",
  "1f83d9abfb41bd6b",
  "5be0cd19137e2179",
]);

/** Whether 13 to 16 hexadecimal digits are a mask, a constant, a word that programmers spell, or eight letters. */
export function isKnownHex(digits: string): boolean {
  const lower = digits.toLowerCase();
  if (new Set(lower).size <= 3 || hexConstants.has(lower) || isPattern(lower) || /0{7,}$/.test(lower)) return true;
  if ("0123456789abcdef0123456789abcdef".includes(lower) || "fedcba9876543210".includes(lower)) return true;
  if (/deadbeef|cafebabe|feedface|baadf00d|badc0ffe|deadc0de|8badf00d|c0ffee|facefeed|f00dbabe/.test(lower))
    return true;
  const bytes = lower.length === 16 ? (lower.match(/../g) ?? []) : [];
  if (bytes.length > 0 && bytes.every((byte) => /[a-z]/i.test(String.fromCharCode(Number.parseInt(byte, 16)))))
    return true;
  const codes = bytes.map((byte) => Number.parseInt(byte, 16));
  // Bytes that rise or fall by one step, such as 0x0102030405060708, are an example or a pattern of memory.
  const [first = 0, second = 0] = codes;
  if (codes.length > 0 && codes.every((code, at) => code === first + at * (second - first))) return true;
  const value = BigInt(`0x${lower}`);
  return isKnownNumber(String(value), value);
}

const dayMs = 86_400_000;
/**
 * Counts of time since other years than 1970: how many a millisecond, the milliseconds from their start to 1970, and
 * the digits that they have in our years. FILETIME and Chrome count from 1601, UUIDs from 1582, .NET from the year 1.
 */
const otherCounts = [
  { perMs: 10_000, offsetMs: 11_644_473_600_000, digits: 18 },
  { perMs: 1_000, offsetMs: 11_644_473_600_000, digits: 17 },
  { perMs: 10_000, offsetMs: 12_219_292_800_000, digits: 18 },
  { perMs: 10_000, offsetMs: 62_135_596_800_000, digits: 18 },
] as const;
/** Real IDs of some hours of one year fall into it. */
const nearDays = 30;

/** Whether digits are a count of time of another year than 1970 that ends up within 30 days of now. */
export function isOtherTimeNow(digits: string, value: bigint, nowMs: number): boolean {
  return otherCounts.some(
    ({ perMs, offsetMs, digits: length }) =>
      digits.length === length && Math.abs(Number(value) / perMs - offsetMs - nowMs) < nearDays * dayMs,
  );
}

/** Whether digits are a count of .NET's ticks that is a whole second. */
export function isDotnetTicks(digits: string, value: bigint): boolean {
  return digits.length === 18 && value >= dotnetTicks.first && value < dotnetTicks.end && digits.endsWith("00000");
}

/** N7: whether digits begin with a date to the second, from 1990 to 2039. */
export function beginsWithDate(digits: string): boolean {
  return /^(?:199\d|20[0-3]\d)(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])[0-5]\d[0-5]\d/.test(digits);
}

const provinces =
  /^(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[12])\d{4}(?:18|19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{4}$/;
const identityWeights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];

/**
 * N8: whether 18 digits are a Chinese identity number (GB 11643): a province, a date of birth, a check digit.
 *
 * @param isLenient - Whether a wrong check digit is overlooked, as in numbers that were made up.
 */
export function isIdentityNumber(digits: string, isLenient: boolean): boolean {
  if (!provinces.test(digits)) return false;
  const sum = identityWeights.reduce((total, weight, i) => total + weight * Number(digits.charAt(i)), 0);
  return isLenient || "10X98765432".charAt(sum % 11) === digits.charAt(17);
}
