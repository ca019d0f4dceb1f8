import { expect, test } from 'vitest'
import { createTaskHost } from './task-host.ts'

test('A task reports a phase before its work begins; numbers are reported together', async () => {
  const told: unknown[] = []
  const host = createTaskHost<never>({
    tasks: {
      *phases() {
        yield 'reading'
        told.push('has read')
        yield 1
        yield 2
        yield 'writing'
        told.push('has written')
      },
    },
    hold: () => expect.unreachable(),
    post: (message) => message.kind === 'rest' && told.push(message.progress),
    nextTurn: async () => {},
    now: () => 0,
  })
  await host({ kind: 'run', id: 1, task: 'phases', request: null, resources: [] })
  expect(told).toEqual([['reading'], 'has read', [1, 2, 'writing'], 'has written'])
})
