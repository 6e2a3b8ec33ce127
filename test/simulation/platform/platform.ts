// Cloudflare's platform in this process: the real Worker and its objects, behind a loader that replaces
// `cloudflare:workers`.
import { registerHooks } from "node:module";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { Database } from "./database.ts";
import { type Instance, type ObjectClass, SimulatedObject } from "./durable-object.ts";
import { Internet, type StoredObject } from "./internet.ts";
import { endCaller, outside } from "./lives.ts";
import { Meter } from "./meter.ts";
import { type Network, QUIET } from "./network.ts";
import type { NodeHost, Origin } from "./node-host.ts";
import { ClientSocket, type ServerSocket } from "./sockets.ts";
import { countSubrequests, MostSubrequests } from "./subrequests.ts";
import { installCrypto } from "./synchronous-crypto.ts";
import { VirtualTime } from "./virtual-time.ts";

export type PlatformOptions = {
  /** The folder of the checkout whose Worker runs. */
  readonly root: string;
  readonly seed: number;
  /** Start of the run; ms since 1970. */
  readonly now: number;
  readonly variables: Record<string, string>;
  /** See StorageOptions. */
  readonly isExact: boolean;
  /** Time that an object's thread needs for an event, by class. */
  readonly serviceMs: Record<string, number>;
  readonly network?: Network;
  /** Round trip to storages and receivers, in ms: 100. */
  readonly fetchMs?: number;
};

/** Round trips in ms: between objects, and to D1. */
const CALL_MS = 10;
const DATABASE_MS = 20;
const STATEMENT_MS = 0.3;

const LOST = "Network connection lost.";

type Handler = {
  fetch(request: Request, env: unknown, context: unknown): Promise<Response>;
  scheduled(controller: unknown, env: unknown, context: unknown): Promise<void>;
};
type Upgrade = { readonly status: number; readonly webSocket: ClientSocket };

export class Platform implements NodeHost {
  readonly time: VirtualTime;
  readonly meter = new Meter();
  readonly sweepMeter = new Meter();
  readonly subrequests = new MostSubrequests();
  readonly internet: Internet;
  readonly database: Database;
  readonly random: () => number;
  readonly #options: PlatformOptions;
  readonly #env: Record<string, unknown>;
  readonly #objects = new Map<string, SimulatedObject>();
  #worker: Handler | null = null;
  /** The protocol that the nodes of this checkout speak. */
  protocol = 0;
  /** Log lines of the Worker. */
  readonly logged: string[] = [];

  constructor(options: PlatformOptions) {
    this.#options = options;
    this.time = new VirtualTime(options.now);
    this.random = installCrypto(options.seed);
    const { network = QUIET, fetchMs = 100 } = options;
    this.internet = new Internet(this.time, network, fetchMs);
    const { time, meter } = this;
    this.database = new Database({
      time,
      meter,
      network,
      tripMs: DATABASE_MS,
      statementMs: STATEMENT_MS,
      migrations: join(options.root, "migrations"),
    });
    const rate = { limit: async () => ({ success: true }) };
    const rates = { CLIENT_RATE: rate, REFUSED_RATE: rate, ADMIN_REFUSED_RATE: rate, SEND_RATE: rate, LINK_RATE: rate };
    this.#env = { DB: this.database, ...rates, ...options.variables };
  }

