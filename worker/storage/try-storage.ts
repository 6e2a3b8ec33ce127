// Tries a storage: stores a small object, reads it, reads it as a web page does, and removes it.
import type { StorageTest } from "#shared/api/storages.ts";
import { AppError } from "#shared/errors.ts";
import { newJobId } from "#shared/ids.ts";
import { joinPath } from "#shared/job/object-name.ts";
import { type StorageRejection, storageRejection } from "#shared/network/storage-failure.ts";
import type { AccessKeys, StorageSpec } from "#shared/request/storage/storage-spec.ts";
import { randomBytes } from "../crypto/bytes.ts";
import { fetchWithin } from "../http-client/fetch-within.ts";
import { readLimited } from "../http-client/read-limited.ts";
import { settingsOf } from "../settings.ts";
import { blobSas } from "./azure/azure-sas.ts";
import { azureUrl } from "./azure/azure-store.ts";
import { openStore, publicUrlOf, type StorageEnv } from "./open-store.ts";
import { presign } from "./s3/s3-requests.ts";
import { objectUrl } from "./s3/s3-urls.ts";
import { NoStorageResponse, requireAllowed } from "./storage-errors.ts";

const LIMIT_MS = 10_000;
const CONTENT = "A test of this storage. It can be removed.\n";
const MAX_RESPONSE_BYTES = 64 * 1024;

type Step = StorageTest["steps"][number];
/** `origin`: the origin of the dashboard, whose player reads objects. */
type TryOptions = { readonly env: StorageEnv; readonly origin: string };

/**
 * Later steps are skipped if nothing was stored, and for storages without an API to read: the built-in storage, and
 * upload URLs.
 */
export async function tryStorage(
  storage: StorageSpec,
  keys: AccessKeys | null,
  { env, origin }: TryOptions,
): Promise<StorageTest> {
  const id = newJobId(randomBytes);
  const objectName = `copra-test-${id}.txt`;
  const allow = settingsOf(env).allowPrivate;
  const send = (url: string, init: RequestInit): Promise<Received> => {
    requireAllowed(url, allow);
    return received(url, init, storage.kind === "s3" ? storage.region : null);
  };
  const signed = (method: "GET" | "DELETE"): Promise<string> => signedUrl(storage, keys, objectName, method);
  const actions: Readonly<Record<Step["step"], () => Promise<void>>> = {
    store: async () => {
      const output = { key: "test", type: "video" } as const;
      const plain = { contentType: "text/plain", cacheControl: null, sizeBytes: CONTENT.length };
      const [part] = await openStore({ id, storage }, keys, env).sign({ objectName, ...plain, output }, null);
      if (part) await send(part.url, { method: "PUT", headers: part.headers, body: CONTENT });
    },
    read: async () => {
      const { body } = await send(await signed("GET"), {});
      if (body !== CONTENT) throw new AppError("storage_unreachable", "The storage returns another object than stored");
    },
    web: async () => {
      const { headers } = await send(publicUrlOf({ id, storage }, objectName), { headers: { origin } });
      const allowed = headers.get("access-control-allow-origin");
      if (allowed !== "*" && allowed !== origin) {
        throw new AppError("storage_denied", `The bucket has no CORS rule with which pages of ${origin} may read it`);
      }
    },
    remove: async () => void (await send(await signed("DELETE"), { method: "DELETE" })),
  };
  let isPossible = storage.kind === "s3" || storage.kind === "azure";
  const steps: Step[] = [];
  for (const step of ["store", "read", "web", "remove"] as const) {
    const result = isPossible ? await probeResult(actions[step]) : { status: "skipped" as const };
    if (step === "store") isPossible &&= result.status === "passed";
    steps.push({ step, ...result });
  }
  return { steps };
}

async function probeResult(action: () => Promise<void>): Promise<Omit<Step, "step">> {
  try {
    await action();
    return { status: "passed" };
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    return { status: "failed", error: error.message, error_code: error.code };
  }
}

async function signedUrl(
  storage: StorageSpec,
  keys: AccessKeys | null,
  objectName: string,
  method: "GET" | "DELETE",
): Promise<string> {
  if (keys && storage.kind === "s3") {
    const { region, path } = storage;
    return presign({ region, keys }, objectUrl(storage, path, objectName), { method, seconds: LIMIT_MS / 1000 });
  }
  if (!keys || storage.kind !== "azure") throw new AppError("internal_error", "The storage has no signed URLs");
  const blob = joinPath(storage.path, objectName);
  const permissions = method === "GET" ? "r" : "d";
  const sas = await blobSas(storage, { blob, permissions, expiresAt: Date.now() + LIMIT_MS }, keys.secretAccessKey);
  return `${azureUrl(storage, objectName)}?${sas}`;
}

type Received = { readonly body: string; readonly headers: Headers };

/** Throws StorageRejection or NoStorageResponse. */
async function received(url: string, init: RequestInit, region: string | null): Promise<Received> {
  try {
    return await fetchWithin(LIMIT_MS, new Request(url, init), async ({ ok, status, headers, body }) => {
      const text = new TextDecoder().decode(await readLimited(body, MAX_RESPONSE_BYTES));
      if (!ok) throw storageRejection({ status, body: text }, region) satisfies StorageRejection;
      return { body: text, headers };
    });
  } catch (error) {
    throw error instanceof AppError ? error : new NoStorageResponse(url, error);
  }
}
