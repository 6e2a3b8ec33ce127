// The built-in storage, for tests: it needs no setup, and objects are deleted after a day.

import * as z from "zod";
import { ok } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { folder } from "./folder.ts";
import { noCredentials, storageService } from "./storage-service.ts";

export const builtin = storageService({
  body: strictObject({ service: z.literal("coconut"), path: folder }).describe(
    "The built-in storage, for tests: outputs are public and deleted after 24 hours",
  ),
  parseKeys: noCredentials,
  toStorage: ({ path }) => ok({ kind: "builtin", path }),
});
