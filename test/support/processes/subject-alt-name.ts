/** The kinds of names in a SAN, by their tags. https://www.rfc-editor.org/rfc/rfc5280#section-4.2.1.6 */
const tags = { otherName: 0xa0, email: 0x81, dns: 0x82, dirName: 0xa4, uri: 0x86, ip: 0x87, registeredId: 0x88 };

/** One name: its kind and its bytes, which may be anything. */
export type RawName = readonly [kind: keyof typeof tags, bytes: string | Buffer];

/** One element of DER. */
export function der(tag: number, bytes: Buffer): Buffer {
  const { length } = bytes;
  const head = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.of(tag, ...head), bytes]);
}

/** A line for an extension file of openssl: a SAN of exactly these bytes, which openssl itself might refuse. */
export function rawSubjectAltName(names: readonly RawName[]): string {
  const all = names.map(([kind, bytes]) => der(tags[kind], Buffer.from(bytes as string, "utf8")));
  return `subjectAltName=DER:${der(0x30, Buffer.concat(all)).toString("hex")}\n`;
}
