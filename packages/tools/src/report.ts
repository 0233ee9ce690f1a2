/** How the house's own checks report: a line a finding, in the form that editors link to, and an exit status. */
export interface Finding {
  /** From the root of the repository. */
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

/** Prints the findings by file and line, and sets the exit status to 1 when there are any. */
export function printFindings(findings: readonly Finding[]): void {
  const sorted = findings.toSorted((a, b) => a.file.localeCompare(b.file) || a.line - b.line);
  for (const { file, line, message } of sorted)
    process.stdout.write(`${file}:${line}: ${message}\n`);
  if (findings.length > 0) process.exitCode = 1;
}
