import type { LiveTrajectory } from '#lib/core/events.ts'
import { Banner } from '../ui/banner.tsx'

/** What the chat template did that changes what the model knows, each once. */
export function TemplateNotices({ trajectory }: { readonly trajectory: LiveTrajectory }) {
  const messages = trajectory.segments
    .flatMap(({ problems = [] }) => problems)
    .flatMap(({ kind, message }) => (kind === 'template' ? [message] : []))
  return [...new Set(messages)].map((message) => (
    <Banner key={message} tone="note" title={message} hint="It stands with the prompt’s tokens, under Problems." />
  ))
}
