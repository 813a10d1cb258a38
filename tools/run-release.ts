/** Builds and runs what is released: `npm run test:release`. */
import { runProject } from "./run-project.ts";

await runProject(
  "release",
  "Builds the packages, the image and the chart as a release has them, and runs each; takes minutes and root",
);
