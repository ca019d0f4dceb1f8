import { expect, test } from 'vitest'
import type { LabDocument } from '#lib/templates/document/document.ts'
import { createLabStore, type DocumentStorage, earlierDocuments, type LabStore } from './lab-document.ts'

const begun: LabDocument = {
  revisions: [{ number: 1, name: 'a', kind: 'kept', parent: undefined, template: 'a' }],
  shown: 1,
  messages: '[]',
  tools: '',
  options: '{}',
  tokenizer: 'built-in',
  source: { kind: 'tokenizer', name: 'a', template: undefined },
  trajectory: undefined,
}

/** Returns a storage whose writes end when the test ends them, whatever other windows do. */
function shelf(kept: unknown) {
  const writes: { readonly document: LabDocument; readonly end: (error?: Error) => void }[] = []
  const held: DocumentStorage = {
    read: async () => kept,
    write: (document, after) =>
      new Promise((resolve, reject) => {
        writes.push({
          document,
          end: (error) => (error ? reject(error) : resolve({ kind: 'written', edition: after + 1 })),
        })
      }),
    readEarlier: async () => [],
    keep: async () => {},
    watch: () => () => {},
  }
  return { held, writes }
}

/** Returns the storage that the windows of a browser share. */
function browser() {
  let stored: { readonly edition: number } | undefined
  const earlier = new Map<string, unknown>()
  const watchers = new Map<DocumentStorage, () => void>()
  const clock = { minutes: 0 }
  const window = (windowName: string): LabStore => {
    const own: DocumentStorage = {
      read: async () => stored,
      write: async (document, after) => {
        if (stored && stored.edition !== after) return { kind: 'conflict', value: stored }
        stored = structuredClone({ ...document, edition: after + 1 })
        for (const [other, watcher] of watchers) if (other !== own) watcher()
        return { kind: 'written', edition: after + 1 }
      },
      readEarlier: async () => [...earlier],
      keep: async (key, document, at) => {
        earlier.set(key, structuredClone({ at, document }))
      },
      watch: (listener) => {
        watchers.set(own, listener)
        return () => watchers.delete(own)
      },
    }
    const store = createLabStore(own, { now: () => new Date(Date.UTC(2026, 0, 1, 0, clock.minutes++)), windowName })
    store.subscribe(() => {})
    return store
  }
  return {
    window,
    /** Returns the messages of the stored document, then those of the earlier ones, newest first. */
    texts: async () => {
      const kept = await earlierDocuments({ readEarlier: async () => [...earlier] })
      return [(stored as LabDocument | undefined)?.messages, ...kept.map(({ document }) => document.messages)]
    },
  }
}

const until = (store: LabStore, wanted: () => boolean): Promise<void> =>
  new Promise((resolve) => {
    if (wanted()) return resolve()
    const stop = store.subscribe(() => {
      if (!wanted()) return
      stop()
      resolve()
    })
  })
const ALONE = { now: () => new Date(0), windowName: 'a' }
const saved = (store: LabStore) => {
  const state = store.state()
  return state.kind === 'open' ? state.saved : state.kind
}
const type = (store: LabStore, text: string) => store.apply({ type: 'typed', field: 'messages', text, at: 0 })

test('A stored lab document opens from structured clones and from JSON', async () => {
  for (const kept of [structuredClone(begun), JSON.parse(JSON.stringify(begun))]) {
    const store = createLabStore(shelf(kept).held, ALONE)
    await until(store, () => store.state().kind !== 'reading')
    const state = store.state()
    expect(state.kind === 'open' && [state.saved, state.history.now]).toEqual(['saved', begun])
  }
})

test.each([[undefined], [{ ...begun, revisions: [] }], ['x']])(
  'The lab starts empty if the stored value is %j',
  async (kept) => {
    const store = createLabStore(shelf(kept).held, ALONE)
    await until(store, () => store.state().kind !== 'reading')
    expect(store.state().kind).toBe('first')
    expect(type(store, 'x')).toBeUndefined()
  },
)

