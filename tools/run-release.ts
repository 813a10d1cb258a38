/** Builds and runs what is released: `npm run test:release`. */
import { runKeptProject } from "./run-project.ts";

await runKeptProject(
  "release",
  "Builds the packages, the image and the chart as a release has them, and runs each; takes minutes and root",
  ["buildah --version", "go version", "java --version", "python3 --version"],
);
