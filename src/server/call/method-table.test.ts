import type { DescService } from "@bufbuild/protobuf";
import { createClient } from "@connectrpc/connect";
import { createGrpcTransport } from "@connectrpc/connect-node";
import { expect, test } from "vitest";
import { runServer } from "../../../test/support/processes/running-server.ts";
import { Health } from "../../gen/grpc/health/v1/health_pb.ts";
import { ServerReflection as V1 } from "../../gen/grpc/reflection/v1/reflection_pb.ts";
import { ServerReflection as V1Alpha } from "../../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { AdminService } from "../../gen/snowlane/v1/admin_service_pb.ts";
import { IdService } from "../../gen/snowlane/v1/id_service_pb.ts";
import { SequenceService } from "../../gen/snowlane/v1/sequence_service_pb.ts";
import { tabledMethods, traitsOf } from "./method-table.ts";

const services: readonly DescService[] = [Health, V1, V1Alpha, AdminService, IdService, SequenceService];

/** The names of the services that a server offers, by its own reflection. */
async function servicesOf(url: string): Promise<readonly string[]> {
  const reflection = createClient(V1, createGrpcTransport({ baseUrl: url }));
  async function* requests() {
    yield { messageRequest: { case: "listServices" as const, value: "" } };
  }
  for await (const { messageResponse } of reflection.serverReflectionInfo(requests())) {
    if (messageResponse.case === "listServicesResponse") return messageResponse.value.service.map(({ name }) => name);
  }
  throw new Error("no answer");
}

test("every method of every service that a server offers has a row, and no row is for `all` alone", async () => {
  const { url } = await runServer();
  expect(await servicesOf(url)).toEqual(services.map(({ typeName }) => typeName));
  for (const { typeName, methods } of services) {
    for (const { name, methodKind } of methods) {
      const path = `/${typeName}/${name}`;
      const streams = methodKind !== "unary";
      expect(traitsOf(path), path).toMatchObject({ path, access: expect.not.stringMatching("all"), streams });
    }
  }
});

test("a method without a row is for `all` alone", () => {
  for (const path of ["/snowlane.v1.IdService/Reset", "/toString"]) {
    expect(traitsOf(path)).toMatchObject({ path, access: "all" });
  }
});

test("the traits of a method are one object, so what is kept with them is found without a look-up", () => {
  const path = "/snowlane.v1.IdService/NextId";
  expect(traitsOf(path)).toBe(traitsOf(path));
});

test("methods are numbered from 0 without gaps", () => {
  expect(tabledMethods.map(({ index }) => index)).toEqual([...tabledMethods.keys()]);
  expect(traitsOf(tabledMethods[3]!.path).index).toBe(3);
});
