/** Runs the programs of examples/, with packages from their registries: `npm run test:examples`. */
import { runProject } from "./run-project.ts";

await runProject("examples", "Installs and runs each program of examples/ on a server, which takes minutes");
