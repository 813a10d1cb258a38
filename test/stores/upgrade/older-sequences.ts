/** Sequences as a server had them whose tables end with the second step: its tables, and its statements as texts. */
import { readFileSync } from "node:fs";
import { onTestFinished, vi } from "vitest";
import { openSqlSession, type TestSession } from "../../support/servers/run-sql.ts";

export type OlderKind = "postgres" | "mariadb" | "mysql";

/** The identity of the database, as such a server wrote and compared it. */
const identities: Readonly<Record<OlderKind, string>> = {
  postgres: `('system=' || (SELECT system_identifier::text FROM pg_control_system()) || ' ' ||
    'timeline=' || left(pg_walfile_name(pg_current_wal_lsn()), 8) || ' ' ||
    'database=' || (SELECT oid::text FROM pg_database WHERE datname = current_database()) || ' ' ||
    'table=' || 'snowlane_sequence_counter'::regclass::oid::text)`,
  mariadb: mysqlIdentity("server_uid"),
  mysql: mysqlIdentity("server_uuid"),
};

function mysqlIdentity(variable: string): string {
  return `CONCAT('system=', @@GLOBAL.${variable}, ' ', 'table=', COALESCE((SELECT UNIX_TIMESTAMP(CREATE_TIME)
    FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'snowlane_sequence_counter'), 'none'))`;
}

/** Whether a table that is made again now shows by its time of creation, which counts whole seconds. */
async function isOlderThanNow(session: TestSession): Promise<boolean> {
  const [row] = await session.run(`SELECT UNIX_TIMESTAMP(CREATE_TIME) + 1 < UNIX_TIMESTAMP(NOW()) AS is_older
    FROM information_schema.TABLES
    WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'snowlane_sequence_counter'`);
  return Number(row?.["is_older"]) === 1;
}

/** A server of that release, on one connection that stays open. */
export class OlderSequences {
  readonly #session: TestSession;
  readonly #kind: OlderKind;
  #revision = 1;
  #writes = 0;

  private constructor(session: TestSession, kind: OlderKind) {
    this.#session = session;
    this.#kind = kind;
  }

  /** Makes the tables of then, with the sequence `orders`, which begins again each year or never. */
  static async begin(url: string, kind: OlderKind, period: "none" | "year"): Promise<OlderSequences> {
    const session = await openSqlSession(url);
    onTestFinished(() => session.end());
    const file = kind === "postgres" ? "postgres" : "mysql";
    const fixture = readFileSync(new URL(`sequences-2.${file}.sql`, import.meta.url), "utf8");
    const zone = period === "none" ? "" : "UTC";
    const statements = [
      ...fixture.split(";\n").filter((statement) => statement.trim() !== ""),
      `INSERT INTO snowlane_sequence_place (namespace, identity, stopped, revision, open_ms, raised_count,
        raised_until_ms, store_id, stripe_index, stripe_count, members)
        VALUES ('default', ${identities[kind]}, '', 1, 0, 0, 0, '', 0, 1, '')`,
      `INSERT INTO snowlane_sequence VALUES ('default', 'orders', 1, 1, 9223372036854775807, 'strict', 10, 10,
        '${period}', '${zone}', '', '', false, 1000, 1000, 'ffffffffffffffffffffffffffffffff')`,
      `INSERT INTO snowlane_sequence_counter VALUES ('default', 'orders', '', 0, 'made')`,
    ];
    for (const statement of statements) await session.run(statement);
    if (kind !== "postgres") await vi.waitUntil(() => isOlderThanNow(session), { timeout: 60_000, interval: 50 });
    return new OlderSequences(session, kind);
  }

  /** Learns of an opening, as its look does. */
  async look(): Promise<void> {
    const [row] = await this.#session.run("SELECT revision FROM snowlane_sequence_place WHERE namespace = 'default'");
    this.#revision = Number(row?.["revision"]);
  }

  /** Takes values. @returns Them; none where the database is stopped, is another one, or has no such period. */
  async take(count: number, periodKey = ""): Promise<readonly number[]> {
    const statement = `UPDATE snowlane_sequence_counter SET used_count = ${this.#told(`used_count + ${count}`)},
      write_id = '${this.#newWriteId()}' WHERE namespace = 'default' AND name = 'orders' AND period_key = '${periodKey}'
      AND used_count < 9223372036854775807 AND used_count <= 9223372036854775807 - ${count} AND ${this.#mayTake()}`;
    const end = await this.#write(statement);
    return end === undefined ? [] : Array.from({ length: count }, (_, at) => end - count + 1 + at);
  }

  async beginPeriod(periodKey: string): Promise<void> {
    const unlessThere =
      this.#kind === "postgres"
        ? "ON CONFLICT DO NOTHING"
        : "ON DUPLICATE KEY UPDATE snowlane_sequence_counter.write_id = snowlane_sequence_counter.write_id";
    await this.#session.run(`INSERT INTO snowlane_sequence_counter (namespace, name, period_key, used_count, write_id)
      SELECT p.namespace, 'orders', '${periodKey}', 0, '${this.#newWriteId()}' FROM snowlane_sequence_place p
      WHERE p.namespace = 'default' AND ${this.#mayTake()}
      AND EXISTS (SELECT 1 FROM snowlane_sequence_counter f WHERE f.namespace = 'default' AND f.name = 'orders'
      AND f.period_key = '') ${unlessThere}`);
  }

  #mayTake(): string {
    return `EXISTS (SELECT 1 FROM snowlane_sequence_place q WHERE q.namespace = 'default' AND q.stopped = ''
      AND q.revision = ${this.#revision} AND q.identity = ${identities[this.#kind]})
      AND EXISTS (SELECT 1 FROM snowlane_sequence s WHERE s.namespace = 'default' AND s.name = 'orders'
      AND NOT s.disabled)`;
  }

  #newWriteId(): string {
    this.#writes += 1;
    return `older ${this.#writes}`;
  }

  #told(expression: string): string {
    return this.#kind === "postgres" ? expression : `LAST_INSERT_ID(${expression})`;
  }

  async #write(statement: string): Promise<number | undefined> {
    if (this.#kind === "postgres") {
      const [row] = await this.#session.run(`${statement} RETURNING used_count`);
      return row && Number(row["used_count"]);
    }
    await this.#session.run(statement);
    const [row] = await this.#session.run("SELECT ROW_COUNT() AS row_count, LAST_INSERT_ID() AS used_count");
    return Number(row?.["row_count"]) === 1 ? Number(row?.["used_count"]) : undefined;
  }
}
