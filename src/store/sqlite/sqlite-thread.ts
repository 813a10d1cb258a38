/**
 * The thread in which the embedded store works: node:sqlite is synchronous, and the event loop that serves IDs must
 * never wait for the disk. It is an entry of the bundle.
 */
import { workerData } from "node:worker_threads";
import { RecordFile, type RecordFileOptions } from "./record-file.ts";
import { answerCalls } from "./thread-calls.ts";

const options = workerData as RecordFileOptions;
answerCalls(options.path, new RecordFile(options));
