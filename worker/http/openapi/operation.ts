// The type of the operations in operations/.
import * as z from "zod";
import type { ERRORS } from "#shared/errors.ts";
import type { RequestName, ResponseName } from "./components.ts";
import { RESPONSE_EXAMPLES } from "./examples/responses.ts";

/**
 * Access to the operation: anyone, clients with an API key, the operator with the admin token, the operator's
 * monitoring with METRICS_TOKEN, or clients and the operator alike. Sessions of browsers have the rights of their
 * credentials.
 */
export type Access = "anyone" | "client" | "operator" | "monitor" | "session";

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
export type Tag = keyof typeof TAGS;

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

/** A body: JSON with a named schema, or another media type. */
export type Content =
  | { readonly json: ResponseName; readonly example: unknown }
  | { readonly mediaType: string; readonly example?: string };

/** `summary` describes the example. */
export type Example = { readonly summary: string; readonly value: unknown };

export type Success = {
  readonly status: number;
  readonly description: string;
  readonly content: Content | null;
};

export type Operation = {
  readonly method: "get" | "head" | "post" | "put" | "patch" | "delete";
  /** The path as in the routes, such as `/v2/jobs/:id`. */
  readonly path: string;
  /** The operation id, which generated clients use as the method name. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly parameters?: readonly Parameter[];
  readonly body?: {
    readonly json: RequestName;
    readonly examples: Readonly<Record<string, Example>>;
    readonly isOptional?: true;
  };
  /** True if the body may be any bytes. */
  readonly bytes?: true;
  readonly responses: readonly Success[];
  /** Error codes besides the codes of all operations with the same access. */
  readonly codes: readonly (keyof typeof ERRORS)[];
};

/** A response with a named schema. */
export const success = (
  status: number,
  description: string,
  json: ResponseName,
  example: unknown = RESPONSE_EXAMPLES[json],
): Success => ({ status, description, content: { json, example } });

export const pathParameter = (name: string, description: string, example: string): Parameter => ({
  in: "path",
  name,
  description,
  schema: z.string(),
  required: true,
  example,
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
