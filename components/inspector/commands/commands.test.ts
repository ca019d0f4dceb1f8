import fc from 'fast-check'
import { describe, expect, test, vi } from 'vitest'
import { commandOfKey, executeCommand } from '#components/commands/command.ts'
import { searchCommands } from '#components/commands/palette-search.ts'
import { colouringOf } from '#components/token-view/colour/colouring.ts'
import { DEFAULT_GRID_OPTIONS, NO_FOLDS } from '#components/token-view/grid-options.ts'
import { type Selection, single } from '#components/token-view/selection.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import type { Inspection } from '../inspection.ts'
import { markAfter } from '../minimap/next-mark.ts'
import type { PanelCommands } from '../selection/panel-commands.ts'
import type { CommandScreen, InspectorCommand } from './command.ts'
import { COMMANDS } from './commands.ts'
import { furtherCommands } from './further-commands.ts'
import { RUN_COMMANDS } from './run-commands.ts'

/** Returns a screen that records the calls of its functions. */
function screenWith({
  selection,
  drift = [],
  offers = {},
  colour = 'logprob',
}: {
  selection?: Selection
  drift?: readonly number[]
  offers?: PanelCommands
  colour?: string
} = {}) {
  const calls: unknown[] = []
  const tell =
    (name: string) =>
    (...what: unknown[]) =>
      calls.push([name, ...what])
  const screen = {
    inspection: {
      trajectory: sample,
      colouring: colouringOf(sample, colour),
      view: { selection, colour },
      marks: [{ kind: 'drift', ranges: Int32Array.from(drift) }],
      folds: NO_FOLDS,
      grid: { current: null },
      onSelect: tell('select'),
      onView: tell('view'),
      onFolds: tell('folds'),
      say: tell('say'),
    } as unknown as Inspection,
    offers,
    options: DEFAULT_GRID_OPTIONS,
    onOptions: tell('options'),
    page: {
      openFile: tell('open'),
      exportFile: undefined,
      showKeys: tell('keys'),
      showPalette: tell('palette'),
      showTools: tell('tools'),
      copyImage: tell('image'),
      showLegend: tell('legend'),
      showHelp: tell('help'),
      saveOffline: tell('offline'),
      link: () => 'http://here/',
    },
  } satisfies CommandScreen
  return { screen, calls }
}

const press = (key: string, using: Parameters<typeof screenWith>[0]) => {
  const { screen, calls } = screenWith(using)
  executeCommand(commandOfKey(COMMANDS, key) as InspectorCommand, screen, screen.inspection.say)
  return calls
}

describe("table of the inspector's commands", () => {
  test('no two commands share a key or a name', () => {
    const keys = COMMANDS.flatMap(({ keys = [] }) => keys)
    expect(new Set(keys).size).toBe(keys.length)
    expect(new Set(COMMANDS.map(({ name }) => name)).size).toBe(COMMANDS.length)
  })

  test('contains every key that the inspector promises', () => {
    const keys = new Set(COMMANDS.flatMap(({ keys = [] }) => keys))
    for (const key of [
      ...'jkJKgGnp/amhzZfewbLc?[]+-12345rRBFxX',
      'Escape',
      'Mod+k',
      'Mod+a',
      'Mod+c',
      'Home',
      'End',
      'PageUp',
      'PageDown',
    ])
      expect(keys, key).toContain(key)
  })

  test('keys that other parts handle are left to them', () => {
    expect(['Mod+c', 'Mod+k', '?'].map((key) => commandOfKey(COMMANDS, key))).toEqual([undefined, undefined, undefined])
  })
})

describe('keys of the inspector', () => {
  test.each<[string, Parameters<typeof screenWith>[0], unknown]>([
    ['m', {}, ['view', { colour: 'mask', limit: undefined }]],
    ['m', { colour: 'mask' }, ['view', { colour: 'none', limit: undefined }]],
    ['h', { colour: 'mask' }, ['view', { colour: 'logprob', limit: undefined }]],
    ['f', {}, ['say', 'Select a single token of a stored trajectory first.']],
    ['2', {}, ['say', 'Select a single sampled token of a stored trajectory first.']],
    ['e', {}, ['say', 'There is nothing to export yet.']],
    ['n', { colour: 'mask' }, ['say', 'There are no hits.']],
    ['p', { colour: 'mask' }, ['say', 'There are no hits.']],
    ['a', { selection: single(4) }, ['say', 'Select tokens of a stored trajectory first.']],
    ['t', {}, ['say', 'Store the trajectory first.']],
    ['d', {}, ['say', 'Show a value estimate with a drop, or colour the tokens by importance ratio.']],
    ['z', {}, ['say', 'No token is selected.']],
    ['z', { selection: single(4) }, ['folds', { segments: new Set(), thinks: new Set([3]) }]],
    ['w', {}, ['options', { ...DEFAULT_GRID_OPTIONS, showsWhitespace: false }]],
    ['b', {}, ['options', { ...DEFAULT_GRID_OPTIONS, showsBoundaries: true }]],
    ['L', {}, ['legend']],
    ['+', {}, ['options', { ...DEFAULT_GRID_OPTIONS, fontSize: 14 }]],
    ['-', {}, ['options', { ...DEFAULT_GRID_OPTIONS, fontSize: 12 }]],
    [']', {}, ['say', 'Drift is unknown here.']],
    [']', { drift: [3, 5, 7, 8] }, ['select', { anchor: 3, focus: 4 }, 'tokens']],
    [']', { drift: [3, 5, 7, 8], selection: { anchor: 3, focus: 4 } }, ['select', single(7), 'tokens']],
    [']', { drift: [3, 5, 7, 8], selection: single(7) }, ['say', 'No further drift.']],
    ['[', { drift: [3, 5, 7, 8], selection: single(7) }, ['select', { anchor: 3, focus: 4 }, 'tokens']],
  ])('the key %s with %j runs its command or says why it cannot', (key, using, calls) => {
    expect(press(key, using)).toEqual([calls])
  })

  test('without a search, the key n goes from the largest surprisal to the next, and p goes back', () => {
    expect(press('n', {})).toEqual([
      ['select', single(6), 'tokens'],
      ['say', 'surprisal 1'],
    ])
    expect(press('n', { selection: single(6) })[0]).toEqual(['select', single(3), 'tokens'])
    expect(press('p', { selection: single(3) })[0]).toEqual(['select', single(6), 'tokens'])
    expect(press('p', { selection: single(6) })).toEqual([['say', 'This is the largest value.']])
  })

  test('a command runs the action that a part has registered', () => {
    const next = vi.fn()
    const find = vi.fn()
    press('n', { offers: { 'next-hit': next } })
    expect(press('/', { offers: { find } })).toEqual([['tools']])
    expect([next.mock.calls.length, find.mock.calls.length]).toEqual([1, 1])
    const alternative = vi.fn()
    press('4', { offers: { alternative } })
    expect(alternative).toHaveBeenCalledWith(4)
  })
})

