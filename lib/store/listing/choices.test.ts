import { constants, type DatabaseSync } from 'node:sqlite'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { FilterChoices } from '#lib/api/library.ts'
import type { Trajectory } from '#lib/trajectory/format/trajectory.ts'
import { folderOfTest } from '#testing/files/folders.ts'
import { runs } from '#testing/property-runs.ts'
import { sampleTrajectory as sample } from '#testing/sample-trajectory.ts'
import { openImportStore } from '../import-store.ts'
import { openTrajectoryStore, type TrajectoryStore } from '../trajectories.ts'

const now = () => new Date('2026-05-01T00:00:00Z')

/** Returns the choices as all rows give them. */
function choicesOfRows(store: TrajectoryStore): FilterChoices {
  const { rows } = store.list({ filter: {}, sort: { by: 'added', order: 'desc' }, limit: 1000 })
  const countsOf = (names: readonly string[]) => {
    const counts = new Map<string, number>()
    for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1)
    return [...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1))
  }
  return {
    total: rows.length,
    outcomes: countsOf(rows.map(({ outcomeKind, outcome }) => JSON.stringify([outcomeKind, outcome]))).map(
      ([name, count]) => ({ kind: JSON.parse(name)[0], outcome: JSON.parse(name)[1], count }),
    ),
    sources: countsOf(rows.map(({ source, importFormat }) => `${source} ${importFormat ?? ''}`)).map(
      ([name, count]) => {
        const [kind, format] = name.split(' ')
        return { kind: kind as FilterChoices['sources'][number]['kind'], format: format || null, count }
      },
    ),
    tags: countsOf(rows.flatMap(({ tags }) => [...new Set(tags)])).map(([tag, count]) => ({ tag, count })),
  }
}

const outcomes: readonly Trajectory['outcome'][] = [
  { kind: 'ended', reason: 'length' },
  { kind: 'failed', code: 'CONNECT_REFUSED', message: 'm' },
]

test('The choices equal those of all rows after any changes by two instances and an import', () => {
  const id = fc.constantFrom('a', 'b', 'c')
  const tags = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 })
  const change = fc.record({
    kind: fc.constantFrom('add', 'label', 'update', 'remove', 'restore', 'import', 'purge'),
    id,
    tags,
    outcome: fc.constantFrom(...outcomes),
    isOther: fc.boolean(),
  })
  fc.assert(
    fc.property(fc.array(change, { maxLength: 25 }), (changes) => {
      const folder = folderOfTest()
      let stores = [openTrajectoryStore(folder, { now }), openTrajectoryStore(folder, { now })] as const
      for (const { kind, id, tags, outcome, isOther } of changes) {
        const store = stores[isOther ? 1 : 0]
        const trajectory = { ...sample, id, tags, outcome }
        if (kind === 'add') store.add(trajectory)
        else if (kind === 'label') store.label(id, { tags: [...new Set(tags)] })
        else if (kind === 'update' && store.get(id)) store.update(id, trajectory, 0)
        else if (kind === 'remove') store.remove(id)
        else if (kind === 'restore') store.restore(id)
        else if (kind === 'import') {
          const importing = openImportStore(folder, now)
          const provenance = { kind: 'import', format: 'slime', lacked: [] } as const
          const added = importing.add([{ ...trajectory, id: `${id} imported`, provenance }], {
            digest: '',
            derivedIds: new Set(),
            isCompleted: false,
          })
          const keys = added.map(({ key }) => key)
          if (tags.length > 1) importing.discard(keys)
          else importing.publish(keys)
          importing.close()
        } else if (kind === 'purge') {
          for (const each of stores) each.close()
          const later = () => new Date(now().getTime() + 48 * 60 * 60_000)
          openTrajectoryStore(folder, { now: later }).close()
          stores = [openTrajectoryStore(folder, { now }), openTrajectoryStore(folder, { now })]
        }
        for (const each of stores) expect(each.choices()).toEqual(choicesOfRows(each))
      }
      for (const each of stores) each.close()
    }),
    { numRuns: runs(20) },
  )
})

test('The choices are read without reading a trajectory, however many there are', () => {
  const read = new Set<string | null>()
  const store = openTrajectoryStore(folderOfTest(), {
    now,
    onOpened: (connection) =>
      connection.setAuthorizer((action, table) => {
        if (action === constants.SQLITE_READ) read.add(table)
        return constants.SQLITE_OK
      }),
  })
  store.add({ ...sample, tags: ['x'] })
  read.clear()
  expect(store.choices()).toMatchObject({ total: 1, tags: [{ tag: 'x', count: 1 }] })
  expect([...read]).toEqual(['choices'])
  store.close()
})

test('A start removes the counts of values that no trajectory has any more', () => {
  const folder = folderOfTest()
  let opened: DatabaseSync | undefined
  const open = () =>
    openTrajectoryStore(folder, {
      now,
      onOpened: (connection) => {
        opened = connection
      },
    })
  const tags = () => opened?.prepare("SELECT name, count FROM choices WHERE kind = 'tag'").all()
  const store = open()
  const key = store.add({ ...sample, tags: ['x'] })
  store.label(key, { tags: ['y'] })
  store.close()
  const again = open()
  expect(tags()).toMatchObject([{ name: 'y', count: 1 }])
  again.close()
})
