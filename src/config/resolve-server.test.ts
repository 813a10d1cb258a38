import { expect, test } from "vitest";
import { loadSettings } from "./load-settings.ts";
import { serverSettings } from "./server-settings.ts";
import { problemsOf } from "./resolved.ts";
import { resolveServer } from "./resolve-server.ts";

function resolve(flags: Readonly<Record<string, string>>) {
  const { values, problems } = loadSettings(serverSettings, { flags, environment: {} });
  expect(problems).toEqual([]);
  return resolveServer(values, { HOME: "/home/somebody" });
}

function refused(flags: Readonly<Record<string, string>>): readonly string[] {
  return problemsOf(resolve(flags)).map(({ place }) => place);
}

test("the timing of leases is handed to the worker as it was said", () => {
  const flags = { store: "etcd://127.0.0.1", window: "60s", renewalPeriod: "10s", windowMax: "2m" };
  expect(resolve(flags)).toMatchObject({
    kind: "good",
    value: { windowMs: 60_000, renewalPeriodMs: 10_000, windowMaxMs: 120_000 },
  });
});

test("lengths of time that contradict each other are refused together", () => {
  const store = "etcd://127.0.0.1";
  expect(refused({ store, window: "60s", renewalPeriod: "31s", windowMax: "59s" })).toEqual([
    "--renewal-period",
    "--window-max",
  ]);
});

test("what is wrong with the layout does not hide what is wrong with anything else", () => {
  const flags = { layout: "nothing", window: "60s", renewalPeriod: "31s", tlsKey: "key.pem" };
  expect(refused({ ...flags, store: "etcd://127.0.0.1" })).toEqual(["--layout", "--renewal-period", "--tls-cert"]);
});

test("a folder for notes is refused beside a file (pods whose Secret named one would have repeated each other's IDs)", () => {
  const folder = { resumeDir: "/var/lib/snowlane/resume" };
  expect(refused(folder)).toEqual(["--resume-dir"]);
  expect(refused({ ...folder, store: "sqlite:/var/lib/snowlane/ids.db", window: "60s", renewalPeriod: "31s" })).toEqual(
    ["--renewal-period", "--resume-dir"],
  );
  expect(refused({ ...folder, store: "etcd://127.0.0.1" })).toEqual([]);
  expect(refused({ resumeDir: "off", store: "sqlite:/var/lib/snowlane/ids.db" })).toEqual([]);
});

test("a server that others can reach says who may call, and where its records are", () => {
  expect(refused({ listen: "0.0.0.0:7609" })).toEqual(["--listen", "--listen"]);
  const open = { listen: "0.0.0.0:7609", store: "etcd://127.0.0.1" };
  expect(refused(open)).toEqual(["--listen"]);
  expect(refused({ ...open, auth: "none" })).toEqual([]);
  expect(refused({ ...open, principals: "p.json" })).toEqual([]);
  expect(refused({ ...open, tlsCert: "c.pem", tlsKey: "k.pem", tlsClientCa: "ca.pem" })).toEqual([]);
});

test("settings that say who may call do not contradict each other", () => {
  const tls = { tlsCert: "c.pem", tlsKey: "k.pem" };
  const [principals, tlsClientCa] = ["p.json", "ca.pem"];
  expect(refused({ auth: "none", principals })).toEqual(["--auth"]);
  expect(refused({ ...tls, auth: "none", tlsClientCa })).toEqual(["--auth"]);
  expect(refused({ auth: "required" })).toEqual(["--auth"]);
  expect(refused({ auth: "required", listen: "0.0.0.0:1", store: "etcd://127.0.0.1" })).toEqual(["--auth"]);
  expect(refused({ auth: "required", principals })).toEqual([]);
  expect(refused({ ...tls, auth: "required", tlsClientCa })).toEqual([]);
  expect(refused({ tlsClientAuth: "optional" })).toEqual(["--tls-client-auth"]);
  expect(refused({ ...tls, tlsClientCa, tlsClientAuth: "optional" })).toEqual(["--tls-client-auth"]);
  expect(refused({ ...tls, tlsClientCa, principals, tlsClientAuth: "optional" })).toEqual([]);
  expect(refused({ tlsClientCa })).toEqual(["--tls-client-ca"]);
});

test("an admin listener has a port of its own, and is never open by mistake", () => {
  const [adminListen, store] = ["0.0.0.0:7610", "etcd://127.0.0.1"];
  expect(refused({ adminListen: "127.0.0.1:7609" })).toEqual(["--admin-listen"]);
  expect(refused({ adminListen: "[::1]:7609" })).toEqual(["--admin-listen"]);
  expect(refused({ listen: "127.0.0.1:0", adminListen: "127.0.0.1:0" })).toEqual([]);
  expect(refused({ adminListen: "127.0.0.1:7610" })).toEqual([]);
  expect(refused({ adminListen })).toEqual(["--admin-listen"]);
  expect(refused({ adminListen, auth: "none", listen: "0.0.0.0:7609", store })).toEqual([]);
  expect(refused({ adminListen, principals: "p.json" })).toEqual([]);
});

test("a layout that nothing can be issued under is refused with all else that is wrong", () => {
  const flags = { layoutFields: "worker:10,sequence:12,timestamp:41", epoch: "2020-01-01", workerId: "1024" };
  expect(refused(flags)).toEqual(["--layout-fields", "--worker-id"]);
});
