// A client of the API with the few calls that tests and benchmarks need.
import * as z from "zod";
import { basicAuth } from "../../local/stack/access.ts";

const Output = z.object({
  key: z.string(),
  type: z.string(),
  status: z.string(),
  progress: z.string().optional(),
  url: z.string().optional(),
  urls: z.array(z.union([z.string(), z.object({ url: z.string() })])).optional(),
  error: z.string().optional(),
  error_code: z.string().optional(),
});

export const JobView = z.object({
  id: z.string(),
  status: z.string(),
  state: z.string().optional(),
  progress: z.string(),
  completed_at: z.string().nullable(),
  input: z.object({ status: z.string(), error: z.string().optional(), error_code: z.string().optional() }),
  outputs: z.array(Output),
});
export type JobView = z.infer<typeof JobView>;

export interface ApiClient {
  /** Throws the response's text if the job is not accepted. */
  submit(job: unknown): Promise<JobView>;
  job(id: string): Promise<JobView>;
}

/** `api` ends in `/v2`. */
export function apiClient(api: string, apiKey: string): ApiClient {
  async function call(path: string, init: RequestInit = {}): Promise<unknown> {
    const response = await fetch(`${api}${path}`, { ...init, headers: { authorization: basicAuth(apiKey) } });
    const text = await response.text();
    if (!response.ok) throw new Error(`The API responded with HTTP ${response.status}: ${text}`);
    return JSON.parse(text);
  }
  return {
    submit: async (job) => JobView.parse(await call("/jobs", { method: "POST", body: JSON.stringify(job) })),
    job: async (id) => JobView.parse(await call(`/jobs/${id}`)),
  };
}
