/** Command lines to copy. */

const PLAIN = /^[\w@%+=:,./-]+$/;

/** As a POSIX shell reads it back. */
export function quoted(args: readonly string[]): string {
  return args
    .map((arg) => (PLAIN.test(arg) ? arg : `'${arg.replaceAll("'", String.raw`'\''`)}'`))
    .join(" ");
}
