import { expect, it } from "vitest";
import { CopraAdmin } from "../../../client/admin.ts";
import { Copra } from "../../../client/index.ts";
import { OPERATIONS } from "./operations.ts";

type Call = (copra: Copra, admin: CopraAdmin) => unknown;
const job = {
  input: { url: "https://example.com/a.mp4" },
  storage: { service: "coconut" },
  outputs: { mp4: { path: "a.mp4" } },
  notification: { type: "http", url: "https://example.com/hook" },
} as const;

/** The methods with their operations. Browsers and nodes call the other operations. */
const CALLS: Readonly<Record<string, Call>> = {
  createJob: ({ jobs }) => jobs.create(job),
  createJobs: ({ jobs }) => jobs.createMany({ jobs: [job] }),
  listJobs: ({ jobs }) => jobs.list().next(),
  countJobs: ({ jobs }) => jobs.counts(),
  cancelJobs: ({ jobs }) => jobs.cancelMany({ ids: ["j"] }),
  retryJobs: ({ jobs }) => jobs.retryMany({ filter: { status: ["job.failed"] } }),
  getJob: ({ jobs }) => jobs.get("j"),
  cancelJob: ({ jobs }) => jobs.cancel("j"),
  changeJob: ({ jobs }) => jobs.setPriority("j", 50),
  retryJob: ({ jobs }) => jobs.retry("j"),
  followJob: ({ jobs }) => jobs.events("j").next(),
  getJobTasks: ({ jobs }) => jobs.tasks("j"),
  getJobCommands: ({ jobs }) => jobs.commands("j"),
  getJobRunningCommands: ({ jobs }) => jobs.running("j"),
  getJobRequest: ({ jobs }) => jobs.request("j"),
  getJobQueue: ({ jobs }) => jobs.queue("j"),
  getJobMetadata: ({ jobs }) => jobs.metadata("j"),
  getKeyMetadata: ({ jobs }) => jobs.metadata("j", "mp4"),
  listNotifications: ({ jobs }) => jobs.notifications("j"),
  replayNotification: ({ notifications }) => notifications.replay("j", "n"),
  testNotification: ({ notifications }) => notifications.test("https://example.com/hook"),
  renewWebhookSecret: ({ notifications }) => notifications.rotateSecret(),
  listTemplates: ({ templates }) => templates.list(),
  putTemplate: ({ templates }) => templates.put("web", { settings: {} }),
  getTemplate: ({ templates }) => templates.get("web"),
  deleteTemplate: ({ templates }) => templates.delete("web"),
  listStorages: ({ storages }) => storages.list(),
  putStorage: ({ storages }) => storages.put("main", { service: "coconut" }),
  getStorage: ({ storages }) => storages.get("main"),
  deleteStorage: ({ storages }) => storages.delete("main"),
  testStorage: ({ storages }) => storages.test("main"),
  listIngestTokens: ({ templates }) => templates.tokens("web"),
  createIngestToken: ({ templates }) => templates.createToken("web"),
  deleteIngestToken: ({ templates }) => templates.deleteToken("web", "t"),
  createProbe: ({ probes }) => probes.create({ input: { url: "https://example.com/a.mp4" } }),
  getProbe: ({ probes }) => probes.get("p"),
  createUpload: ({ uploads }) => uploads.create({ name: "a", size: 1 }),
  listUploads: ({ uploads }) => uploads.list().next(),
  getUpload: ({ uploads }) => uploads.get("u"),
  putUploadPart: ({ uploads }) => uploads.part("u", 1, new Uint8Array(1)),
  completeUpload: ({ uploads }) => uploads.complete("u"),
  deleteUpload: ({ uploads }) => uploads.delete("u"),
  createUploadLink: ({ uploadLinks }) => uploadLinks.create({ max_size: 1 }),
  listUploadLinks: ({ uploadLinks }) => uploadLinks.list().next(),
  getUploadLink: ({ uploadLinks }) => uploadLinks.get("l"),
  revokeUploadLink: ({ uploadLinks }) => uploadLinks.revoke("l"),
  getUsage: (copra) => copra.usage(),
  listFonts: (copra) => copra.fonts(),
  listAudit: (copra) => copra.audit(),
  listAllAudit: (_, admin) => admin.audit({ action: "revokeKey" }),
  followAccount: (copra) => copra.events().next(),
  getSession: (copra) => copra.session(),
  createSessionLink: (copra) => copra.dashboardLink(),
  health: (copra) => copra.health(),
  ready: (copra) => copra.ready(),
  createAccount: (_, { accounts }) => accounts.create("a"),
  listAccounts: (_, { accounts }) => accounts.list(),
  setAccountLimits: (_, { accounts }) => accounts.setLimits("a", { weight: 2 }),
  rotateWebhookSecret: (_, { accounts }) => accounts.rotateWebhookSecret("a"),
  createKey: (_, { keys }) => keys.create("a"),
  listKeys: (_, { keys }) => keys.list("a"),
  revokeKey: (_, { keys }) => keys.revoke("k"),
  createNodeToken: (_, { nodeTokens }) => nodeTokens.create({ name: "n" }),
  listNodeTokens: (_, { nodeTokens }) => nodeTokens.list(),
  revokeNodeToken: (_, { nodeTokens }) => nodeTokens.revoke("t"),
  listAlerts: (_, { alerts }) => alerts.list(),
  getAlert: (_, { alerts }) => alerts.get("a"),
  putAlert: (_, { alerts }) => alerts.put("a", { when: "node.lost", to: { type: "email", to: ["a@example.com"] } }),
  deleteAlert: (_, { alerts }) => alerts.delete("a"),
  testAlert: (_, { alerts }) => alerts.test("a"),
  listNodes: (_, { nodes }) => nodes.list(),
  getNode: (_, { nodes }) => nodes.get("n"),
  getNodeHistory: (_, { nodes }) => nodes.history("n"),
  cordonNode: (_, { nodes }) => nodes.cordon("n"),
  uncordonNode: (_, { nodes }) => nodes.uncordon("n"),
  forgetNode: (_, { nodes }) => nodes.forget("n"),
  drainNode: (_, { nodes }) => nodes.drain("n"),
  reseal: (_, admin) => admin.reseal(),
  autoscale: (_, admin) => admin.autoscale(),
  metrics: (_, admin) => admin.metrics(),
};
/** Methods that do a part of these calls, or combine several of them. */
const COMBINED = ["page", "plan", "follow", "wait", "send", "run", "setTags", "checkMany"];

