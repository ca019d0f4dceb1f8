/** Defines a side of a comparison as it is shown. It is always a trajectory: recorded, or reconstructed from text or messages. */

import type { LabTokenizer } from '#lib/tasks/task.ts'
import type { CompiledTemplate } from '#lib/templates/chat-template.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Reconstruction } from './side.ts'

/** A tokenizer with its own chat template. */
export interface SideTokenizer extends LabTokenizer {
  /** Returns its template for conversations with or without tools, or undefined if it has none. Omitted: the template is unknown. */
  readonly template?: (hasTools: boolean) => CompiledTemplate | undefined
}

/** A side with the trajectory, tokenizer and template that it is built from. */
export interface LoadedSide {
  readonly as: Reconstruction
  readonly trajectory: TrajectoryView
  /** The tokenizer that `as` needs; undefined if it needs none. */
  readonly tokenizer: SideTokenizer | undefined
  /** Text of the chosen template; undefined means the trajectory's own template, or else the tokenizer's. */
  readonly template: string | undefined
}

/** A side as it is shown and compared. */
export interface ShownSide {
  readonly trajectory: TrajectoryView
  /** What could not be reconstructed as a pipeline would do it, in sentences for a person. Drift may come from that. */
  readonly caveats: readonly string[]
  /** Each segment encoded alone, for a side in mode text. Omitted in other modes, and for another tokenizer. */
  readonly perSegment?: readonly SegmentEncoding[]
}

/** A segment whose text is encoded alone, as by a pipeline that encodes message by message. */
export interface SegmentEncoding {
  readonly kind: 'prompt' | 'response'
  /** Number of recorded tokens. */
  readonly tokens: number
  /** Number of tokens when encoded alone. */
  readonly alone: number
  /** Number of recorded tokens in drift spans. A span without recorded tokens counts its encoded ones. */
  readonly drifted: number
}

/** A value that was built, or the reason why it could not be built. */
export type BuildResult<T> =
  | { readonly ok: true; readonly value: T }
  /** `why` is a sentence for a person; `hint` says what to do. */
  | { readonly ok: false; readonly why: string; readonly hint?: string }

/** Returns the name of the tokenizer that the server must load for a side, undefined if it needs none, or why it is not available. */
export function neededTokenizer(
  { model }: Pick<TrajectoryView, 'model'>,
  as: Reconstruction,
): BuildResult<string | undefined> {
  if (as.kind === 'recorded' || as.kind === 'read') return { ok: true, value: undefined }
  if (as.tokenizer !== undefined) return { ok: true, value: as.tokenizer }
  if (!model.tokenizer)
    return { ok: false, why: 'The file names no tokenizer.', hint: 'Choose the tokenizer of the model that was run.' }
  if (model.tokenizer.source === 'server')
    return {
      ok: false,
      why: 'The tokenizer is the server’s own, and its files are not available here.',
      hint: 'Start Rollscope with its folder in ROLLSCOPE_TOKENIZERS, or choose another tokenizer.',
    }
  return { ok: true, value: model.tokenizer.name }
}
