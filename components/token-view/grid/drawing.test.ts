import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { TrajectoryView } from '#lib/trajectory/tokens/trajectory-view.ts'
import { anyText } from '#testing/strings.ts'
import { spanTitle } from '../card/span-title.ts'
import { DEFAULT_GRID_OPTIONS, GRID_OPTIONS } from '../grid-options.ts'
import { countText, decimalText, durationText, percentText } from '../numbers.ts'
import { outcomeText } from '../overview/outcome-text.ts'
import { pieceView } from '../pieces/piece-view.ts'
import { boundaryLineAfter, joinRuns, rowBackground } from './row-background.ts'

describe('drawing of a token', () => {
  test.each([
    [' the', ' the', '·', true, false],
    ['a\n', 'a ', ' ↵', true, true],
    ['\n\n', '  ', '↵↵', true, true],
    ['\t', ' ', '⇥', true, false],
    ['\r\n', '  ', '⇤↵', true, true],
    ['日本', '日本', '', false, false],
    ['\u200B', '⟨U+200B⟩', '', false, false],
    ['\u202E', '⟨U+202E⟩', '', false, false],
    ['\u001b', '⟨U+001B⟩', '', false, false],
    ['\u00A0', '⟨U+00A0⟩', '', false, false],
    ['\u{E0041}', '⟨U+E0041⟩', '', false, false],
    ['', '⟨empty⟩', '', false, false],
  ])('the text %j is drawn with a visible sign for every character', (entry, text, marks, isPlain, endsLine) => {
    const view = pieceView(entry)
    expect([view.text, view.marks.trimEnd(), view.isPlain, view.endsLine]).toEqual([text, marks, isPlain, endsLine])
  })

  test('bytes that are not text are drawn as hexadecimal digits', () => {
    expect(pieceView({ hex: 'e697' }).text).toBe('⟨E6 97⟩')
  })

  test('a very long token is cut and shows the number of omitted characters', () => {
    expect(pieceView('x'.repeat(20_000)).text).toMatch(/^x{400}…⟨19,600 more⟩$/)
  })

  test('marks are never longer than the text, and no invisible character is drawn, whatever the token', () => {
    fc.assert(
      fc.property(anyText(), (entry) => {
        const { text, marks } = pieceView(entry)
        expect([...marks].length).toBeLessThanOrEqual(text.length)
        expect(text).not.toMatch(/[\p{Cc}\p{Cf}]/u)
      }),
    )
  })
})

describe('background of a row', () => {
  test('adjacent runs of one colour are joined', () => {
    const part = (from: number, to: number, colour: string) => ({ from, to, colour })
    expect(joinRuns([part(0, 1, 'a'), part(1, 2, 'a'), part(2, 3, 'b'), part(4, 5, 'b')])).toEqual([
      part(0, 2, 'a'),
      part(2, 3, 'b'),
      part(4, 5, 'b'),
    ])
  })

  test('gradients have hard stops and one layer for each meaning', () => {
    const style = rowBackground(
      {
        heat: [{ from: 8, to: 16, colour: 'red' }],
        trained: [{ from: 0, to: 16, colour: 'green' }],
        special: [],
      },
      24,
    )
    expect(style.backgroundImage).toBe(
      'linear-gradient(90deg, green 0px 16px, transparent 16px), linear-gradient(90deg, transparent 0px 8px, red 8px 16px, transparent 16px)',
    )
    expect(style.backgroundSize.split(', ')).toHaveLength(2)
    const forced = [{ from: 8, to: 26, colour: 'amber' }]
    expect(rowBackground({ heat: [], trained: [], forced, special: [] }, 24)).toEqual({
      backgroundImage:
        'linear-gradient(90deg, transparent 0px 8px, amber 8px 12px, transparent 12px 15px, amber 15px 19px, transparent 19px 22px, amber 22px 26px, transparent 26px)',
      backgroundSize: '100% 2px',
      backgroundPosition: '0 22px',
    })
    const short = [{ from: 0, to: 3, colour: 'amber' }]
    expect(rowBackground({ heat: [], trained: [], forced: short, special: [] }, 24).backgroundImage).toBe(
      'linear-gradient(90deg, amber 0px 3px, transparent 3px)',
    )
    expect(rowBackground({ heat: [], trained: [], special: [] }, 24).backgroundImage).toBe('')
    const ends = rowBackground({ heat: [], trained: [], special: [], boundaries: [8, 24].map(boundaryLineAfter) }, 24)
    expect(ends).toEqual({
      backgroundImage:
        'linear-gradient(90deg, transparent 0px 7px, var(--token-boundary) 7px 8px, transparent 8px 23px, var(--token-boundary) 23px 24px, transparent 24px)',
      backgroundSize: '100% 19px',
      backgroundPosition: '0 2px',
    })
    const band = [{ from: 0, to: 8, colour: 'teal' }]
    expect(rowBackground({ heat: [], trained: [], special: [], bands: [band, [], band, band] }, 24)).toMatchObject({
      backgroundSize: '100% 2px, 100% 2px, 100% 2px',
      backgroundPosition: '0 1px, 0 19px, 0 22px',
    })
    expect(
      rowBackground({ heat: [], trained: [], special: [{ from: 0, to: 8, colour: 'grey' }] }, 24).backgroundImage.split(
        'linear-gradient',
      ),
    ).toHaveLength(4)
  })
})

