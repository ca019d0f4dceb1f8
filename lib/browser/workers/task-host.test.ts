import { expect, test } from 'vitest'
import { createTaskHost } from './task-host.ts'

test('A task reports a phase before its work begins; numbers are reported together', async () => {
  const events: unknown[] = []
  const host = createTaskHost<never>({
    tasks: {
      *phases() {
        yield 'reading'
        events.push('has read')
        yield 1
        yield 2
        yield 'writing'
        events.push('has written')
      },
    },
    hold: () => expect.unreachable(),
    nextTurn: async () => {},
    now: () => 0,
  })
  await host(
    { kind: 'run', task: 'phases', request: null, resources: [] },
    { signal: new AbortController().signal, report: (progress) => events.push(progress), transfer: [] },
  )
  expect(events).toEqual(['begins', ['reading'], 'begins', 'has read', [1, 2, 'writing'], 'begins', 'has written', []])
})
