/** Runs the tests on a real kube-apiserver, which is built first: `npm run test:kube`. */
import { runKeptProject } from "./run-project.ts";

await runKeptProject(
  "kube",
  "Builds a kube-apiserver once, which takes minutes, and tests the Kubernetes store and the chart on it",
  ["go version"],
);
