// The record of an operation: its route, its access and its documentation. mount.ts serves it, openapi/ describes it.
import * as z from "zod";
import type { ERRORS } from "#shared/errors.ts";
import type { KeyAccess } from "../auth/scopes.ts";

/**
 * Access to an operation: clients with an API key (KeyAccess), anyone, the operator with the admin token, the
 * operator's monitoring with METRICS_TOKEN, or a client or the operator (`session`: the handler authenticates).
 * Sessions of browsers have the rights of their credentials.
 */
export type Access = KeyAccess | "anyone" | "operator" | "monitor" | "session";

const OTHERS: readonly unknown[] = ["anyone", "operator", "monitor", "session"];

export const isForKeys = (access: Access): access is KeyAccess => !OTHERS.includes(access);

export const TAGS = {
  Jobs: "Create, read and cancel jobs.",
  Templates: "Jobs that are stored under a name, with variables.",
  Storages: "Storages that are kept under a name.",
  Probes: "Contents of a source, without a job.",
  Uploads: "Files that clients upload, as sources of jobs.",
  Metadata: "ffprobe's data about the input and the outputs.",
  Notifications: "The log of notifications.",
  Account: "Usage of all jobs, and their events.",
  Sessions: "Signing in to the dashboard.",
  Storage: "The built-in storage, for tests.",
  Service: "The service itself.",
  Administration: "Accounts, API keys and node tokens, for the operator.",
  Fleet: "Nodes and the work that waits for them, for the operator.",
} as const;

export type Parameter = {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly required: boolean;
  readonly example?: string | number | boolean;
  /** Names of parameters that are each a property of an object. */
  readonly style?: "form";
};

/** A schema with an id, or the name of a schema in openapi/job-request.ts. */
export type NamedSchema = z.ZodType | "JobRequest" | "NewTemplate" | "Storage";

/** A body: JSON, or another media type. `example`: by default the example of the schema. */
export type Content =
  | { readonly json: z.ZodType; readonly example?: unknown }
  | { readonly mediaType: string; readonly example?: string };

/** `summary` describes the example. */
export type Example = { readonly summary: string; readonly value: unknown };

export type Success = { readonly status: number; readonly description: string; readonly content: Content | null };

export type Code = keyof typeof ERRORS;

export type Operation = {
  /** Generated clients use it as the method name. */
  readonly id: string;
  readonly tag: keyof typeof TAGS;
  /** The method, and the path in the syntax of Hono. */
  readonly route: `${"GET" | "HEAD" | "POST" | "PUT" | "PATCH" | "DELETE"} /${string}`;
  readonly access: Access;
  readonly summary: string;
  readonly description?: string;
  /** Parameters of paths. An operation has only the parameters that its own path contains. */
  readonly path?: readonly Parameter[];
  /** Headers, and parameters of the query. */
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly json: NamedSchema;
    readonly examples: Readonly<Record<string, Example>>;
    readonly isOptional?: true;
    /** The code of a body that does not match the schema; by default `request_not_valid`. */
    readonly code?: Code;
  };
  /** True without an entry in the audit: a client creates many, and they have rows of their own. */
  readonly isUnaudited?: true;
  /** True if the body may be any bytes. */
  readonly bytes?: true;
  readonly responses: readonly Success[];
  /** Error codes that do not follow from the access, the body and the query. */
  readonly codes?: readonly Code[];
};

/** Makes records of operations by id. `common`: the properties of all records that do not have their own. */
export const operations =
  <const Common extends Partial<Operation>>(common: Common) =>
  <const Records extends Readonly<Record<string, Omit<Operation, "id" | keyof Common> & Partial<Operation>>>>(
    records: Records,
  ) =>
    Object.fromEntries(
      Object.entries(records).map(([id, record]) => [id, { id, ...common, ...record }]),
    ) as unknown as {
      readonly [Id in keyof Records]: { readonly id: Id } & Omit<Common, keyof Records[Id]> & Records[Id];
    };

/** The method and the path of a route. */
export function routeParts(route: Operation["route"]): [method: string, path: string] {
  const [method = "", path = ""] = route.split(" ");
  return [method, path];
}

/** A JSON response. */
export const success = (status: number, description: string, json: z.ZodType, example?: unknown): Success => ({
  status,
  description,
  content: { json, example },
});

export const pathParameter = (name: string, description: string, example: string): Parameter => ({
  in: "path",
  name,
  description,
  schema: z.string(),
  required: true,
  example,
});

export const headerParameter = (name: string, description: string, example?: string): Parameter => ({
  in: "header",
  name,
  description,
  schema: z.string(),
  required: false,
  ...(example === undefined ? {} : { example }),
});

/** Query parameters, with the descriptions of the schema. */
export const queryParameters = ({ shape }: z.ZodObject): Parameter[] =>
  Object.entries(shape).flatMap(([name, schema]) =>
    schema instanceof z.ZodType
      ? [{ in: "query", name, description: schema.description ?? "", schema, required: false } as const]
      : [],
  );

/** An object whose properties are parameters, such as `tag.tenant=a`. */
export const TAG_PARAMETERS: Parameter = {
  in: "query",
  name: "tags",
  description: "Only jobs with these tags, each as a parameter `tag.<name>`: at most three, and all must match",
  schema: z.record(z.string().regex(/^tag\.[a-z0-9_.-]{1,40}$/), z.string()),
  required: false,
  style: "form",
};
