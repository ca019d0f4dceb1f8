import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { ServerEntry } from '#lib/api/server-status.ts'
import { anyText } from '#testing/strings.ts'
import { readSettings, type Settings, settingsText } from './settings-file.ts'
import { FIRST_CHOICES, importPlan, mergePresets, mergeServers, setupAfterImport } from './settings-import.ts'
import { DEFAULT_SETUP, type Setup } from './setup.ts'

const letters = fc.constantFrom(...'aZ09 ._-éß四')
const name = fc
  .tuple(
    fc.constantFrom('a', 'Z', '8', 'é', '四'),
    fc.string({ unit: letters, maxLength: 20 }),
    fc.constantFrom('b', '_'),
  )
  .map((parts) => parts.join(''))
const text = anyText({ maxLength: 20 })
/** Generates values of the same shape. */
const like = (value: unknown): fc.Arbitrary<unknown> => {
  if (value === DEFAULT_SETUP.endpoint) return fc.constantFrom('generate', 'chat')
  if (value === DEFAULT_SETUP.reward.kind) return fc.constantFrom('none', 'exact', 'pattern', 'number')
  if (typeof value === 'string') return text
  if (typeof value === 'boolean') return fc.boolean()
  if (Array.isArray(value)) return fc.subarray(value)
  return fc.record(Object.fromEntries(Object.entries(value as object).map(([key, inner]) => [key, like(inner)])))
}
const setup = like(DEFAULT_SETUP) as fc.Arbitrary<Setup>
const server = fc.record({
  name,
  baseUrl: fc.webUrl().filter((url) => !/[@?#]/.test(url)),
  needsKey: fc.boolean(),
})
const preset = fc.record({ name, sampling: setup.map(({ sampling }) => sampling) })
const settings: fc.Arbitrary<Settings> = fc.record(
  {
    servers: fc.uniqueArray(server, { selector: (each) => each.name, maxLength: 4 }),
    setup,
    presets: fc.uniqueArray(preset, { selector: (each) => each.name, minLength: 1, maxLength: 3 }),
  },
  { requiredKeys: ['servers'] },
)

const why = (value: unknown): string => {
  const read = readSettings(typeof value === 'string' ? value : JSON.stringify(value))
  return read.ok ? 'read' : read.why
}

describe('a settings file', () => {
  test('gives any settings back unchanged', () => {
    fc.assert(
      fc.property(settings, (written) => {
        expect(readSettings(settingsText(written))).toEqual({ ok: true, settings: written, ignored: [] })
      }),
    )
  })

  test('contains no key, even if the settings have one in any field', () => {
    const key = fc.string({ unit: fc.constantFrom(...'KEY#%+/=~'), minLength: 12, maxLength: 60 })
    fc.assert(
      fc.property(settings, key, (written, apiKey) => {
        const leaky = {
          ...written,
          apiKey,
          servers: written.servers.map((each) => ({ ...each, apiKey, hasKey: true, key: apiKey })),
          ...(written.setup && {
            setup: { ...written.setup, apiKey, sampling: { ...written.setup.sampling, apiKey } },
          }),
        }
        expect(settingsText(leaky)).toBe(settingsText(written))
        expect(settingsText(leaky)).not.toContain(apiKey)
      }),
    )
  })

  test('is JSON with its format and the servers', () => {
    expect(settingsText({ servers: [{ name: 'gpu', baseUrl: 'http://10.0.0.1:30000', needsKey: true }] })).toBe(
      '{"format":"rollscope.settings/1","servers":[{"name":"gpu","baseUrl":"http://10.0.0.1:30000","needsKey":true}]}\n',
    )
  })

  test('of an earlier version gets defaults for missing fields of its setup', () => {
    const read = readSettings('{"format": "rollscope.settings/1", "servers": [], "setup": {"system": "Be short."}}')
    expect(read.ok && read.settings.setup).toEqual({ ...DEFAULT_SETUP, system: 'Be short.' })
  })

  test('may omit needsKey of a server that needs no key', () => {
    const servers = [{ name: 'a', baseUrl: 'http://a' }]
    expect(readSettings(JSON.stringify({ format: 'rollscope.settings/1', servers }))).toMatchObject({
      ok: true,
      settings: { servers: [{ needsKey: false }] },
    })
  })

  test('is read without unknown fields, and their paths are reported', () => {
    const read = readSettings(
      JSON.stringify({
        format: 'rollscope.settings/1',
        theme: 'dark',
        servers: [{ name: 'a', baseUrl: 'http://a', needsKey: false, apiKey: 'sk-1' }],
        setup: { sampling: { top_q: '1' }, __proto__: null },
      }),
    )
    expect(read).toMatchObject({ ok: true, ignored: ['theme', 'servers[0].apiKey', 'setup.sampling.top_q'] })
    expect(JSON.stringify(read)).not.toContain('sk-1')
  })

  test.each<[unknown, string]>([
    ['{"format": ', 'it is not JSON: '],
    ['', 'it is not JSON: '],
    [[], 'format: expected "rollscope.settings/1", found nothing'],
    [null, 'format: expected "rollscope.settings/1", found nothing'],
    [{ format: 'rollscope.trajectory/1' }, 'format: expected "rollscope.settings/1", found "rollscope.trajectory/1"'],
    [{ format: 'rollscope.settings/2', servers: 7 }, 'format: version 2 was written by a newer Rollscope'],
    [{ format: 'rollscope.settings/1' }, 'servers: expected an array, found nothing'],
    [
      { format: 'rollscope.settings/1', servers: [{ name: 'a' }] },
      'servers[0].baseUrl: expected a string, found nothing',
    ],
    [
      { format: 'rollscope.settings/1', servers: [{ name: '../a', baseUrl: 'http://a', needsKey: false }] },
      'servers[0].name: expected a name of at most 60 letters',
    ],
    [
      { format: 'rollscope.settings/1', servers: [{ name: 'a', baseUrl: 'http://me:sk-1@a', needsKey: false }] },
      'servers[0].baseUrl: expected an address like http://127.0.0.1:30000',
    ],
    [
      {
        format: 'rollscope.settings/1',
        servers: [
          { name: 'Büro', baseUrl: 'http://a', needsKey: false },
          { name: 'Bu\u0308ro', baseUrl: 'http://b', needsKey: false },
        ],
      },
      'servers[1].name: "Büro" is there twice',
    ],
    [
      { format: 'rollscope.settings/1', servers: [], setup: { limits: { maxTokens: 4096 } } },
      'setup.limits.maxTokens: expected a string, found 4096',
    ],
  ])('%j is refused: %s', (value, text) => {
    expect(why(value)).toContain(text)
  })

  test.each([
    ['an unknown field', (deep: string) => `{"format":"rollscope.settings/1","servers":[],"x":${deep}}`],
    ['the format', (deep: string) => `{"format":${deep}}`],
    [
      'the schema of a mock tool',
      (deep: string) =>
        `{"format":"rollscope.settings/1","servers":[],"setup":{"mockTools":[{"name":"a","description":"","inputSchema":{"default":${deep}},"mock":{"reply":{"kind":"canned","text":""}}}]}}`,
    ],
  ])('is refused if %s is nested too deeply', (_, file) => {
    for (const depth of [101, 2_000, 100_000])
      expect(why(file(`${'['.repeat(depth)}${']'.repeat(depth)}`))).toBe('it is nested deeper than 100 levels')
    expect(why(file('[[[]]]'))).not.toContain('nested')
  })

  test('is read or refused for any text, without an exception', () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.json(),
          fc.json().map((json) => `{"format":"rollscope.settings/1","servers":${json}}`),
        ),
        (any) => {
          expect(typeof readSettings(any).ok).toBe('boolean')
        },
      ),
    )
  })
})

