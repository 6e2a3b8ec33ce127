// Sockets of the followers of an object's events. The Worker holds the streams of its clients and copies the texts of
// these sockets to them (socket-stream.ts), so that the object hibernates between events.

/** Asks for the next text, because the last text was read. */
export const READ = "read";

/**
 * Text to write, and the follower's state after it (null: it was the last text). Or the time (ms) to wait unless
 * something happens. Null: there is nothing new.
 */
export type EventStep<Sent> =
  | { readonly write: string; readonly sent: Sent | null; readonly hasMore?: boolean }
  | { readonly waitMs: number }
  | null;

type Options<Sent> = {
  /** The next step for a follower in this state; undefined: there is nothing left to follow. */
  readonly next: (sent: Sent) => EventStep<Sent> | undefined;
  /** State of a follower whose object has hibernated. */
  readonly restore: (follower: KeptFollower) => Sent;
};

/** All that an object keeps of a follower while it hibernates. */
type KeptFollower = {
  /** The id of the last event that it was sent. */
  readonly id: number;
  /** True if there was something new, which waited until it had read that event. */
  readonly isBehind: boolean;
};

type Follower<Sent> = { sent: Sent; isBehind: boolean; isReading: boolean };

export class EventSockets<Sent extends { readonly id: number }> {
  readonly #ctx: DurableObjectState;
  readonly #options: Options<Sent>;
  readonly #followers = new Map<WebSocket, Follower<Sent>>();
  #timer: number | null = null;

  constructor(ctx: DurableObjectState, options: Options<Sent>) {
    this.#ctx = ctx;
    this.#options = options;
    for (const socket of ctx.getWebSockets()) {
      const follower = socket.deserializeAttachment() as KeptFollower;
      const { isBehind } = follower;
      this.#followers.set(socket, { sent: options.restore(follower), isBehind, isReading: false });
    }
  }

  get size(): number {
    return this.#followers.size;
  }

  /** The response with the socket of a new follower in this state. */
  open(sent: Sent): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    const follower = { sent, isBehind: true, isReading: false };
    this.#followers.set(server, follower);
    keep(server, follower);
    this.#write(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** Writes to all followers, because there may be something new. */
  wake(): void {
    for (const [socket, follower] of this.#followers) {
      follower.isBehind = true;
      this.#write(socket);
    }
  }

  /**
   * Writes the next text after a follower has read the last. Nothing queues up: a slow follower gets everything new in
   * that text.
   */
  read(socket: WebSocket): void {
    const follower = this.#followers.get(socket);
    if (!follower) return;
    follower.isReading = false;
    this.#write(socket);
  }

  /** Removes a follower whose connection has ended. Returns false if it was removed before. */
  left(socket: WebSocket): boolean {
    return this.#followers.delete(socket);
  }

  #write(socket: WebSocket): void {
    const follower = this.#followers.get(socket);
    if (!follower?.isBehind) return;
    if (follower.isReading) return keep(socket, follower);
    const step = this.#options.next(follower.sent);
    if (step === undefined) return this.#end(socket);
    if (step && "waitMs" in step) return this.#wakeIn(step.waitMs);
    follower.isBehind = step?.hasMore === true;
    if (step) {
      socket.send(step.write);
      if (!step.sent) return this.#end(socket);
      follower.sent = step.sent;
      follower.isReading = true;
    }
    keep(socket, follower);
  }

  /** The timer runs only while a follower is behind, because an object with a timer does not hibernate. */
  #wakeIn(waitMs: number): void {
    this.#timer ??= setTimeout(() => {
      this.#timer = null;
      for (const socket of this.#followers.keys()) this.#write(socket);
    }, waitMs);
  }

  #end(socket: WebSocket): void {
    this.#followers.delete(socket);
    socket.close(NORMAL);
  }
}

function keep(socket: WebSocket, { sent: { id }, isBehind }: Follower<{ readonly id: number }>): void {
  socket.serializeAttachment({ id, isBehind } satisfies KeptFollower);
}

/** WebSocket close code (RFC 6455 §7.4.1). */
const NORMAL = 1000;
