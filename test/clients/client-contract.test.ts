import { existsSync, globSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";

/** One line of the table of names in the client contract. */
interface ContractName {
  readonly of: string;
  readonly name: string;
  readonly kind: string;
}

/** A field as a language's source has it. */
interface Field {
  readonly name: string;
  readonly type: string;
}

const javaFolder = "clients/java/src/main/java/dev/snowlane/client";
const javaRecord = (file: string, name: string): readonly Field[] =>
  blockOf(file, new RegExp(`record ${name}\\(([^{]*)\\)`))
    .split(/,(?![^<]*>)/)
    .map((parameter) => {
      const [type = "", parameterName = ""] = parameter.trim().split(/\s+/);
      return { name: parameterName, type };
    });

const languages: Readonly<Record<string, (of: string) => readonly Field[]>> = {
  TypeScript: (of) => {
    const block = blockOf("clients/typescript/src/*.ts", new RegExp(`export interface ${of} \\{([^}]*)\\}`));
    return [...block.matchAll(/^ {2}readonly (\w+)\??: (\w+);/gm)].map(([, name = "", type = ""]) => ({ name, type }));
  },
  Go: (of) => {
    const block = blockOf("clients/go/*.go", new RegExp(`type ${of} struct \\{([^}]*)\\}`));
    return [...block.matchAll(/^\t([A-Z][\w, ]*?)\s+([\w.]+)$/gm)].flatMap(([, names = "", type = ""]) =>
      names.split(", ").map((name) => ({ name, type })),
    );
  },
  Java: (of) => javaRecord(`${javaFolder}/{ClientObserver,BufferStats,SequenceValue,ValueRun}.java`, of),
  Python: (of) => {
    const block = blockOf(
      "clients/python/src/snowlane/*.py",
      new RegExp(`^class ${of}(?:\\(NamedTuple\\))?:\\n((?: {4}.*\\n|\\n)*)`, "m"),
    );
    return [...block.matchAll(/^ {4}(\w+): ([\w |]+)(?: = .+)?$/gm)].map(([, name = "", type = ""]) => ({
      name,
      type,
    }));
  },
};

const capital = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`;

/** How a language spells a name of the table, and the types that a field of its kind has there. */
const spellings: Readonly<Record<string, (entry: ContractName) => { readonly name: string; readonly type: RegExp }>> = {
  TypeScript: ({ name, kind }) => ({
    name: kind === "time" ? `${name}Ms` : name,
    type:
      {
        text: /^string$/,
        place: /^string$/,
        flag: /^boolean$/,
        state: /^ClientState$/,
        reason: /^SnowlaneReason$/,
        number: /^bigint$/,
      }[kind] ?? /^number$/,
  }),
  Go: ({ name, kind }) => ({
    name: capital(name).replace(/Rtt$/, "RTT"),
    type:
      {
        text: /^string$/,
        place: /^string$/,
        flag: /^bool$/,
        state: /^State$/,
        reason: /^Reason$/,
        time: /^time\.Duration$/,
        rate: /^float64$/,
        number: /^int64$/,
      }[kind] ?? /^u?int(64)?$/,
  }),
  Java: ({ name, kind }) => ({
    name,
    type:
      {
        text: /^String$/,
        place: /^Optional<String>$/,
        flag: /^boolean$/,
        state: /^State$/,
        reason: /^Optional<ErrorReason>$/,
        time: /^Duration$/,
        rate: /^double$/,
        number: /^long$/,
      }[kind] ?? /^(int|long)$/,
  }),
  Python: ({ name, kind }) => ({
    name: `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)}${kind === "time" ? "_s" : ""}`,
    type:
      {
        text: /^str$/,
        place: /^str$/,
        flag: /^bool$/,
        state: /^State$/,
        reason: /^ErrorReason \| None$/,
        time: /^float$/,
        rate: /^float$/,
      }[kind] ?? /^int$/,
  }),
};

/** The text that a pattern's group holds in the one file that has it. */
function blockOf(files: string, pattern: RegExp): string {
  const blocks = globSync(files).flatMap((file) => pattern.exec(readFileSync(file, "utf8"))?.[1] ?? []);
  expect(blocks, `${pattern} in ${files}`).toHaveLength(1);
  return blocks[0] ?? "";
}

function readNames(): readonly ContractName[] {
  const contract = readFileSync("docs/internals/client-contract.md", "utf8");
  const rows = contract.matchAll(/^\| `(\w+(?:Event|Stats|Value|Run))` +\| `(\w+)` +\| (\w+) +\|/gm);
  return [...rows].map(([, of = "", name = "", kind = ""]) => ({ of, name, kind }));
}

const names = readNames();
const groups = [...new Set(names.map(({ of }) => of))];
const hookGroups = groups.filter((group) => /Event|Stats/.test(group));

test("each language of the users' page is held to the contract", () => {
  const [, header = ""] = /^\| +\|(.*)\|$/m.exec(readFileSync("clients/README.md", "utf8")) ?? [];
  const shown = header.split("|").map((cell) => cell.trim());
  expect(Object.keys(languages)).toEqual(shown);
  expect(Object.keys(spellings)).toEqual(shown);
});

test("the table of names has the five events, the stats and the values of sequences", () => {
  expect(hookGroups).toEqual(["AttemptEvent", "RefillEvent", "WaitEvent", "ExpireEvent", "StateEvent", "BufferStats"]);
  expect(groups.slice(hookGroups.length)).toEqual(["SequenceValue", "ValueRun"]);
});

describe.each(Object.keys(languages))("the client for %s", (language) => {
  test.each(groups)("has the names, the order and the units of %s", (group) => {
    const fields = languages[language]?.(group) ?? [];
    const expected = names.filter(({ of }) => of === group).map((entry) => spellings[language]?.(entry));
    expect(fields.map(({ name }) => name)).toEqual(expected.map((spelling) => spelling?.name));
    for (const [index, { type }] of fields.entries()) expect(type).toMatch(expected[index]?.type ?? "a type");
  });
});

test("the users' page names the same fields of events and stats", () => {
  const page = readFileSync("clients/README.md", "utf8");
  const [section = ""] = /## Metrics hook[^]*?(?=\n## )/.exec(page) ?? [];
  for (const group of hookGroups) {
    const [, listed = ""] = new RegExp(`\`${group}\`:([^|.]*)`).exec(section) ?? [];
    const own = names.filter(({ of }) => of === group).map(({ name }) => name);
    expect([...listed.matchAll(/`(\w+)`/g)].map(([, name]) => name)).toEqual(own);
  }
});

