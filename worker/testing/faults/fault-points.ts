// Where faults strike: every call that leaves an object or the Worker for a neighbour passes here, on its way to the real
// one. Tests and objects share an isolate, so that what is put in place here holds for all of them.

import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { AccountObject } from "../../account/account-object.ts";
import { NodeHub } from "../../dispatch/node-hub.ts";
import { JobObject } from "../../job/job-object.ts";

/**
 * What happens to one call: it does not arrive, because the network fails or the object that calls dies with its memory; it
 * has its effect, and its answer is lost, or the object that calls or the one that is called dies then.
 */
export const BLOWS = ["fails", "caller dies first", "answer lost", "caller dies", "callee dies"] as const;
export type Blow = (typeof BLOWS)[number];
/** The call that it happens to: a name, and the how manieth of that name since the job began, from 1. */
export type Strike = { readonly call: string; readonly blow: Blow };
export type Call = { readonly call: string; readonly hasCaller: boolean; readonly hasCallee: boolean };

/** A notification that its receiver has taken. */
export type Taken = { readonly id: string; readonly body: string };

/** What passed since a run began. */
export class Wire {
  readonly strike: Strike | null;
  readonly calls: Call[] = [];
  readonly taken: Taken[] = [];
  /** Multipart uploads that were begun, and whether an object has written down their ids. */
  readonly uploads: { readonly id: string; readonly url: string; isKnown: boolean }[] = [];
  /** Name of the hub: each run has its own, so that none has to do with what another left. */
  readonly hub = `hub:${crypto.randomUUID()}`;
  hasStruck = false;
  jobId: string | null = null;
  /** Calls under way. */
  pending = 0;
  readonly #counts = new Map<string, number>();

  constructor(strike: Strike | null) {
    this.strike = strike;
  }

  /** Notes a call, and says what happens to it. */
  pass(name: string, who: Omit<Call, "call">): Blow | null {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const call = `${name}#${count}`;
    this.calls.push({ call, ...who });
    if (this.strike?.call !== call || this.hasStruck) return null;
    this.hasStruck = true;
    return this.strike.blow;
  }
}

/**
 * An object from its construction to its death. The dead can neither write nor call, and a new one is constructed in its
 * place from what lies on disk. (`ctx.abort` breaks the isolate that is shared with Vitest, and an eviction waits for all
 * that is under way.)
 */
type Life = { readonly ctx: DurableObjectState; readonly object: object; isOver: boolean };
/** The object whose code runs. */
const running = new AsyncLocalStorage<Life>();
const lives = new WeakMap<DurableObjectState, Life>();
const LOST_JOB = "Network connection lost.";
/** WebSocket close code (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;

let wire = new Wire(null);
/** The object to die at the end of the call that it answers. */
let doomed: string | null = null;

/** Begins to note, and to strike, anew. */
export function newWire(strike: Strike | null): Wire {
  wire = new Wire(strike);
  doomed = null;
  return wire;
}

/** What lies beneath: calls of tests that nothing shall happen to. */
export const beneath = {
  fetch: globalThis.fetch.bind(globalThis),
  stub: <T extends Rpc.DurableObjectBranded | undefined>(objects: DurableObjectNamespace<T>, name: string) =>
    objects.get(objects.idFromName(name)),
};

async function through<Value>(
  name: string,
  hasCallee: boolean,
  call: (dooms: boolean) => Promise<Value>,
  refuse: () => Value = () => {
    throw new Error(LOST_JOB);
  },
): Promise<Value> {
  const mine = wire;
  const caller = running.getStore();
  if (caller?.isOver) throw new Error(LOST_JOB);
  const blow = mine.pass(name, { hasCaller: caller !== undefined, hasCallee });
  mine.pending++;
  try {
    if (blow === "fails") return refuse();
    if (blow === "caller dies first" && caller) kill(caller);
    const value = await call(blow === "callee dies");
    if (blow === "caller dies" && caller) kill(caller);
    return blow === "answer lost" ? refuse() : value;
  } finally {
    mine.pending--;
  }
}

type Method = (...args: unknown[]) => unknown;

/** Ends an object, with its memory, its sockets, and all that it was about to do. */
function kill(life: Life): never {
  life.isOver = true;
  for (const socket of life.ctx.getWebSockets()) {
    socket.serializeAttachment(null);
    socket.close(GOING_AWAY);
  }
  throw new Error(LOST_JOB);
}

/** The object that lives by this state, after a death a new one. */
function lifeOf(ctx: DurableObjectState, object: object): Life {
  const known = lives.get(ctx);
  if (known && !known.isOver) return known;
  const classes = [JobObject, NodeHub, AccountObject];
  const Class = classes.find((one) => object instanceof one) as new (...args: unknown[]) => object;
  const life = { ctx, object: known ? new Class(ctx, env) : object, isOver: false };
  lives.set(ctx, life);
  return life;
}

