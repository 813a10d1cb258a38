/** Colours of a terminal, also without their first character, which many logs lose. */
const colour = new RegExp(String.raw`\u001b?\[[0-9;]{1,8}m`, "g");
/** Line ends and tabs that are written out, as in a JSON text: only where a word follows. */
const writtenOut = /\\[ntr](?=[0-9A-Za-z_\\"'-])/g;
const unicode = /\\u[0-9a-fA-F]{4}/g;
const percent = /%[0-9A-Fa-f]{2}/g;

/** Puts as many spaces in place of escapes, so that they part words and every character keeps its place. */
export function blankEscapes(text: string): string {
  return [colour, writtenOut, unicode, percent].reduce(
    (left, escape) => left.replace(escape, (found) => " ".repeat(found.length)),
    text,
  );
}
