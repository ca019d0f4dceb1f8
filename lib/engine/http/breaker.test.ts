import fc from 'fast-check'
import { expect, test } from 'vitest'
import { type Attempt, createBreaker, FAILURES_IN_A_ROW, OPEN_MS } from './breaker.ts'
import { EngineError, type EngineErrorCode } from './errors.ts'

const failing = (code: EngineErrorCode = 'UPSTREAM_ERROR') => new EngineError(code, 'it broke')

function breakerAt() {
  const clock = { nowMs: 0 }
  const breaker = createBreaker({ nowMs: () => clock.nowMs })
  /** Returns undefined if the breaker lets no call in. */
  const enter = (): Attempt | undefined => {
    try {
      return breaker.enter()
    } catch (error) {
      expect(error).toMatchObject({ code: 'CIRCUIT_OPEN' })
      return undefined
    }
  }
  const fail = (times: number, code?: EngineErrorCode) => {
    for (let i = 0; i < times; i++) enter()?.observe(failing(code))
  }
  const repeat = (attempt: Attempt | undefined): void => {
    try {
      attempt?.again()
    } catch (error) {
      expect(error).toMatchObject({ code: 'CIRCUIT_OPEN' })
    }
  }
  return { breaker, clock, enter, repeat, fail }
}

test('the circuit breaker blocks calls for half a minute after five failures in a row, then lets one probe', () => {
  const { breaker, clock, enter, fail } = breakerAt()
  fail(FAILURES_IN_A_ROW - 1)
  expect(enter()).toBeDefined()
  fail(1)
  expect(() => breaker.enter()).toThrow('(UPSTREAM_ERROR: it broke); the next call is possible in 30 s')
  clock.nowMs = OPEN_MS - 1
  expect(() => breaker.enter()).toThrow('the next call is possible in 1 s')
  clock.nowMs = OPEN_MS
  const probe = enter()
  expect(() => breaker.enter()).toThrow('one call is testing the server now')
  probe?.observe('answered')
  expect(enter()).toBeDefined()
})

test('a failed probe keeps the breaker open; a probe that nobody waited for makes room for the next', () => {
  const { clock, enter, fail } = breakerAt()
  fail(FAILURES_IN_A_ROW)
  clock.nowMs = OPEN_MS
  enter()?.observe(failing('CONNECT_REFUSED'))
  expect(enter()).toBeUndefined()
  clock.nowMs = 2 * OPEN_MS
  const left = enter()
  expect(enter()).toBeUndefined()
  left?.observe('left')
  expect(enter()).toBeDefined()
})

test('the breaker counts any answer as success, also a refusal or a busy server', () => {
  const { enter, fail } = breakerAt()
  for (const code of ['UPSTREAM_REJECTED', 'UPSTREAM_BUSY', 'UPSTREAM_AUTH', 'BAD_JSON'] as const) {
    fail(FAILURES_IN_A_ROW - 1)
    enter()?.observe(failing(code))
  }
  fail(FAILURES_IN_A_ROW - 1)
  expect(enter()).toBeDefined()
})

test('an answered status call closes the breaker if the server could not be reached before, and only then', () => {
  const { breaker, enter, fail } = breakerAt()
  fail(FAILURES_IN_A_ROW, 'CONNECT_REFUSED')
  expect(enter()).toBeUndefined()
  breaker.reached()
  expect(enter()).toBeDefined()
  fail(FAILURES_IN_A_ROW, 'UPSTREAM_ERROR')
  breaker.reached()
  expect(enter()).toBeUndefined()
})

test('calls sent before the breaker opened neither open nor close it: only the probe does', () => {
  const { clock, enter, fail } = breakerAt()
  const old = enter()
  fail(FAILURES_IN_A_ROW)
  old?.observe('answered')
  expect(enter()).toBeUndefined()
  clock.nowMs = OPEN_MS
  const probe = enter()
  old?.observe(failing())
  old?.observe('left')
  expect(enter()).toBeUndefined()
  probe?.observe('answered')
  expect(enter()).toBeDefined()
})

test('a call is retried only while the breaker allows it; the probe may be retried too', () => {
  const { clock, enter, fail } = breakerAt()
  const old = enter()
  expect(() => old?.again()).not.toThrow()
  fail(FAILURES_IN_A_ROW)
  expect(() => old?.again()).toThrow('the next call is possible in 30 s')
  clock.nowMs = OPEN_MS
  const probe = enter()
  expect(() => old?.again()).toThrow('one call is testing the server now')
  expect(() => probe?.again()).not.toThrow()
  probe?.observe('left')
  expect(() => old?.again()).not.toThrow()
  expect(enter()).toBeUndefined()
})

test.each([
  ['UPSTREAM_ERROR', 'Check the server’s log. The next call after that time tests the server.'],
  ['CONNECT_REFUSED', expect.stringContaining('Calls continue as soon as the server reports its status')],
] as const)('the breaker gives a hint on what to do after %s', (code, hint) => {
  const { breaker, fail } = breakerAt()
  fail(FAILURES_IN_A_ROW, code)
  expect(() => breaker.enter()).toThrow(expect.objectContaining({ code: 'CIRCUIT_OPEN', hint }))
})

/** In any order of events, the breaker never has two probes and blocks no call for longer than it reports. */
test('the breaker never stays open for good', () => {
  const action = fc.oneof(
    fc.record({ kind: fc.constant('enter' as const) }),
    fc.record({ kind: fc.constant('again' as const), which: fc.nat(10) }),
    fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(OPEN_MS) }),
    fc.record({
      kind: fc.constant('observe' as const),
      which: fc.nat(10),
      what: fc.constantFrom('answered' as const, 'left' as const, failing(), failing('UPSTREAM_REJECTED')),
    }),
  )
  fc.assert(
    fc.property(fc.array(action, { maxLength: 80 }), (actions) => {
      const { clock, enter, repeat } = breakerAt()
      const inside: Attempt[] = []
      for (const step of actions) {
        if (step.kind === 'pass') clock.nowMs += step.ms
        else if (step.kind === 'enter') inside.push(...[enter() ?? []].flat())
        else if (step.kind === 'again') repeat(inside[step.which % Math.max(1, inside.length)])
        else inside[step.which % Math.max(1, inside.length)]?.observe(step.what)
      }
      for (const attempt of inside) attempt.observe('left')
      clock.nowMs += OPEN_MS
      const first = enter()
      expect(first).toBeDefined()
      first?.observe('answered')
      expect([enter(), enter()]).not.toContain(undefined)
    }),
  )
})
