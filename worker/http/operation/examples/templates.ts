// Examples of templates and saved storages.

/** The storage of an account, and a video whose path is a variable. */
export const TEMPLATE_BODY = {
  storage: {
    service: "s3",
    bucket: "my-bucket",
    region: "eu-west-1",
    credentials: {
      access_key_id: "AKIAIOSFODNN7EXAMPLE",
      secret_access_key: "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    },
  },
  outputs: { "mp4:720p": { path: "videos/{{ vars.id }}.mp4", duration: "{{ vars.seconds }}" } },
  notification: { type: "http", url: "https://example.com/hook" },
  vars: { seconds: 30 },
};

const INPUT = { url: "https://media.example.com/video.mov" };

export const BATCH = {
  template: "web",
  jobs: [
    { vars: { id: "41" }, input: INPUT },
    { vars: { id: "42" }, input: INPUT },
  ],
};

const { credentials: _, ...storage } = TEMPLATE_BODY.storage;
const TemplateSummary = {
  name: "web",
  version: 3,
  created_at: "2026-11-21 05:23:27 +0000",
  outputs: ["mp4:720p"],
  variables: ["id", "seconds"],
  saved_storage: null,
};

const MISSING = "`vars.id` is missing; `outputs.mp4:720p.path` needs it (template `web@3`)";

export const TOKEN_ID = "3f1c9d2e7a5b4c60";
const TOKEN = { id: TOKEN_ID, created_at: "2026-11-21 05:23:27 +0000", expires_at: null };

const SavedStorage = { name: "main", created_at: "2026-11-21 05:23:27 +0000" };

export const TEMPLATE_EXAMPLES = {
  SavedStorageList: { storages: [SavedStorage] },
  SavedStorage: { ...SavedStorage, storage, left_out: ["storage.credentials"] },
  StorageTest: {
    steps: [
      { step: "store", status: "passed" },
      { step: "read", status: "passed" },
      {
        step: "web",
        status: "failed",
        error: "The bucket has no CORS rule with which pages of https://encode.example.com may read it",
        error_code: "storage_denied",
      },
      { step: "remove", status: "passed" },
    ],
  },
  IngestTokenList: { tokens: [TOKEN] },
  NewIngestToken: { ...TOKEN, url: "https://encode.example.com/v2/ingest/web/D9mPzB1yPcQmZkWvG3a7Rr5nTq2x" },
  IngestResult: { jobs: ["3clA7G2GY8bXR5"], ignored: 0 },
  BatchResult: {
    jobs: [{ id: "3clA7G2GY8bXR5" }, { error: { error_code: "template_vars_not_valid", message: MISSING } }],
  },
  TemplateSummary,
  TemplateList: { templates: [TemplateSummary] },
  Template: {
    ...TemplateSummary,
    template: { ...TEMPLATE_BODY, storage },
    left_out: ["storage.credentials"],
    versions: [3, 2, 1],
  },
};
