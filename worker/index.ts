// The whole service as one Worker: the local system and the tests run it.
export { NodeHub } from "./dispatch/node-hub.ts";
export { AccountObject, default, JobObject } from "./main-worker.ts";
