// The settings of `copra serve`, from environment variables. The command line sets them from its options.
import * as z from "zod";
import { mailBinding } from "../control-plane/mail.ts";
import { TrustedProxies } from "../front/client-address.ts";
import type { ServiceSettings } from "../home/service-settings.ts";
import { readSettings, type StackSettings } from "../home/settings.ts";
import { BUCKET_VARIABLES, ClusterVariables, clusterOf } from "./cluster-settings.ts";

type Env = Readonly<Record<string, string | undefined>>;

/** Variables and secrets that are passed on to the Worker (wrangler.toml). */
const WORKER_VARIABLES = [
  ...["RETENTION_DAYS", "LIST_DAYS", "MAX_UNFINISHED_JOBS", "MAX_UPLOADED_BYTES", "FOLDERS"],
  ...["METRICS_TOKEN", "SNS_ENDPOINT", "ULTRAFAST_READ_ORIGIN", "SCRATCH_ENDPOINT", "SCRATCH_REGION", "SCRATCH_BUCKET"],
  ...["SCRATCH_ACCESS_KEY_ID", "SCRATCH_SECRET_ACCESS_KEY", "SMTP_URL", "SMTP_FROM"],
];

/** Variables that nodes and the S3 server must not inherit. */
export const SECRET_VARIABLES = [...WORKER_VARIABLES, ...BUCKET_VARIABLES];

const ANY = ["0.0.0.0", "::"];
const list = z
  .string()
  .default("")
  .transform((text) => text.split(",").map((item) => item.trim()))
  .transform((items) => items.filter((item) => item !== ""));
const url = (error: string) =>
  z
    .string()
    .refine(isOrigin, error)
    .transform((text) => new URL(text).origin)
    .optional();

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { protocol, pathname, search, hash } = new URL(text);
  return /^https?:$/.test(protocol) && pathname === "/" && search === "" && hash === "";
}

const oneOf = <const Choices extends readonly [string, ...string[]]>(choices: Choices, named: string) =>
  z.enum(choices, `${named} must be ${choices.slice(0, -1).join(", ")} or ${choices.at(-1)}`);

const Environment = z.object({
  COPRA_BIND: oneOf(["127.0.0.1", ...ANY] as const, "--bind (COPRA_BIND)").default("127.0.0.1"),
  COPRA_PUBLIC_URL: url(
    "--public-url (COPRA_PUBLIC_URL) must be a URL without a path, such as https://encode.example.com",
  ),
  COPRA_TRUSTED_PROXIES: list,
  COPRA_S3_URL: url("--s3-url (COPRA_S3_URL) must be a URL without a path, such as https://s3.example.com"),
  COPRA_S3: oneOf(["on", "off"] as const, "COPRA_S3").default("on"),
  COPRA_ALLOW_PRIVATE: oneOf(["none", "loopback", "all"] as const, "--allow-private (COPRA_ALLOW_PRIVATE)").default(
    "none",
  ),
  COPRA_NODE_ISOLATION: oneOf(["required", "best-effort"] as const, "--isolation (COPRA_NODE_ISOLATION)").default(
    process.platform === "linux" ? "required" : "best-effort",
  ),
  COPRA_INSECURE_HTTP: oneOf(["0", "1"] as const, "--insecure-http (COPRA_INSECURE_HTTP)").default("0"),
  COPRA_NODE_TOKEN_FILE: z.string().optional(),
  COPRA_LOG: oneOf(["files", "stderr"] as const, "--log (COPRA_LOG)").default("files"),
  ...ClusterVariables,
  COPRA_DRAIN_SECONDS: z.coerce
    .number("--drain-seconds (COPRA_DRAIN_SECONDS) must be a number of seconds")
    .min(0, "--drain-seconds (COPRA_DRAIN_SECONDS) must be 0 or more")
    .default(20),
});
type Environment = z.infer<typeof Environment>;

export type ServeSettings = {
  readonly stack: StackSettings & { readonly service: ServiceSettings };
  /** A file that receives the node token, for nodes in other containers; null: none. */
  readonly nodeTokenFile: string | null;
  /** The time for which running tasks may continue after a stop, in ms. */
  readonly drainMs: number;
};

