// Reads the proto files when it starts, so nothing is generated. Other languages generate stubs from the same files.
import { credentials, loadPackageDefinition } from "@grpc/grpc-js";
import { loadSync } from "@grpc/proto-loader";

const protos = loadSync("snowlane/v1/id_service.proto", { includeDirs: ["proto"], longs: String });
const { IdService } = loadPackageDefinition(protos).snowlane.v1;
const client = new IdService("127.0.0.1:7609", credentials.createInsecure());
client.NextId({}, { deadline: Date.now() + 5_000 }, (error, answer) => {
  if (error) throw error;
  console.log(answer.id);
  client.close();
});
