/**
 * A comparison for those who have no Rollscope: what was rendered, the ids of both sides and what was found, as JSON and as a
 * Python test that makes the other side again with transformers.
 */
import type { DriftReport, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { Compared, SideName } from '../compare/compare-sides.ts'
import type { Making, ShownSide } from '../compare/shown-side.ts'
import type { Side } from '../compare/side.ts'
import { recordedClock } from '../retokenize/recorded-clock.ts'
import { recordedConversation, recordedTexts } from '../retokenize/recorded-messages.ts'

export const REPRO_VERSION = 1

export interface Repro {
  readonly mode: 'text' | 'structured' | 'raw'
  /** That made the other side; its name as from_pretrained takes it, where it is no name of Rollscope's own. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string | undefined }
  /** Of modes that render messages. */
  readonly rendered: Rendered | undefined
  readonly recorded: readonly number[]
  /** As Rollscope made the other side. */
  readonly again: readonly number[]
  /** Where the recorded trajectory stands in the report. */
  readonly recordedSide: SideName
  readonly report: DriftReport
  /** The one that was looked at. Undefined: none, the whole comparison. */
  readonly drift: { readonly number: number; readonly span: DriftSpan } | undefined
  /** What may come from how the side was made again. */
  readonly caveats: readonly string[]
}

/** JSON texts: 1.0 stays 1.0. */
interface Rendered {
  readonly template: string
  readonly messages: string
  readonly tools: string
  readonly options: string
  /** Of templates that tell the time: that at which they are rendered, in milliseconds since 1970. */
  readonly clock: number | undefined
}

export interface ReproducedPair {
  readonly left: Side
  readonly right: Side
  readonly compared: Compared
}

/** Of a recorded trajectory beside itself made again; others say why not. `drift`: number of the span looked at. */
export function reproOf({ left, right, compared }: ReproducedPair, drift: number | undefined): Making<Repro> {
  const found =
    recordedAndMade(left, compared.left, right, compared.right, 'left') ??
    recordedAndMade(right, compared.right, left, compared.left, 'right')
  if (!found)
    return { ok: false, why: 'Only a trajectory compared with its own reconstruction can be reproduced elsewhere.' }
  if (!compared.comparison.report.sameVocabulary)
    return {
      ok: false,
      why: 'The sides have different tokenizers: ids of one cannot be compared with ids of the other.',
    }
  const { recorded, made, mode, recordedSide } = found
  const { tokenizer } = made.trajectory.model
  if (!tokenizer) return { ok: false, why: 'No tokenizer is named.' }
  const rendered =
    mode === 'text' ? ({ ok: true, value: undefined } as const) : renderedOf(recorded, made.trajectory, mode)
  if (!rendered.ok) return rendered
  const span = drift === undefined ? undefined : compared.comparison.report.spans[drift]
  return {
    ok: true,
    value: {
      mode,
      tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint },
      rendered: rendered.value,
      recorded: ids(recorded),
      again: ids(made.trajectory),
      recordedSide,
      report: compared.comparison.report,
      drift: drift === undefined || span === undefined ? undefined : { number: drift, span },
      caveats: made.caveats,
    },
  }
}

interface Found {
  readonly recorded: TrajectoryView
  readonly made: ShownSide
  readonly mode: Repro['mode']
  readonly recordedSide: SideName
}

function recordedAndMade(
  one: Side,
  shown: ShownSide,
  other: Side,
  made: ShownSide,
  recordedSide: SideName,
): Found | undefined {
  const { kind } = other.as
  if (one.as.kind !== 'recorded' || one.key !== other.key || kind === 'recorded' || kind === 'read') return undefined
  return { recorded: shown.trajectory, made, mode: kind, recordedSide }
}

function renderedOf(recorded: TrajectoryView, made: TrajectoryView, mode: 'structured' | 'raw'): Making<Rendered> {
  // Its messages are read from its texts, which are those of the side that was made.
  const readable = lacksTexts(recorded) ? { ...recorded, vocab: { ...made.vocab, ...recorded.vocab } } : recorded
  const held = recordedConversation(readable, mode)
  if (!held.ok) return held
  const template = made.model.template?.text ?? ''
  const clock = template.includes('strftime_now') ? recordedClock(recorded).read().getTime() : undefined
  return { ok: true, value: { template, clock, ...recordedTexts(held.value, recorded) } }
}
