/** Tests that texts in the offline page cannot run, that the page sends nothing, and that it contains only what was chosen. */

import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ResponseSegment, Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { anyText } from '#testing/strings.ts'
import { charactersOf, type OfflineViewState, offlineDocument } from './document.ts'
import { fontFacesIn, isNeeded, withFonts } from './fonts.ts'
import { offlineHtml } from './page.ts'
import { packDocument, unpackDocument } from './payload.ts'

const view: OfflineViewState = {
  colour: 'logprob',
  limit: undefined,
  selection: { anchor: 3, focus: 5 },
  find: '',
  folds: { segments: [1], thinks: [] },
  marks: [],
}
const ALL = { alternatives: true, messages: true, labels: true }
const NONE = { alternatives: false, messages: false, labels: false }

const HOSTILE = [
  '</script><img src=x onerror=alert(1)>',
  '<!--<script>',
  '"><svg onload=alert(1)>',
  "'; default-src *",
  '\u2028</title>',
]
const hostile = fc.array(fc.oneof(fc.constantFrom(...HOSTILE), anyText())).map((parts) => parts.join(''))

describe('the offline page', () => {
  const html = (change: Partial<Parameters<typeof offlineHtml>[0]> = {}) =>
    offlineHtml({ title: 't', script: 'start()', style: 'a{}', payload: 'QUJD', ...change })

  test('has the same elements for any title and payload', () => {
    const tags = (text: string) => text.match(/<\/?[a-z!]/gi)?.length
    const plain = tags(html())
    fc.assert(
      fc.property(hostile, hostile, (title, payload) => {
        expect(tags(html({ title, payload }))).toBe(plain)
      }),
    )
  })

  test('does not end a script or a style at an end tag inside it', () => {
    const text = html({ script: `a='</script><!--'; b="</SCRIPT >"`, style: 'a::before{content:"</style>"}' })
    expect(text.match(/<\/script/gi)).toHaveLength(2)
    expect(text.match(/<\/style/gi)).toHaveLength(1)
    expect(text).not.toContain('<!--')
    const script = /<script>(.*)<\/script>/s.exec(text)?.[1] ?? ''
    expect(new Function(`let a, b; ${script}; return [a, b]`)()).toEqual(['</script><!--', '</SCRIPT >'])
  })

  test('has a policy that allows only its own script and style', () => {
    const text = html({ script: 'a()\r\nb()', style: 'a{}\rb{}' })
    const policy = /Security-Policy" content="([^"]*)"/.exec(text)?.[1] ?? ''
    const [style, script] = [/<style>(.*)<\/style>/s, /<script>(.*)<\/script>/s].map(
      (part) => part.exec(text)?.[1] ?? '',
    )
    const hash = (part = '') => `'sha256-${createHash('sha256').update(part).digest('base64')}'`
    expect(policy.split('; ')).toEqual([
      "default-src 'none'",
      `script-src ${hash(script)}`,
      `style-src ${hash(style)}`,
      'font-src data:',
      'img-src data:',
      "base-uri 'none'",
      "form-action 'none'",
      "require-trusted-types-for 'script'",
    ])
    expect(text).not.toContain('\r')
  })
})

describe('the offline document', () => {
  test('is unchanged after packing and unpacking', async () => {
    await fc.assert(
      fc.asyncProperty(hostile, async (text) => {
        const document = offlineDocument({ ...sample, vocab: { ...sample.vocab, '3': text } }, view, ALL)
        const payload = await packDocument(JSON.stringify(document))
        expect(payload).toMatch(/^[A-Za-z0-9+/]+=*$/)
        expect(await unpackDocument(payload)).toEqual(JSON.parse(JSON.stringify(document)))
      }),
    )
  })

  test('is compressed, so that repeated tokens need little space', async () => {
    const [prompt] = sample.segments
    if (!prompt) throw new Error('the sample has segments')
    const long = { ...sample, segments: Array.from({ length: 500 }, () => prompt) }
    const text = JSON.stringify(offlineDocument(long, view, ALL))
    expect((await packDocument(text)).length).toBeLessThan(text.length / 20)
  })

  test('is refused if its payload was changed', async () => {
    await expect(unpackDocument('QUJD')).rejects.toThrow()
    await expect(unpackDocument('§')).rejects.toThrow()
  })

  const [prompt, response] = sample.segments
  if (prompt?.kind !== 'prompt' || response?.kind !== 'response') throw new Error('the sample begins so')
  const secretive: Trajectory = {
    ...sample,
    title: 'SECRET-label',
    tags: ['SECRET-label'],
    note: 'SECRET-label',
    notes: [{ id: '1', start: 0, end: 1, text: 'SECRET-label' }],
    reward: 0.123456,
    model: {
      ...sample.model,
      template: { text: 'SECRET-never', options: {} },
      tools: [{ name: 'SECRET-never', inputSchema: {} }],
    },
    segments: [
      { ...prompt, messages: [{ role: 'user', content: 'SECRET-message' }] },
      {
        ...response,
        request: {
          ...response.request,
          server: 'SECRET-never',
          rid: 'SECRET-never',
          samplingParams: { temperature: 0.7, json_schema: 'SECRET-never' },
          authorization: 'SECRET-never',
        } as unknown as typeof response.request,
        toolCalls: response.toolCalls.map((call) => ({
          ...call,
          result: { status: 'success' as const, text: 'SECRET-message', elapsedMs: 1 },
        })),
      },
    ],
    vocab: { ...sample.vocab, '7': 'SECRET-never' },
    outcome: { kind: 'ended', reason: 'cancelled', unsent: [{ role: 'user', content: 'SECRET-message' }] },
    routedExperts: ['SECRET-never'],
    imageData: ['SECRET-message'],
    foreign: { slime: { metadata: 'SECRET-never' } },
  }
  const secrets = (parts: typeof ALL) =>
    [...new Set(JSON.stringify(offlineDocument(secretive, view, parts)).match(/SECRET-\w+/g) ?? [])].sort()

  test('contains what the page shows, and of the rest only the chosen parts', () => {
    expect(secrets(ALL)).toEqual(['SECRET-label', 'SECRET-message'])
    expect(secrets({ ...NONE, messages: true })).toEqual(['SECRET-message'])
    expect(secrets({ ...NONE, labels: true })).toEqual(['SECRET-label'])
    expect(secrets(NONE)).toEqual([])
    expect(JSON.stringify(offlineDocument(secretive, view, NONE))).not.toContain('0.123456')
  })

  test('contains the notes on tokens if the labels are chosen, and its fonts have their characters', () => {
    const notes = [{ id: '1', start: 2, end: 4, text: 'Ω here' }]
    expect(offlineDocument({ ...sample, notes }, view, ALL).trajectory.notes).toEqual(notes)
    expect(offlineDocument({ ...sample, notes }, view, NONE).trajectory).not.toHaveProperty('notes')
    expect(charactersOf({ ...sample, notes }).labels).toContain('Ω')
  })

  test('keeps the temperature and top_p of each request', () => {
    expect(offlineDocument(sample, view, NONE).trajectory.segments[1]).toMatchObject({
      request: { samplingParams: { temperature: 0.7, top_p: 0.9 }, inputLength: 3 },
    })
  })

  test('has the forced tokens and the resumptions of a response, without the settings of their requests', () => {
    const request = {
      ...response.request,
      samplingParams: { temperature: 1, json_schema: 'SECRET' },
    } as ResponseSegment['request']
    const forced = [{ start: 0, end: 1, as: 'text' as const, instead: 4 }]
    const first = { at: 1, stopped: { kind: 'cancelled' as const }, request, usage: { cachedTokens: 3 } }
    const resumed = [
      { ...first, timing: { startedAt: '2026-01-01T00:00:00.000Z', elapsedMs: 5 } },
      { at: 2, request },
    ] as ResponseSegment['resumed']
    const { segments } = offlineDocument(
      { ...sample, segments: [{ ...response, forced, resumed }] },
      view,
      NONE,
    ).trajectory
    const shown = { ...request, server: '', samplingParams: { temperature: 1 } }
    expect(segments[0]).toMatchObject({ forced, resumed: resumed?.map((one) => ({ ...one, request: shown })) })
  })

  test('contains no texts of alternatives if these are left out', () => {
    const { trajectory } = offlineDocument({ ...sample, segments: [response] }, view, NONE)
    expect(trajectory.segments[0]?.topLogprobs).toBeUndefined()
    expect(
      Object.keys(trajectory.vocab)
        .map(Number)
        .sort((a, b) => a - b),
    ).toEqual([2, 5, 6, 9, 10])
    expect(Object.keys(offlineDocument({ ...sample, segments: [response] }, view, ALL).trajectory.vocab)).toContain('3')
  })

  test('has the tokens of the trajectory with their numbers', () => {
    const { trajectory } = offlineDocument(sample, view, NONE)
    const numbers = ({ segments }: Trajectory) =>
      segments.map(({ kind, ids, logprobs, mask, columns }) => ({ kind, ids, logprobs, mask, columns }))
    expect(numbers(trajectory)).toEqual(numbers(sample))
    expect(
      trajectory.segments.map((segment) => segment.kind === 'prompt' && segment.messages.map(({ role }) => role)),
    ).toEqual([['system', 'user'], false, ['tool', 'tool'], false])
  })
})

describe('the fonts of the offline page', () => {
  const style = ['inter', 'jetbrains-mono']
    .map((family) => readFileSync(`node_modules/@fontsource-variable/${family}/wght.css`, 'utf8'))
    .join('\n')
  const faces = fontFacesIn(`${style} a{color:red}`)
  const neededOf = (trajectory: Trajectory) =>
    faces
      .filter((face) => isNeeded(face, charactersOf(trajectory)))
      .map(({ url }) => /files\/(.*)-wght-normal/.exec(url)?.[1])

  test('are read from the style sheets of both families', () => {
    expect(faces.length).toBe(13)
    expect(faces.filter(({ isMonospaced }) => isMonospaced).length).toBe(6)
    expect(faces.every(({ ranges, url }) => ranges.length > 0 && url.endsWith('.woff2'))).toBe(true)
  })

  test('are included only if a text needs them', () => {
    expect(neededOf(sample)).toEqual(['inter-latin', 'jetbrains-mono-latin'])
    expect(neededOf({ ...sample, title: 'Дом', vocab: { ...sample.vocab, '3': 'λ' } })).toEqual([
      'inter-cyrillic',
      'inter-latin',
      'jetbrains-mono-greek',
      'jetbrains-mono-latin',
    ])
    expect(isNeeded({ rule: '', url: '', isMonospaced: true, ranges: [] }, charactersOf(sample))).toBe(true)
  })

  test('are inside the style sheet, which requests no other file', () => {
    const kept = faces.filter((face) => isNeeded(face, charactersOf(sample)))
    const text = withFonts(`${style} a{color:red}`, new Map(kept.map((face) => [face, 'data:font/woff2;base64,QUJD'])))
    expect(text.match(/url\([^)]*\)/g)).toEqual(Array(2).fill('url(data:font/woff2;base64,QUJD)'))
    expect(text).toContain('a{color:red}')
  })

  test('have Unicode ranges, which are read in each of their forms', () => {
    const [face] = fontFacesIn('@font-face{font-family:X;src:url("a.woff2");unicode-range:U+26,U+4??,u+0-7F}')
    expect(face).toMatchObject({
      url: 'a.woff2',
      ranges: [
        [0x26, 0x27],
        [0x400, 0x500],
        [0, 0x80],
      ],
    })
  })
})
