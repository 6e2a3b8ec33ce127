// /v2/storages: storages that are kept under a name.
import { SavedStorage, SavedStorageList, StorageTest } from "#shared/api/storages.ts";
import { TEMPLATE_BODY } from "../operation/examples/templates.ts";
import { operations, pathParameter, success } from "../operation/operation.ts";

const NAME = pathParameter("name", "The name of the storage", "main");

export const SAVED_STORAGE_OPERATIONS = operations({ tag: "Storages", path: [NAME] })({
  listStorages: {
    route: "GET /v2/storages",
    access: ["jobs:create"],
    summary: "List saved storages",
    responses: [success(200, "The saved storages, by name", SavedStorageList)],
  },
  putStorage: {
    route: "PUT /v2/storages/:name",
    access: "unscoped-key",
    summary: "Save a storage",
    description:
      "The body is the `storage` of a job. It is validated, encrypted, and replaces an earlier one. Jobs and templates use it " +
      'as `"storage": {"use": "main"}`. Credentials are never returned. A body with `use` changes or copies a saved storage, ' +
      "with its secrets if they are for the same service, bucket and host.",
    body: {
      json: "Storage",
      code: "storage_not_valid",
      examples: { s3: { summary: "A bucket", value: TEMPLATE_BODY.storage } },
    },
    responses: [success(201, "The new storage", SavedStorage), success(200, "The replaced storage", SavedStorage)],
    codes: [
      "storage_service_not_valid",
      "storage_credentials_not_valid",
      "too_many_templates",
      "sealing_key_missing",
      "saved_storage_not_found",
    ],
  },
  getStorage: {
    route: "GET /v2/storages/:name",
    access: ["jobs:create"],
    summary: "Read a saved storage",
    description: "Secrets are missing.",
    responses: [success(200, "The storage", SavedStorage)],
    codes: ["saved_storage_not_found", "sealing_key_missing"],
  },
  deleteStorage: {
    route: "DELETE /v2/storages/:name",
    access: "unscoped-key",
    summary: "Delete a saved storage",
    description: "Existing jobs do not change.",
    responses: [success(200, "The deleted storage", SavedStorage)],
    codes: ["saved_storage_not_found", "sealing_key_missing"],
  },
  testStorage: {
    route: "POST /v2/storages/:name/test",
    access: "unscoped-key",
    summary: "Test a saved storage",
    description:
      "Stores a small object, reads it, reads its URL as a web page of the service does (CORS), and removes it. The built-in " +
      "storage and upload URLs are not tested.",
    responses: [success(200, "The result of each step", StorageTest)],
    codes: [
      "saved_storage_not_found",
      "storage_not_valid",
      "storage_service_not_valid",
      "storage_credentials_not_valid",
      "sealing_key_missing",
    ],
  },
});
