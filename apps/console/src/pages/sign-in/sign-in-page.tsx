/** Signing in with a key, or through the issuer that the server names. */
import { createBerth, isBerthError } from "@berth/client";
import { useMutation, useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useEffect, useState } from "react";
import type { ReactNode } from "react";
import type { Credentials } from "../../app/credentials.ts";
import { comeBack, leave, oidcSettings } from "../../app/oidc.ts";
import type { OidcSettings } from "../../app/oidc.ts";
import icon from "../../icon.svg";
import { Button } from "../../ui/button.tsx";
import { TextField } from "../../ui/field.tsx";
import styles from "./sign-in.module.css";

interface SignInProps {
  /** Why somebody who was signed in is not any more. */
  readonly message: string | null;
  readonly onSignIn: (credentials: Credentials) => void;
}

export function SignInPage({ message, onSignIn }: SignInProps): ReactNode {
  const settings = useQuery({
    queryKey: ["config"],
    queryFn: ({ signal }) => oidcSettings(signal),
  });
  useEffect(() => {
    document.title = "Sign in · Berth";
  }, []);
  return (
    <main className={styles.gate}>
      <div className={styles.brand}>
        <img src={icon} alt="" />
        <h1>Berth</h1>
      </div>
      <div className={styles.card}>
        {message === null ? null : (
          <p className={styles.message} role="alert">
            {message}
          </p>
        )}
        {settings.data ? <Issuer settings={settings.data} onSignIn={onSignIn} /> : null}
        <KeyForm onSignIn={onSignIn} isOnly={!settings.data} />
      </div>
      <p className={styles.note}>
        The key stays in this tab and is forgotten with it. An administrator makes one with{" "}
        <code>berth keys create</code>.
      </p>
    </main>
  );
}

function KeyForm({
  onSignIn,
  isOnly,
}: Pick<SignInProps, "onSignIn"> & { readonly isOnly: boolean }): ReactNode {
  const [token, setToken] = useState("");
  const trial = useMutation({
    // Looked at before it is kept: a wrong key is said here, not on every page.
    mutationFn: async (key: string) => {
      await createBerth({ url: location.origin, token: key }).access.whoami({});
      return key;
    },
    onSuccess: (key) => onSignIn({ kind: "key", token: key }),
  });
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (token.trim() !== "") trial.mutate(token.trim());
      }}
    >
      <TextField
        label="API key"
        type="password"
        value={token}
        onChange={setToken}
        autoComplete="off"
        autoFocus
        required
        error={trial.error === null ? undefined : wrongKeyText(trial.error)}
      />
      <Button type="submit" kind={isOnly ? "primary" : "plain"} busy={trial.isPending}>
        Sign in with the key
      </Button>
    </form>
  );
}

function wrongKeyText(error: Error): string {
  return isBerthError(error, "UNAUTHENTICATED")
    ? "No key of this server, or one that was revoked or has run out"
    : error.message;
}

function Issuer({
  settings,
  onSignIn,
}: Pick<SignInProps, "onSignIn"> & { readonly settings: OidcSettings }): ReactNode {
  const navigate = useNavigate();
  const back = useMutation({
    mutationFn: (answer: URLSearchParams) => comeBack(settings, answer),
    onSuccess: (returned) => {
      if (!returned) return;
      onSignIn(returned.credentials);
      void navigate({ href: returned.back, replace: true });
    },
  });
  const leaving = useMutation({ mutationFn: () => leave(settings) });
  const { mutate } = back;
  useEffect(() => {
    if (location.pathname !== "/sign-in") return;
    const answer = new URLSearchParams(location.search);
    // Once: the code is good for one exchange.
    history.replaceState(null, "", "/sign-in");
    mutate(answer);
  }, [mutate]);
  const error = back.error ?? leaving.error;
  return (
    <>
      {error ? (
        <p className={styles.message} role="alert">
          {error.message}
        </p>
      ) : null}
      <Button
        kind="primary"
        size="large"
        busy={back.isPending || leaving.isPending}
        onPress={() => leaving.mutate()}
      >
        Sign in with {new URL(settings.issuer).host}
      </Button>
      <div className={styles.or}>or</div>
    </>
  );
}
