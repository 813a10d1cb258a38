/**
 * Fields to header blocks: RFC 7541 sections 5 and 6.
 *
 * The encoder remembers nothing: it names entries of the static table and writes everything else out. So a block means
 * the same on every connection at any time and can be made once. The price is some tens of bytes a response.
 */
import { isSendable } from "./field.ts";
import { staticTable } from "./hpack-tables.ts";

/**
 * Stands at the head of the first block of each connection: the encoder's table has 0 bytes from now on (section 6.3).
 * So no lowering of SETTINGS_HEADER_TABLE_SIZE by the client, which the next block would have to acknowledge (section
 * 4.2), can concern us.
 */
export const emptyTableUpdate: Buffer = Buffer.of(0x20);

const indexByName = new Map<string, number>();
const indexByStatus = new Map<string, number>();
for (const [index, field] of staticTable.entries()) {
  if (field === undefined) continue;
  if (!indexByName.has(field.name)) indexByName.set(field.name, index);
  if (field.name === ":status") indexByStatus.set(field.value, index);
}

/**
 * Encodes fields to one block.
 *
 * @param fields - Names in lower case; values of characters 0 to 255, each of which becomes one byte. `:status` comes
 * first where it is needed.
 * @throws TypeError if a field may not be sent: see {@link isSendable}.
 */
export function encodeFields(fields: Iterable<readonly [name: string, value: string]>): Buffer {
  const bytes: number[] = [];
  for (const [name, value] of fields) {
    if (!isSendable(name, value)) throw new TypeError(`the header field ${JSON.stringify(name)} cannot be sent`);
    const status = name === ":status" ? indexByStatus.get(value) : undefined;
    if (status !== undefined) {
      bytes.push(0x80 | status);
      continue;
    }
    const index = indexByName.get(name) ?? 0;
    writeInteger(bytes, 4, index);
    if (index === 0) writeString(bytes, name);
    writeString(bytes, value);
  }
  return Buffer.from(bytes);
}

/** Section 5.1; the bits above the prefix stay 0. */
function writeInteger(bytes: number[], prefixBits: number, value: number): void {
  const mask = (1 << prefixBits) - 1;
  if (value < mask) {
    bytes.push(value);
    return;
  }
  bytes.push(mask);
  let rest = value - mask;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  bytes.push(rest);
}

/** Section 5.2, without Huffman's code. */
function writeString(bytes: number[], text: string): void {
  writeInteger(bytes, 7, text.length);
  for (let index = 0; index < text.length; index++) bytes.push(text.charCodeAt(index));
}
