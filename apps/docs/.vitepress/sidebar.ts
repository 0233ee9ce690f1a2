/** What the pages are sorted by: to learn, to do, to look up, to understand; then what operators and maintainers read. */
import type { DefaultTheme } from "vitepress";

type Item = DefaultTheme.SidebarItem;
type PagesOf = (folder: string) => Item[];

const HOW_TO: readonly Item[] = [
  { text: "Book GPUs on one rack", link: "/how-to/book-on-one-rack" },
  { text: "Find out when it fits", link: "/how-to/find-when-it-fits" },
  { text: "Hold GPUs while a job runs", link: "/how-to/hold-while-a-job-runs" },
  { text: "Extend a booking", link: "/how-to/extend-a-booking" },
  { text: "Wait for room", link: "/how-to/wait-for-room" },
  { text: "Book spot, and survive preemption", link: "/how-to/book-spot" },
  { text: "Watch events, and resume", link: "/how-to/watch-events" },
  { text: "Use plain HTTP: curl and Python", link: "/how-to/use-plain-http" },
  { text: "Test an app that books", link: "/testing" },
  { text: "Use the web console", link: "/how-to/use-the-console" },
  { text: "Register machines", link: "/how-to/register-machines" },
  { text: "Import from Kubernetes, Slurm, nvidia-smi", link: "/import" },
  { text: "Offer a pool with a quota", link: "/how-to/offer-a-pool" },
  { text: "Set GPUs aside, and sell the idle ones", link: "/how-to/set-gpus-aside" },
  { text: "Take GPUs back from spot", link: "/how-to/take-gpus-back" },
  { text: "Rotate keys", link: "/how-to/rotate-keys" },
  { text: "Sign in with an OIDC issuer", link: "/sign-in" },
];

const REFERENCE: readonly Item[] = [
  { text: "Overview", link: "/reference/" },
  {
    text: "Methods",
    items: [
      ...["capacity", "pools", "reservations", "unitReservations", "fleet", "access", "events"].map(
        (group): Item => ({ text: group, link: `/reference/${group}` }),
      ),
      { text: "Types", link: "/reference/types" },
      { text: "Constraints", link: "/reference/constraints" },
    ],
  },
  { text: "Command line", link: "/reference/cli" },
  { text: "Settings", link: "/reference/settings" },
  { text: "Metrics", link: "/reference/metrics" },
  { text: "Versions and support", link: "/reference/support" },
  { text: "Tables on shards", link: "/reference/shards" },
  { text: "Words", link: "/reference/words" },
];

const EXPLANATION: readonly Item[] = [
  { text: "How the placer chooses", link: "/explanation/placer" },
  { text: "Quota over time", link: "/explanation/quota" },
  { text: "Spot and preemption", link: "/explanation/spot" },
  { text: "Time and leases", link: "/explanation/time" },
  { text: "The order of writes", link: "/explanation/engine" },
  { text: "How fast, beside what", link: "/explanation/figures" },
  { text: "How far it scales", link: "/explanation/scaling" },
  { text: "Who may, and what nobody learns", link: "/explanation/security" },
  { text: "Fifteen complaints", link: "/explanation/complaints" },
];

/** One for all pages, so that nobody loses the way. */
export function sidebar(pagesOf: PagesOf): Item[] {
  const folded = (text: string, items: readonly Item[]): Item => ({
    text,
    collapsed: true,
    items: [...items],
  });
  return [
    {
      text: "Tutorial",
      items: [{ text: "From an empty folder to a booked GPU", link: "/tutorial" }],
    },
    { text: "How-to", items: [...HOW_TO] },
    { text: "Reference", items: [...REFERENCE] },
    folded("Errors", [
      { text: "All errors", link: "/errors/" },
      ...pagesOf("errors"),
      { text: "As one table", link: "/reference/errors" },
    ]),
    { text: "Explanation", items: [...EXPLANATION] },
    { text: "Operations", items: [{ text: "Run it", link: "/operations" }] },
    folded("Runbooks", pagesOf("runbooks")),
    folded("Decisions", [{ text: "All decisions", link: "/adr/" }, ...pagesOf("adr")]),
  ];
}
