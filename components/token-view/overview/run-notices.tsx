import { Banner } from '#components/ui/banner.tsx'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'

/** Advice for the kinds of problem that concern a whole run; the token card lists the other kinds. */
const HINTS: Readonly<Record<string, string>> = {
  prompt:
    'SGLang adds fields to tools that transformers does not render. The ids here are those that the server read; sides rendered with this template begin differently.',
  template: 'Describe them in the system prompt, or choose a model whose template prints them.',
  router: 'Use the address of the server itself, or remove this parameter.',
  model: 'Logprobs of different models must not be compared.',
}

/** Shows the problems that concern the whole run, each once, above its tokens. */
export function RunNotices({ trajectory }: { readonly trajectory: TrajectoryView }) {
  const problems = [...(trajectory.problems ?? []), ...trajectory.segments.flatMap(({ problems = [] }) => problems)]
  const hintOfMessage = new Map(
    problems.flatMap(({ kind, message }) => (Object.hasOwn(HINTS, kind) ? [[message, HINTS[kind]]] : [])),
  )
  return Array.from(hintOfMessage, ([message, hint]) => (
    <Banner key={message} tone="note" title={message} hint={hint} />
  ))
}
