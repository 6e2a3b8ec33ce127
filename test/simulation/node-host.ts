// What a simulated node needs around it: the simulated platform, or a real control plane (bench/counts/).

export type NodeHandlers = {
  readonly message: (data: string) => void;
  readonly close: (code: number, reason: string) => void;
};

export interface NodeSocket {
  readonly isOpen: boolean;
  listen(handlers: NodeHandlers): void;
  send(data: string): void;
  close(): void;
  /** The network is gone: neither side notices. */
  fallSilent(): void;
}

/** Where a node connects from: one way in ms, and degrees. */
export type Origin = { readonly latencyMs: number; readonly position?: object | undefined };

export interface NodeHost {
  /** Times in ms since 1970, and durations in ms. */
  readonly time: {
    readonly now: number;
    sleep(delayMs: number): Promise<void>;
    after(delayMs: number, work: () => void): unknown;
  };
  readonly random: () => number;
  /** The protocol that its nodes speak. */
  readonly protocol: number;
  /** Sends a request to the control plane. */
  request(path: string, init?: RequestInit): Promise<Response>;
  /**
   * Stores an object, or a part of one, by a signed URL; returns whether the storage accepts it. Left out: nothing is
   * stored.
   */
  put?(signed: string, object: { readonly sizeBytes: number; readonly lease: string }): boolean;
  /** Opens a node's socket; null when it is refused. */
  connect(headers: Record<string, string>, origin: Origin): Promise<NodeSocket | null>;
}
