import type { ReactNode } from "react";

export function SignInPage(): ReactNode {
  return <h1>Sign in</h1>;
}
