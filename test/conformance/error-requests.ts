// For each error code, a request that causes it.
import type { Answer, SharedStack } from "../stack.ts";

type ErrorRequest = (stack: SharedStack, doneJob: string) => Promise<Answer>;

/** A request with a valid body except for `changes`. */
const post =
  (changes: object, headers?: Record<string, string>): ErrorRequest =>
  ({ request, storage }) => {
    const body = {
      input: { url: "https://media.example.com/video.mp4" },
      storage,
      outputs: { "mp4:240p": { path: "a.mp4" } },
      notification: { type: "http", url: "https://example.com/hook" },
      ...changes,
    };
    return request("POST", "/jobs", body, headers);
  };
const get =
  (path: string, headers?: Record<string, string>): ErrorRequest =>
  ({ request }) =>
    request("GET", path, undefined, headers);

const withStorage =
  (changes: object): ErrorRequest =>
  (stack, id) =>
    post({ storage: { ...stack.storage, ...changes } })(stack, id);

const manyOutputs = Array.from({ length: 31 }, (_, index) => ({ path: `${index}.mp4` }));

/** For each field of a request, requests in which it is missing or not valid. The messages name the field. */
export const FIELD_REQUESTS: Readonly<Record<string, ErrorRequest>> = {
  settings: post({ settings: "fast" }),
  input: post({ input: undefined }),
  storage: post({ storage: undefined }),
  outputs: post({ outputs: undefined }),
  notification: post({ notification: undefined }),
  "settings.ultrafast": post({ settings: { ultrafast: "very" } }),
  "input.url": post({ input: { url: {} } }),
  "storage.service": withStorage({ service: "floppy" }),
  "storage.region": withStorage({ region: {} }),
  "storage.bucket": withStorage({ bucket: undefined }),
  "storage.credentials": withStorage({ credentials: undefined }),
  "notification.type": post({ notification: { type: "pigeon", url: "https://example.com/hook" } }),
  "notification.url": post({ notification: { type: "http", url: "example" } }),
  "outputs as a list": post({ outputs: [{ path: "a.mp4" }] }),
  "outputs as a text": post({ outputs: "mp4:240p" }),
};

export const ERROR_REQUESTS: ReadonlyMap<string, ErrorRequest> = new Map<string, ErrorRequest>([
  ["storage_credentials_not_valid", withStorage({ credentials: { access_key_id: "only half" } })],
  ["storage_service_not_valid", withStorage({ service: "floppy" })],
  ["storage_not_valid", withStorage({ bucket: undefined })],
  ["input_not_valid", ({ request }) => request("POST", "/jobs", {})],
  ["input_url_not_valid", post({ input: { url: "gopher://example.com/video.mp4" } })],
  ["output_not_valid", post({ outputs: { "mp4:240p": "a.mp4" } })],
  ["outputs_not_valid", post({ outputs: {} })],
  ["output_format_not_valid", post({ outputs: { "mp4:soon": { path: "a.mp4" } } })],
  ["output_param_not_valid", post({ outputs: { "mp4:240p": { path: "a.mp4", speed: 2 } } })],
  ["output_condition_not_valid", post({ outputs: { "mp4:240p": { path: "a.mp4", if: "{{ input.width }} >" } } })],
  [
    "output_key_not_unique",
    post({
      outputs: {
        "mp4:240p": [
          { key: "a", path: "a.mp4" },
          { key: "a", path: "b.mp4" },
        ],
      },
    }),
  ],
  ["output_path_not_unique", post({ outputs: { "mp4:240p": [{ path: "a.mp4" }, { path: "a.mp4" }] } })],
  ["notification_not_valid", post({ notification: { type: "pigeon" } })],
  ["settings_not_valid", post({ settings: { ultrafast: "very" } })],
  ["tags_not_valid", post({ tags: { "a b": "c" } })],
  ["json_not_valid", ({ request }) => request("POST", "/jobs", "not JSON")],
  ["outputs_out_of_range", post({ outputs: { "mp4:240p": manyOutputs } })],
  ["body_too_large", post({ input: { url: `https://example.com/${"a".repeat(2 ** 20)}` } })],
  ["authentication_failed", get("/jobs", { authorization: `Basic ${btoa("k-nobody:")}` })],
  ["job_not_found", get("/jobs/AAAAAAAAAAAAAA")],
  ["template_not_valid", post({ template: "not a name" })],
  [
    "template_vars_not_valid",
    async ({ request }) => {
      await request("PUT", "/templates/conformance", {});
      return request("POST", "/jobs", { template: "conformance", vars: { unused: 1 } });
    },
  ],
  ["template_not_found", get("/templates/nothing")],
  ["saved_storage_not_found", get("/storages/nothing")],
  ["probe_not_found", get("/probes/AAAAAAAAAAAAAA")],
  ["metadata_not_found", (stack, id) => get(`/metadata/jobs/${id}/nothing`)(stack, id)],
  ["route_not_found", get("/nowhere")],
  ["method_not_allowed", ({ request }) => request("PUT", "/jobs")],
  ["job_state_conflict", ({ request }, id) => request("DELETE", `/jobs/${id}`)],
]);
