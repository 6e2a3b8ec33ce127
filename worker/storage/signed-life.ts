/**
 * How long after it was signed a request of a node's may begin, in ms. A node that needs longer asks anew, so this only bounds
 * how long one that has lost its lease could still write what it was going to write, where the storage cannot ask us.
 */
export const SIGNED_MS = 15 * 60 * 1000;
