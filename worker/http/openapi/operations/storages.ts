// /v2/storages: storages that are kept under a name.
import { TEMPLATE_BODY } from "../examples/templates.ts";
import { type Operation, pathParameter, success } from "../operation.ts";

const storage = { tag: "Storages", access: "client" } as const;
const parameters = [pathParameter("name", "The name of the storage", "main")];
const view = (status: number, description: string): Operation["responses"][number] =>
  success(status, description, "SavedStorage");

export const STORAGE_OPERATIONS: readonly Operation[] = [
  {
    ...storage,
    method: "get",
    path: "/v2/storages",
    id: "listStorages",
    summary: "List saved storages",
    responses: [success(200, "The saved storages, by name", "SavedStorageList")],
    codes: [],
  },
  {
    ...storage,
    method: "put",
    path: "/v2/storages/:name",
    id: "putStorage",
    summary: "Save a storage",
    description:
      "The body is the `storage` of a job. It is validated, encrypted, and replaces an earlier one. Jobs and templates use it " +
      'as `"storage": {"use": "main"}`. Credentials are never returned. A body with `use` changes or copies a saved storage, ' +
      "with its secrets if they are for the same service, bucket and host.",
    parameters,
    body: { json: "Storage", examples: { s3: { summary: "A bucket", value: TEMPLATE_BODY.storage } } },
    responses: [view(201, "The new storage"), view(200, "The replaced storage")],
    codes: [
      ...(["json_not_valid", "storage_not_valid", "storage_service_not_valid", "body_too_large"] as const),
      ...(["storage_credentials_not_valid", "too_many_templates", "sealing_key_missing"] as const),
      "saved_storage_not_found",
    ],
  },
  {
    ...storage,
    method: "get",
    path: "/v2/storages/:name",
    id: "getStorage",
    summary: "Read a saved storage",
    description: "Secrets are missing.",
    parameters,
    responses: [view(200, "The storage")],
    codes: ["saved_storage_not_found", "sealing_key_missing"],
  },
  {
    ...storage,
    method: "delete",
    path: "/v2/storages/:name",
    id: "deleteStorage",
    summary: "Delete a saved storage",
    description: "Existing jobs do not change.",
    parameters,
    responses: [view(200, "The deleted storage")],
    codes: ["saved_storage_not_found", "sealing_key_missing"],
  },
  {
    ...storage,
    method: "post",
    path: "/v2/storages/:name/test",
    id: "testStorage",
    summary: "Test a saved storage",
    description:
      "Stores a small object, reads it, reads its URL as a web page of the service does (CORS), and removes it. The built-in " +
      "storage and upload URLs are not tested.",
    parameters,
    responses: [success(200, "The result of each step", "StorageTest")],
    codes: [
      ...(["saved_storage_not_found", "storage_not_valid", "storage_service_not_valid"] as const),
      ...(["storage_credentials_not_valid", "sealing_key_missing"] as const),
    ],
  },
];
