import { type DescMessage, ScalarType } from "@bufbuild/protobuf";

/** Reads a message as JSON and gives it in protobuf's binary form, which is lent; undefined if it is not plain. */
export type JsonReader = (bytes: Buffer, start: number, end: number) => Buffer | undefined;

/** One member: a name, and digits or a string without any escape. A space may follow a colon and a comma. */
const member = /"(\w+)": ?(?:(0|[1-9]\d{0,14})|"([\w./-]*)")(?:, ?(?=")|$)/y;
const digits = /^(?:0|[1-9]\d{0,14})$/;
const uint32Max = 0xffff_ffff;
const empty: Buffer = Buffer.alloc(0);

interface PlainField {
  readonly number: number;
  readonly scalar: ScalarType.UINT32 | ScalarType.UINT64 | ScalarType.STRING;
}

/**
 * Makes the reader of a message's plain JSON: `{}`, or flat members that hold whole numbers of up to 15 digits, quoted
 * or not, or short strings. All else is for protobuf-es: members that come twice, unknown ones, null, other numbers,
 * escapes, other white space.
 */
export function createJsonReader(message: DescMessage): JsonReader {
  const fields = new Map<string, PlainField>();
  for (const { fieldKind, scalar, number, name, jsonName } of message.fields) {
    if (fieldKind !== "scalar") continue;
    if (scalar !== ScalarType.UINT32 && scalar !== ScalarType.UINT64 && scalar !== ScalarType.STRING) continue;
    for (const key of [name, jsonName]) fields.set(key, { number, scalar });
  }
  return (bytes, start, end) => {
    // 0x7b and 0x7d are the braces.
    if (end - start < 2 || bytes[start] !== 0x7b || bytes[end - 1] !== 0x7d) return undefined;
    return end - start === 2 ? empty : readMembers(fields, bytes.toString("latin1", start + 1, end - 1));
  };
}

function readMembers(fields: ReadonlyMap<string, PlainField>, text: string): Buffer | undefined {
  const seen = new Set<number>();
  const written: number[] = [];
  for (member.lastIndex = 0; member.lastIndex < text.length; ) {
    const [, key = "", bare, quoted] = member.exec(text) ?? [];
    const field = fields.get(key);
    if (field === undefined || seen.has(field.number)) return undefined;
    seen.add(field.number);
    if (!writeField(written, field, bare, quoted)) return undefined;
  }
  return Buffer.from(written);
}

/** Returns whether the value is one of the field's type. */
function writeField(
  written: number[],
  { number, scalar }: PlainField,
  bare: string | undefined,
  quoted: string | undefined,
): boolean {
  if (scalar === ScalarType.STRING) {
    if (quoted === undefined) return false;
    written.push((number << 3) | 2);
    writeVarint(written, quoted.length);
    for (let index = 0; index < quoted.length; index++) written.push(quoted.charCodeAt(index));
    return true;
  }
  const text = bare ?? quoted ?? "";
  const value = Number(text);
  if (!digits.test(text) || (scalar === ScalarType.UINT32 && value > uint32Max)) return false;
  written.push(number << 3);
  writeVarint(written, value);
  return true;
}

function writeVarint(written: number[], value: number): void {
  let rest = value;
  for (; rest > 0x7f; rest = Math.floor(rest / 128)) written.push((rest % 128) | 0x80);
  written.push(rest);
}
