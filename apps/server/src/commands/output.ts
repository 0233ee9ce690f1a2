/** Where a command writes: data to standard output, everything for people to standard error. */
export interface Output {
  /** A line of data. */
  data(line: string): void;
  /** A line for the person at the terminal. */
  say(line: string): void;
  /** Rewrites one line on a terminal; silent elsewhere. */
  progress(line: string): void;
}

/**
 * A reader that has gone, as behind `| head -1`, is no fault of ours: what runs goes on to its own end and
 * status, unheard.
 */
export function outliveReaders(): void {
  for (const stream of [process.stdout, process.stderr])
    stream.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code !== "EPIPE") throw error;
    });
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