test('the mark after or before a token is the one that a search through all marks finds', () => {
  const spans = fc
    .uniqueArray(fc.nat(60), { maxLength: 12 })
    .map((edges) => edges.sort((a, b) => a - b).slice(0, edges.length - (edges.length % 2)))
  fc.assert(
    fc.property(spans, fc.nat(60), (ranges, at) => {
      const starts = ranges.filter((_, index) => index % 2 === 0)
      const marked = Int32Array.from(ranges)
      expect(markAfter(marked, single(at), 1)?.start).toBe(starts.find((start) => start > at))
      expect(markAfter(marked, single(at), -1)?.start).toBe(starts.findLast((start) => start < at))
      expect(markAfter(marked, undefined, 1)?.start).toBe(starts[0])
    }),
  )
})

describe('commands beside a run in the playground', () => {
  const names = RUN_COMMANDS.map(({ name }) => name)

  test('the keys of the token view are those of the inspector', () => {
    const { screen, calls } = screenWith()
    for (const key of ['m', '/', 'c', 'w'])
      expect(commandOfKey(RUN_COMMANDS, key), key).toBe(commandOfKey(COMMANDS, key))
    executeCommand(commandOfKey(RUN_COMMANDS, 'm') as InspectorCommand, screen, () => {})
    expect(calls).toEqual([['view', { colour: 'mask', limit: undefined }]])
  })

  test('leave out the tabs, verification, branches and the neighbours in a list', () => {
    expect(names.filter((name) => /^tab-|verify|trajectory$|^alternative|^branch$|^resample$/.test(name))).toEqual([])
  })

  test('open the inspector for a run that has ended, and otherwise say that it has not ended', () => {
    const { screen } = screenWith()
    const [openInspector, say] = [vi.fn(), vi.fn()]
    const command = commandOfKey(RUN_COMMANDS, 'i') as InspectorCommand
    executeCommand(command, screen, say)
    expect(say).toHaveBeenCalledWith('The run has not ended yet.')
    executeCommand(command, { ...screen, page: { ...screen.page, openInspector } }, say)
    expect(openInspector).toHaveBeenCalledOnce()
  })
})

test('commands open the neighbours of a trajectory in its list, and at an end say so', () => {
  const { screen } = screenWith()
  const [next, say] = [vi.fn(), vi.fn()]
  const page = { ...screen.page, openBeside: { previous: undefined, next } }
  const run = (name: string) =>
    executeCommand(COMMANDS.find((command) => command.name === name) as InspectorCommand, { ...screen, page }, say)
  run('next-trajectory')
  run('previous-trajectory')
  expect([next.mock.calls.length, say.mock.calls]).toEqual([1, [['This is the first trajectory of the list.']]])
})

describe('search of the command palette', () => {
  const titles = (typed: string) => searchCommands(COMMANDS, typed).map(({ title }) => title)
  test('lists titles that begin with the words first, and none that lacks a word', () => {
    expect(titles('copy')[0]).toMatch(/^Copy/)
    expect(titles('token next')).toContain('Next token')
    expect(titles('token next')).not.toContain('Previous token')
    expect(titles('no such thing')).toEqual([])
    expect(titles('')).toHaveLength(COMMANDS.length)
  })

  test('offers the token and the segment with a typed number, if they exist', () => {
    const { screen, calls } = screenWith()
    const places = (typed: string) => searchCommands(furtherCommands(screen, typed), typed).map(({ title }) => title)
    expect(places('2')).toEqual(['Go to token 2', 'Go to segment 2'])
    expect(places('5')).toEqual(['Go to token 5'])
    expect(places('900')).toEqual([])
    furtherCommands(screen, '1')[1]?.run(screen)
    expect(calls).toEqual([['select', single(3), 'tokens']])
  })

  test('offers every colour mode of the trajectory', () => {
    const { screen, calls } = screenWith()
    searchCommands(furtherCommands(screen, 'entropy'), 'entropy')[0]?.run(screen)
    expect(calls).toEqual([['view', { colour: 'entropy', limit: undefined }]])
  })
})
