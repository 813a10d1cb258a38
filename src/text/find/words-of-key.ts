/** What the word before a token says about it. */
export interface KeyMeaning {
  /** It names an ID: `id`, `userId`, `order`. */
  readonly isId: boolean;
  /** It names a time: `iat`, `createdAt`, `ts`. */
  readonly isTime: boolean;
  /** It names a number that is never one of ours: `balance`, `bytes`, `trace_id`. Beats {@link isId} if `isStrong`. */
  readonly isOther: boolean;
}

const idWords = words("id ids uid uids snowflake snowflakes guild channel status tweet message order user");
const timeWords = words(
  "ts t time timestamp date iat exp nbf created updated modified since until at ms us unix epoch expires expiry mtime",
);
const timeEndings = /[a-z](?:At|Ts|Time|Timestamp)$/;
const otherWords = words(
  "balance amount value price sum total wei gwei gas nonce size bytes count counter offset seed rand random hash " +
    "hashcode crc crc32 crc64 checksum digest fingerprint etag nanos nano ns duration elapsed latency phone tel mobile " +
    "fax card pan iban imei imsi iccid ean isbn issn gtin upc span ray md5 sha1 sha256 md4 ticks filetime tracking awb " +
    "waybill ssn passport lat lon lng latitude longitude prime modulus multiplier mask magic max min limit capacity " +
    "usec nsec hashcodes fnv xxhash xxh64 sscc nve dhl ups usps fedex gls parcel sendung sendungsnummer colis trace murmur murmur3 cityhash siphash simhash serialno " +
    "octets packets cycles instructions jiffies sectors fib fibonacci factorial fact sqrt pow gcd lcm binomial comb " +
    "product quotient remainder mean avg average median variance population salt iv otp barcode vat cpf cnpj aadhaar " +
    "orcid isni lei isin eid odometer konto kontonummer steuernummer telefon telefono tarjeta cuenta seguimiento suivi " +
    "carte telephone getrandbits randint randrange nanotime rdtsc " +
    "xxh3 fnv1a farmhash adler adler32 djb2 hmac digests " +
    "dtype float float32 float64 double " +
    "rax rbx rcx rdx rsi rdi rbp rsp rip r8 r9 r10 r11 r12 r13 r14 r15 cr2 eflags",
);
/** Words that make a quantity of what follows, whatever is between: "bytes sent", "packets in". */
const quantityWords = words("bytes octets packets sectors cycles instructions nanoseconds microseconds wei gwei");
/** How names of a quantity begin: `balanceOf`, `amountIn`, `total_supply`. */
const namesOfQuantity = /^(?:balance|amount|price|nonce|size|checksum|digest|seed|random|totalsupply|salary|revenue)/i;
/** Words that, with "number" or "no" behind them, name a number of an office or a bank. */
const numberOwners = words(
  "account serial policy licence license identity identification national insurance vehicle routing contact shipment " +
    "passport meter social security tax registration certificate model part lot batch",
);
/** Names of other numbers that are of several words: Windows counts ticks of 100 ns from 1601. */
const otherNames = /(?:pwd_?last_?set|last_?logon|last_?logon_?timestamp|file_?time|hash_?code|serial_?no)$/i;
/** Words that turn the word `id` after them into an ID of another system: a trace ID is 64 random bits. */
const foreignOwners = words("trace span b3 otel dd correlation");
const foreignIds = words("traceid spanid b3traceid parentspanid");
/** Before "parent ID" they make it that of a span; else it is an ordinary column. */
const tracers = words("datadog dd trace span b3 otel");
/** Words that say nothing by themselves behind another word: "tracking number", "card no". */
const numberWords = words("number numbers no nr num code");

function words(list: string): ReadonlySet<string> {
  return new Set(list.split(" "));
}

/** A name that ends in `id` and is written in lower-case letters alone. */
const joinedId =
  /^(?:user|order|guild|channel|chat|tweet|status|message|msg|post|item|customer|product|account|object|entity|row|event|request|job|task|team|group|client|media|author|member|role|server|page|comment|photo|video|track|payment|invoice|tenant|owner|actor|session|snowflake|tx|txn|ref)_?ids?$/;

/**
 * Reads the words before a token.
 *
 * @param phrase - At most the three words before it, on its line, as they are written; the last is the key.
 */
export function meaningOf(phrase: string): KeyMeaning {
  const parts = phrase.split(/[^A-Za-z0-9]+|(?<=[a-z0-9])(?=[A-Z])/).filter((part) => part !== "");
  const last = (parts.at(-1) ?? "").toLowerCase();
  const before = (parts.at(-2) ?? "").toLowerCase();
  const isIdWord = last === "id" || last === "ids";
  const isOfSpan = before === "parent" && tracers.has((parts.at(-3) ?? "").toLowerCase());
  const isForeignId = foreignIds.has(last) || (isIdWord && (foreignOwners.has(before) || isOfSpan));
  const isForeignNumber = numberWords.has(last) && (otherWords.has(before) || numberOwners.has(before));
  const isId = !isForeignId && !isForeignNumber && (idWords.has(last) || joinedId.test(last));
  const key = /[A-Za-z0-9_]+$/.exec(phrase)?.[0] ?? "";
  const isQuantity =
    parts.some((part) => quantityWords.has(part.toLowerCase())) || namesOfQuantity.test(key.replaceAll("_", ""));
  const isOtherWord =
    isQuantity ||
    otherWords.has(last) ||
    otherNames.test(key) ||
    /(?:bytes|nanos?|seed)$|hash(?!tag)|checksum|random/.test(`${last} ${key.toLowerCase()}`);
  return {
    isId,
    isTime: timeWords.has(last) || timeEndings.test(key) || /unixnano$/i.test(key),
    isOther: isForeignId || isForeignNumber || (!isId && isOtherWord),
  };
}
