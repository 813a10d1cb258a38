/** Runs the tests on a real kube-apiserver, which is built first: `npm run test:kube`. */
import { runProject } from "./run-project.ts";

await runProject("kube", "Builds a kube-apiserver once, which takes minutes, and tests the Kubernetes store on it");
