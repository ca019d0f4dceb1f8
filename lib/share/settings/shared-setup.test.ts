import fc from 'fast-check'
import { expect, test } from 'vitest'
import { hashOfJson, textOfHash } from '#lib/util/link-hash.ts'
import { anyText } from '#testing/strings.ts'
import { EMPTY_PROMPT, PROMPT_MODES } from './prompt-draft.ts'
import { readSettings } from './settings-file.ts'
import { FIRST_CHOICES, importPlan, setupAfterImport } from './settings-import.ts'
import { DEFAULT_SETUP } from './setup.ts'
import { sharedText } from './shared-setup.ts'

const text = anyText({ maxLength: 30 })
const drafts = fc.record({
  mode: fc.constantFrom(...PROMPT_MODES),
  question: text,
  conversation: text,
  text,
  ids: text,
  record: fc.nat(3),
  runsTools: fc.boolean(),
})

test('a setup link gives back the setup and the shown mode of the prompt, and contains no hidden mode', async () => {
  await fc.assert(
    fc.asyncProperty(text, text, drafts, async (system, chatTemplate, draft) => {
      const setup = { ...DEFAULT_SETUP, system, chatTemplate, server: 'mine' }
      const hash = (await hashOfJson(sharedText(setup, draft), 'setup')) as string
      expect(hash).toMatch(/^#setup=[\w-]+$/)
      const opened = await textOfHash(`http://127.0.0.1:3000/?t=x${hash}`, 'setup')
      const read = opened.kind === 'text' ? readSettings(opened.text) : undefined
      if (!read?.ok) throw new Error('it is not read')
      expect(read.ignored).toEqual([])
      expect(read.settings.setup).toEqual(setup)
      expect(read.settings.servers).toEqual([])
      const { mode, record, runsTools } = draft
      expect(read.settings.prompt).toEqual({ ...EMPTY_PROMPT, mode, [mode]: draft[mode], record, runsTools })
    }),
  )
})

test('the changes of a shared setup include the prompt only if the page has one', () => {
  const read = readSettings(sharedText({ ...DEFAULT_SETUP, system: 'S' }, { ...EMPTY_PROMPT, mode: 'ids', ids: '1' }))
  if (!read.ok) throw new Error(read.why)
  const plan = importPlan(read.settings, { servers: [], presets: [], setup: DEFAULT_SETUP, prompt: EMPTY_PROMPT })
  expect(plan.setup?.changes.map(({ field }) => field)).toEqual(['system', 'prompt.mode', 'prompt.ids'])
  expect(plan.setup?.prompt).toMatchObject({ mode: 'ids', ids: '1' })
  expect(setupAfterImport(plan, FIRST_CHOICES, new Set())?.system).toBe('S')
  const without = importPlan(read.settings, { servers: [], presets: [], setup: DEFAULT_SETUP })
  expect(without.setup?.changes.map(({ field }) => field)).toEqual(['system'])
})

test('a shared setup does not change the hidden modes of the prompt', () => {
  fc.assert(
    fc.property(drafts, drafts, (here, shared) => {
      const read = readSettings(sharedText({ ...DEFAULT_SETUP, system: 'S' }, shared))
      if (!read.ok) throw new Error(read.why)
      const plan = importPlan(read.settings, { servers: [], presets: [], setup: DEFAULT_SETUP, prompt: here })
      const { mode, record, runsTools } = shared
      expect(plan.setup?.prompt).toEqual({ ...here, mode, [mode]: shared[mode], record, runsTools })
    }),
  )
})

test('JSON that contains the text of a setup link is no link', async () => {
  const shared = sharedText({ ...DEFAULT_SETUP, system: 'What is #setup=abc in an address?' }, EMPTY_PROMPT)
  expect(await textOfHash(shared, 'setup')).toEqual({ kind: 'none' })
  expect(await textOfHash(`\ufeff\n ${shared}`, 'setup')).toEqual({ kind: 'none' })
})

test('a setup link exists for every setup that is small enough to be opened, and for no larger one', async () => {
  const shared = (letters: number) =>
    sharedText(DEFAULT_SETUP, { ...EMPTY_PROMPT, mode: 'text', text: 'é'.repeat(letters) })
  const empty = new TextEncoder().encode(JSON.stringify(JSON.parse(shared(0)))).length
  const most = Math.floor(((1 << 20) - empty) / 2)
  expect(await textOfHash((await hashOfJson(shared(most), 'setup')) as string, 'setup')).toMatchObject({ kind: 'text' })
  expect(await hashOfJson(shared(most + 1), 'setup')).toBeUndefined()
})
