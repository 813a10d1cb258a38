import type { ConnectRouter } from "@connectrpc/connect";
import { file_google_rpc_error_details } from "../gen/google/rpc/error_details_pb.ts";
import { file_grpc_health_v1_health, Health } from "../gen/grpc/health/v1/health_pb.ts";
import { file_grpc_reflection_v1_reflection } from "../gen/grpc/reflection/v1/reflection_pb.ts";
import { file_grpc_reflection_v1alpha_reflection } from "../gen/grpc/reflection/v1alpha/reflection_pb.ts";
import { AdminService, file_snowlane_v1_admin_service } from "../gen/snowlane/v1/admin_service_pb.ts";
import { file_snowlane_v1_id_service, IdService } from "../gen/snowlane/v1/id_service_pb.ts";
import { type AdminServiceOptions, createAdminService } from "../service/admin-service.ts";
import { createHealth } from "../service/health.ts";
import { createIdService, type IdServiceOptions } from "../service/id-service.ts";
import { addReflection } from "../service/reflection.ts";

/** Files whose services are listed by reflection; error details among them, because they travel as Any. */
const reflected = [
  file_snowlane_v1_id_service,
  file_snowlane_v1_admin_service,
  file_grpc_health_v1_health,
  file_grpc_reflection_v1_reflection,
  file_grpc_reflection_v1alpha_reflection,
  file_google_rpc_error_details,
];

/** What the services of a server are made from. */
export type ServicesOptions = IdServiceOptions & AdminServiceOptions;

/** Registers every service of a server. `drainSignal` is aborted when the server begins to stop. */
export function createRoutes(options: ServicesOptions, drainSignal: AbortSignal): (router: ConnectRouter) => void {
  const { source } = options;
  const health = {
    isServing: () => source.state.kind === "serving" && !drainSignal.aborted,
    onChange: (listener: () => void) => source.onStateChange(listener),
  };
  // Needs no worker ID: what there is to see is most wanted when IDs cannot be had.
  const adminHealth = { isServing: () => !drainSignal.aborted, onChange: health.onChange };
  return (router) => {
    router.service(IdService, createIdService(options));
    router.service(AdminService, createAdminService(options));
    const served = { "": health, [IdService.typeName]: health, [AdminService.typeName]: adminHealth };
    router.service(Health, createHealth(served, drainSignal));
    addReflection(router, reflected);
  };
}
