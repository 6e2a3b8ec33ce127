// The fault points: every call of an object or the Worker to a neighbor passes here. Tests and objects share an
// isolate, so the wrappers apply to all of them.
import { env } from "cloudflare:workers";
import { AsyncLocalStorage } from "node:async_hooks";
import { AccountObject } from "../../account/account-object.ts";
import { NodeHub } from "../../dispatch/node-hub.ts";
import { JobObject } from "../../job/job-object.ts";

/**
 * The faults of a call. In the first two, the call does not arrive: the network fails, or the caller dies with its
 * memory. In the others the call is executed: then its response is lost, or the caller or the callee dies.
 */
export const CALL_FAULTS = ["fails", "caller dies first", "response lost", "caller dies", "callee dies"] as const;
export type CallFault = (typeof CALL_FAULTS)[number];
/** A call with an injected fault: its name, and its number among the calls with that name, from 1. */
export type FaultyCall = { readonly call: string; readonly kind: CallFault };
export type Call = { readonly call: string; readonly hasCaller: boolean; readonly hasCallee: boolean };

/** A notification that its receiver has accepted. */
export type Taken = { readonly id: string; readonly body: string };

/** The calls of a run. */
export class Wire {
  readonly faultyCall: FaultyCall | null;
  readonly calls: Call[] = [];
  readonly taken: Taken[] = [];
  /** Multipart uploads that were started. `isKnown`: an object has stored the id of the upload. */
  readonly uploads: { readonly id: string; readonly url: string; isKnown: boolean }[] = [];
  /** Name of the hub. Each run has its own hub, so that runs are independent. */
  readonly hub = `hub:${crypto.randomUUID()}`;
  isInjected = false;
  jobId: string | null = null;
  /** Number of calls under way. */
  pending = 0;
  readonly #counts = new Map<string, number>();

  constructor(faultyCall: FaultyCall | null) {
    this.faultyCall = faultyCall;
  }

  /** Records a call; returns the fault to inject, if any. */
  pass(name: string, who: Omit<Call, "call">): CallFault | null {
    const count = (this.#counts.get(name) ?? 0) + 1;
    this.#counts.set(name, count);
    const call = `${name}#${count}`;
    this.calls.push({ call, ...who });
    if (this.faultyCall?.call !== call || this.isInjected) return null;
    this.isInjected = true;
    return this.faultyCall.kind;
  }
}

/**
 * An object from its construction to its death. A dead object can neither write nor call. A new object, constructed
 * from disk, replaces it. (`ctx.abort` breaks the isolate that is shared with Vitest, and an eviction waits for running
 * calls.)
 */
type Life = { readonly ctx: DurableObjectState; readonly object: object; isOver: boolean };
/** The object whose code is running. */
const running = new AsyncLocalStorage<Life>();
const lives = new WeakMap<DurableObjectState, Life>();
const LOST_JOB = "Network connection lost.";
/** WebSocket close code (RFC 6455 §7.4.1). */
const GOING_AWAY = 1001;

let wire = new Wire(null);
/** The object that dies at the end of its current call. */
let dying: string | null = null;

/** Starts a new run. */
export function newWire(faultyCall: FaultyCall | null): Wire {
  wire = new Wire(faultyCall);
  dying = null;
  return wire;
}

/** Calls of tests, without faults. */
export const direct = {
  fetch: globalThis.fetch.bind(globalThis),
  stub: <T extends Rpc.DurableObjectBranded | undefined>(objects: DurableObjectNamespace<T>, name: string) =>
    objects.get(objects.idFromName(name)),
};

async function through<Value>(
  name: string,
  hasCallee: boolean,
  call: (calleeDies: boolean) => Promise<Value>,
  fail: () => Value = () => {
    throw new Error(LOST_JOB);
  },
): Promise<Value> {
  const mine = wire;
  const caller = running.getStore();
  if (caller?.isOver) throw new Error(LOST_JOB);
  const kind = mine.pass(name, { hasCaller: caller !== undefined, hasCallee });
  mine.pending++;
  try {
    if (kind === "fails") return fail();
    if (kind === "caller dies first" && caller) kill(caller);
    const value = await call(kind === "callee dies");
    if (kind === "caller dies" && caller) kill(caller);
    return kind === "response lost" ? fail() : value;
  } finally {
    mine.pending--;
  }
}

type Method = (...args: unknown[]) => unknown;

/** Ends an object, with its memory and its sockets. */
function kill(life: Life): never {
  life.isOver = true;
  for (const socket of life.ctx.getWebSockets()) {
    socket.serializeAttachment(null);
    socket.close(GOING_AWAY);
  }
  throw new Error(LOST_JOB);
}

/** The living object with this state. After a death, constructs a new object. */
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
/** Rejects writes of dead objects. */
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

/** Wraps methods: each runs with its object known, counts as pending, and may be the object's last method. */
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
          if (dying === `${ctx.id.name}.${name}`) {
            dying = null;
            kill(life);
          }
        }
      });
    };
  }
}

/** Wraps the stubs of objects. */
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
          // Jobs of other runs may still get calls about their nodes.
          if (!isCall || (callee === "job" && name !== wire.jobId)) return target[method]?.(...args);
          return through(`${callee}.${method}`, true, async (calleeDies) => {
            if (calleeDies) dying = `${name}.${method}`;
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
      const response = await direct.fetch(request);
      if (webhook && response.ok) wire.taken.push({ id: webhook, body });
      const begun = upload === " uploads" ? /<UploadId>([^<]+)</.exec(await response.clone().text())?.[1] : undefined;
      const object = `${new URL(url).origin}${pathname}`;
      if (begun) wire.uploads.push({ id: begun, url: `${object}?uploadId=${begun}`, isKnown: false });
      return response;
    };
    return through(name, false, act, () => new Response("An injected fault", { status: 500 }));
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
    // Vitest uses a socket, too.
    const isFrame = typeof message === "string" && message.startsWith('{"type":');
    if (isFrame && running.getStore()?.isOver) throw new Error(LOST_JOB);
    return send.call(this, message);
  };
}

/** Installs the fault points permanently: files of the project `worker-soak` share no process (vitest.config.ts). */
export function watchEverything(): void {
  watchObjects(JobObject.prototype);
  watchObjects(NodeHub.prototype);
  watchObjects(AccountObject.prototype);
  watchCalls();
  watchFetch();
  watchDatabase();
  watchFrames();
}