/** Throws a message for people that names each wrong variable, or the reason why the combination is not safe. */
export function readServeSettings(env: Env): ServeSettings {
  if (!env.COPRA_HOME?.trim()) throw new Error("Choose the folder of all data: --data <folder> (COPRA_HOME)");
  const named = Object.keys(Environment.shape).map((name) => [name, env[name]?.trim() || undefined] as const);
  const parsed = Environment.safeParse(Object.fromEntries(named));
  if (!parsed.success) throw new Error(parsed.error.issues.map(({ message }) => message).join("\n"));
  const chosen = parsed.data;
  const reason = unsafeReason(chosen);
  if (reason !== null) throw new Error(reason);
  const known: Env = { FOLDERS: foldersOfAll(env.COPRA_FOLDERS), ...env };
  const variables = Object.fromEntries(WORKER_VARIABLES.flatMap((name) => (known[name] ? [[name, known[name]]] : [])));
  // Throws for a wrong SMTP_URL.
  mailBinding(variables);
  const service: ServiceSettings = {
    bind: chosen.COPRA_BIND,
    publicUrl: chosen.COPRA_PUBLIC_URL ?? null,
    trustedProxies: proxiesOf(chosen),
    s3Url: chosen.COPRA_S3_URL ?? null,
    ownS3: chosen.COPRA_S3 === "on" && variables.SCRATCH_ENDPOINT === undefined && chosen.COPRA_CLUSTER === undefined,
    allowPrivate: chosen.COPRA_ALLOW_PRIVATE,
    isolation: chosen.COPRA_NODE_ISOLATION,
    variables,
    cluster: clusterOf(chosen, env),
  };
  return {
    stack: { ...readSettings(env), service, logsToStderr: chosen.COPRA_LOG === "stderr" },
    nodeTokenFile: chosen.COPRA_NODE_TOKEN_FILE ?? null,
    drainMs: chosen.COPRA_DRAIN_SECONDS * 1000,
  };
}

/** The nodes of this machine read the paths of the folders. By default all accounts may use the folders. */
const foldersOfAll = (folders = ""): string =>
  folders
    .split(",")
    .flatMap((folder) => (folder === "" ? [] : `${folder.split("=")[0]}:*`))
    .join(",");

/** Stands for proxies: the operator declares that there is none. */
const NO_PROXY = "none";

const proxiesOf = ({ COPRA_TRUSTED_PROXIES: proxies }: Environment): string[] =>
  proxies.length === 1 && proxies[0] === NO_PROXY ? [] : proxies;

/** The reason why the service would not be safe for people at other machines; null if it is safe. */
function unsafeReason(chosen: Environment): string | null {
  const { COPRA_BIND: bind, COPRA_PUBLIC_URL: publicUrl, COPRA_S3_URL: s3Url } = chosen;
  const proxies = proxiesOf(chosen);
  new TrustedProxies(proxies);
  if (proxies.some((proxy) => proxy.endsWith("/0"))) {
    return "--trusted-proxy must not be the whole internet: every client could then state any address as its own";
  }
  const isOpen = ANY.includes(bind) || publicUrl !== undefined;
  if (isOpen && publicUrl?.startsWith("https:") !== true && chosen.COPRA_INSECURE_HTTP !== "1") {
    return (
      "API keys and sessions would cross the network unencrypted. Put a proxy with TLS in front and give its URL by " +
      "--public-url https://…; in a network that only you use, --insecure-http starts it anyway"
    );
  }
  if (publicUrl?.startsWith("https:") && chosen.COPRA_TRUSTED_PROXIES.length === 0) {
    return (
      "The https URL belongs to a proxy. Give its address by --trusted-proxy, such as 127.0.0.1: without it all clients " +
      "have the proxy's address, and share its limits. --trusted-proxy none: nothing in front sends X-Forwarded-For"
    );
  }
  const isS3Open = ANY.includes(bind) && s3Url !== undefined && chosen.COPRA_S3 === "on";
  if (isS3Open && !s3Url.startsWith("https:") && chosen.COPRA_INSECURE_HTTP !== "1") {
    return (
      "Clips and signed addresses would cross the network unencrypted. Put a proxy with TLS in front of the S3 server " +
      "and give its URL by --s3-url https://…; in a network that only you use, --insecure-http starts it anyway"
    );
  }
  if (isOpen && chosen.COPRA_ALLOW_PRIVATE === "loopback") {
    return (
      "--allow-private loopback is for a system that only this machine reaches: whoever has an API key could make it " +
      "call every service of this machine. Leave it out, or give --allow-private all for sources in private networks"
    );
  }
  return null;
}
