/** Converts a rendered conversation for the token view: a segment per message, and for the tokens between messages. */

import type { TokenReading } from '#components/token-view/card/token-reading.ts'
import { tint } from '#components/token-view/colour/palette.ts'
import { countText } from '#components/token-view/numbers.ts'
import { messageRuns, originOf, type RenderPreview } from '#lib/templates/preview/render-preview.ts'
import type { LiveTrajectory } from '#lib/trajectory/events/events.ts'
import { FORMAT, type PromptSegment } from '#lib/trajectory/format/trajectory.ts'
import { isTrained, type Token } from '#lib/trajectory/tokens/tokens.ts'

/** What the background colour of a token can show. */
export const PREVIEW_COLOURS = ['message', 'line', 'mask', 'none'] as const
/** Name of a colour mode of the preview. */
export type PreviewColour = (typeof PREVIEW_COLOURS)[number]

/** A render as a trajectory, with facts about its segments and lines. */
export interface PreviewTokens {
  readonly renderPreview: RenderPreview
  readonly trajectory: LiveTrajectory
  /** Title of each segment. */
  readonly titles: readonly string[]
  /** Number of trained tokens of each segment; undefined if the mask is unknown. */
  readonly trained: readonly (number | undefined)[]
  /** Rank of each template line by its first token, so that neighbouring lines get different colours. */
  readonly lineOrder: ReadonlyMap<number, number>
}

/** Returns the render for the token view. */
export function previewTokens(renderPreview: RenderPreview, tokenizerName: string): PreviewTokens {
  const runs = messageRuns(renderPreview)
  const { mask } = renderPreview
  const masks = runs.map(({ start, end }) =>
    mask.kind === 'known' ? Array.from(mask.trained.subarray(start, end), (bit) => (bit === 1 ? 1 : 0)) : undefined,
  )
  return {
    renderPreview,
    trajectory: {
      format: FORMAT,
      id: 'preview',
      createdAt: '',
      model: { tokenizer: { name: tokenizerName, specialIds: renderPreview.specialIds }, tools: [] },
      vocab: renderPreview.vocab,
      segments: runs.map(({ start, end }, index): PromptSegment => {
        const bits = masks[index]
        return {
          kind: 'prompt',
          ids: Array.from(renderPreview.ids.subarray(start, end)),
          messages: [],
          ...(bits?.includes(1) && { mask: bits }),
        }
      }),
      outcome: { kind: 'ended', reason: 'unknown' },
      provenance: { kind: 'recorded' },
    },
    titles: runs.map(({ message }) =>
      message === undefined ? 'template' : `${message + 1} · ${renderPreview.roles[message] ?? ''}`,
    ),
    trained: masks.map((bits) => bits?.reduce<number>((sum, bit) => sum + bit, 0)),
    lineOrder: new Map([...new Set(renderPreview.origins.lines)].map((line, order) => [line, order])),
  }
}

/** Returns how the token view reads the render. `found` returns whether a token was written by the cursor's line. */
export function previewReading(
  { renderPreview, titles, trained, lineOrder }: PreviewTokens,
  colour: PreviewColour,
  found: (index: number) => boolean,
): TokenReading {
  return {
    colour: (index, segment, offset) => {
      if (found(index)) return 'var(--tint-found)'
      if (colour === 'none') return undefined
      if (colour === 'mask') return isTrained(segment, offset) ? 'var(--mask-on)' : undefined
      const origin = originOf(renderPreview, index)
      if (!origin) return undefined
      if (colour === 'line') return tint(lineOrder.get(origin.line) ?? 0)
      return origin.message === undefined ? undefined : tint(origin.message)
    },
    title: (_segment, index) => titles[index] ?? '',
    mask: (_segment, index) => {
      const count = trained[index]
      return count === undefined ? '' : count === 0 ? 'mask 0' : `${countText(count)} trained`
    },
    fact: (token) => tokenFacts(renderPreview, token).join(', '),
  }
}

/** Returns the origin of a token and its mask as texts. */
export function tokenFacts(renderPreview: RenderPreview, { index, trained }: Token): readonly string[] {
  const origin = originOf(renderPreview, index)
  return [
    ...(origin
      ? [
          `template line ${origin.line}`,
          origin.message === undefined
            ? 'no message'
            : `message ${origin.message + 1} ${renderPreview.roles[origin.message] ?? ''}`.trim(),
          origin.source === 'value' ? 'a value' : 'the template’s own text',
        ]
      : []),
    renderPreview.mask.kind === 'unknown' ? 'mask unknown' : trained ? 'trained' : 'not trained',
  ]
}
