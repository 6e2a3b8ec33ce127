// The node's running leases, as written to its disk. After a crash or a power failure, the next process reports them as
// lost. Otherwise their jobs could wait ten minutes for the node.
import { rm } from "node:fs/promises";
import type { LeaseId } from "#shared/ids.ts";
import { type Logger, messageOf } from "#shared/log.ts";
import { LeaseProof } from "#shared/protocol/leases.ts";
import { leaseFile, leaseFilesIn, readLeaseFile, writeLeaseFile } from "./lease-files.ts";

export class HeldLeases {
  readonly #folder: string;
  readonly #log: Logger;
  /** The last operation on the file of each lease. */
  readonly #last = new Map<LeaseId, Promise<unknown>>();

  constructor(folder: string, log: Logger) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Returns the leases that an earlier process held when it ended. */
  async leftOver(): Promise<LeaseProof[]> {
    const values = await Promise.all((await leaseFilesIn(this.#folder)).map(readLeaseFile));
    return values.flatMap((value) => LeaseProof.safeParse(value).data ?? []);
  }

  /** Returns without waiting for the disk: the work can start before the file is written. */
  add({ lease, token }: LeaseProof): void {
    void this.#enqueue(lease, () => writeLeaseFile(this.#folder, lease, { lease, token } satisfies LeaseProof));
  }

  async remove(lease: LeaseId): Promise<void> {
    await this.#enqueue(lease, () => rm(leaseFile(this.#folder, lease), { force: true }));
    this.#last.delete(lease);
  }

  #enqueue(lease: LeaseId, act: () => Promise<unknown>): Promise<unknown> {
    const before = this.#last.get(lease) ?? Promise.resolve();
    const done = before
      .then(act)
      .catch((error: unknown) => this.#log.error("lease not noted on disk", { lease, error: messageOf(error) }));
    this.#last.set(lease, done);
    return done;
  }
}
