// Settings: the session, this browser, webhooks, the credentials that the operator manages, and the audit.
import type { ComponentChildren } from "preact";
import { query, setQuery } from "../core/location.ts";
import { account, isOpen, session } from "../core/session.ts";
import { SETTINGS_TABS, type SettingsTab } from "../core/settings-tabs.ts";
import { Tabs } from "../parts/tabs.tsx";
import { AccountsCard } from "./accounts-card.tsx";
import { AlertsCard } from "./alerts-card.tsx";
import { AuditCard } from "./audit-card.tsx";
import { BrowserCard } from "./browser-card.tsx";
import { KeysCard } from "./keys-card.tsx";
import { NodeTokensCard } from "./node-tokens-card.tsx";
import { SessionCard } from "./session-card.tsx";
import { StoragesCard } from "./storages-card.tsx";
import { UploadLinksCard } from "./upload-links-card.tsx";
import { WebhookSecretCard } from "./webhook-secret-card.tsx";
import { WebhookTestCard } from "./webhook-test-card.tsx";
import "./settings.css";

/** The cards of each tab. The page mounts a card only if the session has what its tab needs. */
const CARDS: Readonly<Record<SettingsTab, () => ComponentChildren>> = {
  account: () => [<SessionCard key="session" />, session.value?.operator && <AccountsCard key="accounts" />],
  keys: () => account.value && <KeysCard account={account.value} />,
  webhooks: () => [<WebhookTestCard key="test" />, <WebhookSecretCard key="secret" />],
  storages: () => account.value && <StoragesCard account={account.value.id} />,
  uploads: () => <UploadLinksCard />,
  nodes: () => <NodeTokensCard />,
  alerts: () => <AlertsCard />,
  audit: () => <AuditCard key={account.value?.id} account={account.value} />,
  browser: () => <BrowserCard />,
};

export default function SettingsPage() {
  const tabs = SETTINGS_TABS.filter(isOpen);
  const chosen = tabs.find(({ name }) => name === query.value.get("tab"))?.name ?? "account";
  return (
    <>
      <div class="page-head">
        <h1>Settings</h1>
      </div>
      <Tabs tabs={tabs} chosen={chosen} choose={(tab) => setQuery({ tab })} label="Settings">
        <div class="settings stack">{CARDS[chosen]()}</div>
      </Tabs>
    </>
  );
}
