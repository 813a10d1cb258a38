import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startEtcd } from "../support/servers/etcd-server.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";
import { runSql } from "../support/servers/run-sql.ts";

/** What a store has done so far. */
interface StoreWork {
  /** Writes of records; where the server counts all of its own, those of others with them. */
  readonly writes: number;
  /** Bytes that went to its log; undefined where it does not tell. */
  readonly loggedBytes: number | undefined;
  /** Bytes that the records take on its disk now. */
  readonly keptBytes: number;
}

/** A real store for a fleet, and what it says of itself. */
export interface FleetStore {
  readonly name: string;
  readonly url: string;
  look(): Promise<StoreWork>;
  /** Connections that are open to it. */
  connections(): number;
  /** Ends it as kill -9 does, and starts it again on its data; absent where there is no server. */
  readonly kill?: () => Promise<void>;
  readonly restart?: () => Promise<void>;
  stop(): Promise<void>;
}

/** How each store is started, with every commit on the disk. */
export const fleetStores: Readonly<Record<string, () => Promise<FleetStore>>> = {
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "snowlane-fleet-"));
    const path = join(folder, "ids.db");
    return {
      name: `SQLite ${process.versions["sqlite"]}`,
      url: `sqlite:${path}`,
      look: async () => {
        if (!existsSync(path)) return { writes: 0, loggedBytes: undefined, keptBytes: 0 };
        // The file change counter of the header. Source: https://www.sqlite.org/fileformat.html, section 1.3.7.
        const writes = readFileSync(path).readUInt32BE(24);
        return { writes, loggedBytes: undefined, keptBytes: statSync(path).size };
      },
      connections: () => 0,
      stop: async () => rmSync(folder, { recursive: true, force: true }),
    };
  },
  postgres: async () => {
    const server = await startPostgres(["-c", "max_connections=300", "-c", "fsync=on"]);
    const [row] = await runSql(server.url, "SHOW server_version");
    return {
      name: `PostgreSQL ${String(row!["server_version"]).split(" ")[0]}`,
      url: server.url,
      look: async () => {
        const [work] = await runSql(
          server.url,
          `SELECT n_tup_ins + n_tup_upd AS writes, pg_current_wal_lsn() - '0/0' AS logged,
            pg_total_relation_size(relid) AS kept FROM pg_stat_user_tables WHERE relname = 'snowlane_record'`,
        );
        const { writes, logged, kept } = work ?? {};
        return { writes: Number(writes ?? 0), loggedBytes: Number(logged ?? 0), keptBytes: Number(kept ?? 0) };
      },
      connections: () => connectionsTo(server.port),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
  etcd: async () => {
    const server = await startEtcd();
    const status = async (): Promise<EtcdStatus> => {
      const answer = await fetch(`http://127.0.0.1:${server.port}/v3/maintenance/status`, {
        method: "POST",
        body: "{}",
      });
      return (await answer.json()) as EtcdStatus;
    };
    return {
      name: `etcd ${(await status()).version}`,
      url: server.url,
      look: async () => {
        const { header, dbSizeInUse } = await status();
        const metrics = await (await fetch(`http://127.0.0.1:${server.port}/metrics`)).text();
        const logged = /^etcd_disk_wal_write_bytes_total (\S+)$/m.exec(metrics)?.[1];
        return {
          writes: Number(header.revision),
          loggedBytes: logged === undefined ? undefined : Number(logged),
          keptBytes: Number(dbSizeInUse),
        };
      },
      connections: () => connectionsTo(server.port),
      kill: () => server.kill(),
      restart: () => server.restart(),
      stop: () => server.stop(),
    };
  },
};

interface EtcdStatus {
  readonly version: string;
  readonly header: { readonly revision: string };
  readonly dbSizeInUse: string;
}

/** TCP connections of this machine that a server on a port has: state 01 is established. */
function connectionsTo(port: number): number {
  const local = `:${port.toString(16).toUpperCase().padStart(4, "0")}`;
  const lines = readFileSync("/proc/net/tcp", "utf8").split("\n").slice(1);
  return lines.filter((line) => {
    const [, address = "", , state] = line.trim().split(/\s+/);
    return address.endsWith(local) && state === "01";
  }).length;
}
