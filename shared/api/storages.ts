// Schemas for saved storages.
import * as z from "zod";
import { ContractDate } from "../job/job-view.ts";
import { NAMED } from "../named-schemas.ts";

const summary = { name: z.string(), created_at: ContractDate.describe("When it was stored") };

export const SavedStorageList = z
  .object({ storages: z.array(z.object(summary)).describe("By name") })
  .describe("The saved storages of the account")
  .register(NAMED, { id: "SavedStorageList" });
export type SavedStorageList = z.infer<typeof SavedStorageList>;

export const SavedStorage = z
  .object({
    ...summary,
    storage: z.looseObject({}).describe("The `storage` section of a job, without its secrets"),
    left_out: z.array(z.string()).describe("The fields that are missing or lack a part, because they are secret"),
  })
  .describe("A saved storage")
  .register(NAMED, { id: "SavedStorage" });
export type SavedStorage = z.infer<typeof SavedStorage>;

export const StorageTest = z
  .object({
    steps: z.array(
      z.object({
        step: z
          .enum(["store", "read", "web", "remove"])
          .describe("`web`: web pages can read the object by its URL, as players do"),
        status: z.enum(["passed", "failed", "skipped"]),
        error: z.string().exactOptional(),
        error_code: z.string().exactOptional(),
      }),
    ),
  })
  .describe("The result of a test with a small object")
  .register(NAMED, { id: "StorageTest" });
export type StorageTest = z.infer<typeof StorageTest>;
