// Folders on nodes, such as a share of a NAS. The operator gives them to nodes and to accounts.

import * as z from "zod";
import { FolderName } from "../../job/folder-url.ts";
import { ok } from "../../result.ts";
import { strictObject } from "../../strict-object.ts";
import { folder, folderKey } from "./folder.ts";
import { inputService, noCredentials, storageService } from "./storage-service.ts";

const place = {
  service: z.literal("folder"),
  folder: FolderName.describe("The name of a folder that the operator has given to the account"),
};

export const nodeFolder = storageService({
  body: strictObject({ ...place, path: folder }).describe(
    "A folder of the operator on nodes; only nodes that can write to it store the outputs",
  ),
  parseKeys: noCredentials,
  toStorage: ({ folder, path }) => ok({ kind: "folder", folder, path }),
});

export const nodeFolderInput = inputService({
  body: strictObject({ ...place, path: folderKey }).describe(
    "A file in a folder of the operator on nodes; only nodes with the folder read it",
  ),
  parseKeys: noCredentials,
  toObject: ({ folder, path }) => ok({ kind: "folder", folder, key: path }),
});
