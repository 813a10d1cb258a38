/** The thread in which sequences in SQLite are kept, apart from that of the records. It is an entry of the bundle. */
import { workerData } from "node:worker_threads";
import { answerCalls } from "../../store/sqlite/thread-calls.ts";
import { SequenceFile, type SequenceFileOptions } from "./sqlite-sequence-file.ts";

const options = workerData as SequenceFileOptions;
answerCalls(options.path, new SequenceFile(options));
