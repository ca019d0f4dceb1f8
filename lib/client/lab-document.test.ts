import { expect, test } from 'vitest'
import type { LabDocument } from '#lib/lab/document.ts'
import { createLabStore, type DocumentShelf, type LabStore } from './lab-document.ts'

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

/** A shelf whose writes end when they are told to. */
function shelf(kept: unknown) {
  const writes: { readonly document: LabDocument; readonly end: (error?: Error) => void }[] = []
  const held: DocumentShelf = {
    read: async () => kept,
    write: (document) =>
      new Promise((resolve, reject) => {
        writes.push({ document, end: (error) => (error ? reject(error) : resolve()) })
      }),
  }
  return { held, writes }
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
const saved = (store: LabStore) => {
  const state = store.state()
  return state.kind === 'open' ? state.saved : state.kind
}
const type = (store: LabStore, text: string) => store.apply({ type: 'typed', field: 'messages', text, at: 0 })

test('what was kept is opened, as structured clones and JSON keep it', async () => {
  for (const kept of [structuredClone(begun), JSON.parse(JSON.stringify(begun))]) {
    const store = createLabStore(shelf(kept).held)
    await until(store, () => store.state().kind !== 'reading')
    const state = store.state()
    expect(state.kind === 'open' && [state.saved, state.history.now]).toEqual(['saved', begun])
  }
})

test.each([[undefined], [{ ...begun, revisions: [] }], ['x']])(
  '%j is no document: the lab begins anew',
  async (kept) => {
    const store = createLabStore(shelf(kept).held)
    await until(store, () => store.state().kind !== 'reading')
    expect(store.state().kind).toBe('first')
    expect(type(store, 'x')).toBeUndefined()
  },
)

test('one write at a time; what comes meanwhile is written as one, and only then it is saved', async () => {
  const { held, writes } = shelf(undefined)
  const store = createLabStore(held)
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

test('a browser that keeps nothing is told of, and tried again', async () => {
  const { held, writes } = shelf(undefined)
  const store = createLabStore(held)
  store.begin(begun)
  writes[0]?.end(new Error('full'))
  await until(store, () => saved(store) === 'failed')
  type(store, '1')
  writes[1]?.end()
  await until(store, () => saved(store) === 'saved')
})
