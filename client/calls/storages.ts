// Saved storages: storages that are kept under a name.
import type { Caller, CallOptions } from "../http/caller.ts";
import type { SavedStorage, SavedStorageList, Storage, StorageTest } from "../types/api.ts";

const pathOf = (name: string): string => `/v2/storages/${encodeURIComponent(name)}`;

export class Storages {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async list(options?: CallOptions): Promise<SavedStorageList["storages"]> {
    return (await this.#caller.json<SavedStorageList>("/v2/storages", options)).storages;
  }

  /** A saved storage without secrets. */
  get(name: string, options?: CallOptions): Promise<SavedStorage> {
    return this.#caller.json(pathOf(name), options);
  }

  /** Saves a storage, or replaces it. Jobs use it as `{ use: name }`. */
  put(name: string, storage: Storage, options?: CallOptions): Promise<SavedStorage> {
    return this.#caller.json(pathOf(name), { ...options, method: "PUT", json: storage });
  }

  delete(name: string, options?: CallOptions): Promise<SavedStorage> {
    return this.#caller.json(pathOf(name), { ...options, method: "DELETE" });
  }

  /** Stores, reads and removes a small object, and checks that web pages can read it. */
  test(name: string, options?: CallOptions): Promise<StorageTest> {
    return this.#caller.json(`${pathOf(name)}/test`, { ...options, method: "POST" });
  }
}
