import { literalSuffixSource } from "./literal-suffix.ts";
import { type KeyMeaning, meaningOf } from "./words-of-key.ts";

/** The surroundings of a token, as far as the rules look. */
export interface TokenContext extends KeyMeaning {
  /** The last word before it, over quotes and signs; empty if there is none on its line. */
  readonly key: string;
  /** The character before it; empty at the start. */
  readonly before: string;
  /** The character behind it; empty at the end. */
  readonly after: string;
  /** Whether `=` or `:` is between it and its key. */
  readonly isAssigned: boolean;
  /** Whether it is the result or a part of a calculation: `20! = `, `3 * `. */
  readonly isComputed: boolean;
  /** Whether its line has no other letter or digit, and at most 12 other characters on each side. */
  readonly isAlone: boolean;
}

/** No rule looks further from its token. */
const reachMax = 40;
/** Other characters beside a token that is alone on its line: quotes, brackets, a bullet. */
const marksMax = 12;

/** A word, then quotes, brackets, a sign of assignment, and blanks. */
const keyBefore =
  /([A-Za-z_][A-Za-z0-9_.]{0,24}(?:[ -][A-Za-z_][A-Za-z0-9_.]{0,24}){0,2})["'`\\)\]]{0,3} {0,2}(?:[=:(#]|=>|:=|is)? {0,2}["'`([{<\\-]{0,3} ?$/;
/** A call and what it gave: `fib(90) = `, `hash("a") -> `. */
const callBefore =
  /([A-Za-z_][A-Za-z0-9_]{0,30})\([^()\n]{0,24}\)\s{0,2}(?:={1,3}|≈|->|=>|:|is|returns|gives)\s{0,2}["'`]?-?$/;
/** A number, or a constant that has a name. */
const operand = "(?:\\d[\\d.,_]*(?:e\\d+)?|pi|π|phi|φ|e)";
const operator = "(?:\\*\\*|[*^×·+/%]|\\s-\\s|mod)";
const resultBefore = new RegExp(
  `(?:(?:^|[^\\w.])\\(?${operand}\\)?\\s?${operator}\\s?\\(?${operand}[)!]?|\\d\\s?!)\\s{0,2}(?:={1,3}|≈|is)\\s{0,2}$`,
  "i",
);
const operandBefore = /(?:^|[^\w.])\d[\d._]*\s?(?:\*\*|[*^×])\s?$/;
const resultBehind = new RegExp(
  `^\\s{0,2}(?:={1,3}|≈)\\s{0,2}(?:\\d+\\s?!|\\(?${operand}\\s?${operator}\\s?${operand})`,
  "i",
);
/** A sentence that calls the number something else: "the hash of X is ". */
const otherSentence =
  /\b(?:hash|checksum|digest|crc|seed|sum|product|mean|average|median|size|balance|mass|weight|distance|population|number) (?:of|between) [^\n]{1,24}(?:\b(?:is|was|are|equals)|=) $/i;
/** Words of other scripts for numbers that are never IDs: identity cards, telephones, banks, parcels, sums, bytes. */
const otherScripts =
  /(?:身份证|护照|手机|电话|電話|银行|銀行|卡号|快递|运单|物流|税号|信用代码|金额|余额|字节|纳秒|校验|哈希|随机|口座|マイナンバー|追跡|전화|계좌|주민등록|운송장|телефон|карт[аы]|сч[её]т|паспорт|снилс|инн|баланс|хеш)[^\n]{0,6}$/iu;
const marksBefore = new RegExp(`(?:^|\\n)[^\\p{L}\\p{N}\\n]{0,${marksMax}}$`, "u");
const marksAfter = new RegExp(`^${literalSuffixSource}?[^\\p{L}\\p{N}\\n]{0,${marksMax}}(?:\\n|$)`, "u");

/** Reads the surroundings of the characters from `start` to `end`, at most 41 characters on either side. */
export function contextOf(text: string, start: number, end: number): TokenContext {
  const head = text.slice(Math.max(0, start - reachMax), start);
  const line = head.slice(head.lastIndexOf("\n") + 1);
  const [, phrase = ""] = callBefore.exec(line) ?? keyBefore.exec(line) ?? [];
  const meaning = meaningOf(phrase);
  return {
    ...meaning,
    isOther: meaning.isOther || (!meaning.isId && (otherScripts.test(line) || otherSentence.test(line))),
    isComputed:
      resultBefore.test(line) || operandBefore.test(line) || resultBehind.test(text.slice(end, end + reachMax)),
    key: /[A-Za-z0-9_]+$/.exec(phrase)?.[0] ?? "",
    before: text.charAt(start - 1),
    after: text.charAt(end),
    isAssigned: /[=:][^A-Za-z0-9]{0,4}$/.test(text.slice(Math.max(0, start - 6), start)),
    isAlone: isAlone(text, start, end),
  };
}

/** Whether the line of the characters from `start` to `end` has nothing but marks beside them. */
export function isAlone(text: string, start: number, end: number): boolean {
  const head = text.slice(Math.max(0, start - marksMax - 1), start);
  const isLineStart = start <= marksMax || head.includes("\n");
  return isLineStart && marksBefore.test(head) && marksAfter.test(text.slice(end, end + marksMax + 5));
}
