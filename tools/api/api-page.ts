import {
  type DescEnum,
  type DescField,
  type DescFile,
  type DescMessage,
  type DescMethod,
  type DescService,
  ScalarType,
} from "@bufbuild/protobuf";
import { callExamples } from "./call-examples.ts";
import { hasNoSideEffects, paragraphsOf, pathOf } from "./described-protos.ts";

const head = `<!-- Written by npm run generate from proto/ and tools/api/. Do not edit. -->

# The API

A server answers gRPC, gRPC-Web and Connect on one port, over HTTP/1.1 and HTTP/2. Every call below works against the
server that \`npm start\` runs. \`grpcurl\` needs no proto files, because the server has reflection.

- In JSON a 64-bit number is a string, and a field that is 0, empty or false is left out of an answer.
- A failed call has a code and a reason: [errors.md](../errors.md) lists them, and says which calls to repeat.
- A method without side effects can also be called by GET: \`?connect=v1&encoding=json&message=\` and the request.
- [openapi.json](openapi.json) describes the unary methods for other tools. A server has it at \`/openapi.json\`, unless
  it runs with \`--page off\`.
- The protos are in [proto/snowlane/v1](../../proto/snowlane/v1/). A field or method that was once released keeps its
  number, type and name.
`;

/** The services in the order in which a reader meets them. */
const serviceOrder = ["IdService", "SequenceService", "AdminService"];

/** Writes docs/reports/api.md: every service with its methods, then the messages and enums. */
export function writeApiPage(files: readonly DescFile[]): string {
  const services = files
    .flatMap((file) => file.services)
    .toSorted((a, b) => serviceOrder.indexOf(a.name) - serviceOrder.indexOf(b.name));
  const inOrder = services.map(({ file }) => file);
  const messages = inOrder.flatMap((file) => file.messages);
  const enums = inOrder.flatMap((file) => file.enums);
  const sections = [
    head,
    ...services.map(serviceSection),
    "## Messages\n",
    ...messages.map(messageSection),
    "## Enums\n",
    ...enums.map(enumSection),
  ];
  return `${sections.join("\n").trimEnd()}\n`;
}

function proseOf(element: Parameters<typeof paragraphsOf>[0]): string {
  return paragraphsOf(element)
    .map((paragraph) => markReasons(paragraph))
    .join("\n\n");
}

/** Puts names in capitals, which are reasons and values of enums, between backticks. */
function markReasons(text: string): string {
  return text.replaceAll(/(?<![`\w])[A-Z]+(?:_[A-Z0-9]+)+(?![`\w])/g, "`$&`");
}

function serviceSection(service: DescService): string {
  return `## ${service.name}\n\n${proseOf(service)}\n\n${service.methods.map(methodSection).join("\n")}`;
}

function methodSection(method: DescMethod): string {
  const example = callExamples[pathOf(method)];
  if (example === undefined) throw new Error(`tools/api/call-examples.ts has no call of ${pathOf(method)}.`);
  const request = JSON.stringify(example.request);
  const isStream = method.methodKind === "server_streaming";
  const path = pathOf(method);
  const answers = `${isStream ? "a stream of " : ""}${linkTo(method.output)}`;
  return `### ${method.name}

${linkTo(method.input)} → ${answers}${hasNoSideEffects(method) ? " · also by GET" : ""}

${proseOf(method)}

\`\`\`sh run
${isStream ? streamedCurl(path, request) : `curl -d '${request}' -H 'content-type: application/json' http://127.0.0.1:7609${path}`}
\`\`\`

\`\`\`text output
${example.answer}
\`\`\`

\`\`\`sh run${example.refusal === undefined ? "" : ` exits ${example.refusal.grpcurlExitCode}`}
grpcurl -plaintext -d '${JSON.stringify(example.grpcurlRequest ?? example.request)}' 127.0.0.1:7609 ${path.slice(1)}
\`\`\`
${example.note === undefined ? "" : `\n${example.note}\n`}`;
}

/** Over Connect a message of a stream has a flag and its length in front. `tr` leaves both out of what is printed. */
function streamedCurl(path: string, request: string): string {
  const head = `\\0\\0\\0\\0\\${Buffer.byteLength(request).toString(8).padStart(3, "0")}`;
  return `printf '${head}${request}' |
  curl -s --data-binary @- -H 'content-type: application/connect+json' http://127.0.0.1:7609${path} | tr -d '\\0-\\37'`;
}

function messageSection(message: DescMessage): string {
  const rows = message.fields.map((field) => `| \`${field.jsonName}\` | ${typeOf(field)} | ${cell(proseOf(field))} |`);
  const table = rows.length === 0 ? "" : `\n| field | type | meaning |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
  return `### ${message.name}\n\n${proseOf(message)}\n${table}`;
}

function enumSection(type: DescEnum): string {
  const rows = type.values.map((value) => `| \`${value.name}\` | ${value.number} | ${cell(proseOf(value))} |`);
  return `### ${type.name}\n\n${proseOf(type)}\n\n| value | number | meaning |\n| --- | --- | --- |\n${rows.join("\n")}\n`;
}

function cell(text: string): string {
  return text.replaceAll("\n\n", " ").replaceAll("|", String.raw`\|`);
}

function typeOf(field: DescField): string {
  const { message, enum: choice, scalar } = field;
  const type = message ?? choice;
  const name = type === undefined ? ScalarType[scalar!].toLowerCase() : linkTo(type);
  if (field.fieldKind === "list") return `list of ${name}`;
  if (field.fieldKind === "map") return `map of string to ${name}`;
  return field.oneof === undefined ? name : `${name}, one of \`${field.oneof.name}\``;
}

function linkTo({ name, typeName }: DescMessage | DescEnum): string {
  return typeName.startsWith("google.")
    ? `[${name}](https://protobuf.dev/reference/protobuf/google.protobuf/#${name.toLowerCase()})`
    : `[${name}](#${name.toLowerCase()})`;
}
