// The subset of OpenAPI 3.1 that the document uses.
import type { JsonSchema } from "./json-schema.ts";

export type OpenApiDocument = {
  readonly openapi: string;
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly externalDocs: { readonly description: string; readonly url: string };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Paths;
  readonly webhooks: Readonly<Record<string, { readonly post: WebhookObject }>>;
  readonly components: {
    readonly securitySchemes: Readonly<Record<string, object>>;
    readonly schemas: Readonly<Record<string, JsonSchema>>;
  };
};

/** Operations by path and method. */
export type Paths = Readonly<Record<string, Readonly<Record<string, OperationObject>>>>;

export type OperationObject = {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly summary: string;
  readonly description?: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ParameterObject[];
  readonly requestBody?: RequestBodyObject;
  readonly responses: Readonly<Record<string, ResponseObject>>;
};

export type WebhookObject = Omit<OperationObject, "operationId" | "tags">;

export type ParameterObject = {
  readonly name: string;
  readonly in: string;
  readonly description: string;
  readonly required: boolean;
  readonly schema: JsonSchema;
  readonly style?: "form";
  readonly explode?: true;
  readonly example?: unknown;
};

export type RequestBodyObject = { readonly required: boolean; readonly content: ContentObject };

export type ResponseObject = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: JsonSchema }>>;
  readonly content?: ContentObject;
  /** Possible values of `error_code`. */
  readonly "x-error-codes"?: readonly string[];
};

/** Content by media type. */
export type ContentObject = Readonly<Record<string, MediaTypeObject>>;

export type MediaTypeObject = {
  readonly schema?: JsonSchema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, ExampleObject>>;
};

export type ExampleObject = { readonly summary?: string; readonly value: unknown };