test("the options of the users' page have the names that the sources have", () => {
  const [section = ""] = /### Names of options[^]*?(?=\n### )/.exec(readFileSync("clients/README.md", "utf8")) ?? [];
  const rows = [...section.matchAll(/^\| (.*) \|$/gm)].slice(2).map(([, row = ""]) => row.split("|"));
  expect(rows.length).toBeGreaterThan(15);
  const sources = [
    { files: "clients/typescript/src/{client-options,node,prefetch-buffer,run-source}.ts", as: "readonly NAME?:" },
    { files: "clients/go/{options,buffer,stream}.go", as: "NAME" },
    { files: `${javaFolder}/{IdClientBuilder,PrefetchOptions,StreamOptions}.java`, as: " NAME(" },
    { files: "clients/python/src/snowlane/*.py", as: "NAME: " },
  ];
  for (const [index, { files, as }] of sources.entries()) {
    const source = globSync(files)
      .map((file) => readFileSync(file, "utf8"))
      .join("");
    const listed = rows.flatMap((row) => [...(row[index] ?? "").matchAll(/`(\w+)`/g)].map(([, name = ""]) => name));
    expect(listed.length).toBeGreaterThan(15);
    expect(listed.filter((name) => !source.includes(as.replace("NAME", name)))).toEqual([]);
  }
  const [own = ""] =
    /export interface ClientOptions \{[^]*?\n\}/.exec(
      readFileSync(`clients/typescript/src/client-options.ts`, "utf8"),
    ) ?? [];
  for (const [, name] of own.matchAll(/^ {2}readonly (\w+)\?/gm)) {
    if (name !== "random") expect(section).toContain(`\`${name}\``);
  }
});

test("each client has the hook's methods, and each takes the event of its name", () => {
  const hooks = groups.filter((group) => group.endsWith("Event"));
  for (const hook of hooks) {
    const name = hook.replace("Event", "");
    blockOf("clients/typescript/src/observer.ts", new RegExp(`(on${name}\\?\\(event: ${hook}\\): void)`));
    blockOf("clients/go/observer.go", new RegExp(`(On${name} +func\\(${hook}\\))`));
    blockOf(`${javaFolder}/ClientObserver.java`, new RegExp(`(void on${name}\\(${hook} event\\))`));
    blockOf(
      "clients/python/src/snowlane/_observer.py",
      new RegExp(`(def on_${name.toLowerCase()}\\(self, event: ${hook}\\))`),
    );
  }
});

test("the clients that know all mistakes of connections say them as the contract does", () => {
  const contract = readFileSync("docs/internals/client-contract.md", "utf8");
  const rows = [...contract.matchAll(/^\| `(\w+)` \| ([^|]+) \| (?:yes|no) \|$/gm)];
  expect(rows).toHaveLength(9);
  const plain = (text: string): string => text.toLowerCase().replace(/\.$/, "");
  const sources = {
    go: "clients/go/connection_mistakes.go",
    java: `${javaFolder}/ConnectionMistake.java`,
    typescript: "clients/typescript/src/connection-mistake.ts",
    python: "clients/python/src/snowlane/_connection_mistake.py",
  };
  for (const [language, files] of Object.entries(sources)) {
    const source = globSync(files)
      .map((file) => readFileSync(file, "utf8").toLowerCase())
      .join("");
    for (const [, kind = "", text = ""] of rows) {
      expect(source, language).toContain(`"${kind}"`);
      expect(source, language).toContain(plain(text));
    }
  }
});

test("each buffer has the parts of the contract, in the files that it names", () => {
  const contract = readFileSync("docs/internals/client-contract.md", "utf8");
  const parts = [...contract.matchAll(/^\| (buffer|stock|refill|waiters) \|[^|]*\|(.*)\|$/gm)];
  expect(parts.map(([, part]) => part)).toEqual(["buffer", "stock", "refill", "waiters"]);
  const folders = ["clients/typescript/src", "clients/go", javaFolder, "clients/python/src/snowlane"];
  for (const [, part, cells = ""] of parts) {
    for (const [index, cell] of cells.split("|").entries()) {
      const files = [...cell.matchAll(/`([\w.-]+)`/g)].map(([, file]) => `${folders[index]}/${file}`);
      expect(files, part).not.toEqual([]);
      for (const file of files) expect(existsSync(file), file).toBe(true);
    }
  }
});

test("Go's comments are at most 120 columns wide", () => {
  const tooWide = globSync("clients/go/**/*.go")
    .filter((file) => !file.startsWith("clients/go/gen/"))
    .flatMap((file) =>
      readFileSync(file, "utf8")
        .split("\n")
        .map((line, index) => ({ place: `${file}:${index + 1}`, line: line.replaceAll("\t", "    ") })),
    )
    .filter(({ line }) => line.trimStart().startsWith("//") && line.length > 120);
  expect(tooWide.map(({ place }) => place)).toEqual([]);
});