let isStorageWatched = false;
/** Writes of the dead reach nothing. */
function watchStorage(storage: DurableObjectStorage): void {
  if (isStorageWatched) return;
  isStorageWatched = true;
  const writes: [object, string[]][] = [
    [storage, ["transactionSync", "setAlarm", "deleteAlarm", "deleteAll"]],
    [storage.kv, ["put", "delete"]],
  ];
  for (const [owner, names] of writes) {
    const methods = Object.getPrototypeOf(owner) as Record<string, Method>;
    for (const name of names) {
      const method = methods[name];
      methods[name] = function (this: unknown, ...args) {
        if (running.getStore()?.isOver) throw new Error(LOST_JOB);
        for (const upload of wire.uploads) upload.isKnown ||= JSON.stringify(args).includes(upload.id);
        return method?.apply(this, args);
      };
    }
  }
}

/** Methods run with their object known, are waited for, and may be its last. */
function watchObjects(prototype: object): void {
  const methods = prototype as Record<string, Method>;
  for (const name of Object.getOwnPropertyNames(prototype).filter((own) => own !== "constructor")) {
    const method = methods[name];
    if (typeof method !== "function") continue;
    methods[name] = function (this: { ctx: DurableObjectState }, ...args) {
      const { ctx } = this;
      const life = lifeOf(ctx, this);
      return running.run(life, async () => {
        watchStorage(ctx.storage);
        const mine = wire;
        mine.pending++;
        try {
          return await method.apply(life.object, args);
        } finally {
          mine.pending--;
          if (doomed === `${ctx.id.name}.${name}`) {
            doomed = null;
            kill(life);
          }
        }
      });
    };
  }
}

/** Stubs whose calls pass here. */
function watchCalls(): void {
  const prototype = Object.getPrototypeOf(env.JOB) as { getByName: (name: string) => object };
  const { getByName } = prototype;
  prototype.getByName = function (asked) {
    const [callee, name] = asked.startsWith("hub:")
      ? (["hub", wire.hub] as const)
      : asked.startsWith("account:")
        ? (["account", `${asked}:${wire.hub}`] as const)
        : (["job", asked] as const);
    const stub = getByName.call(this, name) as Record<string, Method>;
    const methods = { hub: NodeHub, account: AccountObject, job: JobObject }[callee].prototype;
    return new Proxy(stub, {
      get(target, method: string) {
        const isCall = Object.hasOwn(methods, method) && method !== "fetch";
        return (...args: unknown[]) => {
          if (method === "create") wire.jobId ??= name;
          // Another run's job may still be told of what its nodes do.
          if (!isCall || (callee === "job" && name !== wire.jobId)) return target[method]?.(...args);
          return through(`${callee}.${method}`, true, async (dooms) => {
            if (dooms) doomed = `${name}.${method}`;
            return await target[method]?.(...args);
          });
        };
      },
    });
  };
}

function watchFetch(): void {
  globalThis.fetch = async (input, init) => {
    const request = new Request(input, init);
    const { method, url } = request;
    const { searchParams, pathname } = new URL(url);
    const upload = searchParams.has("uploads") ? " uploads" : searchParams.has("uploadId") ? " upload" : "";
    const webhook = request.headers.get("webhook-id");
    const name = webhook ? "notify" : `storage ${method}${upload}${searchParams.has("delete") ? " objects" : ""}`;
    const body = webhook ? await request.clone().text() : "";
    const act = async (): Promise<Response> => {
      const response = await beneath.fetch(request);
      if (webhook && response.ok) wire.taken.push({ id: webhook, body });
      const begun = upload === " uploads" ? /<UploadId>([^<]+)</.exec(await response.clone().text())?.[1] : undefined;
      const object = `${new URL(url).origin}${pathname}`;
      if (begun) wire.uploads.push({ id: begun, url: `${object}?uploadId=${begun}`, isKnown: false });
      return response;
    };
    return through(name, false, act, () => new Response("A fault of the test", { status: 500 }));
  };
}

function watchDatabase(): void {
  const statement = Object.getPrototypeOf(env.DB.prepare("SELECT 1")) as { run: Method };
  const { run } = statement;
  statement.run = function (this: unknown, ...args: unknown[]) {
    return through("database write", false, async () => await run.apply(this, args));
  };
}

function watchFrames(): void {
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (message) {
    // Vitest speaks to its own side by a socket, too.
    const isFrame = typeof message === "string" && message.startsWith('{"type":');
    if (isFrame && running.getStore()?.isOver) throw new Error(LOST_JOB);
    return send.call(this, message);
  };
}

/** Puts the wire in place, for good: each file of tests has an isolate's modules of its own. */
export function watchEverything(): void {
  watchObjects(JobObject.prototype);
  watchObjects(NodeHub.prototype);
  watchObjects(AccountObject.prototype);
  watchCalls();
  watchFetch();
  watchDatabase();
  watchFrames();
}
