import { expect, test } from 'vitest'
import { type Interpreter, InterpreterError } from './interpreter.ts'
import { createPool } from './pool.ts'

/** Creates a pool of interpreters that do nothing; `alive` counts those that have started and not ended. */
function counted(most: number, fails: (number: number) => boolean = () => false) {
  let started = 0
  const alive = new Set<Interpreter>()
  const pool = createPool(async () => {
    const number = ++started
    if (fails(number)) throw new InterpreterError('no')
    const interpreter: Interpreter = {
      run: async () => ({ printed: { text: '' } }),
      printed: () => ({ text: '' }),
      calls: () => 0,
      isOver: () => !alive.has(interpreter),
      end: () => void alive.delete(interpreter),
    }
    alive.add(interpreter)
    return interpreter
  }, most)
  return { pool, alive, started: () => started }
}
const never = new AbortController().signal
const settled = () => new Promise((resolve) => setImmediate(resolve))

/** Records the names of the runs that get a seat, in that order. */
function seated(most: number) {
  const { pool, alive } = counted(most)
  const order: string[] = []
  const sit = async (name: string) => {
    const seat = await pool.sit(never)
    order.push(name)
    await seat.interpreter()
    return seat
  }
  return { alive, order, sit }
}

test('the pool seats a limited number of runs; the others wait in order of arrival', async () => {
  const { alive, order, sit } = seated(2)
  const [a, b] = [await sit('a'), await sit('b')]
  const [c, d] = [sit('c'), sit('d')]
  await settled()
  expect(order).toEqual(['a', 'b'])
  expect(alive.size).toBe(2)
  b.leave()
  b.leave()
  await c
  expect(order).toEqual(['a', 'b', 'c'])
  a.leave()
  await d
  expect(order).toEqual(['a', 'b', 'c', 'd'])
  expect(alive.size).toBe(2)
})

test('a run that arrives while a seat is handed over waits after the others', async () => {
  const { alive, order, sit } = seated(2)
  const [a, b] = [await sit('a'), await sit('b')]
  const waiting = sit('waiting')
  a.leave()
  const late = sit('late')
  await waiting
  await settled()
  expect([order, alive.size]).toEqual([['a', 'b', 'waiting'], 2])
  b.leave()
  await late
  expect(alive.size).toBe(2)
})

test('a run that stops waiting loses its position, and no other run does', async () => {
  const { pool } = counted(1)
  const first = await pool.sit(never)
  const controller = new AbortController()
  const second = pool.sit(controller.signal)
  const third = pool.sit(never)
  controller.abort(new Error('stopped'))
  await expect(second).rejects.toThrow('stopped')
  await expect(pool.sit(controller.signal)).rejects.toThrow('stopped')
  first.leave()
  await expect(third).resolves.toBeDefined()
})

test('one interpreter is started ahead while there is room, and the next run gets it', async () => {
  const { pool, alive, started } = counted(2)
  expect(started()).toBe(0)
  const first = await pool.sit(never)
  await settled()
  expect(started()).toBe(2)
  const second = await pool.sit(never)
  await Promise.all([first.interpreter(), second.interpreter()])
  expect(started()).toBe(2)
  first.leave()
  await settled()
  expect(alive.size).toBe(1)
  const third = await pool.sit(never)
  await third.interpreter()
  expect(alive.size).toBe(2)
})

test('a seat keeps its interpreter, and gets another after that one has ended', async () => {
  const { pool } = counted(1)
  const seat = await pool.sit(never)
  const one = await seat.interpreter()
  expect(await seat.interpreter()).toBe(one)
  one.end()
  const other = await seat.interpreter()
  expect(other).not.toBe(one)
  expect(other.isOver()).toBe(false)
})

test('a failed start is retried, and reported if it fails again; the next run begins anew', async () => {
  const { pool } = counted(2, (number) => number <= 2)
  const seat = await pool.sit(never)
  await settled()
  await expect(seat.interpreter()).rejects.toThrow('no')
  seat.leave()
  const next = await pool.sit(never)
  await expect(next.interpreter()).resolves.toBeDefined()
})

test('closing the pool ends all interpreters, also the one that was started ahead', async () => {
  const { pool, alive } = counted(3)
  const seat = await pool.sit(never)
  await seat.interpreter()
  await settled()
  expect(alive.size).toBe(2)
  pool.close()
  await settled()
  expect(alive.size).toBe(0)
})
