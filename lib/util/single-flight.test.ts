import { expect, test } from 'vitest'
import { singleFlight } from './single-flight.ts'

const never = new AbortController().signal

function question() {
  const signals: AbortSignal[] = []
  const answers: PromiseWithResolvers<string>[] = []
  const ask = (signal: AbortSignal) => {
    const answer = Promise.withResolvers<string>()
    signal.addEventListener('abort', () => answer.reject(signal.reason))
    signals.push(signal)
    answers.push(answer)
    return answer.promise
  }
  return { ask, answers, signals }
}

test('singleFlight gives one result to all callers, including late ones', async () => {
  const { ask, answers } = question()
  const once = singleFlight<string>()
  const early = [once(ask, never), once(ask, never)]
  answers[0]?.resolve('yes')
  expect(await Promise.all([...early, once(ask, never)])).toEqual(['yes', 'yes', 'yes'])
  expect(answers).toHaveLength(1)
})

test('singleFlight keeps running for the others if the first caller leaves', async () => {
  const { ask, answers, signals } = question()
  const once = singleFlight<string>()
  const leaving = new AbortController()
  const left = once(ask, leaving.signal)
  const other = once(ask, never)
  leaving.abort(new Error('gone'))
  await expect(left).rejects.toThrow('gone')
  expect(signals[0]?.aborted).toBe(false)
  answers[0]?.resolve('yes')
  expect(await other).toBe('yes')
})

test('singleFlight aborts when all callers have left, and can be called again', async () => {
  const { ask, answers, signals } = question()
  const once = singleFlight<string>()
  const leaving = new AbortController()
  const both = [once(ask, leaving.signal), once(ask, leaving.signal)]
  leaving.abort(new Error('gone'))
  for (const left of both) await expect(left).rejects.toThrow('gone')
  expect(signals[0]?.aborted).toBe(true)
  await expect(once(ask, leaving.signal)).rejects.toThrow('gone')
  const again = once(ask, never)
  answers[1]?.resolve('yes')
  expect(await again).toBe('yes')
})

test('singleFlight rejects all waiting callers on failure, and later ones start again', async () => {
  const { ask, answers } = question()
  const once = singleFlight<string>()
  const both = [once(ask, never), once(ask, never)]
  answers[0]?.reject(new Error('busy'))
  for (const failed of both) await expect(failed).rejects.toThrow('busy')
  const again = once(ask, never)
  answers[1]?.resolve('yes')
  expect(await again).toBe('yes')
})
