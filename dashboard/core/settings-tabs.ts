// The tabs of the settings, in order. The palette names them before the page is loaded.
import type { Needs } from "./session.ts";

export const SETTINGS_TABS = [
  { name: "account", label: "Account", needs: [] },
  { name: "keys", label: "Keys", needs: ["account", "operator"] },
  { name: "webhooks", label: "Webhooks", needs: ["account"] },
  { name: "storages", label: "Storages", needs: ["account"] },
  { name: "uploads", label: "Upload links", needs: ["account"] },
  { name: "nodes", label: "Nodes", needs: ["operator"] },
  { name: "alerts", label: "Alerts", needs: ["operator"] },
  { name: "audit", label: "Audit", needs: [] },
  { name: "browser", label: "This browser", needs: [] },
] as const satisfies readonly (Needs & { readonly name: string; readonly label: string })[];

export type SettingsTab = (typeof SETTINGS_TABS)[number]["name"];
