// The guides of /docs: pages of docs/ in the order of their contents list.

export type GuideGroup = { readonly title: string; readonly pages: readonly string[] };

/** Paths below docs/ without `.md`, and also below /docs of a running service. */
export const CONTENTS: readonly GuideGroup[] = [
  {
    title: "Start",
    pages: [
      "quick-start",
      "concepts",
      "recipes",
      "self-hosting",
      "cluster",
      "deploying",
      "containers",
      "cli",
      "mcp",
      "dashboard",
    ],
  },
  {
    title: "Encode",
    pages: [
      "encoding",
      "video",
      "images",
      "streams",
      "ultrafast",
      "quality",
      "loudness",
      "audio-tracks",
      "captions",
      "speech",
      "burned-in-captions",
      "overlays",
      "storage",
      "folders",
      "uploads",
      "upload-links",
      "probes",
      "templates",
      "bucket-events",
    ],
  },
  { title: "Integrate", pages: ["rails", "laravel", "nextjs"] },
  {
    title: "Follow",
    pages: [
      "following-jobs",
      "notifications",
      "verify-webhooks",
      "job-lists",
      "tags",
      "job-details",
      "player",
      "usage",
      "troubleshooting",
    ],
  },
  {
    title: "Operate",
    pages: [
      "nodes",
      "gpu",
      "fleet",
      "operating",
      "monitoring",
      "alerts",
      "tracing",
      "costs",
      "benchmarks",
      "promises",
      "decoders",
    ],
  },
  {
    title: "Move here",
    pages: [
      "coming-from-coconut",
      ...["zencoder", "mediaconvert", "transloadit", "mux"].map((name) => `migrating/${name}`),
    ],
  },
  { title: "Reference", pages: ["api-v2", "conformance", "glossary", "map", "releasing"] },
];
