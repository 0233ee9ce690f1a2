/** Lines of a text that comes in pieces. */
export function lineByLine(heard: (line: string) => void): (piece: string) => void {
  let rest = "";
  return (piece) => {
    const lines = (rest + piece).split("\n");
    rest = lines.pop() ?? "";
    for (const line of lines) heard(line);
  };
}
