/** A side of a comparison as it is shown: always a trajectory, recorded or made again from the text or the messages of one. */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { As } from './side.ts'

export interface SideTokenizer extends LabTokenizer {
  /** Its own template, for conversations with or without tools; undefined where it has none. Omitted: it is not known. */
  readonly template?: (hasTools: boolean) => CompiledTemplate | undefined
}

/** A side with what it is made of. */
export interface LoadedSide {
  readonly as: As
  readonly trajectory: TrajectoryView
  /** The tokenizer that `as` needs; undefined where it needs none. */
  readonly tokenizer: SideTokenizer | undefined
  /** The text of the template chosen; undefined: the trajectory's own, or the tokenizer's. */
  readonly template: string | undefined
}

export interface ShownSide {
  readonly trajectory: TrajectoryView
  /** What could not be made again as a pipeline would make it, for a person; what drifts may come from that. */
  readonly caveats: readonly string[]
  /** Of a text encoded again: each segment encoded by itself. Omitted: not of a text, or another tokenizer's. */
  readonly perSegment?: readonly SegmentAlone[]
}

/** A segment as a pipeline has it that encodes message by message: its text alone through the tokenizer. */
export interface SegmentAlone {
  readonly kind: 'prompt' | 'response'
  /** As recorded. */
  readonly tokens: number
  /** As encoded alone. */
  readonly alone: number
  /** Recorded tokens that stand otherwise; where the encoding only has more of them, those. */
  readonly drifted: number
}

export type Making<T> =
  | { readonly ok: true; readonly value: T }
  /** In a person's words; the hint says what to do. */
  | { readonly ok: false; readonly why: string; readonly hint?: string }

/** Name of the tokenizer that a side needs, as the server's loader takes it; undefined: none; or why it cannot be had. */
export function neededTokenizer({ model }: Pick<TrajectoryView, 'model'>, as: As): Making<string | undefined> {
  if (as.kind === 'recorded' || as.kind === 'read') return { ok: true, value: undefined }
  if (as.tokenizer !== undefined) return { ok: true, value: as.tokenizer }
  if (!model.tokenizer)
    return { ok: false, why: 'The file names no tokenizer.', hint: 'Choose the tokenizer that the model was run with.' }
  if (model.tokenizer.source === 'server')
    return {
      ok: false,
      why: 'The tokenizer is the server’s own, and its files are not available here.',
      hint: 'Choose a tokenizer whose files are available.',
    }
  return { ok: true, value: model.tokenizer.name }
}
