/** Places a prompt that a server tokenized itself after the tokens of a trajectory. */
import type { BytesOf } from '#lib/trajectory/drift/align/spelling.ts'
import { promptOf } from '#lib/trajectory/messages/read-prompt.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { commonIds } from '#lib/util/common-prefix.ts'
import { replyEnd } from './reply-end.ts'

/** A prompt that a server reported, as a trajectory records it. */
export interface PlacedPrompt {
  /** Ids of the new part. */
  readonly ids: readonly number[]
  /** How the prompt differs from the recorded tokens and the new part: as `request.read`. Omitted: it does not differ. */
  readonly read?: { readonly kept: number; readonly ids: readonly number[] }
}

/** Splits a prompt for the record: its new part after the recorded tokens, and what differs before that. */
export function placePrompt(
  { segments, model }: Pick<TrajectoryView, 'segments' | 'model'>,
  promptIds: readonly number[],
  bytes: BytesOf,
): PlacedPrompt {
  const last = segments.at(-1)
  if (!last) return { ids: promptIds }
  const before = segments.flatMap((segment) => Array.from(segment.ids))
  const read =
    last.kind === 'response' ? promptOf(before, last, before.length - last.ids.length) : Int32Array.from(before)
  const reply = last.kind === 'response' ? Array.from(last.ids) : []
  const ids = promptIds.slice(replyEnd(Array.from(read), reply, promptIds, model.tokenizer?.endOfTurnId, bytes))
  const own = [...before, ...ids]
  const sharedIds = commonIds(own, promptIds)
  const isSame = sharedIds === own.length && sharedIds === promptIds.length
  return { ids, ...(!isSame && { read: { kept: sharedIds, ids: promptIds.slice(sharedIds) } }) }
}
