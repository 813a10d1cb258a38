/** Servers that share their data and name themselves differently, as the nodes of a cluster with several masters do. */
import { Client } from "pg";
import { expect, onTestFinished, test } from "vitest";
import { runCli } from "../support/processes/cli-outcome.ts";
import { startPostgres } from "../support/servers/postgres-server.ts";

test("two nodes of one database end starts with a sentence, and doctor says the same (starts waited for ever)", async () => {
  const server = await startPostgres();
  onTestFinished(() => server.stop());
  const admin = new Client({ connectionString: server.url });
  await admin.connect();
  // For `other`, the server has another name: its own function comes before the system's.
  await admin.query(`
    CREATE SCHEMA node;
    CREATE FUNCTION node.pg_control_system() RETURNS TABLE (system_identifier bigint)
      LANGUAGE sql AS 'SELECT 7::bigint';
    CREATE ROLE other SUPERUSER LOGIN;
    ALTER ROLE other SET search_path = node, pg_catalog, public`);
  await admin.end();
  const one = ["--store", server.url];
  const other = ["--store", server.url.replace("postgres@", "other@")];
  const short = ["--window", "2s", "--window-max", "120s", "--renewal-period", "500ms"];
  expect((await runCli(["next", ...one, ...short])).code).toBe(0);
  const serve = ["serve", "--listen", "127.0.0.1:0", "--log-level", "error", ...short];
  // It notes another life and waits for the quarantine, as after a failover.
  const waited = await runCli([...serve, "--start-timeout", "8s", ...other]);
  expect([waited.code, waited.stderr]).toEqual([6, expect.stringContaining("the store is under quarantine")]);
  const ended = await runCli([...serve, ...one]);
  const sentence = expect.stringMatching(
    /Two stores answer under this URL: name one writer\. The postgres store became/,
  );
  expect([ended.code, ended.stderr]).toEqual([4, sentence]);
  const doctor = await runCli(["doctor", "--listen", "127.0.0.1:0", ...short, ...one]);
  expect([doctor.code, doctor.stdout.toString()]).toEqual([4, sentence]);
});
