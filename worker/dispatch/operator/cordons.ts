// The nodes that the operator has cordoned: they get no work, also after they reconnect.
import * as z from "zod";
import { StoredNodes } from "./stored-nodes.ts";

const Cordon = z.object({
  /** The pool of the node at that time. */
  pool: z.string(),
  /** The session of a node that was asked to drain. A newer process of the node is not draining. */
  draining: z.string().nullable(),
});
export type Cordon = z.infer<typeof Cordon>;

export const storedCordons = (kv: SyncKvStorage): StoredNodes<Cordon> => new StoredNodes(kv, "cordon:", Cordon);
