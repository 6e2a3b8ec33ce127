// Templates: jobs that are stored under a name, with variables.
import type { Caller, CallOptions } from "../http/caller.ts";
import type {
  IngestTokenList,
  NewIngestToken,
  NewTemplate,
  Revoked,
  Template,
  TemplateList,
  TemplateSummary,
} from "../types/api.ts";

export type PutOptions = CallOptions & {
  /**
   * The newest version must be this one; 0: there must be no template yet. Otherwise CopraError `precondition_failed`.
   */
  readonly ifVersion?: number | undefined;
  /** Keeps the secrets of the newest version that the body lacks, for the same bucket and host. */
  readonly keepSecrets?: boolean | undefined;
};

const pathOf = (name: string): string => `/v2/templates/${encodeURIComponent(name)}`;

const guard = (version: number | undefined): Record<string, string> => {
  if (version === undefined) return {};
  return version === 0 ? { "if-none-match": "*" } : { "if-match": `"${version}"` };
};

export class Templates {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  async list(options?: CallOptions): Promise<TemplateSummary[]> {
    return (await this.#caller.json<TemplateList>("/v2/templates", options)).templates;
  }

  /** The newest version of a template, or with a name such as `web@3` this version, without secrets. */
  get(name: string, options?: CallOptions): Promise<Template> {
    return this.#caller.json(pathOf(name), options);
  }

  /** Stores a new version of a template. */
  put(name: string, body: NewTemplate, { ifVersion, keepSecrets, ...options }: PutOptions = {}): Promise<Template> {
    const query = { keep_secrets: keepSecrets };
    return this.#caller.json(pathOf(name), { ...options, method: "PUT", json: body, query, headers: guard(ifVersion) });
  }

  /** A new URL for events of buckets. It is shown only now. */
  createToken(name: string, options?: CallOptions): Promise<NewIngestToken> {
    return this.#caller.json(`${pathOf(name)}/tokens`, { ...options, method: "POST" });
  }

  async tokens(name: string, options?: CallOptions): Promise<IngestTokenList["tokens"]> {
    return (await this.#caller.json<IngestTokenList>(`${pathOf(name)}/tokens`, options)).tokens;
  }

  /** Revokes a token. */
  deleteToken(name: string, id: string, options?: CallOptions): Promise<Revoked> {
    return this.#caller.json(`${pathOf(name)}/tokens/${encodeURIComponent(id)}`, { ...options, method: "DELETE" });
  }

  /** Deletes all versions of a template. */
  delete(name: string, { ifVersion, ...options }: Omit<PutOptions, "keepSecrets"> = {}): Promise<TemplateSummary> {
    return this.#caller.json(pathOf(name), { ...options, method: "DELETE", headers: guard(ifVersion) });
  }
}
