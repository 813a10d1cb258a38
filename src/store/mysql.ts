/** Records in MySQL or MariaDB, compared byte for byte. */
import type { ResultSetHeader, RowDataPacket } from "mysql2/promise";
import { isDuplicateKey, isRefusedStatement, type MysqlConnection, openMysqlDatabase } from "./link/mysql-link.ts";
import { adviseOnMysql } from "./mysql-advice.ts";
import type { RecordStore, StoreOptions } from "./record-store.ts";
import { recordTable as table, SqlRecords } from "./sql-records.ts";

interface RecordRow extends RowDataPacket {
  readonly key: Buffer;
  readonly text: Buffer;
}

/**
 * Opens a MySQL or MariaDB store; the server may start later.
 *
 * @param url - See {@link openMysqlDatabase}.
 * @throws IdError INVALID_CONFIG.
 */
export async function openMysqlStore(url: string, options: StoreOptions): Promise<RecordStore> {
  return new SqlRecords<MysqlConnection>(
    {
      kind: "mysql",
      database: await openMysqlDatabase(url, options),
      table,
      skipsEqualWrites: true,
      createTable: async ({ client }) => void (await client.query(sql.createTable)),
      list: async ({ client }, namespace) => {
        const [rows] = await client.execute<RecordRow[]>(sql.list, [namespace]);
        return rows.map(({ key, text }) => ({ key: key.toString(), text: text.toString() }));
      },
      read: async ({ client }, ...values) => {
        const [[row]] = await client.execute<RecordRow[]>(sql.read, values);
        return row?.text.toString();
      },
      create: async (connection, ...values) => {
        try {
          return await isWritten(connection, sql.create, values);
        } catch (error) {
          if (isDuplicateKey(error)) return false;
          throw error;
        }
      },
      replace: (connection, { namespace, key, expected, text }) =>
        isWritten(connection, sql.replace, [text, namespace, key, expected]),
      isRefused: isRefusedStatement,
      advise: adviseOnMysql,
    },
    options,
  );
}

/** Columns are binary, so that texts that differ only in case or in a trailing space are not equal. */
const sql = {
  createTable: `CREATE TABLE IF NOT EXISTS ${table} (
    namespace VARBINARY(63) NOT NULL, \`key\` VARBINARY(40) NOT NULL, text VARBINARY(1024) NOT NULL,
    PRIMARY KEY (namespace, \`key\`)) ENGINE = InnoDB`,
  list: `SELECT \`key\`, text FROM ${table} WHERE namespace = ?`,
  read: `SELECT text FROM ${table} WHERE namespace = ? AND \`key\` = ?`,
  create: `INSERT INTO ${table} (namespace, \`key\`, text) VALUES (?, ?, ?)`,
  replace: `UPDATE ${table} SET text = ? WHERE namespace = ? AND \`key\` = ? AND text = ?`,
} as const;

async function isWritten({ client }: MysqlConnection, statement: string, values: string[]): Promise<boolean> {
  const [{ affectedRows }] = await client.execute<ResultSetHeader>(statement, values);
  return affectedRows === 1;
}
