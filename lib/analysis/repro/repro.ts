/**
 * Collects a comparison for people who do not have Rollscope: what was rendered, the ids of both sides, and the drift report. It is
 * written as JSON, and as a Python test that reconstructs the other side with transformers.
 */
import type { DriftReport, DriftSpan } from '#lib/trajectory/drift/report.ts'
import { lacksTexts } from '#lib/trajectory/tokens/texts.ts'
import { ids } from '#lib/trajectory/tokens/tokens.ts'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import type { ComparedSides, SideName } from '../compare/compare-sides.ts'
import type { BuildResult, ShownSide } from '../compare/shown-side.ts'
import type { Side } from '../compare/side.ts'
import { recordedClock } from '../retokenize/recorded-clock.ts'
import { recordedConversation, recordedTexts } from '../retokenize/recorded-messages.ts'

/** Version of the JSON file; raised when a field changes its meaning. */
export const REPRO_VERSION = 1

/** A recorded trajectory, its reconstruction, and their drift. */
export interface Repro {
  readonly mode: 'text' | 'structured' | 'raw'
  /** Tokenizer of the reconstruction. `from_pretrained` accepts its name, unless the name is one of Rollscope's own. */
  readonly tokenizer: { readonly name: string; readonly fingerprint: string | undefined }
  /** What the chat template rendered; undefined in mode text. */
  readonly rendered: Rendered | undefined
  readonly recorded: readonly number[]
  /** Ids of the reconstruction. */
  readonly again: readonly number[]
  /** Side of the recorded trajectory in the report. */
  readonly recordedSide: SideName
  readonly report: DriftReport
  /** The chosen drift span; undefined for the whole comparison. */
  readonly drift: { readonly number: number; readonly span: DriftSpan } | undefined
  /** Caveats of the reconstruction: drift may come from them. */
  readonly caveats: readonly string[]
}

/** Input of the chat template. Messages, tools and options are JSON texts, so that 1.0 stays 1.0. */
interface Rendered {
  readonly template: string
  readonly messages: string
  readonly tools: string
  readonly options: string
  /** Time of the render in milliseconds since 1970; undefined if the template does not write the time. */
  readonly clock: number | undefined
}

/** The two sides of a comparison as they were chosen, and the comparison. */
export interface ReproducedPair {
  readonly left: Side
  readonly right: Side
  readonly compared: ComparedSides
}

/** Returns the reproduction of a recorded trajectory and its own reconstruction, or why there is none. `drift` is the number of a span. */
export function reproOf({ left, right, compared }: ReproducedPair, drift: number | undefined): BuildResult<Repro> {
  const found =
    recordedAndRemade(left, compared.left, right, compared.right, 'left') ??
    recordedAndRemade(right, compared.right, left, compared.left, 'right')
  if (!found)
    return { ok: false, why: 'Only a trajectory compared with its own reconstruction can be reproduced elsewhere.' }
  if (!compared.comparison.report.sameVocabulary)
    return {
      ok: false,
      why: 'The sides have different tokenizers: ids of one cannot be compared with ids of the other.',
    }
  const { recorded, remade, mode, recordedSide } = found
  const { tokenizer } = remade.trajectory.model
  if (!tokenizer) return { ok: false, why: 'No tokenizer is named.' }
  const rendered =
    mode === 'text' ? ({ ok: true, value: undefined } as const) : renderedOf(recorded, remade.trajectory, mode)
  if (!rendered.ok) return rendered
  const span = drift === undefined ? undefined : compared.comparison.report.spans[drift]
  return {
    ok: true,
    value: {
      mode,
      tokenizer: { name: tokenizer.name, fingerprint: tokenizer.fingerprint },
      rendered: rendered.value,
      recorded: ids(recorded),
      again: ids(remade.trajectory),
      recordedSide,
      report: compared.comparison.report,
      drift: drift === undefined || span === undefined ? undefined : { number: drift, span },
      caveats: remade.caveats,
    },
  }
}

interface Found {
  readonly recorded: TrajectoryView
  readonly remade: ShownSide
  readonly mode: Repro['mode']
  readonly recordedSide: SideName
}

function recordedAndRemade(
  one: Side,
  shown: ShownSide,
  other: Side,
  remade: ShownSide,
  recordedSide: SideName,
): Found | undefined {
  const { kind } = other.as
  if (one.as.kind !== 'recorded' || one.key !== other.key || kind === 'recorded' || kind === 'read') return undefined
  return { recorded: shown.trajectory, remade, mode: kind, recordedSide }
}

function renderedOf(
  recorded: TrajectoryView,
  remade: TrajectoryView,
  mode: 'structured' | 'raw',
): BuildResult<Rendered> {
  // Messages are read from the texts of tokens. If the recorded side has none, those of the reconstruction are used.
  const readable = lacksTexts(recorded) ? { ...recorded, vocab: { ...remade.vocab, ...recorded.vocab } } : recorded
  const conversation = recordedConversation(readable, mode)
  if (!conversation.ok) return conversation
  const template = remade.model.template?.text ?? ''
  const clock = template.includes('strftime_now') ? recordedClock(recorded).read().getTime() : undefined
  const { tools, ...texts } = recordedTexts(conversation.value, recorded)
  // No tools are an empty text in the template lab, which no JSON parser reads.
  return { ok: true, value: { template, clock, ...texts, tools: tools === '' ? '[]' : tools } }
}