test('The lab writes once at a time; later changes become one write, and then it is saved', async () => {
  const { held, writes } = shelf(undefined)
  const store = createLabStore(held, ALONE)
  store.begin(begun)
  type(store, '1')
  type(store, '2')
  expect(writes.map(({ document }) => document.messages)).toEqual(['[]'])
  writes[0]?.end()
  await expect.poll(() => writes.length).toBe(2)
  expect(writes[1]?.document.messages).toBe('2')
  expect(saved(store)).toBe('saving')
  writes[1]?.end()
  await until(store, () => saved(store) === 'saved')
  expect(writes).toHaveLength(2)
})

test('The lab reports a browser that cannot store its document, and tries again', async () => {
  const { held, writes } = shelf(undefined)
  const store = createLabStore(held, ALONE)
  store.begin(begun)
  writes[0]?.end(new Error('full'))
  await until(store, () => saved(store) === 'failed')
  type(store, '1')
  writes[1]?.end()
  await until(store, () => saved(store) === 'saved')
})

const messages = (store: LabStore) => {
  const state = store.state()
  return state.kind === 'open' ? state.history.now.messages : undefined
}
const other = (store: LabStore) => {
  const state = store.state()
  return state.kind === 'open' ? state.other?.messages : undefined
}
const isSaved = (store: LabStore) => until(store, () => saved(store) === 'saved')

/** Returns two windows of one browser that have opened the same document. */
async function twoWindows() {
  const { window, ...rest } = browser()
  const first = window('first')
  await until(first, () => first.state().kind === 'first')
  first.begin(begun)
  await isSaved(first)
  const second = window('second')
  await until(second, () => second.state().kind === 'open')
  return { first, second, window, ...rest }
}

test('An outdated window of the lab is notified at once, and its later changes are stored next to the other document', async () => {
  const { first, second, window, texts } = await twoWindows()
  type(second, 'theirs')
  await until(first, () => other(first) !== undefined)
  expect([messages(first), other(first), other(second)]).toEqual(['[]', 'theirs', undefined])
  type(first, 'mine')
  await isSaved(first)
  type(second, 'theirs, longer')
  await until(first, () => other(first) === 'theirs, longer')
  expect(await texts()).toEqual(['theirs, longer', 'mine'])
  // A reload opens the stored document; the other one is among the earlier ones.
  const reloaded = window('reloaded')
  await until(reloaded, () => reloaded.state().kind === 'open')
  expect(messages(reloaded)).toBe('theirs, longer')
})

test('Two windows of the lab that type at the same time lose nothing, whichever document is chosen', async () => {
  for (const taken of ['own', 'other'] as const) {
    const { first, second, texts } = await twoWindows()
    type(first, 'mine')
    type(second, 'theirs')
    await until(second, () => other(second) === 'mine')
    expect(await texts()).toEqual(['mine', 'theirs'])
    second.choose(taken)
    await isSaved(second)
    expect(other(second)).toBeUndefined()
    expect(messages(second)).toBe(taken === 'own' ? 'theirs' : 'mine')
    expect([...new Set(await texts())].sort()).toEqual(['mine', 'theirs'])
    expect((await texts())[0]).toBe(messages(second))
    if (taken === 'other') {
      second.apply({ type: 'undone' })
      expect(messages(second)).toBe('theirs')
    } else await until(first, () => other(first) === 'theirs')
    // Both windows continue, and now the other window has the choice.
    type(second, 'further')
    await until(first, () => other(first) === 'further')
  }
})

test('Two windows of the lab with the same document need no choice', async () => {
  const { window } = browser()
  const both = ['one', 'two'].map(window)
  for (const store of both) await until(store, () => store.state().kind === 'first')
  for (const store of both) store.begin(begun)
  for (const store of both) await isSaved(store)
  expect(both.map(other)).toEqual([undefined, undefined])
  type(both[1] as LabStore, 'x')
  await isSaved(both[1] as LabStore)
  expect(other(both[1] as LabStore)).toBeUndefined()
})

test('The lab keeps the document that a shared one replaces, but not an unchanged new lab', async () => {
  const { first, texts } = await twoWindows()
  await first.keepEarlier()
  expect(await texts()).toEqual(['[]'])
  for (const text of ['one', 'two']) {
    type(first, text)
    await first.keepEarlier()
  }
  await isSaved(first)
  expect(await texts()).toEqual(['two', 'two', 'one'])
})
