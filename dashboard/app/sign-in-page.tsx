// Signing in with a key or a token. One-time links sign in without this page (start.ts).
import { useState } from "preact/hooks";
import { ended, signIn } from "../core/session.ts";
import { Problem } from "../parts/problem.tsx";
import { Brand } from "./brand.tsx";
import "./layout.css";

export function SignInPage() {
  const [error, setError] = useState<unknown>();
  const [isBusy, setBusy] = useState(false);
  const submit = async (event: SubmitEvent): Promise<void> => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    const credential = String(new FormData(form).get("credential") ?? "").trim();
    setBusy(true);
    setError(undefined);
    await signIn(credential).catch(setError);
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form class="card" onSubmit={submit}>
        <Brand />
        <h1>Sign in</h1>
        {ended.value && !error && (
          <p class="notice" role="status">
            {ended.value}
          </p>
        )}
        {error !== undefined && <Problem error={error} />}
        <div class="field">
          <label for="credential">API key or admin token</label>
          <input
            id="credential"
            name="credential"
            type="password"
            autocomplete="current-password"
            spellcheck={false}
            required
            aria-describedby="credential-help"
          />
          <p class="help" id="credential-help">
            It is sent once and not kept: this browser gets a cookie for twelve hours.
          </p>
        </div>
        <button type="submit" class="primary" disabled={isBusy}>
          {isBusy ? "Signing in …" : "Sign in"}
        </button>
        <p class="muted">
          Or open the link that <code>npm run copra -- dashboard</code> prints. It signs in once, without typing.
        </p>
      </form>
    </main>
  );
}