describe('an import of settings', () => {
  const gpu: ServerEntry = { name: 'gpu', baseUrl: 'http://10.0.0.1:30000', source: 'saved', hasKey: true }
  const builtIn: ServerEntry = {
    name: 'built-in',
    baseUrl: 'http://127.0.0.1:3000/sglang',
    source: 'built-in',
    hasKey: false,
  }
  const here = { servers: [builtIn, gpu], setup: DEFAULT_SETUP, presets: [] }
  const planOf = (baseUrl: string, needsKey: boolean, given = 'gpu') =>
    importPlan({ servers: [{ name: given, baseUrl, needsKey }] }, here).servers[0]

  test.each([
    ['another name', planOf('http://a', true, 'a'), { kind: 'added', isKeyMissing: true }],
    ['the same name and address', planOf(gpu.baseUrl, true), { kind: 'same', isKeyMissing: false }],
    ['another path', planOf(`${gpu.baseUrl}/v2`, true), { kind: 'conflict', dropsKey: false, isKeyMissing: false }],
    ['another origin', planOf('http://10.0.0.2:30000', true), { kind: 'conflict', dropsKey: true, isKeyMissing: true }],
    [
      'the name of a server that cannot change',
      planOf('http://a', false, 'built-in'),
      { kind: 'fixed', here: builtIn },
    ],
  ])('plans a server with %s', (_, change, expected) => {
    expect(change).toMatchObject(expected)
  })

  test('lists the changes of the setup field by field', () => {
    const file: Settings = {
      servers: [],
      setup: { ...DEFAULT_SETUP, tools: [], sampling: { ...DEFAULT_SETUP.sampling, top_p: '0.9' } },
    }
    expect(importPlan(file, here).setup).toEqual({
      value: file.setup,
      changes: [
        { field: 'tools', from: '["calculator"]', to: '[]' },
        { field: 'sampling.top_p', from: '"1"', to: '"0.9"' },
      ],
    })
    expect(importPlan({ servers: [], setup: DEFAULT_SETUP }, here).setup).toBeUndefined()
    expect(importPlan({ servers: [] }, here).setup).toBeUndefined()
  })

  test('does not choose a server that is neither here nor in the file', () => {
    const chosen = (chosenServer: string) =>
      importPlan(
        {
          servers: [{ name: 'new', baseUrl: 'http://a', needsKey: false }],
          setup: { ...DEFAULT_SETUP, stream: false, server: chosenServer },
        },
        here,
      )
    expect(chosen('gone')).toMatchObject({ unknownServer: 'gone', setup: { value: { server: '' } } })
    for (const known of ['gpu', 'new', ''])
      expect(chosen(known)).toMatchObject({ unknownServer: undefined, setup: { value: { server: known } } })
  })

  describe('takes what was chosen', () => {
    const setupOn = (chosenServer: string): Setup => ({ ...DEFAULT_SETUP, stream: false, server: chosenServer })
    const planWith = (chosenServer: string) =>
      importPlan(
        {
          servers: [
            { name: 'new', baseUrl: 'http://a', needsKey: false },
            { name: 'gpu', baseUrl: 'http://b', needsKey: false },
            { name: 'built-in', baseUrl: 'http://c', needsKey: false },
          ],
          setup: setupOn(chosenServer),
        },
        here,
      )
    const none = new Set<string>()

    test.each([
      [{}, ['new']],
      [{ leftOut: new Set(['new', 'gpu']) }, []],
      [{ replaced: new Set(['gpu', 'built-in']) }, ['new', 'gpu']],
    ])('of the servers, with %j', (choices, names) => {
      const taken = mergeServers(planWith(''), { ...FIRST_CHOICES, ...choices })
      expect(taken.map((change) => change.server.name)).toEqual(names)
    })

    test.each([
      ['a server that was saved', 'new', {}, none, 'new'],
      ['a server that was refused', 'new', {}, new Set(['new']), ''],
      ['a server whose other address was refused', 'gpu', {}, new Set(['gpu']), ''],
      ['a server that is left out', 'new', { leftOut: new Set(['new']) }, none, ''],
      ['a server, when others are refused or left out', 'gpu', { leftOut: new Set(['new']) }, new Set(['x']), 'gpu'],
      ['a server that is here', 'gpu', { leftOut: new Set(['gpu']) }, none, 'gpu'],
    ])('of a setup with %s', (_, chosenServer, choices, refused, expected) => {
      expect(setupAfterImport(planWith(chosenServer), { ...FIRST_CHOICES, ...choices }, refused)).toEqual(
        setupOn(expected),
      )
    })

    test('without a setup if there is none or it is not chosen', () => {
      expect(setupAfterImport(planWith('new'), { ...FIRST_CHOICES, takesSetup: false }, none)).toBeUndefined()
      expect(setupAfterImport(importPlan({ servers: [] }, here), FIRST_CHOICES, none)).toBeUndefined()
    })
  })

  test('changes nothing if the settings were exported here', () => {
    fc.assert(
      fc.property(settings, ({ servers, setup: kept = DEFAULT_SETUP }) => {
        const entries = servers.map(
          ({ name: own, baseUrl, needsKey }): ServerEntry => ({
            name: own,
            baseUrl,
            source: 'saved',
            hasKey: needsKey,
          }),
        )
        const read = readSettings(settingsText({ servers, setup: kept }))
        const plan = read.ok && importPlan(read.settings, { servers: entries, setup: kept, presets: [] })
        expect(plan ? plan.servers.map(({ kind }) => kind) : []).toEqual(servers.map(() => 'same'))
      }),
    )
  })
})

describe('presets in a settings file', () => {
  const named = (name: string, temperature: string) => ({
    name,
    sampling: { ...DEFAULT_SETUP.sampling, temperature },
  })
  const here = { servers: [], setup: DEFAULT_SETUP, presets: [named('mine', '1'), named('cold', '0')] }
  const file = { servers: [], presets: [named('mine', '1'), named('cold', '0.1'), named('new', '2')] }

  test('are listed if they are new or replace a preset', () => {
    expect(importPlan(file, here).presets).toEqual([
      { kind: 'replaced', preset: named('cold', '0.1') },
      { kind: 'added', preset: named('new', '2') },
    ])
  })

  test('are imported all or not at all', () => {
    const plan = importPlan(file, here)
    expect(mergePresets(plan, FIRST_CHOICES, here.presets)).toEqual([
      named('mine', '1'),
      named('cold', '0.1'),
      named('new', '2'),
    ])
    expect(mergePresets(plan, { ...FIRST_CHOICES, takesPresets: false }, here.presets)).toEqual(here.presets)
  })

  test('must have different names', () => {
    expect(why({ format: 'rollscope.settings/1', servers: [], presets: [named('a', '1'), named('a', '2')] })).toContain(
      'presets: expected presets with different names',
    )
  })
})
