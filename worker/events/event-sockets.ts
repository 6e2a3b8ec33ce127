// The sockets of those who follow an object's events. The Worker holds the streams of its clients and copies to them
// what these sockets carry (socket-stream.ts), so that the object hibernates between events.

/** Asks for the next text: the one before has been read. */
export const READ = "read";

/**
 * Text to write, and what its reader then has (null: it was the last); or how long (ms) to wait unless something
 * happens; null: there is nothing new.
 */
export type EventStep<Sent> =
  | { readonly write: string; readonly sent: Sent | null; readonly hasMore?: boolean }
  | { readonly waitMs: number }
  | null;

type Options<Sent> = {
  /** The next step for a follower who has this; undefined: there is nothing to follow any more. */
  readonly next: (sent: Sent) => EventStep<Sent> | undefined;
  /**
   * What a follower has whose last event had this id, which is all that a hibernating object keeps: it is up to date.
   */
  readonly restore: (id: number) => Sent;
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
      const sent = options.restore(Number(socket.deserializeAttachment()));
      this.#followers.set(socket, { sent, isBehind: false, isReading: false });
    }
  }

  get size(): number {
    return this.#followers.size;
  }

  /** The response with the socket of a new follower who has this. */
  open(sent: Sent): Response {
    const { 0: client, 1: server } = new WebSocketPair();
    this.#ctx.acceptWebSocket(server);
    server.serializeAttachment(sent.id);
    this.#followers.set(server, { sent, isBehind: true, isReading: false });
    this.#write(server);
    return new Response(null, { status: 101, webSocket: client });
  }

  /** There may be something new. */
  wake(): void {
    for (const [socket, follower] of this.#followers) {
      follower.isBehind = true;
      this.#write(socket);
    }
  }

  /** A follower has read what was sent. A slow one gets what is new by then, and nothing queues up. */
  read(socket: WebSocket): void {
    const follower = this.#followers.get(socket);
    if (!follower) return;
    follower.isReading = false;
    this.#write(socket);
  }

  /** A follower's connection has ended; false if it is known. */
  left(socket: WebSocket): boolean {
    return this.#followers.delete(socket);
  }

  #write(socket: WebSocket): void {
    const follower = this.#followers.get(socket);
    if (!follower?.isBehind || follower.isReading) return;
    const step = this.#options.next(follower.sent);
    if (step === undefined) return this.#end(socket);
    if (step && "waitMs" in step) return this.#wakeIn(step.waitMs);
    follower.isBehind = step?.hasMore === true;
    if (!step) return;
    socket.send(step.write);
    if (!step.sent) return this.#end(socket);
    if (step.sent.id !== follower.sent.id) socket.serializeAttachment(step.sent.id);
    follower.sent = step.sent;
    follower.isReading = true;
  }

  /** It has a timer only while a follower is behind, because an object with a timer does not hibernate. */
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

/** WebSocket close code (RFC 6455 §7.4.1). */
const NORMAL = 1000;
