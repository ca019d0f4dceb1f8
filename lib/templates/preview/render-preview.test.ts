import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { RenderedPiece, Rendering } from '#lib/templates/jinja/rendering.ts'
import type { Tokenizer } from '#lib/tokenizer/tokenizer.ts'
import { byteTokenizer } from '#testing/byte-tokenizer.ts'
import { renderPreviewOf } from './preview.ts'
import { carriedMask, messageRuns, originOf, type RenderPreview, tokensOfTemplateLine } from './render-preview.ts'

/** Texts with characters of several bytes, and texts without characters. */
const arbitraryPieces = fc.array(
  fc.record({
    text: fc.oneof(
      fc.string({ maxLength: 4 }),
      fc.string({ unit: 'grapheme', maxLength: 3 }),
      fc.constant('<|im_end|>'),
    ),
    line: fc.integer({ min: 1, max: 5 }),
    message: fc.option(fc.integer({ min: 0, max: 3 }), { nil: undefined }),
    source: fc.constantFrom('template', 'value'),
    isTrained: fc.boolean(),
  }),
  { maxLength: 12 },
)
type Piece = typeof arbitraryPieces extends fc.Arbitrary<(infer P)[]> ? P : never

function renderingOf(pieces: readonly Piece[]): Rendering {
  let text = ''
  const placed: (RenderedPiece & { isTrained: boolean })[] = []
  for (const { text: own, line, message, source, isTrained } of pieces) {
    if (own === '') continue
    placed.push({ start: text.length, end: text.length + own.length, line, message, source, isTrained })
    text += own
  }
  return {
    text,
    pieces: placed.map(({ isTrained: _, ...piece }) => piece),
    generation: placed.filter(({ isTrained }) => isTrained).map(({ start, end }) => ({ start, end })),
    hasGenerationTag: true,
  }
}

/** Returns a tokenizer with three bytes in each token, so that tokens begin and end within characters and pieces. */
function threeByteTokenizer(): Tokenizer {
  const known: Uint8Array[] = []
  return {
    ...byteTokenizer,
    addedTokens: [],
    encode: (text) => {
      const bytes = new TextEncoder().encode(text)
      return Array.from(
        { length: Math.ceil(bytes.length / 3) },
        (_, i) => known.push(bytes.slice(3 * i, 3 * i + 3)) - 1,
      )
    },
    bytes: (id) => known[id] as Uint8Array,
  }
}

const renderPreview = (rendering: Rendering): RenderPreview =>
  renderPreviewOf(rendering, { messages: [] }, { tokenizer: threeByteTokenizer() })

/** Returns the half-open range of each token in the text. */
const places = ({ ids, starts, ends }: RenderPreview) =>
  Array.from(ids, (_, index) => ({ start: starts[index] as number, end: ends[index] as number }))

describe('the preview of any rendering', () => {
  test('has the origin of the first character for every token', () => {
    fc.assert(
      fc.property(arbitraryPieces, (pieces) => {
        const rendering = renderingOf(pieces)
        const shown = renderPreview(rendering)
        for (const [index, { start }] of places(shown).entries()) {
          const piece = rendering.pieces.find((one) => one.start <= start && start < one.end)
          expect(originOf(shown, index)).toEqual({
            line: piece?.line,
            message: piece?.message,
            source: piece?.source,
          })
        }
      }),
    )
  })

  test('has as tokens of a line those that share a character with it, once each and in order', () => {
    fc.assert(
      fc.property(arbitraryPieces, fc.integer({ min: 1, max: 6 }), (pieces, line) => {
        const rendering = renderingOf(pieces)
        const shown = renderPreview(rendering)
        const written = rendering.pieces.filter((piece) => piece.line === line)
        const expected = places(shown).flatMap(({ start, end }, index) =>
          written.some((piece) => piece.start < end && start < piece.end) ? [index] : [],
        )
        const ranges = tokensOfTemplateLine(shown, line)
        expect(ranges.flatMap(({ start, end }) => Array.from({ length: end - start }, (_, i) => start + i))).toEqual(
          expected,
        )
      }),
    )
  })

  test('has runs of messages with every token once, and adjacent runs of different messages', () => {
    fc.assert(
      fc.property(arbitraryPieces, (pieces) => {
        const shown = renderPreview(renderingOf(pieces))
        const runs = messageRuns(shown)
        expect(runs.flatMap(({ start, end }) => [start, end])).toEqual(
          runs.flatMap((_, i) => [i === 0 ? 0 : (runs[i - 1]?.end ?? 0), runs[i]?.end ?? 0]),
        )
        expect(runs.at(-1)?.end ?? 0).toBe(shown.ids.length)
        expect(runs.every(({ message }, i) => i === 0 || message !== runs[i - 1]?.message)).toBe(true)
      }),
    )
  })
})

test('the preview of a rendering trains what generation blocks wrote', () => {
  const piece = { line: 1, message: undefined, source: 'template' } as const
  const shown = renderPreview(
    renderingOf([
      { ...piece, text: 'abc', isTrained: false },
      { ...piece, text: 'defgh', isTrained: true },
      { ...piece, text: 'ijkl', isTrained: false },
    ]),
  )
  expect(shown.mask).toEqual({ kind: 'known', by: 'generation', trained: Uint8Array.of(0, 1, 1, 0) })
})

test('the preview of a template without generation blocks has no mask of its own', () => {
  expect(renderPreview({ ...renderingOf([]), hasGenerationTag: false }).mask).toMatchObject({ kind: 'unknown' })
})

test('a preview is unchanged when it is sent to another thread', () => {
  const shown = renderPreview(renderingOf([{ text: 'é', line: 2, message: 1, source: 'value', isTrained: true }]))
  expect(structuredClone(shown)).toEqual(shown)
})

test('a mask is carried over where both sequences begin and end equally', () => {
  const ids = fc.array(fc.integer({ min: 0, max: 3 }), { maxLength: 8 })
  fc.assert(
    fc.property(ids, ids, ids, ids, (head, before, after, tail) => {
      const old = Uint32Array.from([...head, ...before, ...tail])
      const trained = Uint8Array.from(old, (_, index) => ((index * 7 + 1) % 3) & 1)
      const mask = carriedMask(
        { ids: old, mask: { kind: 'known', by: 'prefix', trained } },
        Uint32Array.from([...head, ...after, ...tail]),
      )
      if (mask.kind !== 'known') return expect.unreachable()
      expect(mask.trained).toHaveLength(head.length + after.length + tail.length)
      expect([...mask.trained.subarray(0, head.length)]).toEqual([...trained.subarray(0, head.length)])
    }),
  )
  const trained = Uint8Array.of(1, 0, 1)
  const known = { kind: 'known', by: 'prefix', trained } as const
  const carried = (to: readonly number[]) =>
    carriedMask({ ids: Uint32Array.of(7, 8, 9), mask: known }, Uint32Array.from(to))
  expect(carried([7, 5, 5, 9])).toEqual({ ...known, trained: Uint8Array.of(1, 0, 0, 1) })
  expect(carried([9])).toEqual({ ...known, trained: Uint8Array.of(1) })
  expect(carried([])).toEqual({ ...known, trained: new Uint8Array() })
})
