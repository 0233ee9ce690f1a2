/** What a language model reads first: the tasks that people come with, the questions that are answered, then every page. */

/** @param base where the site is: `/`, or a folder */
export const llmsTemplate = (base: string) => `# Berth

> Books GPUs: exact units, a time axis, tenants with quota, self-service. A typed TypeScript client, plain HTTP with
> JSON, and a command line over one server. Every page below is Markdown; llms-full.txt has them in one file.

## Top tasks

- Book GPUs for the first time: ${base}tutorial.md
- Book GPUs that are kept on one node or rack: ${base}how-to/book-on-one-rack.md
- Find out why a request does not fit, and when it will: ${base}how-to/find-when-it-fits.md
- Keep GPUs while a program runs, and let them go when it ends or dies: ${base}how-to/hold-while-a-job-runs.md
- Keep the same GPUs for longer: ${base}how-to/extend-a-booking.md
- Be booked when room appears: ${base}how-to/wait-for-room.md
- Book what may be taken back, and save the work in time: ${base}how-to/book-spot.md
- Follow what happens without missing anything: ${base}how-to/watch-events.md
- Book from curl, Python or any language: ${base}how-to/use-plain-http.md
- Test an app that books against a real server: ${base}testing.md
- Register machines and offer them to a team with a quota: ${base}how-to/register-machines.md, ${base}how-to/offer-a-pool.md
- Keep exact GPUs for a customer, sell the idle ones, take them back: ${base}how-to/set-gpus-aside.md, ${base}how-to/take-gpus-back.md

## Questions answered

- Is a booking made twice when I repeat a call? No: ${base}how-to/use-plain-http.md, ${base}explanation/engine.md
- Which errors may be sent again? Those that say retryable; never a 409: ${base}errors.md
- What is a lease, and what ends one? ${base}explanation/time.md
- How is quota counted for bookings that do not overlap? ${base}explanation/quota.md
- Who is preempted, and with how much notice? ${base}explanation/spot.md
- Why this node and not another? ${base}explanation/placer.md
- May I know who else books in a pool? No: ${base}explanation/security.md
- How many bookings a second? ${base}explanation/scaling.md
- Which client works with which server? ${base}reference/support.md
- In which unit are times? Milliseconds since the epoch; durations are milliseconds or texts as 4h: ${base}reference/types.md

## All pages

{toc}
`;
