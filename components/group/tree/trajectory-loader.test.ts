import { QueryClient } from '@tanstack/react-query'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { trajectoryOptions } from '#lib/browser/queries.ts'
import { elementAt } from '#lib/util/element-at.ts'
import { groupOf, wordTrajectory } from '../test-group.ts'
import { treeOfForest } from '../tree.ts'
import { createTrajectoryLoader, type TrajectoryLoader } from './trajectory-loader.ts'

vi.mock('#lib/browser/page-reader.ts', () => ({
  pageReader: { call: (path: string) => answers.call(path), load() {} },
}))

/** Answers of the server that a test gives when it wants to, by the key of the trajectory. */
const answers = vi.hoisted(() => {
  const waiting = new Map<string, (answer: object) => void>()
  return {
    waiting,
    call: (path: string) => new Promise((resolve) => waiting.set(path.slice(path.lastIndexOf('/') + 1), resolve)),
  }
})

const WORDS = ['I', 'list', 'find']
const groupOfFirst = (count: number) =>
  groupOf(
    WORDS.slice(0, count).map((word, index) => wordTrajectory(String(index), 'how', word)),
    WORDS.slice(0, count).map(() => 0),
  )
const { forest, trajectories } = groupOfFirst(WORDS.length)
const tree = treeOfForest(forest)

let loader: TrajectoryLoader
/** The keys in each report. */
let reports: (readonly string[])[]
/** Answers the requests for samples. */
async function arrive(...samples: readonly number[]) {
  await vi.waitFor(() => expect(samples.every((sample) => answers.waiting.has(String(sample)))).toBe(true))
  for (const sample of samples) answers.waiting.get(String(sample))?.(elementAt(trajectories, sample))
}
const isLoaded = (count: number) => vi.waitFor(() => expect(loader.loaded().trajectories.size).toBe(count))
const settle = () => new Promise((resolve) => setTimeout(resolve, 20))
const show = (...samples: readonly number[]) =>
  loader.setVisible(
    new Set(
      samples.map((sample) => tree.branches.findIndex((branch) => branch.level > 0 && branch.samples[0] === sample)),
    ),
  )

beforeEach(() => {
  answers.waiting.clear()
  loader = createTrajectoryLoader(new QueryClient(), tree)
  reports = []
  loader.subscribe(() => reports.push([...loader.loaded().trajectories.keys()]))
})

describe('The loader of trajectories', () => {
  test('reports the first trajectory alone, and those that arrive together later once', async () => {
    show(0)
    await arrive(0)
    await isLoaded(1)
    show(0, 1, 2)
    await arrive(2, 1)
    await isLoaded(3)
    expect(reports).toEqual([['0'], ['0', '1', '2']])
  })

  test('reports nothing when loaded branches are visible in another order', async () => {
    show(0, 1, 2)
    await arrive(0, 1, 2)
    await isLoaded(3)
    const { trajectories } = loader.loaded()
    const count = reports.length
    for (const samples of [[2], [1, 0], [0, 1, 2]]) show(...samples)
    await settle()
    expect(reports).toHaveLength(count)
    expect(loader.loaded().trajectories).toBe(trajectories)
  })

  test('requests a trajectory once, however often its branch is visible', async () => {
    const call = vi.spyOn(answers, 'call')
    for (const sample of [0, 1, 0, 1]) show(sample)
    await arrive(0, 1)
    await isLoaded(2)
    expect(call.mock.calls.map(([path]) => path)).toEqual(['/api/trajectories/0', '/api/trajectories/1'])
  })

  test('shows the samples of a tree that has fewer of them', async () => {
    show(0, 1, 2)
    await arrive(0, 1, 2)
    await isLoaded(3)
    loader.setTree(treeOfForest(groupOfFirst(2).forest), undefined)
    expect([...loader.loaded().trajectories.keys()]).toEqual(['0', '1'])
  })

  test('reports why a trajectory cannot be loaded', async () => {
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } })
    loader = createTrajectoryLoader(client, tree)
    loader.subscribe(() => reports.push([]))
    show(1)
    client
      .getQueryCache()
      .find(trajectoryOptions('1'))
      ?.setState({ status: 'error', error: new Error('gone') })
    await vi.waitFor(() => expect(loader.loaded().error?.message).toBe('gone'))
  })
})