it.each(OPERATIONS.filter(({ id }) => CALLS[id]))(
  "the client's method for $id sends its request",
  async (operation) => {
    const sent: string[] = [];
    const fetch = async (url: string, { method = "GET" }: RequestInit = {}) => {
      sent.push(`${method} ${new URL(url).pathname}`);
      return Response.json({ status: "error", error_code: "route_not_found", message: "" }, { status: 404 });
    };
    const url = "https://copra.test";
    const call = CALLS[operation.id]?.(new Copra({ url, key: "k", fetch }), new CopraAdmin({ url, token: "t", fetch }));
    await Promise.resolve(call).catch(() => undefined);
    const [request = ""] = sent;
    expect(request).toMatch(new RegExp(`^${operation.route.replace(/:\w+(?:\{.*?\})?/g, "[^/]+")}$`));
  },
);

it("the client has no method without an operation", () => {
  const client = new Copra({ url: "https://copra.test", key: "k" });
  const { jobs, templates, storages, probes, uploads, uploadLinks, notifications } = client;
  const methods = [jobs, templates, storages, probes, uploads, uploadLinks, notifications].flatMap((part) =>
    Object.getOwnPropertyNames(Object.getPrototypeOf(part)),
  );
  const tested = Object.values(CALLS).map(String).join("\n");
  const others = methods.filter((name) => name !== "constructor" && !tested.includes(`.${name}(`));
  expect(others.sort()).toEqual(COMBINED.toSorted());
  const known = new Set<string>(OPERATIONS.map(({ id }) => id));
  expect(Object.keys(CALLS).filter((id) => !known.has(id))).toEqual([]);
});
