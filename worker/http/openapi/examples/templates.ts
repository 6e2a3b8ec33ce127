// Examples of templates.

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

const { credentials: _, ...storage } = TEMPLATE_BODY.storage;
const TemplateSummary = { name: "web", version: 3, created_at: "2026-11-21 05:23:27 +0000" };

export const TEMPLATE_EXAMPLES = {
  TemplateSummary,
  TemplateList: { templates: [TemplateSummary] },
  Template: {
    ...TemplateSummary,
    template: { ...TEMPLATE_BODY, storage },
    variables: ["id", "seconds"],
    left_out: ["storage.credentials"],
    versions: [3, 2, 1],
  },
};