test('view options are read from the storage of the browser, also from an earlier version', () => {
  expect(GRID_OPTIONS.read({ fontSize: 16, showsWhitespace: false, showsBoundaries: true })).toEqual({
    fontSize: 16,
    showsWhitespace: false,
    showsBoundaries: true,
  })
  expect(GRID_OPTIONS.read({ fontSize: 12, showsWhitespace: false })).toEqual({
    fontSize: 12,
    showsWhitespace: false,
    showsBoundaries: false,
  })
  expect(GRID_OPTIONS.read({ fontSize: 1, showsBoundaries: 'yes' })).toEqual(DEFAULT_GRID_OPTIONS)
  expect([GRID_OPTIONS.read(null), GRID_OPTIONS.read('x')]).toEqual([undefined, undefined])
})

test('numbers are written with grouped digits, a true minus sign and units', () => {
  expect([
    countText(1234567),
    decimalText(-0.1234),
    decimalText(null),
    decimalText(-0.00001234),
    decimalText(0, 4),
  ]).toEqual(['1,234,567', '−0.123', '—', '−1.2e−5', '0.0000'])
  expect([
    percentText(0),
    percentText(0.00001),
    percentText(0.5),
    percentText(0.99999),
    percentText(1),
    percentText(0.123),
  ]).toEqual(['0 %', '< 0.1 %', '50 %', '> 99.9 %', '100 %', '12.3 %'])
  expect([durationText(1.23), durationText(999), durationText(1500), durationText(61_000)]).toEqual([
    '1.2 ms',
    '999 ms',
    '1.5 s',
    '1 min 1 s',
  ])
})

test('outcome texts say what happened and what to do next', () => {
  expect(outcomeText({ outcome: { kind: 'running' }, segments: [] })).toBeUndefined()
  expect(outcomeText({ outcome: { kind: 'ended', reason: 'end_turn' }, segments: [] })).toBeUndefined()
  expect(outcomeText({ outcome: { kind: 'ended', reason: 'length' }, segments: [] })).toMatchObject({
    tone: 'note',
    hint: 'The response was kept unchanged. Raise max_new_tokens, or send a next turn: the open turn is closed first.',
    facts: 'The response was kept unchanged.',
  })
  const response = { kind: 'response', ids: [1], finish: { kind: 'length' } }
  const cut = (max_new_tokens: number) =>
    outcomeText({
      outcome: { kind: 'ended', reason: 'length' },
      segments: [
        { ...response, request: { samplingParams: { max_new_tokens } } },
      ] as unknown as TrajectoryView['segments'],
    })?.title
  expect([cut(1), cut(2)]).toEqual([
    'The response reached max_new_tokens.',
    'The server ended the response before max_new_tokens.',
  ])
  expect(outcomeText({ outcome: { kind: 'ended', reason: 'max_tokens' }, segments: [] })).toMatchObject({
    facts: undefined,
  })
  expect(
    outcomeText({ outcome: { kind: 'failed', code: 'X', message: 'it broke', hint: 'mend it' }, segments: [] }),
  ).toEqual({
    tone: 'bad',
    title: 'It broke (X)',
    hint: 'mend it',
    facts: 'mend it',
  })
  expect(
    outcomeText({ outcome: { kind: 'failed', code: 'X', message: 'it was refused (400)' }, segments: [] })?.title,
  ).toBe('It was refused (400, X)')
})

test('the title of a call is one short line, however long its id and the name of its tool are', () => {
  const span = { start: 0, end: 1 }
  const call = {
    kind: 'parsed',
    id: 'chatcmpl-tool-0123456789abcdef',
    name: 'search_internal_documentation_index_by_semantic_similarity',
    input: {},
    arguments: [],
    raw: '',
    span,
    text: span,
    result: { status: 'success', content: [] },
  }
  const title = spanTitle({ kind: 'tool-call', call, span } as never, { kind: 'response' } as never)
  expect(title).toBe('chatcmpl-to… · search_internal_documentati… ✓')
})
