// The environment of a simulated node: the simulated platform, or a real control plane (test/simulation/counts/).

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

/** Origin of a node's connection: latency in a single direction in ms, and position in degrees. */
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
   * Stores an object or a part by a signed URL; returns true if the storage accepts it. If undefined, nothing is
   * stored.
   */
  put?(signed: string, object: { readonly sizeBytes: number; readonly lease: string }): boolean;
  /** Opens a node's socket; null if it is rejected. */
  connect(headers: Record<string, string>, origin: Origin): Promise<NodeSocket | null>;
}
