// A Durable Object in virtual time: an instance of the real class, which hibernates when idle and serves events in
// sequence.
import { isDead, Life, lives } from "./lives.ts";
import type { Meter } from "./meter.ts";
import { ObjectStorage } from "./object-storage.ts";
import type { ServerSocket, SocketHost } from "./sockets.ts";
import type { MostSubrequests } from "./subrequests.ts";
import type { Timer, VirtualTime } from "./virtual-time.ts";

/** An instance of a real class, as its host sees it: methods by name. */
export type Instance = Record<string, ((...args: unknown[]) => unknown) | undefined>;
export type ObjectClass = new (context: unknown, env: unknown) => Instance;

export type ObjectOptions = {
  readonly name: string;
  readonly className: string;
  readonly make: ObjectClass;
  readonly env: unknown;
  readonly time: VirtualTime;
  readonly meter: Meter;
  readonly subrequests: MostSubrequests;
  /** Time that the object's thread needs for an event. */
  readonly serviceMs: number;
  readonly isExact: boolean;
  /** See StorageOptions. */
  readonly written: (bytes: Buffer) => void;
};

/**
 * An idle object leaves memory after this time
 * (developers.cloudflare.com/durable-objects/concepts/durable-object-lifecycle/).
 */
const HIBERNATES_AFTER_MS = 10_000;
/** The platform retries a failed alarm six times. Pauses start at two seconds and double. */
const ALARM_RETRY_MS = 2000;
const MAX_ALARM_RETRIES = 6;

export class SimulatedObject implements SocketHost {
  readonly #options: ObjectOptions;
  readonly #storage: ObjectStorage;
  readonly #sockets = new Set<ServerSocket>();
  readonly #tagged = new Map<string, Set<ServerSocket>>();
  #instance: Instance | null = null;
  #life: Life | null = null;
  #alarm: Timer | null = null;
  /** Events wait for it. */
  #blocked: Promise<unknown> | null = null;
  #underWay = 0;
  #activeSince = 0;
  #idleSince = 0;
  #busyUntil = 0;
  /** Changes with every reset. Events that waited for an object that died are dropped. */
  #epoch = 0;

  constructor(options: ObjectOptions) {
    this.#options = options;
    const clock = { set: (at: number) => this.#planAlarm(at, 0), clear: () => this.#cancelAlarm() };
    this.#storage = new ObjectStorage({ ...options, clock });
  }

  /** The object's current life; a new life after its death or hibernation. */
  #awake(): Life {
    const { make, env } = this.#options;
    const life =
      this.#life ??
      new Life(
        () => this.#begin(),
        () => this.#end(),
        () => this.reset({ dropsSockets: false }),
      );
    this.#life = life;
    this.#instance ??= lives.run(life, () => new make(this.#context(life), env));
    return life;
  }

  get storage(): ObjectStorage {
    return this.#storage;
  }

  /** Handles an event after all earlier events. Rejects if the object is reset meanwhile. */
  async handle<Value>(event: (instance: Instance) => Value | Promise<Value>): Promise<Value> {
    const { time, serviceMs, subrequests, className } = this.#options;
    const epoch = this.#epoch;
    this.#begin();
    try {
      this.#busyUntil = Math.max(this.#busyUntil, time.now) + serviceMs;
      await time.sleep(this.#busyUntil - time.now);
      if (epoch !== this.#epoch) throw new Error("The Durable Object was reset");
      const life = this.#awake();
      const instance = this.#instance as Instance;
      const blocked = this.#blocked;
      return await life.run(async () => {
        await blocked;
        return subrequests.invoke(className, () => event(instance));
      });
    } finally {
      if (epoch === this.#epoch) this.#end();
    }
  }

  message(socket: ServerSocket, data: string): void {
    this.#options.meter.add("frames", 1, /"type":"(\w+)"/.exec(data)?.[1]);
    void this.#quietly((instance) => instance.webSocketMessage?.(socket, data));
  }

  closed(socket: ServerSocket, code: number, reason: string): void {
    this.#sockets.delete(socket);
    for (const tag of socket.tags) this.#tagged.get(tag)?.delete(socket);
    void this.#quietly((instance) => instance.webSocketClose?.(socket, code, reason, true));
  }

  /** The object loses its memory and, in a deploy, its sockets. */
  reset({ dropsSockets }: { readonly dropsSockets: boolean }): void {
    this.#epoch += 1;
    this.#leave();
    if (this.#underWay > 0) this.#count();
    this.#underWay = 0;
    this.#idleSince = this.#options.time.now;
    if (!dropsSockets) return;
    for (const socket of this.#sockets) socket.drop();
    this.#sockets.clear();
    this.#tagged.clear();
  }

  async #quietly(event: (instance: Instance) => unknown): Promise<void> {
    try {
      await this.handle(event);
    } catch {
      // As on the platform, the error is dropped.
    }
  }

  /** The object loses its memory: it hibernates or dies. */
  #leave(): void {
    this.#life?.kill();
    this.#life = null;
    this.#instance = null;
    this.#blocked = null;
  }

  #begin(): void {
    if (this.#underWay++ > 0) return;
    const { now } = this.#options.time;
    if (now - this.#idleSince >= HIBERNATES_AFTER_MS) this.#leave();
    this.#activeSince = now;
  }

  #end(): void {
    if (--this.#underWay > 0) return;
    this.#count();
    this.#idleSince = this.#options.time.now;
  }

  #count(): void {
    this.#options.meter.add("activeMs", this.#options.time.now - this.#activeSince, this.#options.className);
  }

  #cancelAlarm(): void {
    if (this.#alarm) this.#alarm.work = null;
    this.#alarm = null;
  }

  #planAlarm(at: number, failures: number): void {
    this.#cancelAlarm();
    this.#alarm = this.#options.time.at(at, () => {
      this.#alarm = null;
      void this.#ring(failures);
    });
  }

  async #ring(failures: number): Promise<void> {
    const { meter, time, className } = this.#options;
    this.#storage.alarmAt = null;
    meter.add("alarms", 1, className);
    try {
      await this.handle((instance) => instance.alarm?.({ retryCount: failures, isRetry: failures > 0 }));
    } catch {
      if (this.#alarm === null && failures < MAX_ALARM_RETRIES) {
        this.#planAlarm(time.now + ALARM_RETRY_MS * 2 ** failures, failures + 1);
      }
    }
  }

  #context(life: Life): unknown {
    const { name } = this.#options;
    return {
      id: { name, toString: () => name, equals: (other: { name: string }) => other.name === name },
      storage: this.#storage,
      waitUntil: (work: Promise<unknown>) => {
        life.begin();
        work.then(
          () => life.end(),
          () => life.end(),
        );
      },
      blockConcurrencyWhile: <Value>(work: () => Promise<Value>) => {
        const blocked = work();
        this.#blocked = blocked;
        return blocked;
      },
      acceptWebSocket: (socket: ServerSocket, tags: readonly string[] = []) => {
        if (isDead()) return;
        socket.tags = tags;
        socket.host = this;
        this.#sockets.add(socket);
        for (const tag of tags) this.#tagged.set(tag, (this.#tagged.get(tag) ?? new Set()).add(socket));
      },
      getWebSockets: (tag?: string) => [...(tag === undefined ? this.#sockets : (this.#tagged.get(tag) ?? []))],
      getTags: ({ tags }: ServerSocket) => [...tags],
      setWebSocketAutoResponse: () => undefined,
      getWebSocketAutoResponseTimestamp: ({ client }: ServerSocket) => client.pongAt,
      abort: () => !isDead() && this.reset({ dropsSockets: true }),
    };
  }
}
