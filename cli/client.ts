// The clients that commands use, for the service that their target names.

import { CopraAdmin } from "../client/admin.ts";
import { Copra } from "../client/index.ts";
import { type Context, targetOf } from "./context.ts";
import { usageError } from "./exit.ts";
import type { Target } from "./target/target.ts";

export type Client = { readonly target: Target; readonly copra: Copra };

/** Short: somebody waits for the command. */
const RETRIES = 2;

export type ClientOptions = {
  /** Called with the number of bytes of bodies, as they are sent. */
  readonly onSent?: (bytes: number) => void;
  readonly retries?: number;
};

/** The client of the account. Throws a usage error without an API key. */
export async function clientOf(context: Context, { onSent, retries = RETRIES }: ClientOptions = {}): Promise<Client> {
  const target = await targetOf(context);
  if (target.key === null) {
    throw usageError(`${target.source} has no API key: give --key or COPRA_API_KEY, or run copra login`);
  }
  const { url, key } = target;
  const counting = onSent && ((address: string, init?: RequestInit) => fetch(address, counted(init, onSent)));
  return { target, copra: new Copra({ url, key, retries, fetch: counting }) };
}

/** The client of the operator. Throws a usage error without an admin token. */
export async function adminOf(context: Context): Promise<CopraAdmin> {
  const { url, adminToken: token, source } = await targetOf(context);
  if (token === null) {
    throw usageError(
      `${source} has no admin token: give --admin-token or COPRA_ADMIN_TOKEN, or run copra login --admin`,
    );
  }
  return new CopraAdmin({ url, token, retries: RETRIES });
}

/** A request whose body is sent as a stream, so that its progress is visible. */
function counted(init: RequestInit | undefined, onSent: (bytes: number) => void): RequestInit | undefined {
  if (!(init?.body instanceof Blob)) return init;
  const { size } = init.body;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      onSent(chunk.byteLength);
      controller.enqueue(chunk);
    },
  });
  const headers = new Headers(init.headers);
  // Storages need the length; without it a stream is sent in chunks.
  headers.set("content-length", String(size));
  const body = init.body.stream().pipeThrough(counter);
  return Object.assign({}, init, { headers, body, duplex: "half" });
}
