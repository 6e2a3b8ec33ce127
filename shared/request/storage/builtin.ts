// The service's own storage, for trying it out: nothing to set up, and everything is gone after a day.
import * as z from "zod";
import { strictObject } from "../../strict-object.ts";
import { folder } from "./folder.ts";
import { noCredentials, storageService } from "./storage-service.ts";

export const builtin = storageService({
  body: strictObject({ service: z.literal("coconut"), path: folder }).describe(
    "Storage of the service itself, for tests: outputs are public and deleted after 24 hours",
  ),
  parseKeys: noCredentials,
  toStorage: ({ path }) => ({ ok: true, value: { kind: "builtin", path } }),
});
