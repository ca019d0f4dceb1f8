import fc from 'fast-check'
import { expect, test } from 'vitest'
import { runs } from '#testing/property-runs.ts'
import { EngineError } from './errors.ts'
import { createSemaphore, type Semaphore } from './semaphore.ts'

const never = new AbortController().signal
const busy = () => new EngineError('UPSTREAM_BUSY', 'full')
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Creates a server that refuses calls while `room` calls run. `endOldest` ends the oldest one. */
function serverOf(room: number) {
  const running: (() => void)[] = []
  let peak = 0
  let refused = 0
  const call = async function* () {
    if (running.length >= room) {
      refused++
      throw busy()
    }
    await new Promise<void>((resolve) => {
      running.push(resolve)
      peak = Math.max(peak, running.length)
    })
    yield 'done'
  }
  return {
    call,
    endOldest: () => running.shift()?.(),
    running: () => running.length,
    peak: () => peak,
    refused: () => refused,
  }
}

/** Creates a server that accepts or refuses, at one moment, all calls since its last decision. */
function undecided() {
  let asking: ((isTaken: boolean) => void)[] = []
  const running: (() => void)[] = []
  const call = async function* () {
    if (!(await new Promise<boolean>((resolve) => asking.push(resolve)))) throw busy()
    await new Promise<void>((resolve) => running.push(resolve))
    yield 'done'
  }
  return {
    call,
    decide(isTaken: (index: number) => boolean) {
      const all = asking
      asking = []
      for (const [index, tell] of all.entries()) tell(isTaken(index))
    },
    endOldest: () => running.shift()?.(),
    running: () => running.length,
    underWay: () => asking.length + running.length,
  }
}

async function parts(turns: Semaphore, call: () => AsyncIterable<string>, isFurther = false, signal = never) {
  const received: string[] = []
  for await (const part of turns.take(call, isFurther, signal)) received.push(part)
  return received
}

test('the semaphore answers every call of a group and leaves no slot unused, whatever capacity the server has', async () => {
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 1, max: 6 }), fc.integer({ min: 1, max: 20 }), async (room, calls) => {
      const server = serverOf(room)
      const turns = createSemaphore()
      const answers = Array.from({ length: calls }, () => parts(turns, server.call))
      for (let n = 0; n < calls; n++) {
        await settled()
        expect(server.running()).toBe(Math.min(room, calls - n))
        server.endOldest()
      }
      expect(await Promise.all(answers)).toEqual(Array.from({ length: calls }, () => ['done']))
      // Each call without a free slot at first is refused at most twice, and once more because each answer admits another
      // attempt.
      expect(server.refused()).toBeLessThanOrEqual(3 * Math.max(0, calls - room))
    }),
    { numRuns: runs(40) },
  )
})

test('the semaphore halves its limit once when one moment refuses all calls, and raises it by one per answer', async () => {
  const { call, decide, endOldest, running } = undecided()
  const turns = createSemaphore()
  const answers = Array.from({ length: 32 }, () => parts(turns, call))
  await settled()
  decide(() => false)
  const atOnce: number[] = []
  for (let n = 0; n < 32; n++) {
    await settled()
    decide(() => true)
    await settled()
    atOnce.push(running())
    endOldest()
  }
  expect((await Promise.all(answers)).every(([answer]) => answer === 'done')).toBe(true)
  expect(atOnce.slice(0, 10)).toEqual([16, 17, 18, 19, 20, 21, 22, 23, 24, 23])
})

test('the semaphore refuses no call for good while others run, in whatever order calls end', async () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('full' as const), taken: fc.array(fc.boolean(), { maxLength: 12 }) }),
    fc.record({ kind: fc.constant('end' as const), count: fc.integer({ min: 1, max: 4 }) }),
  )
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 2, max: 12 }),
      fc.option(fc.integer({ min: 2, max: 8 }), { nil: undefined }),
      fc.array(step, { maxLength: 12 }),
      async (calls, most, steps) => {
        const server = undecided()
        const turns = createSemaphore(most)
        const answers = Array.from({ length: calls }, () => parts(turns, server.call))
        for (const one of steps) {
          await settled()
          expect(server.underWay()).toBeLessThanOrEqual(most ?? calls)
          const isAlone = server.underWay() === 1
          if (one.kind === 'full') server.decide((index) => isAlone || (one.taken[index] ?? false))
          else for (let n = 0; n < one.count; n++) server.endOldest()
        }
        for (let n = 0; n < 3 * calls; n++) {
          await settled()
          server.decide(() => true)
          await settled()
          server.endOldest()
        }
        expect(await Promise.all(answers)).toEqual(Array.from({ length: calls }, () => ['done']))
      },
    ),
  )
})

test('the semaphore never exceeds the limit that the server reports', async () => {
  const server = serverOf(100)
  const turns = createSemaphore(3)
  const answers = Array.from({ length: 9 }, () => parts(turns, server.call))
  for (let n = 0; n < 9; n++) {
    await settled()
    server.endOldest()
  }
  await Promise.all(answers)
  expect([server.peak(), server.refused()]).toEqual([3, 0])
})

test('the semaphore passes on the refusal of a call that ran alone', async () => {
  await expect(parts(createSemaphore(), serverOf(0).call)).rejects.toThrow('full')
})

test('the semaphore does not retry a call that failed after its first part, nor one that failed for another reason', async () => {
  const turns = createSemaphore()
  const other = parts(turns, serverOf(1).call)
  let made = 0
  const late = async function* () {
    made++
    yield 'first'
    throw busy()
  }
  await expect(parts(turns, late)).rejects.toThrow('full')
  const broken = (): AsyncIterable<string> => {
    made++
    throw new EngineError('CONNECT_REFUSED', 'down')
  }
  await expect(parts(turns, broken)).rejects.toThrow('down')
  expect(made).toBe(2)
  other.catch(() => {})
})

test('the semaphore serves begun runs before new ones, and forgets callers that stop waiting', async () => {
  const turns = createSemaphore(1)
  const server = serverOf(1)
  const order: string[] = []
  const noted = (name: string, isFurther: boolean, signal = never) =>
    parts(turns, server.call, isFurther, signal).then(
      () => order.push(name),
      () => order.push(`${name} left`),
    )
  const leaving = new AbortController()
  const all = [
    noted('first', false),
    noted('second', false),
    noted('third', false, leaving.signal),
    noted('further', true),
  ]
  await settled()
  leaving.abort(new Error('stopped'))
  for (let n = 0; n < 3; n++) {
    await settled()
    server.endOldest()
  }
  await Promise.all(all)
  expect(order).toEqual(['third left', 'first', 'further', 'second'])
})
