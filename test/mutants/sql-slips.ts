/**
 * Small slips in statements of SQL that are texts in a source: a condition that always holds, a boundary that
 * moved, a column that keeps its value, a clause that is gone.
 */

/** A piece of a source. */
export interface SourceRange {
  readonly start: number;
  readonly end: number;
}

/** A slip in a statement. */
interface SqlSlip {
  readonly kind: string;
  readonly at: SourceRange;
  readonly replacement: string;
}

/** A text in a source: its range without the quotes, the `${}` in it, and the name of the property that it is. */
export interface SqlText extends SourceRange {
  readonly holes: readonly SourceRange[];
  readonly property: string | undefined;
}

type TokenKind = "keyword" | "joint" | "operand" | "operator" | "open" | "close" | "comma";

interface Token extends SourceRange {
  readonly kind: TokenKind;
  readonly text: string;
}

/** They end a condition, or an assignment. */
const keywords = new Set(
  "AND OR THEN WHEN ELSE END ORDER LIMIT RETURNING FROM SET FOR ON GROUP UNION LEFT CROSS JOIN WHERE".split(" "),
);
/** After them an operand goes on with the same condition. */
const joints = new Set("NOT EXISTS IS IN LIKE SELECT INSERT INTO UPDATE DELETE WITH VALUES CASE BY".split(" "));
const otherSign: Readonly<Record<string, string>> = { "<": "<=", "<=": "<", ">": ">=", ">=": ">", "+": "-", "-": "+" };
const statement = /:[a-z]\w*|\b(?:SELECT|UPDATE|INSERT|DELETE)\b/;
const clause = /^(?:FOR (?:SHARE|UPDATE)|LOCK IN|ON (?:CONFLICT|DUPLICATE))/;
const tokenPattern = /'[^']*'|:?[A-Za-z_][\w.]*|\$\d+|\?|\.[\w.]+|\d+|<>|<=|>=|::|\|\||[<>=+\-*/]|[(),]/y;

/** Makes the slips of a text that is SQL; none of any other, nor of a statement that makes tables. */
export function sqlSlipsOf(source: string, text: SqlText): readonly SqlSlip[] {
  const content = source.slice(text.start, text.end);
  if (clause.test(content)) return [{ kind: "SQL clause dropped", at: text, replacement: "" }];
  if (!statement.test(content) || /^(?:CREATE|ALTER)\b/.test(content)) return [];
  const tokens = tokensOf(source, text);
  return [...conditions(tokens, text), ...assignments(source, tokens, text), ...signs(source, tokens)];
}

function tokensOf(source: string, { start, end, holes }: SqlText): readonly Token[] {
  const tokens: Token[] = [];
  for (let at = start; at < end; ) {
    const hole = holes.find((each) => each.start === at);
    tokenPattern.lastIndex = at;
    const [word] = hole === undefined ? (tokenPattern.exec(source) ?? []) : [source.slice(hole.start, hole.end)];
    if (word === undefined) {
      at += 1;
      continue;
    }
    const token = { kind: hole === undefined ? kindOf(word) : "operand", text: word, start: at, end: at + word.length };
    const before = tokens.at(-1);
    // The name of a column behind that of its table.
    if (word.startsWith(".") && before?.end === at) tokens[tokens.length - 1] = { ...before, end: token.end };
    else tokens.push(token);
    at = token.end;
  }
  return tokens;
}

function kindOf(word: string): TokenKind {
  if (keywords.has(word)) return "keyword";
  if (joints.has(word)) return "joint";
  if (word === "(") return "open";
  if (word === ")") return "close";
  if (word === ",") return "comma";
  return /^[\w':.$?]/.test(word) && word !== "::" ? "operand" : "operator";
}

/** The index behind the expression that begins at an index. */
function expressionEnd(tokens: readonly Token[], from: number): number {
  let depth = 0;
  for (let at = from; at < tokens.length; at += 1) {
    const { kind } = tokens[at]!;
    if (kind === "close" && depth === 0) return at;
    if (kind === "open") depth += 1;
    else if (kind === "close") depth -= 1;
    else if (depth === 0 && (kind === "keyword" || kind === "comma")) return at;
    // Two operands without anything between: the second one begins something else.
    else if (depth === 0 && kind === "operand" && at > from && ["operand", "close"].includes(tokens[at - 1]!.kind)) {
      return at;
    }
  }
  return tokens.length;
}

function* conditions(tokens: readonly Token[], { property }: SqlText): Generator<SqlSlip> {
  for (const [at, { kind, text }] of tokens.entries()) {
    const isFirst = at === 0 && property !== "set" && beginsCondition(tokens);
    const before = kind === "keyword" && ["WHERE", "AND", "OR", "WHEN", "ON"].includes(text);
    const from = isFirst ? 0 : at + 1;
    if (!isFirst && (!before || ["CONFLICT", "DUPLICATE"].includes(tokens[from]?.text ?? ""))) continue;
    const end = expressionEnd(tokens, from);
    if (end === from) continue;
    const range = { start: tokens[from]!.start, end: tokens[end - 1]!.end };
    yield { kind: "SQL condition holds always", at: range, replacement: "1 = 1" };
  }
}

/** Whether a text is a condition from its first word on: it compares, and lists nothing. */
function beginsCondition(tokens: readonly Token[]): boolean {
  const end = expressionEnd(tokens, 0);
  return tokens[0]?.kind === "operand" && tokens[1]?.text === "=" && tokens[end]?.kind !== "comma";
}

function* assignments(source: string, tokens: readonly Token[], { property }: SqlText): Generator<SqlSlip> {
  const begins = tokens.flatMap(({ text }, at) => (text === "SET" ? [at + 1] : []));
  if (property === "set" && tokens[1]?.text === "=") begins.push(0);
  for (const begin of begins) {
    for (let from = begin; from < tokens.length; ) {
      const end = caseEnd(tokens, from);
      const [target, sign] = [tokens[from]!, tokens[from + 1]];
      if (sign?.text === "=") {
        const name = source.slice(target.start, target.end);
        const at = { start: target.start, end: tokens[end - 1]!.end };
        yield { kind: "SQL column kept", at, replacement: `${name} = ${name}` };
      }
      if (tokens[end]?.kind !== "comma") break;
      from = end + 1;
    }
  }
}

/** As {@link expressionEnd}, past CASE ... END. */
function caseEnd(tokens: readonly Token[], from: number): number {
  const begin = tokens.findIndex(({ text }, at) => at > from && text === "CASE");
  const end = expressionEnd(tokens, from);
  if (begin < 0 || begin > end) return end;
  return tokens.findIndex(({ text }, at) => at > begin && text === "END") + 1;
}

function* signs(source: string, tokens: readonly Token[]): Generator<SqlSlip> {
  for (const token of tokens) {
    const word = source.slice(token.start, token.end);
    const other = token.kind === "operator" ? otherSign[word] : word === "DESC" ? "ASC" : undefined;
    if (other !== undefined) yield { kind: `SQL ${word} as ${other}`, at: token, replacement: other };
  }
}
