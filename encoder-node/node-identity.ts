// The name under which a node works: the operator's choice, the name of its last start, or its machine's name.
import { randomUUID } from "node:crypto";
import { readFile, writeFile } from "node:fs/promises";
import { hostname } from "node:os";
import { join } from "node:path";
import type { NodeConfig } from "./config.ts";

/** Leaves room for a suffix (hello has names of at most 64 characters). */
const MAX_HOST_CHARS = 48;
const FILE = "node-id";

export class NodeIdentity {
  /** New with each start. */
  readonly session = randomUUID();
  readonly #folder: string;
  #nodeId: string;
  #isNew: boolean;

  /** `isNew`: the node has chosen the name itself, and the hub has not accepted it yet. */
  constructor(folder: string, nodeId: string, isNew: boolean) {
    this.#folder = folder;
    this.#nodeId = nodeId;
    this.#isNew = isNew;
  }

  get nodeId(): string {
    return this.#nodeId;
  }

  /** The identity as stated in `hello`. */
  get hello(): { readonly nodeId: string; readonly session: string; readonly isNewName?: true } {
    return { nodeId: this.#nodeId, session: this.session, ...(this.#isNew && { isNewName: true }) };
  }

  /** Chooses another name, because another node has the new name. */
  rename(): void {
    if (this.#isNew) this.#nodeId = `${machineName()}-${randomUUID().slice(0, 4)}`;
  }

  /** Keeps the name, which the hub has accepted, for the next start. */
  async keep(): Promise<void> {
    if (!this.#isNew) return;
    this.#isNew = false;
    await writeFile(join(this.#folder, FILE), this.#nodeId);
  }
}

const machineName = (): string => hostname().slice(0, MAX_HOST_CHARS);

export async function identify({ workFolder, name }: Pick<NodeConfig, "workFolder" | "name">): Promise<NodeIdentity> {
  if (name) return new NodeIdentity(workFolder, name, false);
  const stored = (await readFile(join(workFolder, FILE), "utf8").catch(() => "")).trim();
  return new NodeIdentity(workFolder, stored || machineName(), stored === "");
}
