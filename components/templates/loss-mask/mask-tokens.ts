/** Converts the sequence of a mask report into a trajectory for the token view, with a stripe per mask at every token. */

import type { TokenReading } from '#components/token-view/card/token-reading.ts'
import { countText } from '#components/token-view/numbers.ts'
import type { Mark, MaskMethodName, MaskReport, MaskRun, TokenOrigin } from '#lib/templates/loss-mask/report.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import { FORMAT, type PromptSegment } from '#lib/trajectory/format/trajectory.ts'
import { countWhile } from '#lib/util/bisect.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { MARKS, MASK_METHODS } from './mask-words.ts'

/** A trajectory for the token view, with the masks of its tokens. */
export interface MaskTokens {
  readonly trajectory: LiveTrajectory
  readonly reading: TokenReading
  /** Returns the mark of each computed way for a token, in order. */
  readonly marks: (index: number) => readonly { readonly way: MaskMethodName; readonly mark: Mark }[]
  readonly origin: (index: number) => TokenOrigin | undefined
}

/** Returns the sequence of the report as one prompt segment per message. */
export function maskTokens({ sequence, ways, disagreements, tokenizer }: MaskReport): MaskTokens {
  const lanes = ways.flatMap((way) => (way.kind === 'computed' ? [{ way: way.name, runs: way.runs }] : []))
  const marks = (index: number) =>
    lanes.map(
      ({ way, runs }) => ({ way, mark: (rangeAt(runs, index) as MaskRun | undefined)?.mark ?? 'unknown' }) as const,
    )
  const origin = (index: number) => rangeAt(sequence.origins, index)
  const parts = messageParts(sequence.ids.length, sequence.origins)
  const differing = parts.map(({ start, end }) =>
    disagreements.reduce((sum, range) => sum + Math.max(0, Math.min(end, range.end) - Math.max(start, range.start)), 0),
  )
  return {
    marks,
    origin,
    trajectory: {
      format: FORMAT,
      id: 'masks',
      createdAt: '',
      model: { tokenizer: { name: tokenizer.name, specialIds: sequence.specialIds }, tools: [] },
      vocab: sequence.vocab,
      segments: parts.map(
        ({ start, end }): PromptSegment => ({ kind: 'prompt', ids: sequence.ids.slice(start, end), messages: [] }),
      ),
      outcome: { kind: 'ended', reason: 'unknown' },
      provenance: { kind: 'recorded' },
    },
    reading: {
      colour: () => undefined,
      // A way without a mask keeps its stripe, so that the positions of the others do not change.
      bands: (index) => {
        const markByWay = new Map(marks(index).map(({ way, mark }) => [way, mark]))
        const isTrained = [...markByWay.values()].some((mark) => mark === 'trained' || mark === 'partly')
        return ways.map(({ name }) => {
          const mark = markByWay.get(name)
          return isTrained && mark ? MARKS[mark].colour : undefined
        })
      },
      title: (_segment, index) => {
        const message = parts[index]?.message
        return message === undefined ? 'template' : `${message + 1} · ${sequence.roles[message] ?? ''}`
      },
      mask: (_segment, index) => (differing[index] === 0 ? 'all agree' : `${countText(differing[index] ?? 0)} differ`),
      fact: ({ index }) =>
        [
          ...marks(index).map(({ way, mark }) => `${MASK_METHODS[way].short} ${MARKS[mark].text}`),
          origin(index)?.line !== undefined && `template line ${origin(index)?.line}`,
        ]
          .filter(Boolean)
          .join(', '),
    },
  }
}

interface Part {
  readonly start: number
  readonly end: number
  readonly message: number | undefined
}

/** Splits the tokens into runs of the same message; tokens outside all messages form their own parts. */
function messageParts(length: number, origins: readonly TokenOrigin[]): readonly Part[] {
  const parts: { start: number; end: number; message: number | undefined }[] = []
  const add = (start: number, end: number, message: number | undefined): void => {
    const last = parts.at(-1)
    if (start === end) return
    if (last && last.message === message) last.end = end
    else parts.push({ start, end, message })
  }
  let at = 0
  for (const { start, end, message } of origins) {
    add(at, start, undefined)
    add(start, end, message)
    at = end
  }
  add(at, length, undefined)
  return parts
}

/** Returns the range that contains a token; the ranges must be in order. */
function rangeAt<T extends { readonly start: number; readonly end: number }>(
  ranges: readonly T[],
  index: number,
): T | undefined {
  const place = countWhile(ranges.length, (at) => elementAt(ranges, at).end <= index)
  const found = ranges[place]
  return found && found.start <= index ? found : undefined
}
