// Upload links: a program creates them, and a browser uploads one file with each.
import { type Caller, type CallOptions, pages } from "../http/caller.ts";
import type { NewUploadLink, UploadLink, UploadLinkList } from "../types/api.ts";
import type { JobRequest, TemplateJob } from "../types/job-request.ts";

/** `job` starts when the file is complete. */
export type UploadLinkRequest = Omit<NewUploadLink, "job" | "notification"> & {
  readonly job?: Omit<JobRequest, "input"> | Omit<TemplateJob, "input">;
  readonly notification?: { readonly type: "http"; readonly url: string };
};

const pathOf = (id: string): string => `/v2/upload-links/${encodeURIComponent(id)}`;

export class UploadLinks {
  readonly #caller: Caller;

  constructor(caller: Caller) {
    this.#caller = caller;
  }

  create(link: UploadLinkRequest, options?: CallOptions): Promise<UploadLink> {
    return this.#caller.json("/v2/upload-links", { ...options, method: "POST", json: link });
  }

  get(id: string, options?: CallOptions): Promise<UploadLink> {
    return this.#caller.json(pathOf(id), options);
  }

  /** The account's links without their URLs, newest first. Reads pages as they are needed. */
  async *list(options?: CallOptions): AsyncGenerator<UploadLinkList["upload_links"][number]> {
    const read = (cursor: string | undefined): Promise<UploadLinkList> =>
      this.#caller.json("/v2/upload-links", { ...options, query: { cursor } });
    for await (const page of pages(read)) yield* page.upload_links;
  }

  /** Ends a link, and removes its unfinished file. */
  revoke(id: string, options?: CallOptions): Promise<UploadLink> {
    return this.#caller.json(pathOf(id), { ...options, method: "DELETE" });
  }
}
