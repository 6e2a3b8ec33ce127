// How far `webhooks listen` has come in the events of an account, so that the next run goes on there.
import { createHash } from "node:crypto";
import { join } from "node:path";
import * as z from "zod";
import { type Env, folderOf } from "../target/folders.ts";
import { readJsonFile, writeJsonFile } from "../target/private-json.ts";
import type { Target } from "../target/target.ts";

const PositionFile = z.object({ last_event_id: z.string(), at: z.number() });

/** The service keeps events for a day after the last listener. */
const MAX_AGE_MS = 24 * 3_600_000;

export class Position {
  readonly #path: string;
  readonly #now: () => number;

  /** One for each service, account and receiver. */
  constructor({ url, key }: Target, receiver: string | null, env: Env, now: () => number) {
    const name = createHash("sha256")
      .update(JSON.stringify([url, key, receiver]))
      .digest("hex")
      .slice(0, 32);
    this.#path = join(folderOf("state", env), "listen", `${name}.json`);
    this.#now = now;
  }

  /** The id of the last event; null if there is none, or it is too old to go on there. */
  read(): string | null {
    const found = readJsonFile(this.#path, PositionFile);
    return found && this.#now() - found.at < MAX_AGE_MS ? found.last_event_id : null;
  }

  write(lastEventId: string): void {
    writeJsonFile(this.#path, { last_event_id: lastEventId, at: this.#now() });
  }
}
