/** The operators' commands, when the server is installed beside this command line. */
import type * as operators from "@berth/server/commands";
import type { Command } from "commander";
import { EXIT, Quit } from "./exit.ts";

type Operators = typeof operators;

/** Null without the server's package; a package that is there and broken is not taken for absent. */
export async function loadOperators(): Promise<Operators | null> {
  try {
    return await import("@berth/server/commands");
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ERR_MODULE_NOT_FOUND" && message.includes("@berth/server")) return null;
    throw error;
  }
}

/** Adds them under `berth`, for who has signed in. @throws Quit when they are not there */
export async function addOperators(
  berth: Command,
  { name, signIn }: { readonly name: string; readonly signIn: operators.SignIn },
): Promise<Operators> {
  const found = await loadOperators();
  if (!found)
    throw new Quit(
      EXIT.usage,
      `${name} is for operators and comes with the package @berth/server, which is not installed here`,
      "  run it where the server is, or install the server beside this command line",
    );
  found.addOperatorCommands(berth, signIn);
  return found;
}