  /** Loads the Worker and replaces the globals of this process. */
  async start(): Promise<void> {
    const { root } = this.#options;
    const platform = this;
    class DurableObject {
      readonly ctx: unknown;
      readonly env: unknown;
      constructor(ctx: unknown, env: unknown) {
        this.ctx = ctx;
        this.env = env;
      }
    }
    Object.assign(globalThis, {
      simulatedWorkers: { DurableObject, WorkerEntrypoint: DurableObject, env: this.#env },
      WebSocketPair: class {
        readonly 0: ClientSocket;
        readonly 1: ServerSocket;
        constructor() {
          this[0] = new ClientSocket(platform.time);
          this[1] = this[0].server;
        }
      },
      WebSocketRequestResponsePair: class {},
      Response: upgradingResponse(),
    });
    console.log = (line: string) => this.logged.push(String(line));
    standIn();
    const load = (file: string) =>
      import(pathToFileURL(join(resolve(root), file)).href) as Promise<Record<string, unknown>>;
    const { default: worker, JobObject, AccountObject } = await load("worker/index.ts");
    const { NodeHub } = await load("worker/dispatch/node-hub.ts");
    const { PROTOCOL_VERSION } = await load("shared/protocol/frames.ts");
    this.protocol = Number(PROTOCOL_VERSION);
    this.#worker = worker as Handler;
    this.#env.JOB = this.#namespace("JobObject", JobObject as ObjectClass);
    this.#env.ACCOUNT = this.#namespace("AccountObject", AccountObject as ObjectClass);
    this.#env.HUB = this.#namespace("NodeHub", NodeHub as ObjectClass);
    this.time.install();
    this.internet.install();
  }

  /** The objects by class and name. */
  get objects(): ReadonlyMap<string, SimulatedObject> {
    return this.#objects;
  }

  /** Sends a request to the Worker. */
  async request(path: string, { cf, ...init }: RequestInit & { cf?: object | undefined } = {}): Promise<Response> {
    if (!this.#worker) throw new Error("The platform has not started");
    this.meter.add("workerRequests", 1, `${init.method ?? "GET"} ${path.replaceAll(/\/[\w.-]{14,}/g, "/*")}`);
    const headers = new Headers(init.headers);
    headers.set("cf-connecting-ip", "203.0.113.1");
    const request = new Request(`https://copra.test${path}`, { ...init, headers });
    Object.assign(request, { cf });
    const worker = this.#worker;
    const name = `${request.method} ${path.replaceAll(/\/[\w.-]{14,}/g, "/*")}`;
    return this.subrequests.invoke(name, () => worker.fetch(request, this.#env, contextOf()));
  }

  put(signed: string, object: StoredObject): boolean {
    return this.internet.put(signed, object);
  }

  /** Opens a node's socket; null if it is rejected. */
  async connect(sent: Record<string, string>, { latencyMs, position }: Origin): Promise<ClientSocket | null> {
    const headers = { ...sent, upgrade: "websocket" };
    const response = (await this.request("/v2/nodes/connect", { headers, cf: position })) as unknown as Upgrade;
    if (response.status !== 101) return null;
    response.webSocket.latencyMs = latencyMs;
    return response.webSocket;
  }

  /** Runs the cron job. Counts its own queries separately, because they hardly depend on the number of jobs. */
  async sweep(): Promise<void> {
    const env = { ...this.#env, DB: this.database.countedBy(this.sweepMeter) };
    const controller = { scheduledTime: this.time.now, cron: "" };
    await this.subrequests.invoke("the sweep", () => this.#worker?.scheduled(controller, env, contextOf()));
  }

  #namespace(className: string, make: ObjectClass): unknown {
    const { time, meter, subrequests } = this;
    const { isExact, serviceMs, network = QUIET } = this.#options;
    const written = (bytes: Buffer): void => this.internet.written(bytes);
    const objectOf = (name: string): SimulatedObject => {
      const key = `${className} ${name}`;
      const known = this.#objects.get(key);
      if (known) return known;
      const service = serviceMs[className] ?? 0;
      const object = new SimulatedObject({
        name,
        className,
        make,
        env: this.#env,
        time,
        meter,
        subrequests,
        isExact,
        written,
        serviceMs: service,
      });
      this.#objects.set(key, object);
      return object;
    };
    const call = async (name: string, method: string, args: unknown[]): Promise<unknown> => {
      meter.add("calls", 1, `${className}.${method}`);
      const copy = <Value>(value: Value): Value => (isExact && method !== "fetch" ? structuredClone(value) : value);
      const sent = copy(args);
      const fate = network.fateOf("call");
      await time.sleep(network.delayMs(CALL_MS / 2));
      try {
        if (fate === "lost") throw new Error(LOST);
        const object = objectOf(name);
        const value = copy(await object.handle((instance: Instance) => instance[method]?.(...sent)));
        if (fate === "callee dies") object.reset({ dropsSockets: false });
        if (fate === "caller dies") endCaller();
        else if (fate !== "passes") throw new Error(LOST);
        return value;
      } catch (error) {
        // An error loses its class in a remote call.
        throw Object.assign(new Error(error instanceof Error ? error.message : String(error)), { remote: true });
      } finally {
        await time.sleep(network.delayMs(CALL_MS / 2));
      }
    };
    const stubOf = (name: string): unknown =>
      new Proxy(
        {},
        {
          get: (_, method) => {
            if (method === "then") return undefined;
            return (...args: unknown[]) => {
              countSubrequests("call");
              return outside(() => call(name, String(method), args));
            };
          },
        },
      );
    const idOf = (name: string): { name: string } => ({ name });
    return { getByName: stubOf, idFromName: idOf, get: ({ name }: { name: string }) => stubOf(name) };
  }
}

const contextOf = () => ({ waitUntil: () => undefined, passThroughOnException: () => undefined });

const MODULES: Readonly<Record<string, string>> = {
  "cloudflare:workers": [
    "const { DurableObject, WorkerEntrypoint, env } = globalThis.simulatedWorkers;",
    "export { DurableObject, WorkerEntrypoint, env };",
    "export const exports = {};",
    "export const waitUntil = () => {};",
  ].join("\n"),
  // The database has the whole schema from the start, and Node imports no SQL.
  "../../migrations/migrations.js": "export default { journal: { entries: [] }, migrations: {} };",
};

/** Replaces modules. `cloudflare:workers` is the module that `start` has put into the global scope. */
function standIn(): void {
  registerHooks({
    resolve: (specifier, context, next) => {
      const source = MODULES[specifier];
      if (source === undefined) return next(specifier, context);
      return { url: `data:text/javascript,${encodeURIComponent(source)}`, shortCircuit: true };
    },
  });
}

/** A Response that may have the status 101 and a socket. */
function upgradingResponse(): typeof Response {
  const Plain = Response;
  return class extends Plain {
    constructor(body?: BodyInit | null, init?: ResponseInit) {
      const webSocket = init && "webSocket" in init ? init.webSocket : null;
      super(body, webSocket ? { ...init, status: 200 } : init);
      if (webSocket) Object.defineProperties(this, { status: { value: 101 }, webSocket: { value: webSocket } });
    }
  };
}
