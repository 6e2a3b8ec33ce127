// Settings: the session, this browser, webhooks, and the credentials that the operator manages.
import { account, session } from "../core/session.ts";
import { AlertsCard } from "./alerts-card.tsx";
import { BrowserCard } from "./browser-card.tsx";
import { KeysCard } from "./keys-card.tsx";
import { NodeTokensCard } from "./node-tokens-card.tsx";
import { SessionCard } from "./session-card.tsx";
import { StoragesCard } from "./storages-card.tsx";
import { WebhookSecretCard } from "./webhook-secret-card.tsx";
import { WebhookTestCard } from "./webhook-test-card.tsx";
import "./settings.css";

export default function SettingsPage() {
  const chosen = account.value;
  const isOperator = session.value?.operator === true;
  return (
    <>
      <div class="page-head">
        <h1>Settings</h1>
      </div>
      <div class="settings">
        <SessionCard />
        <BrowserCard />
        {chosen && <WebhookTestCard />}
        {chosen && <WebhookSecretCard />}
        {chosen && <StoragesCard account={chosen.id} />}
        {chosen && isOperator && <KeysCard account={chosen} />}
        {isOperator && <NodeTokensCard />}
        {isOperator && <AlertsCard />}
      </div>
    </>
  );
}
