import { existsSync, readdirSync, readFileSync } from "node:fs";
import { dirname, join, relative, resolve } from "node:path";

/** The repository that the packages of a release are to lead into. */
interface Repository {
  /** On the web, without a slash at its end. */
  readonly address: string;
  /** Of the release. */
  readonly tag: string;
  /** Its files. */
  readonly checkout: string;
}

/** A link, and the file of the package that has it. */
interface PackedLink {
  readonly path: string;
  readonly link: string;
}

/** What the links of an unpacked package are: those into the repository, those within the package, and broken ones. */
export interface PackedLinks {
  readonly whole: number;
  readonly within: number;
  /** A line for each link that leads nowhere. */
  readonly broken: readonly string[];
}

/** Follows each link of each text below a folder, which is an unpacked package. Other sites are not asked. */
export function followLinks(folder: string, repository: Repository): PackedLinks {
  const texts = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((path) => [path, readFileSync(path)] as const)
    .filter(([, bytes]) => !bytes.includes(0))
    .map(([path, bytes]) => [path, bytes.toString()] as const);
  const whole = texts.flatMap(([path, text]) => ownLinks(text, repository.address).map((link) => ({ path, link })));
  const within = texts.flatMap(([path, text]) => relativeLinks(path, text).map((link) => ({ path, link })));
  const lost = texts
    .filter(([, text]) => text.includes("github.com/OWNER"))
    .map(([path]) => `${relative(folder, path)} names the placeholder`);
  const show = ({ path, link }: PackedLink): string => `${relative(folder, path)}: ${link}`;
  const broken = [
    ...whole.filter(({ link }) => !isInRepository(link, repository)),
    ...within.filter((one) => !isInPackage(one, folder)),
  ];
  return { whole: whole.length, within: within.length, broken: [...lost, ...broken.map(show)] };
}

/** The links into the repository of this address, in a text of any kind. */
function ownLinks(text: string, address: string): readonly string[] {
  return text
    .split(address)
    .slice(1)
    .map((rest) => address + (/^[^\s"'`<>()[\]\\,;]*/.exec(rest)?.[0] ?? "").replace(/\.$/, ""));
}

function isInRepository(link: string, { address, tag, checkout }: Repository): boolean {
  const rest = link.slice(address.length);
  if (["", ".git", "#readme", "/issues"].includes(rest)) return true;
  const [, ref, path = ""] = /^\/(?:blob|tree|raw)\/([^/]+)\/([^#]+)(?:#.*)?$/.exec(rest) ?? [];
  return (ref === tag || ref === "main") && existsSync(join(checkout, path));
}

/** The links of a page of Markdown or HTML that are not whole addresses. */
function relativeLinks(path: string, text: string): readonly string[] {
  const isPage = /\.md$|\/(PKG-INFO|METADATA)$/.test(path);
  if (!isPage && !path.endsWith(".html")) return [];
  const links = isPage
    ? text
        .replaceAll(/^\s*```[^]*?^\s*```/gm, "")
        .replaceAll(/`[^`\n]+`/g, "")
        .matchAll(/\]\(([^)\s]+)/g)
    : text.matchAll(/ (?:href|src)="([^"]*)"/g);
  return [...links].map(([, link = ""]) => link).filter((link) => !/^([a-z]+:|#)/.test(link));
}

function isInPackage({ path, link }: PackedLink, folder: string): boolean {
  const target = resolve(dirname(path), decodeURIComponent(link.split(/[#?]/)[0]!));
  return target.startsWith(folder) && existsSync(target);
}
