/**
 * Small slips in a source, one at a time: each mutant changes one place of its text, as a person might by mistake. In
 * sources of stores, texts of SQL are changed, too. `npm run mutants` finds those that no test notices.
 */
import { parseSync } from "rolldown/utils";
import { type SourceRange, type SqlText, sqlSlipsOf } from "./sql-slips.ts";

/** One slip. */
export interface SourceMutant {
  /** Stays the same while lines move: file, function, kind of slip, and the text that it changes. */
  readonly name: string;
  /** From the root of the repository. */
  readonly file: string;
  /** From 1. */
  readonly line: number;
  /** The file's text with the slip. */
  readonly text: string;
}

interface Node {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** What a slip does to one piece of a text. */
interface Slip {
  readonly kind: string;
  readonly at: SourceRange;
  readonly replacement: string;
}

const otherOperator: Readonly<Record<string, string>> = {
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "===": "!==",
  "!==": "===",
  "&&": "||",
  "||": "&&",
  "+": "-",
  "-": "+",
};

/** Longest piece of the source in a name. */
const shownMax = 70;

/**
 * Makes all mutants of a source.
 *
 * @param file - From the root of the repository; its ending says which language.
 * @throws Error if the text cannot be parsed.
 */
export function mutantsOf(file: string, text: string): readonly SourceMutant[] {
  const { program, errors } = parseSync(file, text, { lang: "ts", sourceType: "module" });
  if (errors.length > 0) throw new Error(`${file}: ${errors[0]!.message}`);
  const found: SourceMutant[] = [];
  const counts = new Map<string, number>();
  const isOfStore = /\/stores?\//.test(file);
  walk(program as unknown as Node, [], (node, scope, property) => {
    const sql = isOfStore ? sqlTextOf(node, property) : undefined;
    const ofSql = sql === undefined ? [] : sqlSlipsOf(text, sql);
    for (const { kind, at, replacement } of [...slipsOf(node, text), ...ofSql]) {
      const shown = text.slice(at.start, at.end).replaceAll(/\s+/gu, " ").slice(0, shownMax);
      const name = [file, scope.join(".") || "top", kind, shown].join(" | ");
      const count = (counts.get(name) ?? 0) + 1;
      counts.set(name, count);
      found.push({
        name: count === 1 ? name : `${name} | ${count}`,
        file,
        line: text.slice(0, at.start).split("\n").length,
        text: text.slice(0, at.start) + replacement + text.slice(at.end),
      });
    }
  });
  return found;
}

function isNode(value: unknown): value is Node {
  return typeof value === "object" && value !== null && typeof (value as { type?: unknown }).type === "string";
}

/** Types are not code, imports and assertions are not rules of ours. */
const skipped = /^(TS(?!NonNull|As|Satisfies)|Import)/;

/** @param property - The name of the property that the node is the value of. */
type Visit = (node: Node, scope: readonly string[], property: string | undefined) => void;

function walk(node: Node, scope: readonly string[], visit: Visit, property?: string): void {
  if (skipped.test(node.type) || isAssertion(node)) return;
  const name = nameOf(node);
  const inner = name === undefined ? scope : [...scope, name];
  visit(node, inner, property);
  const key = node.type === "Property" && isNode(node["key"]) ? String(node["key"]["name"]) : undefined;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) if (isNode(child)) walk(child, inner, visit, key);
  }
}

/** The text of a node that is one, without its quotes. */
function sqlTextOf({ type, start, end, expressions, value }: Node, property: string | undefined): SqlText | undefined {
  const range = { start: start + 1, end: end - 1, property };
  if (type === "Literal" && typeof value === "string") return { ...range, holes: [] };
  if (type !== "TemplateLiteral" || !Array.isArray(expressions)) return undefined;
  // With the signs around each.
  const holes = expressions.filter(isNode).map((hole) => ({ start: hole.start - 2, end: hole.end + 1 }));
  return { ...range, holes };
}

function isAssertion({ type, expression }: Node): boolean {
  if (type !== "ExpressionStatement" || !isNode(expression) || expression.type !== "CallExpression") return false;
  const { callee } = expression;
  return isNode(callee) && callee["name"] === "assert";
}

/** The name that a function, a class or a method gives to its content. */
function nameOf(node: Node): string | undefined {
  const { type, id, key, init } = node;
  const isFunction = isNode(init) && /Function/.test(init.type);
  if (/^(FunctionDeclaration|ClassDeclaration)$/.test(type) || (type === "VariableDeclarator" && isFunction)) {
    return isNode(id) ? String(id["name"]) : undefined;
  }
  if (type !== "MethodDefinition" || !isNode(key)) return undefined;
  return `${key.type === "PrivateIdentifier" ? "#" : ""}${String(key["name"])}`;
}

function* slipsOf(node: Node, text: string): Generator<Slip> {
  const source = (at: Node): string => text.slice(at.start, at.end);
  const { type, test, argument } = node;
  if ((type === "IfStatement" || type === "ConditionalExpression") && isNode(test)) {
    yield { kind: "condition turned round", at: test, replacement: `!(${source(test)})` };
  }
  if (type === "IfStatement" && !isNode(node["alternate"])) yield { kind: "dropped", at: node, replacement: "" };
  if (type === "ExpressionStatement") yield { kind: "dropped", at: node, replacement: ";" };
  if (type === "AwaitExpression" && isNode(argument)) {
    yield { kind: "not awaited", at: node, replacement: `(${source(argument)})` };
  }
  if (type === "UnaryExpression" && node["operator"] === "!" && isNode(argument)) {
    yield { kind: "not negated", at: node, replacement: source(argument) };
  }
  if (type === "Literal" && typeof node["value"] === "boolean") {
    yield { kind: "the other truth", at: node, replacement: String(!node["value"]) };
  }
  if (type === "BinaryExpression" || type === "LogicalExpression") yield* operatorSlips(node, source);
  if (type === "CallExpression" || type === "NewExpression") yield* callSlips(node, source);
}

function* operatorSlips(node: Node, source: (at: Node) => string): Generator<Slip> {
  const { left, right, operator } = node;
  const other = otherOperator[String(operator)];
  if (other === undefined || !isNode(left) || !isNode(right)) return;
  // A text that is put together of others is for people.
  if (operator === "+" && /["'`]/.test(source(node))) return;
  yield {
    kind: `${String(operator)} as ${other}`,
    at: node,
    replacement: `(${source(left)}) ${other} (${source(right)})`,
  };
}

function* callSlips(node: Node, source: (at: Node) => string): Generator<Slip> {
  const { callee } = node;
  const args = Array.isArray(node["arguments"]) ? node["arguments"].filter(isNode) : [];
  if (!isNode(callee)) return;
  const called = source(callee);
  if (called === "Math.max" || called === "Math.min") {
    for (const arg of args) yield { kind: `${called} without the others`, at: node, replacement: `(${source(arg)})` };
  }
  const isCopy = called === "Uint8Array.from" || called === "Buffer.from" || called === "Uint8Array";
  // Of a list it makes the first bytes.
  if (isCopy && args.length === 1 && args[0]!.type !== "ArrayExpression")
    yield { kind: "not copied", at: node, replacement: `(${source(args[0]!)})` };
}
