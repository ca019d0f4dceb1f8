import type { LiveTrajectory } from '#lib/core/events.ts'
import { Banner } from '../ui/banner.tsx'

const HINT = 'Describe them in the system prompt, or choose a model whose template prints them.'

/** That the chat template left the tools out, once; no other problem of a segment is of its kind. */
export function TemplateNotices({ trajectory }: { readonly trajectory: LiveTrajectory }) {
  const messages = trajectory.segments
    .flatMap(({ problems = [] }) => problems)
    .flatMap(({ kind, message }) => (kind === 'template' ? [message] : []))
  return [...new Set(messages)].map((message) => <Banner key={message} tone="note" title={message} hint={HINT} />)
}
