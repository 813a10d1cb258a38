/**
 * Fields to header blocks: RFC 7541 sections 5 and 6.
 *
 * The encoder keeps no table: it refers to entries of the static table and writes all other fields as literals. So a
 * block means the same on every connection at any time, and can be encoded once. The price is some tens of bytes for
 * each response.
 */
import { isSendable, type MessageKind } from "./field.ts";
import { staticTable } from "./tables.ts";

/**
 * Begins the first block of each connection: the encoder's table has 0 bytes from now on (section 6.3). A client that
 * lowers SETTINGS_HEADER_TABLE_SIZE later then needs no acknowledgement in the next block (section 4.2).
 */
export const emptyTableUpdate: Buffer = Buffer.of(0x20);

const indexByName = new Map<string, number>();
/** The indexes of pseudo fields with a value, such as `:status` with 200. */
const indexByPseudo = new Map<string, number>();
for (const [index, field] of staticTable.entries()) {
  if (field === undefined) continue;
  if (!indexByName.has(field.name)) indexByName.set(field.name, index);
  if (field.name.startsWith(":") && field.value !== "") indexByPseudo.set(`${field.name} ${field.value}`, index);
}

/**
 * Encodes fields to one block.
 *
 * @param fields - Names in lower case; values of characters 0 to 255, each of which becomes one byte. Pseudo
 * fields come first, if there are any.
 * @throws TypeError if a field may not be sent: see {@link isSendable}.
 */
export function encodeFields(
  fields: Iterable<readonly [name: string, value: string]>,
  of: MessageKind = "response",
): Buffer {
  const bytes: number[] = [];
  for (const [name, value] of fields) {
    if (!isSendable(name, value, of)) throw new TypeError(`the header field ${JSON.stringify(name)} cannot be sent`);
    const pseudo = name.startsWith(":") ? indexByPseudo.get(`${name} ${value}`) : undefined;
    if (pseudo !== undefined) {
      bytes.push(0x80 | pseudo);
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
