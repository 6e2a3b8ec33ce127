// The configuration of workerd for an instance of a cluster (workerd.capnp: Config, ClusterConfig). The bindings are
// those of wrangler.toml.

import type { ClusterSettings } from "../../home/service-settings.ts";
import type { WorkerOptions } from "../worker-options.ts";

/** `key`: common to all instances, at least 32 bytes. */
type ClusterConfig = Omit<ClusterSettings, "aws"> & { readonly key: string };

/** The file with the bundled Worker, in the folder of the configuration. */
export const SCRIPT = "worker.mjs";

/** Paths are absolute. */
export type InstanceFiles = {
  readonly assets: string;
  /** The folder for this instance's copies of databases. */
  readonly storage: string;
  /** Unix sockets of the servers that send the Worker's requests and its e-mail; null: no e-mail. */
  readonly outbound: string;
  readonly mail: string | null;
};

/** A limit that each instance counts alone: workerd has none. Its interface is that of Cloudflare's binding. */
const RATE_LIMIT = `export default ({ limit, period }) => {
  let windowEnd = 0, counts = new Map();
  return {
    async limit({ key }) {
      const now = Date.now();
      if (now >= windowEnd) [windowEnd, counts] = [now + period * 1000, new Map()];
      const count = (counts.get(key) ?? 0) + 1;
      counts.set(key, count);
      return { success: count <= limit };
    },
  };
};`;

/** A word of Cap'n Proto's notation that is no text, such as an enumerant. */
class Word {
  readonly text: string;

  constructor(text: string) {
    this.text = text;
  }
}

type Value = string | boolean | Word | readonly Value[] | { readonly [name: string]: Value | undefined };

/** Returns the value in Cap'n Proto's notation. Members that are undefined are left out. */
function printed(value: Value): string {
  if (typeof value === "string" || typeof value === "boolean") return JSON.stringify(value);
  if (value instanceof Word) return value.text;
  if (Array.isArray(value)) return `[${value.map(printed).join(", ")}]`;
  const members = Object.entries(value).flatMap(([name, member]) =>
    member === undefined ? [] : [`${name} = ${printed(member)}`],
  );
  return `(${members.join(", ")})`;
}

/** The binding and the name of each class of objects. */
export const classesOf = ({ durableObjects = {} }: WorkerOptions): [binding: string, className: string][] =>
  Object.entries(durableObjects).map(([binding, object]) => [
    binding,
    typeof object === "string" ? object : object.className,
  ]);

/** Returns the configuration. Objects have the ids that Miniflare gives them, so that they stay the same after a move. */
export function workerdConfig(options: WorkerOptions, files: InstanceFiles, cluster: ClusterConfig): string {
  const { name, compatibilityDate, compatibilityFlags, bindings, cronTriggers = [] } = options;
  const { d1Databases = {}, ratelimits = {} } = options;
  const classOf = Object.fromEntries(classesOf(options));
  const worker = (classes: readonly string[], parts: Record<string, Value | undefined>): Value => ({
    compatibilityDate,
    durableObjectNamespaces: classes.map((className) => ({
      className,
      uniqueKey: `${name}-${className}`,
      enableSql: true,
    })),
    durableObjectStorage: { localDisk: "storage" },
    ...parts,
  });
  const bundled = (module: string): Value => [{ name: module, bundled: `/workerd/${module}` }];
  const wrapped = (moduleName: string, innerBindings: readonly Value[]): Value => ({
    wrapped: { moduleName, innerBindings },
  });
  const json = (value: unknown): Value => ({ json: JSON.stringify(value) });
  const named = (values: Readonly<Record<string, Value>>): Value[] =>
    Object.entries(values).map(([binding, value]) => ({ name: binding, ...(value as object) }));
  const mapped = <From>(from: Readonly<Record<string, From>>, map: (value: From) => Value): Record<string, Value> =>
    Object.fromEntries(Object.entries(from).map(([key, value]) => [key, map(value)]));

  const database = wrapped("cloudflare-internal:d1-api", [
    { name: "fetcher", service: { name: "d1", props: json({ database: name }) } },
  ]);
  const services = {
    storage: { disk: { path: files.storage, writable: true } },
    assets: { disk: { path: files.assets } },
    outbound: { external: { address: `unix:${files.outbound}`, http: { style: new Word("proxy") } } },
    ...(files.mail === null ? {} : { mail: { external: { address: `unix:${files.mail}`, http: {} } } }),
    d1: {
      worker: worker(["D1Database"], {
        modules: bundled("d1.js"),
        bindings: named({ DATABASE: { durableObjectNamespace: "D1Database" } }),
      }),
    },
    cron: {
      worker: worker(["Schedule"], {
        modules: bundled("cron.js"),
        compatibilityFlags: ["service_binding_extra_handlers"],
        bindings: named({
          SCHEDULE: { durableObjectNamespace: "Schedule" },
          CRONS: json({ WORKER: cronTriggers }),
          WORKER: { service: "worker" },
        }),
      }),
    },
    worker: {
      worker: worker(Object.values(classOf), {
        modules: [{ name: SCRIPT, esModule: new Word(`embed ${JSON.stringify(SCRIPT)}`) }],
        compatibilityFlags,
        globalOutbound: "outbound",
        bindings: named({
          ...mapped(classOf, (className) => ({ durableObjectNamespace: className })),
          ...Object.fromEntries(Object.keys(d1Databases).map((binding) => [binding, database])),
          ...mapped(ratelimits, ({ simple: { limit, period } }) =>
            wrapped("copra:rate-limit", named({ limit: json(limit), period: json(period) })),
          ),
          ...mapped(bindings, (value) => ({ text: String(value) })),
          ASSETS: { service: "assets" },
          ...(files.mail === null ? {} : { MAIL: { service: "mail" } }),
        }),
      }),
    },
  };
  const config = {
    logging: { structuredLogging: true },
    extensions: [{ modules: [{ name: "copra:rate-limit", internal: true, esModule: RATE_LIMIT }] }],
    services: named(services),
    sockets: [{ name: "http", address: "127.0.0.1:0", http: {}, service: "worker" }],
    cluster,
  };
  return `using Workerd = import "/workerd/workerd.capnp";\nconst config :Workerd.Config = ${printed(config)};\n`;
}
