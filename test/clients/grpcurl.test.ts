import { describe, expect, onTestFinished, test } from "vitest";
import { findTool } from "../support/fetch/tools.ts";
import { type CertificateFiles, makeCertificates } from "../support/processes/certificates.ts";
import { bearer, principalsFile } from "../support/processes/principals-file.ts";
import { runCommand } from "../support/processes/run-command.ts";
import { runServer } from "../support/processes/running-server.ts";

/** Calls the server as an operator with a shell does: grpc-go inside, no proto files, by reflection alone. */
const grpcurl = (...args: readonly string[]): Promise<string> => secureGrpcurl("-plaintext", ...args);

async function secureGrpcurl(...args: readonly string[]): Promise<string> {
  const { path, env } = await findTool("grpcurl");
  return runCommand(path, ["-max-time", "30", ...args], { env });
}

describe.each(["node", "engine"])("grpcurl without proto files, --http2 %s", (http2) => {
  test("lists the services, describes one, and gets an ID", async () => {
    const { address } = await runServer({ http2 });
    const services = (await grpcurl(address, "list")).trim().split("\n");
    expect(services).toEqual(expect.arrayContaining(["grpc.health.v1.Health", "snowlane.v1.IdService"]));
    expect(await grpcurl(address, "describe", "snowlane.v1.IdService")).toContain("rpc BatchNextIds");
    const { id } = JSON.parse(await grpcurl(address, "snowlane.v1.IdService/NextId")) as { readonly id: string };
    expect(BigInt(id)).toBeGreaterThan(2n ** 53n);
    expect(JSON.parse(await grpcurl(address, "grpc.health.v1.Health/Check"))).toEqual({ status: "SERVING" });
  });

  test("streams IDs that rise", async () => {
    const { address } = await runServer({ http2 });
    const request = ["-d", '{"count": "10000", "chunk_size": 1000}'];
    const output = await grpcurl(...request, address, "snowlane.v1.IdService/BatchNextIds");
    const ids = [...output.matchAll(/"(\d+)"/g)].map(([, digits]) => BigInt(digits ?? ""));
    expect(ids).toHaveLength(10_000);
    expect(ids.every((id, place) => place === 0 || id > (ids[place - 1] ?? 0n))).toBe(true);
  });

  test("decodes the reason of an error", async () => {
    const { address } = await runServer({ http2 });
    const call = grpcurl("-d", '{"count": "0"}', address, "snowlane.v1.IdService/ReserveIds");
    const problem = await call.catch((error: Error) => error.message);
    for (const part of ["InvalidArgument", "google.rpc.ErrorInfo", "COUNT_OUT_OF_RANGE", "snowlane.dev"]) {
      expect(problem).toContain(part);
    }
  });

  test("needs a token for reflection and for calls, where the server knows its callers", async () => {
    const principals = principalsFile([
      { name: "app", permissions: ["ids"] },
      { name: "operator", permissions: ["observe"] },
    ]).path;
    const { address } = await runServer({ http2, principals });
    const as = (name: string) => ["-H", `authorization: ${bearer(name).authorization}`];
    const proto = ["-import-path", "proto", "-proto", "snowlane/v1/id_service.proto"];
    const nextId = [address, "snowlane.v1.IdService/NextId"];
    await expect(grpcurl(address, "list")).rejects.toThrow(/credentials/);
    expect(await grpcurl(...as("operator"), address, "list")).toContain("snowlane.v1.IdService");
    await expect(grpcurl(...proto, ...as("nobody"), ...nextId)).rejects.toThrow(/Unauthenticated/);
    await expect(grpcurl(...proto, ...as("operator"), ...nextId)).rejects.toThrow(/PermissionDenied/);
    expect(await grpcurl(...proto, ...as("app"), ...nextId)).toMatch(/"id": "\d+"/);
  });

  test("over TLS shows a token or a certificate, and gets nothing without either", async () => {
    const { server, client, nameless, caFile, remove } = await makeCertificates();
    onTestFinished(remove);
    const principals = principalsFile([
      { name: "app", permissions: ["all"] },
      { name: "machine", permissions: ["all"], certificates: ["dns:client"] },
    ]).path;
    const tls = { tlsCert: server.certFile, tlsKey: server.keyFile, tlsClientCa: caFile, tlsClientAuth: "optional" };
    const { address } = await runServer({ http2, principals, ...tls });
    const call = (...flags: readonly string[]) => secureGrpcurl(...flags, address, "snowlane.v1.IdService/NextId");
    const trusted = ["-cacert", caFile];
    const as = (name: string) => ["-H", `authorization: ${bearer(name).authorization}`];
    const shown = ({ certFile, keyFile }: CertificateFiles) => ["-cert", certFile, "-key", keyFile];
    expect(await call(...trusted, ...as("app"))).toMatch(/"id": "\d+"/);
    expect(await call(...trusted, ...shown(client))).toMatch(/"id": "\d+"/);
    for (const refused of [[], as("nobody"), shown(nameless), [...shown(client), ...as("nobody")]]) {
      await expect(call(...trusted, ...refused)).rejects.toThrow(/Unauthenticated|credentials/);
    }
    await expect(call(...as("app"))).rejects.toThrow(/certificate/);
  });

  test("gets UNIMPLEMENTED for a method that does not exist", async () => {
    const { address } = await runServer({ http2 });
    const call = grpcurl("-d", "{}", address, "grpc.health.v1.Health/Nothing");
    await expect(call).rejects.toThrow(/does not include a method named "Nothing"|Unimplemented/);
  });
});
