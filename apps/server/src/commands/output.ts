/** Where a command writes: data to standard output, everything for people to standard error. */
export interface Output {
  /** A line of data. */
  data(line: string): void;
  /** A line for the person at the terminal. */
  say(line: string): void;
  /** Rewrites one line on a terminal; silent elsewhere. */
  progress(line: string): void;
}

export function standardOutput(): Output {
  let unfinished = false;
  const say = (line: string) => {
    if (unfinished) process.stderr.write("\n");
    unfinished = false;
    process.stderr.write(`${line}\n`);
  };
  return {
    data: (line) => void process.stdout.write(`${line}\n`),
    say,
    progress(line) {
      if (!process.stderr.isTTY) return;
      process.stderr.write(`\r\u001B[K${line}`);
      unfinished = true;
    },
  };
}
