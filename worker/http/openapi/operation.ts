// One operation of the API as the tables in operations/ state it.
import * as z from "zod";
import type { ERRORS } from "#shared/errors.ts";
import type { AnswerName, RequestName } from "./components.ts";

/** Who may ask: anyone, clients by API key, the operator by the admin token. */
export type Access = "anyone" | "client" | "operator";

export const TAGS = {
  Jobs: "Create jobs, read them, end them.",
  Metadata: "What ffprobe says of the input and of each output.",
  Notifications: "The log of what clients were told.",
  Storage: "The service's own storage, for trying things out.",
  Service: "The service itself.",
  Administration: "Accounts, API keys and node tokens; for the operator.",
} as const;
export type Tag = keyof typeof TAGS;

export type Parameter = {
  readonly in: "path" | "query" | "header";
  readonly name: string;
  readonly description: string;
  readonly schema: z.ZodType;
  readonly required: boolean;
  readonly example?: string | number | boolean;
};

/** A body: JSON of a named schema, or another media type. */
export type Content =
  | { readonly json: AnswerName; readonly example: unknown }
  | { readonly mediaType: string; readonly example?: string };

/** `summary` says what the example shows. */
export type Example = { readonly summary: string; readonly value: unknown };

export type Success = {
  readonly status: number;
  readonly description: string;
  readonly content: Content | null;
};

export type Operation = {
  readonly method: "get" | "head" | "post" | "delete";
  /** As the routes have it: `/v2/jobs/:id`. */
  readonly path: string;
  /** The name that programs made from the document call it by. */
  readonly id: string;
  readonly tag: Tag;
  readonly summary: string;
  readonly description?: string;
  readonly access: Access;
  readonly parameters?: readonly Parameter[];
  readonly body?: { readonly json: RequestName; readonly examples: Readonly<Record<string, Example>> };
  readonly answers: readonly Success[];
  /** Beside those that all operations of its access have. */
  readonly codes: readonly (keyof typeof ERRORS)[];
};

export const pathParameter = (name: string, description: string, example: string): Parameter => ({
  in: "path",
  name,
  description,
  schema: z.string(),
  required: true,
  example,
});

/** The parameters of a query, with the descriptions that its schema has. */
export const queryParameters = ({ shape }: z.ZodObject): Parameter[] =>
  Object.entries(shape).flatMap(([name, schema]) =>
    schema instanceof z.ZodType
      ? [{ in: "query", name, description: schema.description ?? "", schema, required: false } as const]
      : [],
  );
