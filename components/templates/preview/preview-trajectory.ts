/** A rendered conversation as the token view takes it: one segment for each message, and for what stands between them. */

import type { TokenReading } from '#components/token-view/card/token-reading.ts'
import { tint } from '#components/token-view/colour/palette.ts'
import { countText } from '#components/token-view/numbers.ts'
import { messageRuns, originOf, type Picture } from '#lib/templates/preview/picture.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import { FORMAT, type PromptSegment } from '#lib/trajectory/format/trajectory.ts'
import { isTrained, type Token } from '#lib/trajectory/tokens/tokens.ts'

/** What the background of a token tells. */
export const PREVIEW_COLOURS = ['message', 'line', 'mask', 'none'] as const
export type PreviewColour = (typeof PREVIEW_COLOURS)[number]

export interface PreviewTokens {
  readonly picture: Picture
  readonly trajectory: LiveTrajectory
  /** Of each segment: what it is called. */
  readonly titles: readonly string[]
  /** Of each segment: how many tokens are trained; undefined where the mask is not known. */
  readonly trained: readonly (number | undefined)[]
  /** In the order in which they first write something, so that neighbours differ in colour. */
  readonly lineOrder: ReadonlyMap<number, number>
}

export function previewTokens(picture: Picture, tokenizerName: string): PreviewTokens {
  const runs = messageRuns(picture)
  const { mask } = picture
  const masks = runs.map(({ start, end }) =>
    mask.kind === 'known' ? Array.from(mask.trained.subarray(start, end), (bit) => (bit === 1 ? 1 : 0)) : undefined,
  )
  return {
    picture,
    trajectory: {
      format: FORMAT,
      id: 'preview',
      createdAt: '',
      model: { tokenizer: { name: tokenizerName, specialIds: picture.specialIds }, tools: [] },
      vocab: picture.vocab,
      segments: runs.map(({ start, end }, index): PromptSegment => {
        const bits = masks[index]
        return {
          kind: 'prompt',
          ids: Array.from(picture.ids.subarray(start, end)),
          messages: [],
          ...(bits?.includes(1) && { mask: bits }),
        }
      }),
      outcome: { kind: 'ended', reason: 'unknown' },
      provenance: { kind: 'recorded' },
    },
    titles: runs.map(({ message }) =>
      message === undefined ? 'template' : `${message + 1} · ${picture.roles[message] ?? ''}`,
    ),
    trained: masks.map((bits) => bits?.reduce<number>((sum, bit) => sum + bit, 0)),
    lineOrder: new Map([...new Set(picture.origins.lines)].map((line, order) => [line, order])),
  }
}

/** `found`: whether a token stands on the line that the cursor is on. */
export function previewReading(
  { picture, titles, trained, lineOrder }: PreviewTokens,
  colour: PreviewColour,
  found: (index: number) => boolean,
): TokenReading {
  return {
    colour: (index, segment, offset) => {
      if (found(index)) return 'var(--tint-found)'
      if (colour === 'none') return undefined
      if (colour === 'mask') return isTrained(segment, offset) ? 'var(--mask-on)' : undefined
      const origin = originOf(picture, index)
      if (!origin) return undefined
      if (colour === 'line') return tint(lineOrder.get(origin.line) ?? 0)
      return origin.message === undefined ? undefined : tint(origin.message)
    },
    title: (_segment, index) => titles[index] ?? '',
    mask: (_segment, index) => {
      const count = trained[index]
      return count === undefined ? '' : count === 0 ? 'mask 0' : `${countText(count)} trained`
    },
    fact: (token) => tokenFacts(picture, token).join(', '),
  }
}

/** Where a token comes from, in words. */
export function tokenFacts(picture: Picture, { index, trained }: Token): readonly string[] {
  const origin = originOf(picture, index)
  return [
    ...(origin
      ? [
          `template line ${origin.line}`,
          origin.message === undefined
            ? 'no message'
            : `message ${origin.message + 1} ${picture.roles[origin.message] ?? ''}`.trim(),
          origin.source === 'value' ? 'a value' : 'the template’s own text',
        ]
      : []),
    picture.mask.kind === 'unknown' ? 'mask unknown' : trained ? 'trained' : 'not trained',
  ]
}
