import type { ShownStatus } from '#components/shell/server-state.tsx'
import { liveViewNote, liveViewOf } from '#lib/api/engine/live-view.ts'
import type { Setup } from '#lib/share/settings/setup.ts'

/** Returns a note on how replies can be watched live; undefined if they arrive nearly token by token. */
export function liveNote(
  status: ShownStatus,
  { endpoint, stream, sampling, topLogprobs }: Pick<Setup, 'endpoint' | 'stream' | 'sampling' | 'topLogprobs'>,
): string | undefined {
  if (endpoint === 'chat') return 'The chat baseline is not streamed: each reply is shown when it is complete.'
  if (!stream) return 'Live view is off: each reply is shown when it is complete.'
  if (status.state !== 'ready') return undefined
  return liveViewNote(liveViewOf(status, Number(sampling.max_new_tokens) || 0, Number(topLogprobs) || 0))
}
