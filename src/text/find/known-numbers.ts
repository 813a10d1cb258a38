/**
 * Numbers of 14 to 20 digits that stand in programs and logs and are never IDs: limits of types, what cgroups write for
 * "no limit", and the constants of common hashes and random generators.
 */
const constants: ReadonlySet<string> = new Set([
  // FNV-1a: https://www.rfc-editor.org/rfc/rfc9923
  "14695981039346656037",
  // 2^64 divided by the golden ratio, as SplitMix64 has it: https://prng.di.unimi.it/splitmix64.c
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

/** Whether a number is one below, at or above a power of two from 2^46 on: the bounds of types, and masks. */
function isBesideAPowerOfTwo(value: bigint): boolean {
  return [value - 1n, value, value + 1n].some((near) => near >= 2n ** 46n && (near & (near - 1n)) === 0n);
}

/** N6: whether digits are a constant, a bound, a repetition, a row such as 1234567890, or round. */
export function isKnownNumber(digits: string, value: bigint): boolean {
  if (new Set(digits).size <= 3) return true;
  if ("123456789012345678901234567890".includes(digits) || "98765432109876543210".includes(digits)) return true;
  return /0{8,}$/.test(digits) || isBesideAPowerOfTwo(value) || constants.has(digits);
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
  /^(?:1[1-5]|2[1-3]|3[1-7]|4[1-6]|5[0-4]|6[1-5]|71|8[12])\d{4}(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])\d{4}$/;
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
